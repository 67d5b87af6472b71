/* The wire to the studio: requests, and one socket that comes back by itself. */

import { decodeFrame } from "./frames.js";
import { sentence } from "./words.js";

const SILENT = "The studio does not answer. Is its command still running?";
const FORGOTTEN = "The studio does not know this page any more. Open the address that its command printed.";
const MOST_BYTES = 60000; // of all that outlives the page; browsers allow 64 KiB
const WAITS = [0.3, 0.6, 1, 2, 4, 8]; // seconds before the next try, the last for ever

/** What the studio refused, in its own words. */
export class Refusal extends Error {
  constructor(words, status) {
    super(sentence(words));
    this.status = status;
  }
}

async function send(path, options) {
  let answer;
  try {
    answer = await fetch(path, { credentials: "same-origin", cache: "no-store", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(SILENT, 0);
  }
  if (answer.ok) return answer;
  if (answer.status === 401) throw new Refusal(FORGOTTEN, 401);
  const said = await answer.json().catch(() => ({}));
  throw new Refusal(said.error ?? `The studio answered ${answer.status} to ${path.split("?")[0]}.`, answer.status);
}

/** Return what the studio says at a path; `query` are its parameters. */
export async function ask(path, query = {}) {
  const text = new URLSearchParams(query).toString();
  return (await send(text ? `${path}?${text}` : path, {})).json();
}

/** Return a binary frame, decoded. */
export async function askFrame(path, query = {}) {
  return decodeFrame(await (await send(`${path}?${new URLSearchParams(query)}`, {})).arrayBuffer());
}

/** Return a file that the studio makes. */
export async function askFile(path) {
  return (await send(path, {})).blob();
}

/** Say whether requests with these bodies go on when the page is closed. */
export function canOutlive(bodies) {
  return bodies.reduce((sum, body) => sum + new Blob([JSON.stringify(body)]).size, 0) < MOST_BYTES;
}

/** Hand something in; the answer comes when the studio has done with it. */
export async function tell(path, body, signal) {
  const answer = await send(path, {
    method: "POST", signal, keepalive: !signal && canOutlive([body]), headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  return answer.json().catch(() => ({}));
}

/** The socket: `hear` takes messages and frames, `notice` whether it is open and how long until it is tried. */
export class Live {
  constructor(path, hear, notice) {
    Object.assign(this, { path, hear, notice, tries: 0 });
  }

  open() {
    const address = new URL(this.path, location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      this.tries = 0;
      this.notice({ isOpen: true });
    });
    socket.addEventListener("message", ({ data }) => {
      this.hear(typeof data === "string" ? JSON.parse(data) : decodeFrame(data));
    });
    socket.addEventListener("close", () => this.wait());
  }

  wait() {
    const seconds = WAITS[Math.min(this.tries++, WAITS.length - 1)];
    this.notice({ isOpen: false, tries: this.tries });
    setTimeout(() => this.open(), 1000 * seconds);
  }
}
