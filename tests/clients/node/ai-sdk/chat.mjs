// The AI SDK as a page uses it: `Chat`, the state behind useChat, over DefaultChatTransport, told what to do line by line.
import { Chat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { DefaultChatTransport as Transport5 } from "ai-5";
import { DefaultChatTransport as Transport6 } from "ai-6";
import { take } from "./steps.mjs";

const TRANSPORTS = { 5: Transport5, 6: Transport6, 7: DefaultChatTransport };
const pages = new Map();

/** A page with one chat; what its callbacks were told is kept. */
class Page {
  constructor({ api, id, body, headers, messages }) {
    this.data = [];
    this.finished = [];
    this.pending = undefined;
    this.chat = new Chat({
      id,
      messages,
      transport: new DefaultChatTransport({ api, body, headers }),
      onData: (part) => this.data.push(part),
      onFinish: ({ isAbort, isDisconnect, isError, finishReason }) =>
        this.finished.push({ isAbort, isDisconnect, isError, finishReason }),
    });
  }

  get state() {
    const { status, error, messages } = this.chat;
    return { status, error: error?.message, code: error?.statusCode, messages, data: this.data, finished: this.finished };
  }

  /** Until the page shows this text, or the answer has ended. */
  shown(text) {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (JSON.stringify(this.chat.lastMessage?.parts ?? []).includes(text)) return resolve(this.state);
        if (this.chat.status === "error") reject(this.chat.error);
      };
      this.chat["~registerMessagesCallback"](look);
      this.chat["~registerErrorCallback"](look);
      look();
    });
  }
}

const steps = {
  open({ page, ...init }) {
    pages.set(page, new Page(init));
  },
  send({ page, text, ...options }) {
    const { chat } = pages.get(page);
    pages.get(page).pending = chat.sendMessage(text === undefined ? undefined : { text }, options);
  },
  regenerate({ page }) {
    pages.get(page).pending = pages.get(page).chat.regenerate();
  },
  resume({ page }) {
    pages.get(page).pending = pages.get(page).chat.resumeStream();
  },
  shown: ({ page, text }) => pages.get(page).shown(text),
  async stop({ page }) {
    await pages.get(page).chat.stop();
    return pages.get(page).state;
  },
  async ended({ page }) {
    await pages.get(page).pending;
    return pages.get(page).state;
  },
  /** Every chunk as a version's own transport checked it. */
  async chunks({ version, api, text, body }) {
    const transport = new TRANSPORTS[version]({ api, body });
    const messages = [{ id: "m1", role: "user", parts: [{ type: "text", text }] }];
    const stream = await transport.sendMessages({ chatId: "c1", messages, trigger: "submit-message" });
    const chunks = [];
    for await (const chunk of stream) chunks.push(chunk);
    return chunks;
  },
};

await take(steps);
