// What a test asks of the AI SDK over /v1/chat/completions: `chat.mjs BASE`, one JSON object back.
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, streamText } from "ai";

const baseURL = process.argv[2];
const options = { baseURL, apiKey: "none" };
const compatible = createOpenAICompatible({ name: "groundwire", ...options });
const openai = createOpenAI(options);
const maxRetries = 0;
const quiet = { onError: () => {} };

async function ask() {
  const first = await generateText({ model: compatible("general"), prompt: "cite", maxRetries });
  const second = await generateText({
    model: compatible("general"),
    messages: [{ role: "user", content: "cite" }, ...first.response.messages, { role: "user", content: "refuse" }],
    maxRetries,
  });
  return { first: first.text, second: second.text, finish: first.finishReason };
}

async function stream() {
  const { textStream } = streamText({ model: compatible("general"), prompt: "cite", maxRetries, ...quiet });
  const pieces = [];
  for await (const piece of textStream) pieces.push(piece);
  return pieces;
}

async function cite() {
  const model = openai.chat("general");
  const whole = await generateText({ model, prompt: "cite", maxRetries });
  const streamed = await streamText({ model, prompt: "cite", maxRetries, ...quiet }).sources;
  const near = await generateText({ model, prompt: "near", maxRetries });
  const other = await generateText({ model: compatible("general"), prompt: "cite", maxRetries });
  const of = (sources) => sources.map(({ sourceType, url, title }) => ({ sourceType, url, title }));
  return { whole: of(whole.sources), streamed: of(streamed), near: of(near.sources), compatible: of(other.sources) };
}

async function cancel() {
  const leaving = new AbortController();
  const { textStream } = streamText({
    model: compatible("general"), prompt: "leave", abortSignal: leaving.signal, maxRetries, ...quiet,
  });
  for await (const piece of textStream) {
    if (piece) break;
  }
  leaving.abort();
  return true;
}

async function error() {
  const told = (error) => ({ status: error.statusCode, message: error.message });
  const asked = [{ model: compatible("gpt-9"), prompt: "cite" }, { model: compatible("general"), prompt: "fail" }];
  asked.push({ model: compatible("general"), prompt: "cite", presencePenalty: 1 });
  const said = [];
  for (const each of asked) said.push(await generateText({ ...each, maxRetries }).catch(told));
  const { fullStream } = streamText({ model: openai.chat("general"), prompt: "fail", maxRetries, ...quiet });
  for await (const part of fullStream) if (part.type === "error") said.push({ message: part.error.message ?? String(part.error) });
  return said;
}

const said = {};
for (const [name, run] of Object.entries({ ask, stream, cite, cancel, error })) said[name] = await run();
console.log(JSON.stringify(said));
