/* A quote as a reader sees it: without the marks of Markdown and the pipes of tables, with stretches of it set off. */

import { make, put } from "./dom.js";

const TABLE_RULE = /^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?[ \t]*(?:\n|$)/gm;
const RULES = [
  [/^[ \t]*(?:`{3,}|~{3,})[^\n]*(?:\n|$)/gm, ""],
  [TABLE_RULE, ""],
  [/^[ \t]{0,3}(?:#{1,6}[ \t]+|>[ \t]?)+/gm, ""],
  [/[ \t]+#+[ \t]*$/gm, ""],
  [/^[ \t]*[*+-][ \t]+/gm, "• "],
  [/^[ \t]*\|[ \t]*|[ \t]*\|[ \t]*$/gm, ""],
  [/[ \t]*\|[ \t]*/g, " · "],
  [/\n(?:[ \t]*\n)+/g, "\n"],
];
/* Between the cells of a row, which get a line each. */
const CELLS = [/ \| /g, "\n"];
const WRAPPED = /!?\[([^\]\n]*)\]\([^)\s]*\)|(?<![*\w])(\*\*|__)(?=\S)([^*_\n]+?)(?<=\S)\2(?![*\w])|`([^`\n]+)`/g;

/* What is taken out of a text, as [start, end, what stands there instead]; in order, none inside another. */
function cuts(text, row) {
  const found = [];
  for (const [rule, instead] of row ? [CELLS, ...RULES] : RULES)
    for (const match of text.matchAll(rule)) if (match[0]) found.push([match.index, match.index + match[0].length, instead]);
  for (const match of text.matchAll(WRAPPED)) {
    const inside = match[1] ?? match[3] ?? match[4];
    const at = match.index + match[0].indexOf(inside, match[1] !== undefined ? match[0].indexOf("[") + 1 : 1);
    found.push([match.index, at, ""], [at + inside.length, match.index + match[0].length, ""]);
  }
  found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  let end = 0;
  return found.filter(cut => cut[0] >= end && cut[1] > cut[0] && (end = cut[1]));
}

/* The text as pieces [words, whether they are set off, whether they are in the best stretch]. Stretches count characters, as documents do, not UTF-16 units. */
export function pieces(text, stretches = [], { code = false, row = false, best } = {}) {
  const letters = Array.from(text), units = [0];
  for (const letter of letters) units.push(units.at(-1) + letter.length);
  const placed = ([start, end]) => [units[Math.max(0, start)] ?? text.length, units[Math.min(end, letters.length)] ?? text.length];
  const on = stretches.map(placed), lit = best ? [placed(best)] : [];
  const taken = code ? [] : cuts(text, row), found = [];
  const edges = [...new Set([0, text.length, ...on.flat(), ...lit.flat(), ...taken.flatMap(cut => cut.slice(0, 2))])].sort((a, b) => a - b);
  for (let n = 0; n + 1 < edges.length; n++) {
    const from = edges[n], cut = taken.find(([start, end]) => start <= from && from < end);
    const words = cut ? (cut[0] === from ? cut[2] : "") : text.slice(from, edges[n + 1]);
    const within = ([start, end]) => start <= from && from < end;
    if (words) found.push([words, on.some(within), lit.some(within)]);
  }
  return found;
}

export const plain = (text, options) => pieces(text, [], options).map(([words]) => words).join("").trim();

/* Put the pieces into a box, those set off in a tag. */
export function show(box, text, stretches, tag, options = {}) {
  const found = pieces(text, stretches, options);
  if (found.length) {
    found[0][0] = found[0][0].trimStart();
    found.at(-1)[0] = found.at(-1)[0].trimEnd();
  }
  let mark = null;
  for (const [words, on, lit] of found) {
    if (!words) continue;
    const into = lit ? mark ??= make("mark", "", box) : box;
    if (on) make(tag, words, into);
    else put(into, words);
  }
  return box;
}

/* The headings that lead to a place, below the title of its document. */
export function trail(headings, title) {
  const all = headings || [];
  return (all[0] === title ? all.slice(1) : all).map(each => plain(each)).join(" › ");
}
