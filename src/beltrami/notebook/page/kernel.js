/* What is asked of the kernel: each thing is answered by its number, and a word says who waits. */

const SLOW_MS = 500; // after which the page says that the kernel is at work
const SILENT_MS = 8000; // after which it may not be there any more

const AT_WORK = "The kernel is at work.";
const SILENT = "The kernel does not answer. It may be busy with a cell, and then this comes right. If it was restarted, "
  + "run the cell of this map again: what you do here is not saved until then.";

const GONE = "the kernel of this map has ended. Run its cell again to go on.";

export class Kernel {
  /** `onwait(words)` is called with what a person should know of the waiting; empty when it is over. */
  constructor(model, onwait) {
    Object.assign(this, { model, onwait, asked: new Map(), count: 0, timers: [], name: crypto.getRandomValues(new Uint32Array(2)).join("-") });
    this.hear = (message) => this.answer(message);
    model.on("msg:custom", this.hear);
  }

  /** Ask for something; the promise stays open as long as the kernel is silent. */
  ask(request) {
    const number = `${this.name}:${++this.count}`;
    return new Promise((done, fail) => {
      this.asked.set(number, { done, fail });
      if (this.asked.size === 1) this.wait();
      new Promise((sent) => { sent(this.model.send({ ...request, number })); }).catch(() => this.answer({ to: number, error: GONE }));
    });
  }

  answer(message) {
    const waiting = this.asked.get(message?.to);
    if (!waiting) return; // said to another view of the same map
    this.asked.delete(message.to);
    if (this.asked.size) this.wait();
    else this.rest();
    if (message.error) waiting.fail(new Error(message.error));
    else waiting.done(message);
  }

  wait() {
    this.rest();
    this.timers = [[SLOW_MS, AT_WORK], [SILENT_MS, SILENT]].map(([pause, words]) => setTimeout(() => this.onwait(words), pause));
  }

  rest() {
    this.timers.forEach(clearTimeout);
    this.onwait("");
  }

  close() {
    this.timers.forEach(clearTimeout);
    this.model.off("msg:custom", this.hear);
  }
}
