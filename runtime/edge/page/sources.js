/* The sources of an answer as numbered cards, and the preview of a citation beside its marker. */

import { $, linked, make, press, put, quoted } from "./dom.js";
import { openSource } from "./panel.js";
import { pieces, show, trail } from "./plain.js";
import { reasons, say, word } from "./speech.js";

/* What each number cites, of references that say so themselves and of a record's citations. */
export function placesOf(references, citations = []) {
  const found = new Map();
  for (const source of references)
    for (const place of source.cited || []) found.set(place.n, { ...source, ...place, url: place.url || source.url });
  for (const place of citations) if (!found.has(place.n)) found.set(place.n, place);
  return found;
}

/* The folder and file of a source, of which several may have the same title. */
export const pathOf = source => source.title && source.title !== source.source_id ? source.source_id : "";

export function showPath(source, box, tag = "p") {
  if (pathOf(source)) make("bdi", pathOf(source), make(tag, "", box, "soft path")).dir = "ltr";
}

/* One card for each source, with what is cited of it. */
export function showSources(list, references, places) {
  list.replaceChildren();
  for (const source of references) {
    const card = make("li", "", list, "card");
    card.dataset.source = source.source_id;
    const cited = [...places.values()].filter(place => place.source_id === source.source_id).sort((a, b) => a.n - b.n);
    const head = make("h4", "", card);
    const title = press("", head, "title", () => openSource(cited[0] || source, title));
    put(title, source.title || source.source_id).dir = "auto";
    showPath(source, card);
    const about = aboutOf(source.about || cited[0]?.about);
    if (about) quoted("p", about, card, "soft");
    for (const place of cited) showPlace(place, card);
    if (/^https?:/i.test(source.url || "")) say(linked("", source.url, make("p", "", card, "soft")), "original");
  }
}

/* One cited place: its number, the headings that lead there, what introduces it, its words, and the sentence that answers. */
function showPlace(place, card) {
  const box = make("figure", "", card, "place");
  box.dataset.n = place.n;
  const open = press(String(place.n), box, "cite", () => openSource(place, open));
  say(open, "citation_n", { n: place.n }, "aria-label");
  const quote = make("blockquote", "", box);
  const way = [trail(place.headings, place.title), place.page && word("page_n", { n: place.page }), place.block === "table_row" && place.anchor];
  if (way.some(Boolean)) {
    const exact = /^https?:.*#/i.test(place.url || "") ? place.url : "";
    linked(way.filter(Boolean).join(" · "), exact, make("p", "", quote, "soft way"));
  }
  if (place.intro) show(quoted("p", "", quote, "intro"), place.intro);
  showWords(place, quote);
}

/* The words of a citation; a row of a table has a line for each cell. */
export function showWords(place, box) {
  const row = place.block === "table_row", code = place.block === "code";
  const told = make(code ? "pre" : "p", "", box, row ? "cells" : "words");
  const lead = place.lead ? [[place.lead[0] - place.source_start, place.lead[1] - place.source_start]] : [];
  show(told, place.cited_text, lead, "strong", { code, row });
  told.dir = code ? "ltr" : "auto";
}

export function aboutOf(about) {
  if (!about) return "";
  const day = about.saved ? "" : (about.date || "").split("T")[0]; // a copy's day would read as the text's
  const told = [about.author, day, about.version && `${word("version")} ${about.version}`, about.recognized && word("recognized")];
  return told.filter(Boolean).join(" · ");
}

/* The words of the question that are not there, behind what says so. */
export function showMissing(box, key, words) {
  say(make("span", "", box), key);
  box.append(" ");
  quoted("bdi", words.join(word("comma")), box);
}

/* The closest passages: the first ones complete, each other as a line that opens. Returns whether there are any. */
export function showPassages(list, passages, complete = 1) {
  list.replaceChildren();
  for (const [at, passage] of passages.entries()) {
    const opens = at >= complete;
    const item = make("li", "", list, "card"), box = opens ? make("details", "", item) : item;
    const title = opens ? make("summary", "", box, "title") : press("", make("h4", "", box), "title", () => openPassage(passage, title));
    put(title, passage.title || passage.source_id).dir = "auto";
    const way = [trail(passage.headings, passage.title), passage.page !== null && word("page_n", { n: passage.page })];
    showPath(passage, opens ? title : box, opens ? "span" : "p");
    if (way.some(Boolean)) quoted(opens ? "span" : "p", way.filter(Boolean).join(" · "), opens ? title : box, "soft way");
    if (passage.outdated !== undefined)
      showMissing(make(opens ? "span" : "p", "", opens ? title : box, "soft way"), passage.outdated ? "replaced" : "outdated", [passage.outdated]);
    if (opens) glimpse(passage, quoted("span", "", title, "soft glimpse"));
    show(quoted("p", "", box, "words"), passage.text, passage.marked, "strong", { best: passage.best });
    if (passage.missing?.length) showMissing(make("p", "", box, "soft"), "missing", passage.missing);
    const links = make("p", "", box, "soft row");
    if (opens) say(press("", links, "quiet", event => openPassage(passage, event.currentTarget)), "in_document");
    if (/^https?:/i.test(passage.url || "")) say(linked("", passage.url, links), "original");
  }
  return passages.length > 0;
}

/* The passages of which nothing is cited. */
export function uncited(passages, citations) {
  const overlaps = (near, one) =>
    near.source_id === one.source_id && near.source_start < one.source_end && one.source_start < near.source_end;
  return passages.filter(near => !citations.some(one => overlaps(near, one)));
}

/* The best sentence of a passage, or what is around the most matches, on one line. Stretches count characters, as documents do, not UTF-16 units. */
function glimpse(passage, box) {
  const letters = Array.from(passage.text), starts = passage.marked.map(([start]) => start);
  const matches = from => starts.filter(at => at >= from && at < from + 120).length;
  const first = starts.reduce((best, at) => matches(at) > matches(best) ? at : best, starts[0] ?? 0);
  const before = letters.slice(Math.max(0, first - 40), first).join("").split("\n").at(-1);
  const from = passage.best?.[0] ?? first - Array.from(before).length;
  const marks = passage.marked.filter(([start]) => start >= from).map(([start, end]) => [start - from, end - from]);
  show(box, letters.slice(from, from + 160).join(""), marks, "strong");
}

const openPassage = (passage, from) => openSource({ ...passage, cited_text: passage.text }, from);

let preview = null;

/* Put the preview above its marker, or below where it would cover the bar at the top. */
function beside(chip) {
  if (!preview || !chip.hasAttribute("aria-describedby")) return;
  const at = chip.getBoundingClientRect(), own = preview.getBoundingClientRect();
  const left = Math.min(Math.max(8, at.left + at.width / 2 - own.width / 2), innerWidth - own.width - 8);
  const above = at.top - $("top").getBoundingClientRect().bottom > own.height + 12;
  preview.style.left = `${left + scrollX}px`;
  preview.style.top = `${(above ? at.top - own.height - 6 : at.bottom + 6) + scrollY}px`;
}

/* Show what a marker cites while it is pointed at or focused; `find` gives the place, or nothing yet. */
export function previewed(chip, find) {
  const open = () => {
    close();
    const place = find();
    if (!place) return;
    preview = make("div", "", document.body, "preview");
    preview.id = "preview";
    preview.setAttribute("role", "tooltip");
    quoted("p", place.title || place.source_id, preview, "title");
    showPath(place, preview);
    const way = trail(place.headings, place.title);
    if (way) quoted("p", way, preview, "soft");
    const short = pieces(place.cited_text || "").map(([words]) => words).join("").trim();
    quoted("p", short.length > 280 ? `${short.slice(0, 279)}…` : short, preview);
    chip.setAttribute("aria-describedby", "preview");
    beside(chip);
    addEventListener("scrollend", () => beside(chip), { once: true }); // the focus may have scrolled to the marker
  };
  const close = () => {
    preview?.remove();
    preview = null;
    chip.removeAttribute("aria-describedby");
  };
  chip.addEventListener("pointerenter", event => { if (event.pointerType === "mouse") open(); });
  chip.addEventListener("pointerleave", close);
  chip.addEventListener("focus", () => { if (chip.matches(":focus-visible")) open(); });
  chip.addEventListener("blur", close);
  chip.addEventListener("click", close);
  chip.addEventListener("keydown", event => { if (event.key === "Escape" && preview) { close(); event.stopPropagation(); } });
}

export const closePreview = () => $("preview")?.remove();

/* One more sentence in a list, which is then shown, with what is wrong with it. */
export function showReasons(list, tag, text, flags) {
  list.parentElement.hidden = false;
  const item = make("li", "", list);
  quoted(tag, text, item);
  reasons(flags, item);
}
