/* The list of past conversations that the page began, from the journal: each once, by its first question or its name.
   The journal keeps every run: names, and what is taken off the list, are known to this browser alone. */

import { $, keep, make, press, quoted } from "./dom.js";
import { read } from "./api.js";
import { exported } from "./conversation.js";
import { day, say, word } from "./speech.js";

let found = new Map(), next = null, first = true;

/* The names given here by conversation; empty for one that was taken off the list. */
function names() {
  try { return JSON.parse(keep(() => localStorage, "names") || "{}"); } catch (broken) { return {}; }
}

function name(id, given) {
  keep(() => localStorage, "names", JSON.stringify({ ...names(), [id]: given }));
  show();
  $("past-list").querySelector("[aria-current]")?.focus();
}

export function beginPast() {
  $("past-search").addEventListener("input", show);
  say($("past-search"), "search", {}, "placeholder");
  $("past-more").addEventListener("click", () => more());
  $("menu").addEventListener("click", () => showPast($("menu").getAttribute("aria-expanded") !== "true"));
  document.addEventListener("keydown", event => {
    if (event.key !== "Escape" || !document.body.classList.contains("listing")) return;
    showPast(false);
    $("menu").focus();
  });
}

export function showPast(is) {
  $("menu").setAttribute("aria-expanded", String(is));
  document.body.classList.toggle("listing", is);
}

export async function loadPast() {
  found = new Map();
  next = null;
  first = true;
  await more();
}

/* A key may not be allowed to read; then there is no list. */
async function more() {
  try {
    const page = await read(`/v1/runs?limit=60&events=all${first ? "" : `&before=${next}`}`);
    next = page.next;
    first = false;
    for (const run of page.runs) {
      const before = found.get(run.conversation);
      found.set(run.conversation, { question: run.question, at: before?.at ?? run.asked_at });
    }
    show();
  } catch (refused) { $("past-list").replaceChildren(); }
}

function show() {
  $("past-list").replaceChildren();
  const given = names(), wanted = $("past-search").value.toLowerCase();
  for (const [id, { question, at }] of found) {
    const title = given[id] ?? question;
    if (!title || !title.toLowerCase().includes(wanted)) continue;
    const link = quoted("a", title, make("li", "", $("past-list")));
    link.href = `/conversations/${encodeURIComponent(id)}`;
    link.dataset.in = "";
    link.title = day(at);
  }
  $("past-none").hidden = $("past-list").children.length > 0 || next !== null;
  $("past-search").hidden = found.size < 2;
  $("past-more").hidden = next === null;
  mark(location.pathname);
}

/* Say which of them is open, and offer what can be done with it. */
export function mark(path) {
  $("past-actions")?.remove();
  for (const link of $("past-list").querySelectorAll("a"))
    if (new URL(link.href).pathname === path) {
      link.setAttribute("aria-current", "page");
      offer(decodeURIComponent(path.split("/")[2]), link);
    } else link.removeAttribute("aria-current");
}

function offer(id, link) {
  const row = make("div", "", link.parentElement);
  row.id = "past-actions";
  const action = (key, act) => say(press("", row, "quiet", act), key);
  action("rename", () => {
    const given = prompt(word("rename"), link.textContent)?.trim();
    if (given) name(id, given);
  });
  action("remove", () => {
    if (!confirm(word("remove_note"))) return;
    name(id, "");
    $("past").querySelector(".new").click();
  });
  action("export", () => {
    const file = document.createElement("a");
    file.href = URL.createObjectURL(new Blob([exported()], { type: "text/markdown" }));
    file.download = `${link.textContent.slice(0, 60).replace(/[^\p{L}\p{N}]+/gu, "-")}.md`;
    file.click();
    setTimeout(() => URL.revokeObjectURL(file.href), 10000);
  });
}
