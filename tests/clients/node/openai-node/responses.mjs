// What a test asks of OpenAI's client at /v1/responses: `responses.mjs BASE`, one JSON object back.
import OpenAI from "openai";

const base = process.argv[2];
const client = new OpenAI({ baseURL: base, apiKey: "none", maxRetries: 0 });
const model = "general";

async function ask() {
  const first = await client.responses.create({ model, input: "cite" });
  const second = await client.responses.create({ model, input: "refuse", previous_response_id: first.id });
  const read = await client.responses.retrieve(second.id);
  await client.responses.delete(first.id);
  const gone = await client.responses.retrieve(first.id).catch((error) => error.status);
  return { first: first.output_text, second: read.output_text, gone };
}

async function stream() {
  const stream = client.responses.stream({ model, input: "cite" });
  const deltas = [];
  stream.on("response.output_text.delta", (event) => deltas.push(event.delta));
  return { final: (await stream.finalResponse()).output_text, deltas };
}

async function cite() {
  const { output } = await client.responses.create({ model, input: "cite" });
  return output[0].content[0].annotations;
}

async function cancel() {
  const stream = await client.responses.create({ model, input: "hang", stream: true });
  let left;
  for await (const event of stream) {
    left ??= event.response?.id;
    if (event.type === "response.output_text.delta") break;
  }
  stream.controller.abort();
  const going = await client.responses.create({ model, input: "hang", background: true });
  return { left, cancelled: (await client.responses.cancel(going.id)).status };
}

async function resume() {
  const first = [];
  const stream = await client.responses.create({ model, input: "cite", stream: true, background: true });
  for await (const event of stream) {
    first.push(event);
    if (first.length === 6) break;
  }
  stream.controller.abort();
  const after = { stream: true, starting_after: first.at(-1).sequence_number };
  for await (const event of await client.responses.retrieve(first[0].response.id, after)) first.push(event);
  return { numbers: first.map((event) => event.sequence_number), text: first.map((event) => event.delta ?? "").join("") };
}

async function error() {
  const told = (error) => ({ status: error.status, param: error.param, message: error.message });
  const drained = async (stream) => {
    for await (const _ of stream);
  };
  return [
    await client.responses.create({ model: "gpt-9", input: "hello" }).catch(told),
    await client.responses.create({ model, input: "hello", conversation: "conv_1" }).catch(told),
    await client.responses.create({ model, input: "fail" }).catch(told),
    await client.responses.create({ model, input: "fail", stream: true }).then(drained).catch(told),
  ];
}

const said = {};
for (const [name, run] of Object.entries({ ask, stream, cite, cancel, resume, error })) said[name] = await run();
console.log(JSON.stringify(said));
