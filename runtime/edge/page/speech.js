/* The page's own words in the language that the person chose. An element remembers what it says, and says it anew in another. */

import { FALLBACK, WORDS } from "./words.js";
import { $, keep, make, quoted } from "./dom.js";

const said = new WeakMap();
let words = WORDS[FALLBACK], language = FALLBACK;

/* The text of a key, `flags.uncited` for one of a group, with its {names} filled in; the key itself where there is none. */
export function word(key, values = {}) {
  const found = key.split(".").reduce((at, step) => at?.[step], words);
  return typeof found === "string" ? found.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all) : key;
}

export const known = key => word(key) !== key;

/* Let an element say a key, as its text or as the value of an attribute. */
export function say(element, key, values = {}, where = "text") {
  said.set(element, { ...said.get(element), [where]: [key, values] });
  element.dataset.said = "";
  tell(element, where, word(key, values));
  return element;
}

function tell(element, where, text) {
  if (where === "text") element.textContent = text;
  else element.setAttribute(where, text);
}

export function speak(chosen) {
  language = chosen;
  words = WORDS[chosen];
  document.documentElement.lang = chosen;
  document.documentElement.dir = words.direction;
  for (const element of document.querySelectorAll("[data-said]"))
    for (const [where, [key, values]] of Object.entries(said.get(element) || {})) tell(element, where, word(key, values));
  $("ui").value = chosen;
}

export const number = (n, options = {}) => new Intl.NumberFormat(language, { maximumFractionDigits: 0, ...options }).format(n);
const unit = (n, name, digits) => number(n, { style: "unit", unit: name, maximumFractionDigits: digits });
export const seconds = s => s < 1 ? (s > 0 && s < 0.001 ? "<" : "") + unit(Math.max(s * 1000, s && 1), "millisecond", 0) : unit(s, "second", 1);
export const day = s => new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" }).format(new Date(s * 1000));
export const languageName = code => new Intl.DisplayNames([language], { type: "language" }).of(code);
export const listed = names => new Intl.ListFormat(language).format(names);

/* Fill in the document's own texts, and offer the languages. */
export function begin() {
  for (const element of document.querySelectorAll("[data-t]")) say(element, element.dataset.t);
  for (const element of document.querySelectorAll("[data-t-label]")) say(element, element.dataset.tLabel, {}, "aria-label");
  for (const [code, of] of Object.entries(WORDS)) {
    const option = new Option(of.name, code);
    option.lang = code;
    $("ui").append(option);
  }
  $("ui").addEventListener("change", () => { speak($("ui").value); keep(() => localStorage, "ui", $("ui").value); });
  const kept = keep(() => localStorage, "ui");
  speak([kept, ...navigator.languages.map(each => each.slice(0, 2))].find(each => each in WORDS) || FALLBACK);
}

/* Why a sentence did not pass: a line for each flag, with the words that it is about. */
export function reasons(flags, item) {
  for (const flag of flags) {
    const why = make("p", "", item, "soft");
    say(make("span", "", why), known(`flags.${flag.kind}`) ? `flags.${flag.kind}` : "flags.other");
    if (flag.words) quoted("q", flag.words, (why.append(" "), why));
  }
}
