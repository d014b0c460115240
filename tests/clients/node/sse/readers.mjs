// Two Node readers of server-sent events, each used as its documentation says; the first argument names one.
import { createInterface } from "node:readline";
import { EventSource } from "eventsource";
import { EventSourceParserStream } from "eventsource-parser/stream";

const DONE = '{"type":"DONE"}';

/** Parses what fetch brings; to come back after a broken connection is left to its user. */
class Parser {
  async open({ method, url, body, last }) {
    const headers = { accept: "text/event-stream", ...(body && { "content-type": "application/json" }) };
    if (last) headers["last-event-id"] = last;
    this.stopped = new AbortController();
    const signal = this.stopped.signal;
    const response = await fetch(url, { method, headers, body: body && JSON.stringify(body), signal });
    if (response.status !== 200) return { status: response.status, body: await response.text() };
    this.events = response.body
      .pipeThrough(new TextDecoderStream())
      .pipeThrough(new EventSourceParserStream())
      .getReader();
    return { status: 200, run_id: response.headers.get("x-run-id") };
  }

  async until({ text = DONE }) {
    const events = [];
    try {
      for (;;) {
        const { done, value } = await this.events.read();
        if (done) break;
        events.push([value.id, value.data]);
        if (value.data.includes(text)) break;
      }
    } catch {
      return { events, broken: true };
    }
    return { events, broken: false };
  }

  close() {
    this.stopped.abort();
  }
}

/** As in a browser: it comes back by itself. A question is a POST, so its fetch asks, and comes back where the answer is. */
class Source {
  open({ method, url, body, last }) {
    this.events = [];
    return new Promise((resolve) => {
      let runId, refusal;
      const again = () => new URL(`/v1/runs/${runId}/events`, url);
      this.source = new EventSource(url, {
        fetch: async (input, init) => {
          const headers = { ...init.headers, ...(last && { "Last-Event-ID": last }) };
          last = undefined; // from here on it knows itself
          const asks = { ...init, headers: { ...headers, "Content-Type": "application/json" }, method, body: JSON.stringify(body) };
          const joins = runId || method === "GET";
          const response = joins ? await fetch(runId ? again() : input, { ...init, headers }) : await fetch(input, asks);
          runId ??= response.headers.get("x-run-id");
          if (!response.ok) refusal = await response.clone().text();
          return response;
        },
      });
      this.source.onopen = () => resolve({ status: 200, run_id: runId });
      this.source.onerror = ({ code }) => code && resolve({ status: code, body: refusal });
      this.source.onmessage = ({ lastEventId, data }) => {
        this.events.push([lastEventId, data]);
        this.look?.();
      };
    });
  }

  until({ text = DONE }) {
    return new Promise((resolve) => {
      this.look = () => {
        const at = this.events.findIndex(([, data]) => data.includes(text));
        if (at < 0) return;
        this.look = undefined;
        resolve({ events: this.events.splice(0, at + 1), broken: false });
      };
      this.look();
    });
  }

  /** Until it has come back once more and was told that there is nothing left. */
  ended() {
    return new Promise((resolve) => {
      if (this.source.readyState === EventSource.CLOSED) return resolve(this.events);
      this.source.addEventListener("error", () => {
        if (this.source.readyState === EventSource.CLOSED) resolve(this.events);
      });
    });
  }

  close() {
    this.source.close();
  }
}

const client = process.argv[2] === "eventsource" ? new Source() : new Parser();
for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, ...fields } = JSON.parse(line);
  let answer;
  try {
    answer = { ok: (await client[name](fields)) ?? null };
  } catch (error) {
    answer = { failed: String(error?.stack ?? error) };
  }
  console.log(JSON.stringify(answer));
}
process.exit(0);
