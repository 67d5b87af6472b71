/* What a person does to the project: each is told to the studio in turn and counts once it is saved. */

import { ask, canOutlive, tell } from "./wire.js";
import { count, nameOf, rowCount } from "./words.js";

const UNDO = "/api/undo";
const HASTY = ["/api/labels", "/api/marks", "/api/doubts/keep"];

export class Deeds {
  constructor(store, meter, notices) {
    Object.assign(this, { store, meter, notices, last: Promise.resolve(), open: [] });
    // Labels wait for their turn for a moment. They are sent when the page is closed; whoever would lose something is asked first.
    addEventListener("beforeunload", (event) => { if (this.isAtRisk) event.preventDefault(); });
    addEventListener("pagehide", () => this.hurry());
  }

  /** Label rows (or, with null, take their labels away); `pressedAt` is when the key went down. */
  async label(rows, label, how, pressedAt) {
    const list = Array.from(rows), what = label === null ? "no label" : `“${nameOf(label)}”`;
    const saving = this.save("/api/labels", { rows: list, label, how }, pressedAt, `${rowCount(list.length)} as ${what}`);
    const isNew = label !== null && !this.store.state.project.classes.some((one) => one.name === label && !one.gone);
    const answer = await saving;
    if (isNew) this.store.set({ project: await ask("/api/state") });
    return answer;
  }

  /** Mark a row as skipped or as one that nobody can tell. */
  mark(row, mark, pressedAt) {
    const words = mark === "skip" ? "1 row skipped" : "1 row marked “cannot tell”";
    return this.save("/api/marks", { rows: [row], mark }, pressedAt, words);
  }

  /** Leave what is in doubt as it is; `words` say what that is. */
  keep({ kind, rows, value }, words, pressedAt) {
    return this.save("/api/doubts/keep", { kind, rows, value }, pressedAt, words.toLowerCase());
  }

  async save(path, body, pressedAt, words) {
    const answer = await this.inTurn(path, body);
    this.meter.save(answer.saved, pressedAt);
    this.count(answer);
    this.store.set({ done: [...this.store.state.done, words] });
    this.notices.say(`Saved: ${words}.`);
    return answer;
  }

  /** Take the last change of this user back; returns what it was. */
  async undo(pressedAt) {
    const answer = await this.inTurn(UNDO, {}), { undone } = answer;
    this.meter.save(answer.saved, pressedAt);
    this.count(answer);
    const words = undoneWords(undone);
    this.store.set({ done: this.store.state.done.slice(0, -1) });
    this.notices.say(`Taken back: ${words}.`);
    return undone;
  }

  /** Let what people said be again as it was after an event; what was done since is not undone by Z any more. */
  async returnTo(event) {
    const answer = await this.inTurn("/api/history/return", { event });
    this.count(answer);
    this.store.set({ done: [], project: await ask("/api/state") });
    this.notices.say(`Saved: as it was after event ${count(event)}.`);
    return answer;
  }

  async addClass(name) {
    await this.inTurn("/api/classes", { add: name });
    await this.changed(`class “${nameOf(name)}” added`);
  }

  /** Remove a class that no row has. */
  async removeClass(name) {
    await this.inTurn("/api/classes", { remove: name });
    await this.changed(`class “${nameOf(name)}” removed`);
  }

  /** Rename a class; where `to` is one already, `merge` puts the two together. */
  async renameClass(rename, to, merge) {
    await this.inTurn("/api/classes", merge ? { rename, to, merge } : { rename, to });
    await this.changed(merge ? `“${nameOf(rename)}” merged into “${nameOf(to)}”` : `“${nameOf(rename)}” is now “${nameOf(to)}”`);
  }

  async changed(words) {
    this.store.set({ done: [...this.store.state.done, words], project: await ask("/api/state") });
    this.notices.say(`Saved: ${words}.`);
  }

  /** One change after the other, so that an undo never overtakes its label; at once where none is under way. */
  inTurn(path, body) {
    const deed = { path, body, answer: null }, act = () => { deed.answer ??= tell(path, body); return deed.answer; };
    const done = this.open.length ? this.last.then(act) : act();
    this.open.push(deed);
    this.last = done.catch(() => {}).finally(() => { this.open = this.open.filter((one) => one !== deed); });
    return done;
  }

  /** Return which of the deeds that wait can be sent at once, and whether that is all: an undo with its label is no deed. */
  sortOut() {
    const hasty = [];
    for (const deed of this.open.filter((one) => !one.answer)) {
      if (deed.path === UNDO && hasty.length) hasty.pop();
      else if (HASTY.includes(deed.path)) hasty.push(deed);
      else return { hasty, isAll: false };
    }
    return { hasty, isAll: true };
  }

  /** Say whether a page that is left now would lose something. */
  get isAtRisk() {
    return !this.sortOut().isAll || !canOutlive(this.open.map(({ body }) => body));
  }

  /** Send what waits, for the page goes; requests outlive it. */
  hurry() {
    for (const deed of this.sortOut().hasty) deed.answer = tell(deed.path, deed.body);
  }

  count({ saved, given, behind }) {
    const isShown = saved <= this.store.state.version;
    this.store.set({ saved, given, ...(isShown ? {} : { behind }) });
  }
}

const WORDS_OF_KIND = { mark: "a row passed over", class: "a class added", remove: "a class removed", rename: "a class renamed", kept: "a doubt kept as it was" };

function undoneWords({ kind, count: number, label }) {
  if (kind !== "label") return WORDS_OF_KIND[kind] ?? "your last change";
  return label === null ? `labels of ${rowCount(number)} taken away` : `${rowCount(number)} as “${nameOf(label)}”`;
}
