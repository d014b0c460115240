// Node's usual client of WebSockets, told what to do line by line.
import WebSocket from "ws";
import { take } from "./steps.mjs";

let socket;
let frames = [];
let look = () => {};

const steps = {
  open({ url, headers, subprotocols }) {
    frames = [];
    socket = new WebSocket(url, subprotocols ?? [], { headers });
    socket.on("message", (data) => {
      frames.push(data.toString());
      look();
    });
    socket.on("close", () => look());
    return new Promise((resolve, reject) => {
      socket.on("open", () => resolve(101));
      socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode));
      socket.on("error", reject);
    });
  },
  say({ frame }) {
    socket.send(JSON.stringify(frame));
  },
  until({ text = '"DONE"', times = 1 }) {
    return new Promise((resolve) => {
      look = () => {
        const ends = frames.flatMap((frame, at) => (frame.includes(text) ? [at] : []));
        const broken = socket.readyState === WebSocket.CLOSED;
        if (ends.length < times && !broken) return;
        look = () => {}; // frames that come before the next look stay
        const count = ends.length < times ? frames.length : ends[times - 1] + 1;
        resolve({ frames: frames.splice(0, count), broken: ends.length < times });
      };
      look();
    });
  },
  close() {
    socket.close();
  },
};

await take(steps);
