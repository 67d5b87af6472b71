/* The queue: one row, large; one key labels it, saves it and shows the next. */

import { answerButtons } from "./answer_keys.js";
import { button, byId, element, refill } from "./elements.js";
import { askText, chooseClass } from "./dialogs.js";
import { className, codeOf, itemBody } from "./item.js";
import { QuestionLine } from "./question_line.js";
import { classKeys, openClasses } from "./store.js";
import { count, nameOf, percent, rowCount } from "./words.js";

const JUST_MS = 350; // a suggestion that changed so lately was not read

export class QueueView {
  constructor(store, deeds, contents, notices) {
    Object.assign(this, { store, deeds, contents, notices, problem: "", suggestedAt: 0 });
    this.line = new QuestionLine((row) => this.isOpen(row), () => this.turn());
    store.watch(["question"], () => this.show());
    store.watch(["view"], ({ view }) => { if (view === "queue") this.line.fill(); });
    store.watch(["project"], ({ project }) => this.offer(project));
    store.watch(["version", "project"], (state) => this.follow(state));
  }

  isOpen(row) {
    const { answers } = this.store.state;
    return !answers || (answers.source[row] & 3) !== 0;
  }

  turn() {
    this.store.set({ question: this.line.current });
    if (!this.line.current) this.show(); // there may be another reason now
  }

  /** Ask again where there was no question, and refresh a suggestion that learning has overtaken. */
  async follow({ view, project, answers, question }) {
    if (view !== "queue" || !project) return;
    if (!this.line.current) this.line.fill();
    if (!question || !answers) return;
    const code = answers.codes[question.row], share = answers.confidence[question.row] / 255;
    const isSame = codeOf(project, question.item.guess) === code && Math.abs(share - question.item.confidence) < 0.01;
    if (isSame || (answers.source[question.row] & 3) === 0) return;
    const item = await this.contents.fresh(question.row).catch(() => null);
    if (!item || this.store.state.question?.row !== question.row) return;
    if (item.guess !== question.item.guess) this.suggestedAt = performance.now();
    question.item = item;
    this.suggest();
  }

  /** Show the question at hand, or say why there is none. */
  show() {
    const { question, project } = this.store.state, { activeElement: active } = document;
    const hadFocus = active === document.body || byId("queue-view").contains(active);
    byId("item").hidden = byId("queue-side").hidden = !question;
    byId("queue-empty").hidden = question !== null;
    byId("queue-empty").textContent = this.emptyWords();
    byId("item-problem").textContent = this.problem;
    byId("item-problem").hidden = !this.problem;
    if (!question) {
      delete byId("item").dataset.row;
      return;
    }
    this.suggestedAt = 0;
    byId("item").dataset.row = question.row;
    byId("item-id").textContent = question.item.id;
    refill(byId("item-body"), itemBody(question.item, "large"));
    byId("item-body").scrollTop = 0;
    byId("item-why").textContent = question.reason;
    byId("item-settles").textContent = question.settles > 0 ? `Its label settles about ${rowCount(question.settles)}.` : "";
    if (project) this.suggest();
    if (hadFocus) byId("item").focus({ preventScroll: true });
  }

  /** Say why there is no question. */
  emptyWords() {
    if (this.line.why) return this.line.why;
    if (!this.line.isAsking) return "";
    const isStarting = this.store.state.project?.phase === "starting";
    return isStarting ? "The rows are being compared; the first question comes right after." : "The next question is being chosen.";
  }

  suggest() {
    const { project, question } = this.store.state, { guess, confidence, second, second_confidence: less } = question.item;
    const code = codeOf(project, guess), parts = [];
    if (code < 0) parts.push(element("span", { class: "faint", text: "No suggestion yet." }));
    else {
      parts.push(confidence < 0.9 ? "Perhaps " : "", className(project, code), `, ${percent(confidence)} sure. `);
      if (!project.read_only) parts.push(element("kbd", { text: "Enter" }), " takes it. ");
      if (second !== null && codeOf(project, second) >= 0 && less >= 0.005) {
        parts.push(element("span", { class: "faint", text: `Otherwise ${nameOf(second)}, ${percent(less)}.` }));
      }
    }
    refill(byId("suggestion"), ...parts);
    for (const one of byId("answers").querySelectorAll("button")) one.classList.toggle("suggested", one.dataset.name === `answer:${code}`);
  }

  /** Write the buttons of classes and of the other answers. */
  offer(project) {
    if (!project) return;
    const classes = openClasses(project), { read_only: isClosed } = project;
    refill(byId("answers"), ...answerButtons(project, {
      label: (name, event) => this.label(name, "click", event), choose: (event) => this.choose(event), create: (event) => this.create(event),
    }));
    refill(byId("aside"),
      button("Skip", (event) => this.mark("skip", event), { key: "S", disabled: isClosed, data: { name: "skip" } }),
      button("Cannot tell", (event) => this.mark("unsure", event), { key: "U", disabled: isClosed, data: { name: "unsure" } }));
    byId("queue-first").hidden = project.given > 0 || classes.length > 0;
    byId("queue-done").textContent = project.given > 0 ? `${count(project.given)} labelled so far${project.unsure ? `, ${count(project.unsure)} marked “cannot tell”` : ""}.` : "";
    if (this.store.state.question) this.suggest();
  }

  label(name, how, { timeStamp }) {
    return this.answer((row) => this.deeds.label([row], name, how, timeStamp));
  }

  mark(mark, { timeStamp }) {
    return this.answer((row) => this.deeds.mark(row, mark, timeStamp));
  }

  /** Show the next question at once and save; where that fails, this one comes back with the reason. */
  async answer(save) {
    const { question, project } = this.store.state;
    if (!question || project.read_only) return;
    this.problem = "";
    const saving = save(question.row); // on its way before the page is drawn anew
    const left = this.line.advance();
    try {
      await saving;
    } catch (error) {
      this.problem = `Not saved: ${error.message} This row still wants its answer.`;
      this.line.putBack(left);
      this.show();
    }
  }

  accept(event) {
    const { question, project } = this.store.state;
    if (!question || question.item.guess === null || codeOf(project, question.item.guess) < 0) return;
    if (performance.now() - this.suggestedAt < JUST_MS) {
      this.notices.say(`The suggestion has just become “${nameOf(question.item.guess)}”. Press Enter again to take it.`);
    } else this.label(question.item.guess, "key", event);
  }

  async create(event) {
    const { question, project } = this.store.state;
    if (!question || project.read_only) return;
    const name = await askText("A new class", { note: "This row gets it as its label.", word: "Make it" });
    // Another row may be shown by now: the name was meant for this one alone.
    if (name !== null && this.store.state.question?.row === question.row) this.label(name, "key", event);
  }

  async choose(event) {
    const { question, project } = this.store.state;
    if (!question || project.read_only) return;
    const one = await chooseClass(project, "Label this row as");
    if (one && this.store.state.question?.row === question.row) this.label(one.name, "key", event);
  }

  /** Show a row again whose answer was taken back. */
  async recall({ kind, rows, count: number }) {
    if (number !== 1 || kind === "kept" || this.store.state.view !== "queue") return;
    const item = await this.contents.fresh(rows[0]).catch(() => null);
    if (!item) return;
    this.problem = "";
    this.line.interpose({ row: item.row, reason: "you took its answer back", settles: 0, item });
  }

  /** Return what keys do in this view. */
  keys() {
    return {
      Enter: (event) => this.accept(event), s: (event) => this.mark("skip", event), u: (event) => this.mark("unsure", event),
      n: (event) => this.create(event), c: (event) => this.choose(event),
      ...classKeys(this.store.state.project, ({ name }, event) => this.label(name, "key", event)),
    };
  }
}
