/* One question with its answer: it shows what arrives, and afterwards what the record knows of it. */

import { $, again, make, press, quoted } from "./dom.js";
import { call, follow, read, refusal, sentence } from "./api.js";
import { Growing } from "./answer.js";
import { asMarkdown, asText, copy } from "./copy.js";
import { offerVerdict } from "./feedback.js";
import { openSource } from "./panel.js";
import { placesOf, previewed, showMissing, showPassages, uncited, showReasons, showSources } from "./sources.js";
import { known, say, seconds, word } from "./speech.js";

/* Failures that cut an answer short; any other error takes back what was shown. */
const CUT_SHORT = ["timeout", "internal", "cancelled", "overloaded", "unavailable", "model_unavailable", "model_too_long",
  "model_rejected", "model_over_quota", "model_malformed"];

/* The words for a stage; those that write an answer, each in a style of its own, are one to a reader. */
export const stageKey = stage => `stages.${stage.startsWith("answer_") ? "answer" : stage}`;

export class Turn {
  constructor(question, list) {
    this.question = question;
    this.text = this.outcome = this.runId = "";
    this.references = [];
    this.places = new Map();
    const id = `turn-${list.children.length + 1}`;
    this.box = make("article", "", list, "turn");
    this.box.setAttribute("aria-labelledby", id);
    this.title = quoted("h2", question, this.box, "asked");
    this.title.id = id;
    this.title.tabIndex = -1;
    this.progress = make("p", "", this.box, "progress");
    this.part("answer", "answer", "div");
    this.growing = new Growing(this.answer, (chip, n) => this.cite(chip, n));
    [this.note, this.verdict] = ["note", "verdict"].map(name => make("p", "", this.box, name));
    this.note.hidden = this.verdict.hidden = true;
    this.part("passages", "passages", "ol");
    this.part("sources", "references", "ol");
    this.part("nearby", "nearby", "ol");
    this.part("unverified", "unverified", "ul");
    this.part("withheld", "withheld", "ul");
    this.actions = make("div", "", this.box, "actions row");
    this.actions.hidden = true;
    this.state("working");
  }

  /* A part of the turn with a heading; it is shown once there is something in it. */
  part(name, key, tag) {
    const section = make("section", "", this.box, `part ${name}-part`), heading = say(make("h3", "", section), key);
    heading.id = `${this.title.id}-${name}`;
    section.setAttribute("aria-labelledby", `${heading.id} ${this.title.id}`);
    section.hidden = name !== "answer";
    this[`${name}Title`] = heading;
    this[name] = make(tag, "", section, name);
    if (tag !== "div") this[name].setAttribute("role", "list");
    return section;
  }

  reveal(name, is = true) { this[name].parentElement.hidden = !is; }

  state(key) {
    this.box.dataset.state = key;
    this.answer.setAttribute("aria-busy", String(key === "working"));
    if (key === "working") say(this.progress, "working");
    else this.progress.hidden = true;
    if (this.box.isConnected) say($("status"), key);
  }

  cite(chip, n) {
    previewed(chip, () => this.places.get(n));
    chip.addEventListener("click", () => {
      const place = this.places.get(n);
      for (const lit of this.box.querySelectorAll(".lit")) lit.classList.remove("lit");
      this.sources.querySelector(`[data-n="${n}"]`)?.classList.add("lit");
      if (place) openSource(place, chip);
    });
  }

  /* Show a run: `open` asks for its events. Resolves when it is over, whatever became of it. */
  async show(open) {
    try {
      const response = await open();
      this.runId ||= response.headers.get("X-Run-Id") || "";
      if (response.ok && response.status !== 204) {
        this.begun?.(this.runId);
        if (this.stopping) this.cancel();
        for await (const event of follow(this.runId, response, lost => say(this.progress, lost ? "again" : "working"))) this.take(event);
      } else if (![204, 410].includes(response.status)) throw await refusal(response);
      this.growing.draw();
      const record = await this.recorded();
      if (record) this.finish(record);
      else this.end();
    } catch (error) {
      this.growing.draw();
      this.reveal("answer", this.growing.text !== "");
      this.complain(sentence(error));
      this.outcome ||= "failed";
      this.state("failed");
    }
  }

  /* The record, or nothing where the key may ask but not read. */
  async recorded() {
    try { return await read(`/v1/runs/${this.runId}`); }
    catch (refused) {
      if (refused.status === 403 && this.growing.text) return null;
      throw refused;
    }
  }

  take(event) {
    switch (event.type) {
      case "token":
        this.growing.add(event.content, event.unverified);
        if (event.unverified_at) this.growing.mark(event.unverified_at);
        break;
      case "references":
        this.references = event.items;
        this.showReferences();
        break;
      case "passages":
        this.showNear(event.items);
        break;
      case "queued": say(this.progress, "queued", { n: event.position }); break;
      case "sources":
        if (event.items.length) say(this.progress, "found", { n: event.items.length });
        break;
      case "withheld": this.withhold(event); break;
      case "verdict":
        this.judge(event);
        break;
      case "stage":
        if (event.status === "start" && known(stageKey(event.stage))) say(this.progress, stageKey(event.stage));
        break;
      case "error":
        this.fail(event);
        break;
    }
  }

  showReferences(citations) {
    this.places = placesOf(this.references, citations);
    showSources(this.sources, this.references, this.places);
    this.reveal("sources", this.references.length > 0);
  }

  showNear(passages) {
    this.box.classList.add("unsure");
    say(this.answerTitle, "no_answer");
    this.near = passages;
    this.reveal("passages", showPassages(this.passages, passages));
  }

  withhold(sentence) { showReasons(this.withheld, "s", sentence.content ?? sentence.text, sentence.flags); }

  fail(event) {
    this.growing.draw();
    if (event.code === "cancelled") {
      this.outcome = "cancelled";
      return;
    }
    this.complain(event.content);
    if (this.growing.text && !CUT_SHORT.includes(event.code)) this.box.classList.add("withdrawn");
  }

  complain(text) {
    again(this.note, text).dir = "auto";
    this.note.className = "note problem";
    this.note.setAttribute("role", "alert");
    this.note.hidden = false;
  }

  judge({ outcome, confidence, re_gate: gate, missing }) {
    if (!outcome || outcome === "cancelled") return;
    this.verdict.replaceChildren();
    const kind = outcome === "failed" ? "bad" : outcome !== "answered" || confidence === "low" ? "warn" : "";
    say(make("span", "", this.verdict, `badge ${kind}`), outcome);
    if (confidence && outcome === "answered") say(make("span", "", this.verdict, "soft"), `sure.${confidence}`);
    if (missing?.length) showMissing(make("span", "", this.verdict, "soft"), "unmentioned", missing);
    if (outcome === "answered" && known(`checks.${gate}`)) say(make("span", "", this.verdict, "soft"), `checks.${gate}`);
    this.verdict.hidden = false;
  }

  /* The record has the last word: on an answer that was stopped, or whose events have expired. */
  finish(record) {
    this.record = record;
    this.outcome = record.outcome || this.outcome;
    this.question = record.question || this.question;
    if (!this.growing.text && record.answer) this.growing.add(record.answer);
    this.growing.mark(record.unverified.map(each => [each.answer_start, each.answer_end]));
    this.unverified.replaceChildren();
    for (const each of record.unverified) showReasons(this.unverified, "span", each.text, each.flags);
    this.judge(record);
    if (!this.references.length) this.references = record.references;
    if (this.outcome === "closest") this.showNear(record.passages);
    else if (this.outcome !== "refused") this.showReferences(record.citations);
    this.reveal("nearby", showPassages(this.nearby, uncited(record.nearby, record.citations), 0));
    if (!this.withheld.children.length) record.withheld.forEach(each => this.withhold(each));
    this.end();
  }

  end() {
    this.growing.draw();
    this.text = this.growing.text;
    const stopped = this.outcome === "cancelled";
    if (stopped) {
      say(this.note, "stopped_note");
      this.note.hidden = false;
      this.reveal("answer", this.text !== "");
    }
    this.act(stopped);
    this.state(stopped ? "stopped" : "done");
  }

  act(stopped) {
    this.actions.replaceChildren();
    if (this.text && !stopped) {
      const doubts = this.record?.unverified || [];
      this.copies("copy", () => asText(this.question, this.text, this.places, doubts));
      this.copies("copy_markdown", () => asMarkdown(this.question, this.text, this.places, doubts));
    }
    this.actions.hidden = false;
    if (!this.record) return;
    const link = say(make("a", "", this.actions, "quiet"), "stages_link");
    link.href = `/runs/${encodeURIComponent(this.runId)}`;
    link.dataset.in = "";
    if (!stopped) offerVerdict(this.runId, this.given, this.actions, text => this.complain(text));
    if (this.record.took_s) make("bdi", seconds(this.record.took_s), this.actions, "soft push");
  }

  copies(key, text) {
    const button = press("", this.actions, "quiet", async () => {
      try {
        await copy(text());
        say($("status"), "copied");
        say(button, "copied");
      } catch (refused) { say($("status"), "not_copied"); }
      setTimeout(() => say(button, key), 2000);
    });
    say(button, key);
  }

  /* Whether there is anything that a follow-up may refer to. */
  get said() { return this.text && !this.box.classList.contains("withdrawn") ? this.text : ""; }

  /* Stop the run, now or as soon as it is known which one it is. */
  async cancel() {
    this.stopping = true;
    if (this.runId) await call(`/v1/runs/${this.runId}/cancel`, { method: "POST" }).catch(() => {});
  }
}
