/* What documents, people and models wrote gets into the page by `put` alone: as text, without what is not seen or turns its order. */

const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu;

export const $ = id => document.getElementById(id);

export function clean(text) {
  return String(text ?? "").replace(/\r\n?|[\u2028\u2029]/g, "\n").replace(HIDDEN, "");
}

export function put(box, text) {
  box.append(clean(text));
  return box;
}

/* A new element with a text; `kind` is its class. */
export function make(tag, text, parent, kind) {
  const made = put(document.createElement(tag), text);
  if (kind) made.className = kind;
  if (parent) parent.append(made);
  return made;
}

/* The same for what somebody else wrote, in whatever direction it reads. */
export function quoted(tag, text, parent, kind) {
  const made = make(tag, text, parent, kind);
  made.dir = "auto";
  return made;
}

export function again(box, text) {
  box.replaceChildren();
  return put(box, text);
}

export function press(label, parent, kind, act) {
  const made = make("button", label, parent, kind);
  made.type = "button";
  if (act) made.addEventListener("click", act);
  return made;
}

/* A link to the web, or to one of our own pages; any other address is not followed. */
export function linked(name, url, parent, kind) {
  const web = /^https?:\/\//i.test(url || ""), own = /^\/(?!\/)/.test(url || "");
  const made = quoted(web || own ? "a" : "span", name, parent, kind);
  if (web || own) {
    made.href = url;
    made.rel = "noopener noreferrer";
    made.target = "_blank";
  }
  return made;
}

/* What is kept of the person's choices; a browser may refuse to keep anything. */
export function keep(store, name, value) {
  try {
    if (value === undefined) return store().getItem(name) || "";
    store().setItem(name, value);
  } catch (blocked) { /* not kept */ }
  return value || "";
}
