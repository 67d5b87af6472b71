/* The questions ahead: one that is looked at and one to spare, so that the next is there at once. */

import { ask } from "./wire.js";
import { sentence } from "./words.js";

const AHEAD = 2;

export class QuestionLine {
  /** `isOpen(row)` says whether a row still wants a label; `changed` is called when the first is another. */
  constructor(isOpen, changed) {
    Object.assign(this, { isOpen, changed, ahead: [], turns: 0, why: "", isAsking: false });
  }

  get current() {
    return this.ahead[0] ?? null;
  }

  /** Ask until one is there to spare; at the end, say why there are no more. */
  async fill() {
    if (this.isAsking) return;
    this.isAsking = true;
    if (!this.current) this.changed(); // it says that one is being chosen
    try {
      while (this.ahead.length < AHEAD) {
        const { question, why } = await ask("/api/question");
        this.why = question ? "" : sentence(why);
        if (!question || this.ahead.some((one) => one.row === question.row)) break;
        this.ahead.push({ ...question, turn: ++this.turns });
        if (this.ahead.length === 1) this.changed();
      }
    } catch (error) {
      this.why = error.message;
    } finally {
      this.isAsking = false;
    }
    if (!this.current) this.changed();
  }

  /** Go on to the next that is still open; returns the question that was left. */
  advance() {
    const left = this.ahead.shift();
    while (this.ahead.length && !this.isOpen(this.ahead[0].row)) this.ahead.shift();
    this.changed();
    this.fill();
    return left;
  }

  /** Bring a question back to where it was: before all that came after it. */
  putBack(question) {
    this.ahead = [...this.ahead.filter((one) => one.row !== question.row), question].sort((a, b) => a.turn - b.turn);
    this.changed();
  }

  /** Put a row first that was not asked for. */
  interpose(question) {
    this.putBack({ ...question, turn: (this.current?.turn ?? 0) - 0.5 });
  }

  clear() {
    this.ahead = [];
  }
}
