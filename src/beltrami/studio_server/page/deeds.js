/* What a person does to the project: each is told to the studio in turn and counts once it is saved. */

import { ask, tell } from "./wire.js";
import { count, nameOf, rowCount } from "./words.js";

export class Deeds {
  constructor(store, meter, notices) {
    Object.assign(this, { store, meter, notices, last: Promise.resolve(), waiting: 0 });
    // Labels wait for their turn for a moment: whoever closes the page then is asked first.
    addEventListener("beforeunload", (event) => { if (this.waiting) event.preventDefault(); });
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
    const answer = await this.inTurn(() => tell(path, body));
    this.meter.save(answer.saved, pressedAt);
    this.count(answer);
    this.store.set({ done: [...this.store.state.done, words] });
    this.notices.say(`Saved: ${words}.`);
    return answer;
  }

  /** Take the last change of this user back; returns what it was. */
  async undo(pressedAt) {
    const answer = await this.inTurn(() => tell("/api/undo", {})), { undone } = answer;
    this.meter.save(answer.saved, pressedAt);
    this.count(answer);
    const words = undoneWords(undone);
    this.store.set({ done: this.store.state.done.slice(0, -1) });
    this.notices.say(`Taken back: ${words}.`);
    return undone;
  }

  /** Let what people said be again as it was after an event; what was done since is not undone by Z any more. */
  async returnTo(event) {
    const answer = await this.inTurn(() => tell("/api/history/return", { event }));
    this.count(answer);
    this.store.set({ done: [], project: await ask("/api/state") });
    this.notices.say(`Saved: as it was after event ${count(event)}.`);
    return answer;
  }

  async addClass(name) {
    await this.inTurn(() => tell("/api/classes", { add: name }));
    await this.changed(`class “${nameOf(name)}” added`);
  }

  /** Rename a class; where `to` is one already, `merge` puts the two together. */
  async renameClass(rename, to, merge) {
    await this.inTurn(() => tell("/api/classes", merge ? { rename, to, merge } : { rename, to }));
    await this.changed(merge ? `“${nameOf(rename)}” merged into “${nameOf(to)}”` : `“${nameOf(rename)}” is now “${nameOf(to)}”`);
  }

  async changed(words) {
    this.store.set({ done: [...this.store.state.done, words], project: await ask("/api/state") });
    this.notices.say(`Saved: ${words}.`);
  }

  /** One change after the other, so that an undo never overtakes its label; at once where none is under way. */
  inTurn(act) {
    const done = this.waiting ? this.last.then(act) : act();
    this.waiting++;
    this.last = done.catch(() => {}).finally(() => { this.waiting--; });
    return done;
  }

  count({ saved, given, behind }) {
    const isShown = saved <= this.store.state.version;
    this.store.set({ saved, given, ...(isShown ? {} : { behind }) });
  }
}

const WORDS_OF_KIND = { mark: "a row passed over", class: "a class added", rename: "a class renamed", kept: "a doubt kept as it was" };

function undoneWords({ kind, count: number, label }) {
  if (kind !== "label") return WORDS_OF_KIND[kind] ?? "your last change";
  return label === null ? `labels of ${rowCount(number)} taken away` : `${rowCount(number)} as “${nameOf(label)}”`;
}
