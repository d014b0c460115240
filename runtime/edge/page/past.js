/* The list of past conversations, from the journal: each once, by its first question. */

import { $, make, quoted } from "./dom.js";
import { read } from "./api.js";
import { day } from "./speech.js";

let found = new Map(), next = null, first = true;

export function beginPast() {
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
    const page = await read(`/v1/runs?limit=60${first ? "" : `&before=${next}`}`);
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
  for (const [id, { question, at }] of found) {
    const link = quoted("a", question, make("li", "", $("past-list")));
    link.href = `/conversations/${encodeURIComponent(id)}`;
    link.dataset.in = "";
    link.title = day(at);
  }
  $("past-none").hidden = found.size > 0;
  $("past-more").hidden = next === null;
  mark(location.pathname);
}

/* Say which of them is open. */
export function mark(path) {
  for (const link of $("past-list").querySelectorAll("a"))
    if (new URL(link.href).pathname === path) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
}
