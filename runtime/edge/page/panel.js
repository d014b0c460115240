/* A source beside the answer, or over it where there is no room: its text around the cited place, which is lit. */

import { $, again, linked, make, put, quoted } from "./dom.js";
import { Refused, call, read } from "./api.js";
import { aboutOf, pathOf, showWords } from "./sources.js";
import { pieces, trail } from "./plain.js";
import { say, word } from "./speech.js";

/* How many characters are shown before and after the place. */
const BEFORE = 2500, AFTER = 5000;
let opener = null, shown = 0;

export async function openSource(place, from) {
  const mine = ++shown, body = $("panel-body");
  opener = from;
  again($("panel-title"), place.title || place.source_id);
  again($("panel-path"), pathOf(place));
  const links = again($("panel-links"), ""), box = document.createElement("div");
  box.className = "document";
  body.replaceChildren();
  $("panel").hidden = false;
  document.body.classList.add("reading");
  fit();
  $("panel-title").focus();
  const about = aboutOf(place.about);
  const way = [trail(place.headings, place.title), place.page && word("page_n", { n: place.page }), about];
  if (way.some(Boolean)) quoted("p", way.filter(Boolean).join(" · "), body, "soft");
  body.append(box);
  const { source_start: start, source_end: end } = place;
  const query = start === undefined ? "" : `?start=${Math.max(0, start - BEFORE)}&end=${end + AFTER}`;
  const id = encodeURIComponent(place.source_id);
  try {
    const source = await read(`/v1/sources/${id}${query}`);
    if (mine !== shown) return;
    const [page, ticket] = await addresses(id, start, end);
    if (mine !== shown) return;
    say(linked("", page, links), "whole");
    if (/^https?:/i.test(source.url || "")) say(linked("", source.url, links), "original");
    else if (source.original) say(linked("", `${source.original}${ticket ? `?ticket=${ticket}` : ""}`, links), "original");
    if (!source.pages || !await showPages(page, place, box)) showText(source, start, end, box);
  } catch (refused) {
    if (mine !== shown) return;
    if (/^https?:/i.test(place.url || "")) say(linked("", place.url, links), "original");
    if (!(refused instanceof Refused && [403, 404].includes(refused.status))) quoted("p", refused.message, box, "problem");
    if (place.cited_text) showWords(place, make("blockquote", "", box));
  }
}

/* Where the source's own page is, and the ticket in it: a browser sends no key with a link. */
async function addresses(id, start, end) {
  const place = start === undefined ? "" : `?start=${start}&end=${end}`, page = `/sources/${id}${place}`;
  if (!$("key").value) return [page, ""];
  const response = await call(`/v1/sources/${id}/link${place}`, { method: "POST" });
  const url = response.ok ? (await response.json()).url : page;
  return [url, new URL(url, location.origin).searchParams.get("ticket") || ""];
}

/* A document of pages as its own page shows it, at the cited one; false where that page cannot be shown. */
async function showPages(page, place, box) {
  const there = await fetch(page, { method: "HEAD" });
  if (!there.ok || !there.headers.get("Content-Type")?.startsWith("text/html")) return false;
  const frame = make("iframe", "", box, "pages");
  frame.title = place.title || place.source_id;
  const framed = new URL(page, location.origin);
  framed.searchParams.set("framed", "true");
  frame.src = framed.pathname + framed.search;
  return true;
}

/* The text as it is in the document, in its blocks, with what is cited lit and in view. */
function showText(source, start, end, box) {
  box.lang = source.language || "";
  const letters = Array.from(source.text), edges = new Set([source.start, source.start + letters.length]);
  const inside = at => at > source.start && at < source.start + letters.length;
  const pages = new Map(source.page_starts || []);
  for (const at of pages.keys()) if (inside(at)) edges.add(at);
  for (const at of [start, end]) if (inside(at)) edges.add(at);
  for (const block of source.blocks || []) for (const at of [block.start, block.end]) if (inside(at)) edges.add(at);
  const order = [...edges].sort((a, b) => a - b);
  const blocks = (source.blocks || []).map(block => [block, null]);
  let first = null;
  if (source.start > 0) make("p", "…", box, "soft");
  for (let n = 0; n + 1 < order.length; n++) {
    const text = letters.slice(order[n] - source.start, order[n + 1] - source.start).join("");
    if (pages.has(order[n])) say(make("p", "", box, "soft page"), "page_n", { n: pages.get(order[n]) });
    if (!text.trim()) continue;
    const found = blocks.find(([block]) => block.start <= order[n] && order[n] < block.end);
    let at = found?.[1];
    if (!at) {
      const kind = found?.[0].kind || "prose";
      at = quoted(kind === "heading" ? "h3" : kind === "code" ? "pre" : "p", "", box, kind);
      if (found) found[1] = at;
    }
    const words = pieces(text, [], { code: at.tagName === "PRE" }).map(([piece]) => piece).join("");
    const lit = start !== undefined && order[n] >= start && order[n] < end;
    if (lit) {
      const mark = make("mark", words, at);
      first ??= mark;
    } else put(at, words);
  }
  if (source.start + letters.length < source.characters) make("p", "…", box, "soft");
  const body = $("panel-body"); // it alone scrolls: the answer stays where it is
  if (first) body.scrollTop += first.getBoundingClientRect().top - body.getBoundingClientRect().top - body.clientHeight / 4;
}

export function closePanel() {
  if ($("panel").hidden) return;
  shown++;
  $("panel").hidden = true;
  document.body.classList.remove("reading");
  fit();
  if (opener?.isConnected) opener.focus();
  opener = null;
}

/* Where the panel covers the page, what it covers is out of reach. */
function fit() {
  const covers = !$("panel").hidden && matchMedia("(max-width: 64rem)").matches;
  for (const id of ["top", "past", "main"]) $(id).inert = covers;
}

export function beginPanel() {
  $("panel-close").addEventListener("click", closePanel);
  $("panel").addEventListener("keydown", event => { if (event.key === "Escape") closePanel(); });
  matchMedia("(max-width: 64rem)").addEventListener("change", fit);
}
