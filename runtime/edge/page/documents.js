/* The list of documents, searched and filtered here, what the index has left out, and which questions found no answer. */

import { $, make, press, put, quoted } from "./dom.js";
import { read, sentence } from "./api.js";
import { askOnly } from "./conversation.js";
import { openSource } from "./panel.js";
import { showPath } from "./sources.js";
import { day, languageName, number, say, word } from "./speech.js";

const MOST = 100, PAGES = 5;
const folderOf = id => id.split("/").slice(0, -1).join("/");
const typeOf = id => id.match(/\.([A-Za-z0-9]{1,8})$/)?.[1].toLowerCase() || "";
/* A path filter for one file or folder: its signs of patterns stand for themselves, and its first name is at the top. */
const only = path => `/${path.replace(/[[*?]/g, "[$&]")}`;

export async function showDocuments() {
  $("documents").replaceChildren();
  const box = make("div", "", $("documents")), sources = [];
  say(make("h1", "", box, "asked"), "all_documents");
  const state = make("div", "", box, "soft"), filters = make("div", "", box, "row filters");
  filters.setAttribute("role", "search");
  const search = make("input", "", filters);
  search.type = "search";
  say(search, "search", {}, "aria-label");
  say(search, "search", {}, "placeholder");
  try {
    let after = "";
    do {
      const page = await read(`/v1/sources?limit=1000&after=${encodeURIComponent(after)}`);
      sources.push(...page.items);
      after = page.next;
    } while (after);
  } catch (refused) { return sentence(refused); }
  const folders = sources.flatMap(each => folderOf(each.source_id).split("/").map((name, at, names) => names.slice(0, at + 1).join("/")));
  const folder = choice("folder", folders, filters);
  const type = choice("type", sources.map(each => typeOf(each.source_id)), filters);
  const language = choice("language", sources.map(each => each.language).filter(each => each !== "und"), filters, languageName);
  const here = ask(filters, () => [only(folder.value) + "/**", folder.value]);
  const count = make("p", "", box, "soft"), list = make("ul", "", box, "sources");
  const draw = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = sources.filter(each => (!type.value || typeOf(each.source_id) === type.value)
      && (!language.value || each.language === language.value)
      && (!folder.value || each.source_id.startsWith(`${folder.value}/`))
      && words.every(every => `${each.title} ${each.source_id}`.toLowerCase().includes(every)));
    here.hidden = !folder.value;
    say(count, "of_documents", { n: number(Math.min(shown.length, MOST)), all: number(shown.length) });
    list.replaceChildren();
    for (const source of shown.slice(0, MOST)) {
      const row = make("li", "", list, "card row"), name = make("div", "", row, "grow");
      const title = press("", name, "title", () => openSource(source, title));
      put(title, source.title || source.source_id).dir = "auto";
      showPath(source, name);
      ask(row, () => [only(source.source_id), source.source_id]);
    }
  };
  for (const each of [search, folder, type, language]) each.addEventListener("input", draw);
  draw();
  await showState(state);
  await showUnanswered(state);
  return "";
}

function choice(key, values, box, named = value => value) {
  const made = make("select", "", box), names = [...new Set(values.filter(Boolean))].sort();
  say(made, key, {}, "aria-label");
  made.append(new Option(`${word(key)}: ${word("all")}`, ""), ...names.map(name => new Option(named(name), name)));
  made.hidden = names.length < 2;
  return made;
}

/* A link to a new conversation over a part of the documents. */
function ask(box, part) {
  const link = say(make("a", "", box, "quiet"), "only_here");
  link.href = "/";
  link.dataset.in = "";
  link.addEventListener("click", () => askOnly(...part()));
  return link;
}

/* The age of the index and the files that it has left out; only a key that may administer learns of them. */
async function showState(box) {
  let index;
  try { index = await read("/v1/index"); } catch (refused) { return; }
  say(make("p", "", box), "read_at", { day: day(Date.parse(index.read_at || index.created) / 1000) });
  if (!index.skipped_count) return;
  const skipped = make("details", "", box);
  say(make("summary", "", skipped), "skipped", { n: number(index.skipped_count) });
  const list = make("ul", "", skipped);
  for (const file of index.skipped) {
    const row = make("li", "", list);
    make("bdi", file.name, row).dir = "ltr";
    quoted("span", file.reason, row, "soft reason");
  }
}

/* The questions of the last runs that found no answer, the most frequent first; not those that were answered since. */
async function showUnanswered(box) {
  const last = new Map();
  try {
    for (let next = "", at = 0; next !== null && at < PAGES; at++) {
      const page = await read(`/v1/runs?limit=100${next && `&before=${next}`}`);
      next = page.next;
      for (const run of page.runs) {
        const same = run.question.trim().toLowerCase(), { run: newest, times } = last.get(same) || { run, times: 0 };
        last.set(same, { run: newest, times: times + 1 });
      }
    }
  } catch (refused) { return; }
  const open = [...last.values()].filter(({ run }) => ["closest", "refused"].includes(run.outcome)).sort((a, b) => b.times - a.times);
  if (!open.length) return;
  const part = make("details", "", box);
  say(make("summary", "", part), "unanswered", { n: number(open.length) });
  const list = make("ul", "", part);
  for (const { run, times } of open.slice(0, MOST)) {
    const row = make("li", "", list), link = quoted("a", run.question, row);
    link.href = `/conversations/${encodeURIComponent(run.conversation)}`;
    link.dataset.in = "";
    if (times > 1) make("span", ` × ${number(times)}`, row, "soft");
  }
}
