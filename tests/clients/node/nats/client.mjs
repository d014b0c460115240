// NATS's client for Node, told what to do line by line.
import { jetstream } from "@nats-io/jetstream";
import { connect, createInbox } from "@nats-io/transport-node";
import { take } from "./steps.mjs";

let client;
let lines = [];
let look = () => {};

const linesOf = (message) => message.string().split("\n").filter(Boolean);

const steps = {
  async open({ url }) {
    const { host, username: user, password: pass } = new URL(url);
    client = await connect({ servers: host, user, pass: decodeURIComponent(pass) });
  },
  async ask({ run_id, question }) {
    lines = [];
    const mine = lines;
    client.subscribe(`gw.event.${run_id}`, {
      callback: (error, message) => {
        if (error) throw error;
        mine.push(...linesOf(message));
        look();
      },
    });
    const asked = JSON.stringify({ type: "question_asked", question });
    await jetstream(client).publish(`gw.question_asked.${run_id}`, asked);
  },
  until({ text = '"DONE"' }) {
    return new Promise((resolve) => {
      look = () => {
        const at = lines.findIndex((line) => line.includes(text));
        if (at >= 0) resolve(lines.splice(0, at + 1).map((line) => JSON.parse(line)));
      };
      look();
    });
  },
  cancel({ run_id }) {
    client.publish(`gw.cancel.${run_id}`);
  },
  async read_back({ run_id, after = 0 }) {
    const inbox = createInbox();
    const found = client.subscribe(inbox);
    const asked = { seq: 1, next_by_subj: `gw.event.${run_id}`, batch: 1000 };
    client.publish("gw.events", JSON.stringify(asked), { reply: inbox });
    const events = [];
    for await (const message of found) {
      if (!message.headers?.has("Gw-First")) break;
      events.push(...linesOf(message).map((line) => JSON.parse(line)));
    }
    return events.slice(after);
  },
  async close() {
    await client.close();
  },
};

await take(steps);
