// Takes the steps that a test asks for, a line of JSON each, and answers each with a line.

import { createInterface } from "node:readline";

export async function take(steps) {
  for await (const line of createInterface({ input: process.stdin })) {
    const { do: name, ...fields } = JSON.parse(line);
    let answer;
    try {
      answer = { ok: (await steps[name](fields)) ?? null };
    } catch (error) {
      answer = { failed: String(error?.stack ?? error) };
    }
    console.log(JSON.stringify(answer));
  }
  process.exit(0);
}
