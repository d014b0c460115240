// What a test asks of the AI SDK's OpenAI provider, whose default is /v1/responses: `responses.mjs BASE`, one JSON object back.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";

const base = process.argv[2];
const openai = createOpenAI({ baseURL: base, apiKey: "none" });
const model = openai("general");
const common = { model, maxRetries: 0, onError: () => {} };

async function ask() {
  const first = await generateText({ ...common, system: "You are a pirate.", prompt: "cite" });
  // The provider sends what it has from us as references to its items.
  const messages = [
    { role: "user", content: "cite" },
    ...first.response.messages,
    { role: "user", content: "near" },
  ];
  const second = await generateText({ ...common, messages });
  const third = await generateText({
    ...common,
    prompt: "refuse",
    providerOptions: { openai: { previousResponseId: first.providerMetadata.openai.responseId } },
  });
  return { first: first.text, second: second.text, third: third.text, id: second.providerMetadata.openai.responseId };
}

async function stream() {
  const result = streamText({ ...common, prompt: "cite" });
  const deltas = [];
  for await (const delta of result.textStream) deltas.push(delta);
  return { deltas, finish: await result.finishReason };
}

async function cite() {
  const whole = await generateText({ ...common, prompt: "cite" });
  const streamed = streamText({ ...common, prompt: "cite" });
  await streamed.consumeStream();
  return [whole.sources, await streamed.sources].map((sources) => sources.map(({ url, title }) => ({ url, title })));
}

async function cancel() {
  const controller = new AbortController();
  const result = streamText({ ...common, prompt: "hang", abortSignal: controller.signal });
  let left;
  for await (const part of result.fullStream) {
    if (part.type === "text-start") left = part.providerMetadata.openai.itemId;
    if (part.type === "text-delta") break;
  }
  controller.abort();
  return { left };
}

async function error() {
  const told = (error) => ({ status: error.statusCode, message: error.message });
  let streamed;
  const failing = streamText({ ...common, prompt: "fail", onError: ({ error }) => (streamed = error.message) });
  await failing.consumeStream();
  const withdrawn = await generateText({ ...common, prompt: "withdraw" });
  return {
    missing: await generateText({ ...common, model: openai("gpt-9"), prompt: "hello" }).catch(told),
    failed: await generateText({ ...common, prompt: "fail" }).catch(told),
    streamed,
    withdrawn: { text: withdrawn.text, finish: withdrawn.finishReason },
  };
}

const said = {};
for (const [name, run] of Object.entries({ ask, stream, cite, cancel, error })) said[name] = await run();
console.log(JSON.stringify(said));
