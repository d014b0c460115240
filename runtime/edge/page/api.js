/* Requests to the service, with the key where one is needed, and the events of a run across broken connections. */

import { $, keep } from "./dom.js";
import { word } from "./speech.js";

/* What the service said is wrong, in its own words. */
export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/* Where a key is needed the page asks for it once it is refused, and keeps it as long as the tab is open. */
export async function call(path, options = {}) {
  const key = $("key").value.trim();
  const sent = key ? { ...options, headers: { ...options.headers, Authorization: `Bearer ${key}` } } : options;
  const response = await fetch(path, sent);
  if (response.status === 401) $("key-part").hidden = false;
  else if (response.ok && key) keep(() => sessionStorage, "key", key);
  return response;
}

export async function read(path) {
  const response = await call(path);
  if (!response.ok) throw await refusal(response);
  return response.json();
}

export async function refusal(response) {
  const told = await response.json().catch(() => ({}));
  return new Refused(response.status, told.detail || told.error?.message || word("away"));
}

/* A failure as a sentence for the person. */
export const sentence = error => error instanceof TypeError ? word("away") : error.message;

export const post = (path, body, accept = "application/json") => call(path, {
  method: "POST",
  headers: { "Content-Type": "application/json", Accept: accept },
  body: body === undefined ? undefined : JSON.stringify(body),
});

/* Server-sent events from a fetch: the standard's own EventSource cannot post. */
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const id = block.match(/^id: (\d+)$/m), data = block.match(/^data: (.*)$/m);
      if (id && data) yield [Number(id[1]), JSON.parse(data[1])];
    }
  }
}

/* Every event of a run once, up to DONE; a broken connection is taken up again. `told` hears whether it is broken. */
export async function* follow(runId, response, told) {
  let last = 0;
  for (let tries = 0; ;) {
    try {
      for await (const [id, event] of eventsOf(response)) {
        last = id;
        tries = 0;
        if (event.type === "DONE") return;
        yield event;
      }
    } catch (lost) { /* read on below */ }
    if (++tries > 60) throw new TypeError("gone");
    told(true);
    await new Promise(resolve => setTimeout(resolve, Math.min(200 * tries, 3000)));
    try { response = await call(`/v1/runs/${runId}/events`, { headers: { "Last-Event-ID": String(last) } }); }
    catch (lost) { response = new Response(""); continue; }
    if (response.status === 204) return;
    if (response.status >= 400 && response.status < 500) throw await refusal(response);
    if (!response.ok) response = new Response("");
    else told(false);
  }
}
