// What a test asks of OpenAI's client at /v1/chat/completions: `chat.mjs BASE`, one JSON object back.
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.argv[2], apiKey: "none", maxRetries: 0 });
const model = "general";
const asking = (content, more = {}) => ({ model, messages: [{ role: "user", content }], ...more });

async function ask() {
  const first = await client.chat.completions.create(asking("cite"));
  const models = [];
  for await (const each of client.models.list()) models.push(each.id);
  return { first: first.choices[0].message.content, models };
}

async function stream() {
  const stream = client.chat.completions.stream(asking("cite"));
  const deltas = [];
  stream.on("content", (delta) => deltas.push(delta));
  return { final: await stream.finalContent(), deltas };
}

async function cite() {
  const whole = await client.chat.completions.create(asking("cite"));
  let streamed = [];
  for await (const chunk of await client.chat.completions.create(asking("cite", { stream: true })))
    streamed = streamed.concat(chunk.choices[0].delta.annotations ?? []);
  return [whole.choices[0].message.annotations, streamed];
}

async function cancel() {
  const stream = await client.chat.completions.create(asking("leave", { stream: true }));
  for await (const chunk of stream) if (chunk.choices[0].delta.content) break;
  stream.controller.abort();
  return true;
}

async function error() {
  const told = (error) => ({ status: error.status, param: error.param, message: error.message });
  const drained = async (stream) => {
    for await (const _ of stream);
  };
  return [
    await client.chat.completions.create({ ...asking("cite"), model: "gpt-9" }).catch(told),
    await client.chat.completions.create(asking("cite", { n: 2 })).catch(told),
    await client.chat.completions.create(asking("fail")).catch(told),
    await client.chat.completions.create(asking("fail", { stream: true })).then(drained).catch(told),
    await client.images.generate({ prompt: "a cat" }).catch(told),
  ];
}

const said = {};
for (const [name, run] of Object.entries({ ask, stream, cite, cancel, error })) said[name] = await run();
console.log(JSON.stringify(said));
