/* The conversation: its questions and answers one below the other, the box for the next one, and its address. */

import { $, again, keep } from "./dom.js";
import { call, post, read, sentence } from "./api.js";
import { asMarkdown } from "./copy.js";
import { closePanel } from "./panel.js";
import { say } from "./speech.js";
import { Turn } from "./turn.js";

/* What goes along of the conversation: its last turns, each within what a request may hold. */
const TURNS = 8, LONGEST = 4000;
let turns = [], began = "", running = null, only = "";
const hooks = { changed: () => {}, address: () => {} };

export function beginConversation(given) {
  Object.assign(hooks, given);
  $("form").addEventListener("submit", event => { event.preventDefault(); ask($("question").value); });
  $("question").addEventListener("keydown", event => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    $("form").requestSubmit();
  });
  $("question").addEventListener("input", grow);
  $("only-not").addEventListener("click", () => { $("question").focus(); askOnly("", ""); });
  $("stop").addEventListener("click", () => { $("question").focus(); running?.cancel(); });
}

/* Answer the next questions from a part of the documents, until the person takes the limit away. */
export function askOnly(path, name) {
  only = path;
  again($("only-name"), name);
  $("only").hidden = !only;
}

function grow() {
  $("question").style.height = "auto";
  $("question").style.height = `${$("question").scrollHeight + 2}px`;
}

function history() {
  return turns.filter(turn => turn.said).slice(-TURNS).flatMap(turn => [
    { role: "user", content: turn.question.slice(0, LONGEST) },
    { role: "assistant", content: turn.said.slice(0, LONGEST) },
  ]);
}

/* Ask the next question; the box keeps the focus, for the one after it. */
export async function ask(question) {
  if (running || !question.trim()) return;
  $("question").value = "";
  grow();
  $("question").focus();
  const before = history(), turn = add(question);
  const body = { question, profile: $("profile").value, events: "all" };
  const voice = keep(() => localStorage, "voice"); // until one is chosen, the service's own
  if (voice) body.voice = voice;
  if (only) body.filter = { path: only };
  if (before.length) body.conversation_history = before;
  if (began) body.conversation = began;
  turn.begun = runId => {
    if (began || !turns.includes(turn)) return;
    began = runId;
    hooks.address(began);
  };
  turn.box.scrollIntoView({ block: "start" });
  await follow(turn, () => post("/v1/runs", body, "text/event-stream"));
  if (!turn.runId) $("question").value ||= question;
  hooks.changed();
}

async function follow(turn, open) {
  running = turn;
  busy(true);
  await turn.show(open);
  if (running !== turn) return;
  running = null;
  busy(false);
}

/* A control that has the focus never goes away under it. */
function busy(is) {
  if (!is && document.activeElement === $("stop")) $("question").focus();
  $("stop").hidden = !is;
  $("ask").setAttribute("aria-disabled", String(is));
}

function add(question) {
  $("empty").hidden = true;
  say($("question"), "follow_up", {}, "placeholder");
  const turn = new Turn(question, $("turns"));
  turns.push(turn);
  return turn;
}

/* The whole conversation as Markdown, with its sources or closest passages. */
export function exported() {
  const near = turn => new Map(turn.near.map((each, at) => [at, { ...each, n: at + 1, cited_text: each.text }]));
  return turns.map(turn => asMarkdown(turn.question, turn.text, turn.near ? near(turn) : turn.places, turn.record?.unverified)).join("\n");
}

/* Whether something was asked here already. */
export const begunHere = () => turns.length > 0;

export function clear() {
  turns = [];
  began = "";
  running = null;
  busy(false);
  closePanel();
  $("turns").replaceChildren();
  say($("question"), "question", {}, "placeholder");
  say($("status"), "ready");
}

/* Show a conversation again: what is over from its records, what still goes on as it comes. */
export async function reopen(id) {
  clear();
  began = id;
  $("empty").hidden = true;
  const runs = [];
  try {
    for (let next = 0; next !== null;) {
      const page = await read(`/v1/runs?limit=100&conversation=${encodeURIComponent(id)}${next ? `&before=${next}` : ""}`);
      runs.push(...page.runs);
      next = page.next;
    }
    if (!runs.length) runs.push({ run_id: id, question: (await read(`/v1/runs/${id}`)).question });
  } catch (error) {
    return sentence(error);
  }
  for (const run of runs.reverse()) {
    if (began !== id) return "";
    const turn = add(run.question);
    turn.runId = run.run_id;
    turn.given = run.verdict;
    if (run.outcome) await turn.show(async () => new Response(null, { status: 204 }));
    else await follow(turn, () => call(`/v1/runs/${run.run_id}/events`));
  }
  return "";
}
