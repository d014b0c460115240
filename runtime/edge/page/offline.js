/* A run in a file of its own: the answer, and the stages below it, from what the file holds. */

import { $ } from "./dom.js";
import { showRun } from "./run.js";
import { begin } from "./speech.js";
import { Turn } from "./turn.js";

const held = JSON.parse($("held").textContent);
window.fetch = async path => {
  const found = held[path];
  return new Response(JSON.stringify(found ?? {}), { status: found ? 200 : 404, headers: { "Content-Type": "application/json" } });
};
for (const id of ["top", "past", "form", "empty"]) $(id).hidden = true;
begin();
const [path, record] = Object.entries(held)[0];
const turn = new Turn(record.question, $("turns"));
turn.runId = record.run_id;
await turn.show(async () => new Response(null, { status: 204 }));
$("run").hidden = false;
await showRun(path.split("/").pop(), () => true);
for (const link of document.querySelectorAll("a[data-in]")) link.hidden = true;
document.body.dataset.shown = "all";
