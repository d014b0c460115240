/* Where the page begins: which view an address shows, and what stands around the views. */

import { $, again, keep } from "./dom.js";
import { call, refusal, sentence } from "./api.js";
import { beginConversation, begunHere, clear, reopen } from "./conversation.js";
import { showDocuments } from "./documents.js";
import { showEmpty } from "./empty.js";
import { beginPanel, closePanel } from "./panel.js";
import { beginPast, loadPast, mark, showPast } from "./past.js";
import { showRun } from "./run.js";
import { begin } from "./speech.js";

const ADDRESS = /^\/(?:(conversations|runs)\/([A-Za-z0-9_-]{1,64})|(documents))$/;

function complain(text) {
  again($("problem"), text);
  $("problem").hidden = !text;
}

/* Show what the address names. */
async function show() {
  const [, of, id, whole] = location.pathname.match(ADDRESS) || [], view = of || whole;
  const old = location.hash.match(/^#([A-Za-z0-9_-]{1,64})$/);
  complain("");
  showPast(false);
  mark(location.pathname);
  $("talk").hidden = view === "runs" || view === "documents";
  $("run").hidden = view !== "runs";
  $("documents").hidden = view !== "documents";
  if (view === "documents") {
    closePanel();
    complain(await showDocuments());
  } else if (view === "runs") {
    closePanel();
    complain(await showRun(id));
  } else if (view || (old && old[1] !== "question")) {
    complain(await reopen(id || old[1]));
  } else {
    clear();
    $("question").focus({ preventScroll: true });
    await showEmpty();
  }
}

async function go(path) {
  history.pushState(null, "", path);
  const shown = show();
  if (location.pathname !== "/") $("main").scrollIntoView();
  await shown;
}

/* A link within the page changes the view; with a key held it opens as any link. */
document.addEventListener("click", event => {
  const link = event.target.closest?.("a[data-in]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  go(new URL(link.href).pathname);
});
window.addEventListener("popstate", show);

async function loadProfiles() {
  try {
    const response = await call("/v1/models?offered=true");
    if (!response.ok) throw await refusal(response);
    const names = (await response.json()).data.map(model => model.id);
    $("profile").replaceChildren(...names.map(name => new Option(name, name, name === "general", name === "general")));
    complain("");
  } catch (error) { complain(sentence(error)); return false; }
  return true;
}

/* Everything again, with another key; what was asked meanwhile stays. */
async function enter() {
  if (!await loadProfiles()) return $("key").focus();
  loadPast();
  if (!begunHere()) await show();
}

begin();
beginPanel();
beginPast();
beginConversation({
  address: id => { history.replaceState(null, "", `/conversations/${id}`); },
  changed: () => loadPast(),
});
$("voice").value = keep(() => localStorage, "voice") || "strict";
$("voice").addEventListener("change", () => keep(() => localStorage, "voice", $("voice").value));
$("key").value = keep(() => sessionStorage, "key");
$("key-part").addEventListener("submit", event => { event.preventDefault(); $("question").focus(); });
$("key").addEventListener("change", enter);
enter();
