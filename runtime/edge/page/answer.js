/* The text of an answer: headings, lists, bold, code, its markers [n], [1, 2], [1-3] as buttons that lead to the source, and a mark
   after each sentence that goes beyond its sources. */

import { make, put, press } from "./dom.js";
import { say } from "./speech.js";

const MARKER = /[[［【][\d٠-٩０-９][\d٠-٩０-９\s,،、–-]*[\]］】]/;
/* Where a mark goes, in the text that is drawn. */
const DOUBT = "\ue000";
const INLINE = new RegExp(`(${DOUBT}|\`[^\`\\n]+\`|(?<!\\*)\\*\\*(?![*\\s])[^*\\n]+(?<!\\s)\\*\\*(?!\\*)|${MARKER.source})`);
const ITEM = /^ {0,3}(?:[-*•]|(\d{1,3})[.)]) +(.*)$/;

/* The numbers of a marker in order: a range stands for all of it. */
export function numbers(marker) {
  const ascii = marker.replace(/[٠-٩０-９]/g, digit => digit.charCodeAt(0) % 16).replace(/[[\]［］【】]/g, "");
  const found = [];
  for (const part of ascii.split(/[,،、\s]+/)) {
    const [low, high = low] = part.split(/[–-]/).map(Number);
    for (let n = low; n <= Math.min(high, low + 50); n++) if (n > 0 && !found.includes(n)) found.push(n);
  }
  return found;
}

/* `cite` makes of a button and its number what leads to the source. */
export function showAnswer(text, box, cite) {
  box.replaceChildren();
  let block = null, kind = "", fence = "";
  for (const line of text.split("\n")) {
    const ticks = line.match(/^ {0,3}(`{3,})[^`]*$/);
    if (kind === "code") {
      if (ticks && ticks[1].length >= fence.length && !line.trim().replace(/`/g, "")) kind = "";
      else put(block, `${line.replaceAll(DOUBT, "")}\n`);
      continue;
    }
    const heading = line.match(/^#{1,6} +(.*?)(?: +#+)?$/), item = line.match(ITEM);
    if (ticks) {
      fence = ticks[1];
      kind = "code";
      block = make("code", "", make("pre", "", box));
      block.dir = "ltr";
    } else if (!line.trim()) {
      kind = "";
    } else if (heading) {
      kind = "";
      showLine(heading[1], make("h4", "", box), cite);
    } else if (item) {
      const list = item[1] ? "ol" : "ul";
      if (kind !== list) {
        block = make(list, "", box);
        if (item[1]) block.start = Number(item[1]);
      }
      kind = list;
      showLine(item[2], make("li", "", block), cite);
    } else if (kind === "p") {
      showLine(line, (make("br", "", block), block), cite);
    } else {
      kind = "p";
      block = make("p", "", box);
      showLine(line, block, cite);
    }
  }
  for (const each of box.querySelectorAll("p, li, h4")) each.dir = "auto";
}

function showLine(line, box, cite) {
  const parts = line.split(INLINE).filter(Boolean);
  for (const [at, piece] of parts.entries()) {
    if (piece === DOUBT) doubt(box);
    else if (/^`[^`]+`$/.test(piece)) make("code", piece.slice(1, -1), box).dir = "ltr";
    else if (/^\*\*(?!\s)[^*]+(?<!\s)\*\*$/.test(piece)) make("strong", piece.slice(2, -2), box);
    else if (MARKER.test(piece) && /^[[［【]/.test(piece)) for (const n of numbers(piece)) cite(chip(n, held(box)), n);
    else if (MARKER.test(parts[at + 1] || "")) holding(piece, box);
    else put(box, apart(piece));
  }
}

/* The cells of a row, which some answers copy as they stand in the file. */
const apart = text => text.replace(/ \| /g, " · ");

/* A marker never begins a line: it stays with the end of the word before it. */
function holding(text, box) {
  const last = text.match(/\S{1,12}\s*$/)?.[0] || "";
  put(box, apart(text.slice(0, text.length - last.length)));
  make("span", last, box, "keep");
}

const held = box => box.lastChild?.className === "keep" ? box.lastChild : box;

function chip(n, box) {
  const made = press(String(n), box, "cite");
  made.dataset.n = n;
  return say(made, "citation_n", { n }, "aria-label");
}

function doubt(box) {
  const made = make("span", "?", box, "doubt");
  made.setAttribute("role", "img");
  say(made, "unverified_mark", {}, "title");
  say(made, "unverified_mark", {}, "aria-label");
}

/* An answer that grows: what stands before its last empty line is drawn once, so that a reader's place in it is not lost. */
export class Growing {
  constructor(box, cite) {
    this.cite = cite;
    this.drawn = 0;
    this.text = "";
    this.doubts = [];  // where unverified sentences end
    this.settled = make("div", "", box);
    this.growing = make("div", "", box);
    this.waits = 0;
  }

  add(text, unverified = false) {
    this.text += text;
    if (unverified && this.doubted) this.doubts.pop();
    if (unverified) this.doubts.push(this.text.length);
    this.doubted = unverified;
    this.waits ||= setTimeout(() => this.draw(), 40);
  }

  /* All unverified sentences, as stretches of characters. */
  mark(stretches) {
    const letters = Array.from(this.text);
    const doubts = stretches.map(([, end]) => letters.slice(0, end).join("").length);
    if (String(doubts) === String(this.doubts)) return;
    this.doubts = doubts;
    this.drawn = 0;
    this.settled.replaceChildren();
    this.draw();
  }

  /* A stretch of the text with its marks. */
  marked(start, end) {
    const edges = [start, ...this.doubts.filter(at => start < at && at <= end), end];
    return edges.slice(1).map((at, n) => this.text.slice(edges[n], at).replaceAll(DOUBT, "\ufffd")).join(DOUBT);
  }

  draw() {
    clearTimeout(this.waits);
    this.waits = 0;
    const cut = this.text.lastIndexOf("\n\n") + 2;
    const fences = (this.text.slice(0, cut).match(/^ {0,3}`{3,}/gm) || []).length;
    if (cut > 1 && cut > this.drawn && fences % 2 === 0) {
      const more = document.createElement("div");
      showAnswer(this.marked(this.drawn, cut), more, this.cite);
      this.settled.append(...more.childNodes);
      this.drawn = cut;
    }
    const chips = () => [...this.growing.querySelectorAll(".cite")], focused = chips().indexOf(document.activeElement);
    showAnswer(this.marked(this.drawn, this.text.length), this.growing, this.cite);
    if (focused >= 0) chips()[focused]?.focus({ preventScroll: true });
  }
}
