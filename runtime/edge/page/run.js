/* The page of a run: what became of it, and its stages on a scale of time, each with its messages, prompts and replies. */

import { $, make, press, quoted } from "./dom.js";
import { read, sentence } from "./api.js";
import { day, known, number, reasons, say, seconds, word } from "./speech.js";
import { stageKey } from "./turn.js";

/* `here`: whether the reader still waits for this run. */
export async function showRun(id, here = () => location.pathname === `/runs/${id}`) {
  const box = $("run");
  box.replaceChildren();
  say($("status"), "working");
  try {
    const [record, trace] = await Promise.all([read(`/v1/runs/${id}`), read(`/v1/runs/${id}/trace`)]);
    if (!here()) return "";
    head(record, box);
    const rows = {};
    showSentences(trace, box, rows);
    say(make("h2", "", box), "stages_title");
    const whole = Math.max(trace.took_s, ...trace.stages.map(stage => (stage.began_s || 0) + (stage.took_s || 0)), 0.001);
    const list = make("ol", "", box, "waterfall");
    for (const stage of trace.stages) {
      const like = trace.stages.filter(each => each.stage === stage.stage);
      rows[stage.stage] = row(id, stage, whole, list, like.length > 1 ? number(like.indexOf(stage) + 1) : "");
    }
  } catch (error) {
    return sentence(error);
  } finally {
    say($("status"), "ready");
  }
  return "";
}

function head(record, box) {
  const back = say(make("a", "", make("p", "", box), "quiet"), "back");
  back.href = `/conversations/${encodeURIComponent(record.conversation || record.run_id)}`;
  back.dataset.in = "";
  quoted("h1", record.question, box, "asked");
  const facts = make("dl", "", box, "facts");
  const fact = (key, text) => {
    if (!text) return;
    const pair = make("div", "", facts);
    say(make("dt", "", pair), key);
    make("bdi", text, make("dd", "", pair));
  };
  fact("outcome", record.outcome ? word(record.outcome) : word("working"));
  fact("confidence", record.confidence && word(record.confidence));
  fact("asked_at", day(record.asked_at));
  fact("took", record.took_s && seconds(record.took_s));
  fact("first_word", record.first_shown_s && seconds(record.first_shown_s));
  fact("profile", record.profile);
  fact("model", record.model);
  fact("tokens", record.tokens_in + record.tokens_out > 0 && `${number(record.tokens_in)} + ${number(record.tokens_out)}`);
  fact("snapshot", record.snapshot);
}

/* The sentences of the answer, each with its flags, the words that it cites and the stage that wrote it; and what was found and not used. */
function showSentences(trace, box, rows) {
  if (trace.sentences.length) say(make("h2", "", box), "sentences");
  const list = make("ul", "", box, "sentences");
  for (const each of trace.sentences) {
    const item = make("li", "", list);
    quoted(each.standing === "withheld" ? "s" : "span", each.text, item);
    reasons(each.flags, item);
    for (const cited of each.cited) {
      const place = make("p", "", item, "soft");
      const link = make("a", `[${cited.n}] ${cited.source_id}`, place);
      if (/^(https?:|\/)/.test(cited.url)) link.href = cited.url;
      quoted("q", cited.text, (place.append(" "), place));
    }
    const open = press("", item, "quiet", () => { rows[each.stage].open = true; rows[each.stage].scrollIntoView(); });
    say(open, stageKey(each.stage));
  }
  const unused = trace.hits.filter(hit => !hit.used);
  if (!unused.length) return;
  say(make("h2", "", box), "unused");
  const others = make("ul", "", box, "sentences");
  for (const hit of unused) {
    const item = make("li", "", others);
    make("bdi", hit.source_id, item);
    const best = trace.best.find(unit => unit.source_id === hit.source_id && unit.start < hit.end && hit.start < unit.end);
    if (best) make("span", ` ${number(best.share, { style: "percent", maximumFractionDigits: 1 })}`, item, "soft");
    quoted("p", hit.text.length > 300 ? `${hit.text.slice(0, 300)}…` : hit.text, item, "soft");
  }
}

/* One stage: its bar stands where it ran; what it did is read once it is opened. */
function row(id, stage, whole, list, nth) {
  const details = make("details", "", make("li", "", list)), summary = make("summary", "", details);
  const name = make("span", "", summary, "stage");
  say(make("span", "", name), known(stageKey(stage.stage)) ? stageKey(stage.stage) : "stages.other");
  if (nth) make("span", ` ${nth}`, name, "soft");
  const scale = make("span", "", summary, "scale");
  if (stage.took_s !== null) {
    const bar = make("span", "", scale, stage.fallback ? "bar fallback" : "bar");
    bar.style.insetInlineStart = `${Math.min(100 * stage.began_s / whole, 99.4)}%`;
    bar.style.width = `${Math.max(100 * stage.took_s / whole, 0.6)}%`;
  }
  make("span", stage.took_s === null ? "" : seconds(stage.took_s), summary, "soft took");
  details.addEventListener("toggle", async () => {
    if (!details.open || details.children.length > 1) return;
    const box = make("div", "", details, "inside");
    say(make("p", "", box, "soft"), "working");
    try { inside(await read(`/v1/runs/${id}/trace/${stage.step}`), box); }
    catch (error) { box.replaceChildren(); make("p", sentence(error), box, "problem"); }
  });
  return details;
}

function inside(step, box) {
  box.replaceChildren();
  make("p", step.lane === "main" ? step.stage : `${step.stage} ${step.lane}`, box, "soft code");
  if (step.fallback) fold(box, "fallback", step.fallback, true);
  for (const ask of step.asks) {
    const told = [ask.prompt, ask.model || ask.engine, seconds(ask.took_s), `${number(ask.tokens_in)} + ${number(ask.tokens_out)}`, ask.cached && word("remembered"), !ask.same_version && word("changed_since")];
    inOrder(told, box);
    if (ask.system) fold(box, "prompt_system", ask.system);
    if (ask.user) fold(box, "prompt_user", ask.user);
    if (ask.failure) fold(box, "failed", ask.failure, true);
    else fold(box, "reply", pretty(ask.reply), true);
  }
  for (const search of step.searches) {
    inOrder([word("stages.retrieve"), search.query, seconds(search.took_s)], box);
    fold(box, "hits", JSON.stringify(search.hits, null, 2));
  }
  for (const each of step.took) fold(box, "took_message", JSON.stringify(each.message, null, 2), false, each.type);
  for (const each of step.gave) fold(box, "gave_message", JSON.stringify(each.message, null, 2), false, each.type);
}

/* Parts in a row, each in its own direction, so that they stand in this order from either side. */
function inOrder(parts, box) {
  const title = make("h3", "", box);
  parts.filter(Boolean).forEach((part, n) => { if (n) title.append(" · "); make("bdi", part, title); });
}

function fold(box, key, text, open = false, name = "") {
  const details = make("details", "", box, "fold"), summary = make("summary", "", details);
  say(make("span", "", summary), key);
  if (name) make("code", name, (summary.append(" "), summary));
  const told = make("pre", text, details);
  told.dir = "auto";
  told.tabIndex = 0;
  say(told, key, {}, "aria-label");
  told.setAttribute("role", "group");
  details.open = open;
}

function pretty(reply) {
  try { return JSON.stringify(JSON.parse(reply), null, 2); }
  catch (prose) { return reply; }
}
