/* An answer with its sources for the clipboard, as Markdown or as plain text. */

import { plain } from "./plain.js";
import { word } from "./speech.js";

/* What was asked, what was answered, what each number stands for, and what is unverified. */
export function asMarkdown(question, answer, places, doubts = []) {
  const lines = [...places.values()].map(place => `${place.n}. ${named(place)}\n   > ${quoteOf(place).replace(/\n/g, "\n   > ")}`);
  return [`## ${question}`, textual(answer.trim()), lines.join("\n"), textual(unverifiedList(doubts))].filter(Boolean).join("\n\n") + "\n";
}

export function asText(question, answer, places, doubts = []) {
  const words = answer.trim().replace(/^#{1,6} +/gm, "").replace(/\*\*([^*\n]+)\*\*/g, "$1").replace(/`([^`\n]+)`/g, "$1");
  const lines = [...places.values()].map(place => `[${place.n}] ${[place.title || place.source_id, webOf(place)].filter(Boolean).join(", ")}: “${quoteOf(place)}”`);
  return [question, words, lines.join("\n"), unverifiedList(doubts)].filter(Boolean).join("\n\n") + "\n";
}

const unverifiedList = doubts => doubts.length ? [word("unverified"), ...doubts.map(each => `- ${each.text.trim()}`)].join("\n") : "";

/* Outside code, what an answer quotes becomes neither a tag nor a link where the Markdown is shown. */
const textual = answer => answer.split(/(^ {0,3}```[^]*?^ {0,3}```|`[^`\n]+`)/m).map((part, at) => at % 2 ? part : part.replace(/<(?=[a-z/!?])|:(?=\/\/)|\.(?<=www\.)/gi, "\\$&")).join("");
const quoteOf = place => plain(place.cited_text || "", { code: place.block === "code" });
/* An address as others can open it: one of our own with this host. */
const webOf = place => /^https?:/i.test(place.url || "") ? place.url : /^\/(?!\/)/.test(place.url || "") ? location.origin + place.url : "";

function named(place) {
  const title = (place.title || place.source_id).replace(/[[\]\\]/g, "\\$&"), url = webOf(place);
  return url ? `[${title}](<${url.replace(/[<>]/g, encodeURIComponent)}>)` : title;
}

/* Where the browser has no clipboard for pages without TLS, the selection is copied as of old. */
export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const box = document.createElement("textarea"), before = document.activeElement;
  box.value = text;
  box.className = "unseen";
  document.body.append(box);
  box.select();
  document.execCommand("copy");
  box.remove();
  before?.focus();
}
