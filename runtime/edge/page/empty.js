/* The page before the first question: what it is for, what the index holds, and questions that its documents ask themselves. */

import { $, make, press, quoted } from "./dom.js";
import { read } from "./api.js";
import { languageName, listed, number, say } from "./speech.js";
import { ask } from "./conversation.js";
import { openSource } from "./panel.js";
import { showPath } from "./sources.js";

const MOST = 6;

export async function showEmpty() {
  const box = $("empty");
  box.replaceChildren();
  box.hidden = false;
  say(make("h2", "", box, "lead"), "lead");
  let held;
  try { held = await read("/v1/examples"); } catch (refused) { return; }
  if (box.hidden || box.children.length > 1) return;
  const languages = listed(Object.keys(held.languages).filter(code => code !== "und").map(languageName));
  say(make("p", "", box, "soft"), "holds", { n: number(held.documents), languages });
  const mine = document.documentElement.lang;
  const examples = [...held.examples].sort((a, b) => (b.language === mine) - (a.language === mine)).slice(0, MOST);
  if (examples.length) {
    say(make("h3", "", box), "examples");
    const list = make("ul", "", box, "examples");
    for (const each of examples) {
      const button = press("", make("li", "", list), "example", () => ask(each.question));
      quoted("span", each.question, button).lang = each.language;
    }
  } else if (held.titles.length) {
    say(make("h3", "", box), "documents");
    const list = make("ul", "", box, "examples");
    for (const each of held.titles) {
      const button = press("", make("li", "", list), "example", () => openSource(each, button));
      quoted("span", each.title, button);
      showPath(each, button, "span");
    }
  }
}
