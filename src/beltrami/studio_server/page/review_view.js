/* The review: doubts in a list, each beside what speaks otherwise; one key keeps, takes or changes. */

import { button, byId, element, markIcon, refill } from "./elements.js";
import { askText, chooseClass } from "./dialogs.js";
import { doubtLine, keepWords, keyOf, takeWords, writeDoubt } from "./doubt_view.js";
import { codeOf } from "./item.js";
import { styleOf } from "./palette.js";
import { classKeys, openClasses } from "./store.js";
import { ask } from "./wire.js";
import { count, nameOf, sentence } from "./words.js";

export class ReviewView {
  constructor(store, deeds, notices) {
    Object.assign(this, { store, deeds, notices, groups: [], kind: null, doubts: [], total: 0, at: 0, problem: "" });
    Object.assign(this, { answered: new Set(), loading: null, isStale: false, seen: "" });
    store.watch(["view", "project", "behind"], (state) => this.follow(state));
  }

  get current() {
    return this.doubts[this.at] ?? null;
  }

  /** Look again whenever the answers are others, or are judged anew. */
  follow({ view, project, behind }) {
    if (view !== "review" || !project || behind) return;
    const now = `${project.version}/${project.settled}/${project.phase}/${project.given}`;
    if (now === this.seen) return;
    this.seen = now;
    this.load();
  }

  /** Fetch what is doubtful; where that is asked for meanwhile, once more. */
  load() {
    this.isStale = true;
    this.loading ??= (async () => {
      try {
        while (this.isStale) {
          this.isStale = false;
          await this.fetch();
        }
      } catch (error) {
        this.problem = error.message;
        this.show();
      } finally {
        this.loading = null;
      }
    })();
    return this.loading;
  }

  async fetch() {
    const { groups, settled } = await ask("/api/doubts");
    Object.assign(this, { groups, settled });
    const open = groups.filter((one) => one.count > 0), isOpen = open.some((one) => one.kind === this.kind);
    if (!isOpen) this.kind = open[0]?.kind ?? null;
    const before = this.current, told = this.kind ? await ask("/api/doubts/list", { kind: this.kind }) : { doubts: [], count: 0 };
    this.take(told);
    const same = before ? this.doubts.findIndex((one) => keyOf(one) === keyOf(before)) : -1;
    this.at = same >= 0 ? same : Math.min(this.at, Math.max(0, this.doubts.length - 1));
    this.show(same >= 0 ? before : null);
  }

  take({ doubts, count: total }) {
    this.doubts = doubts.filter((one) => !this.answered.has(keyOf(one)));
    this.total = total - (doubts.length - this.doubts.length);
  }

  /** Write the kinds, the list and the doubt at hand; `same` where its rows are on the page already. */
  show(same = null) {
    const { project } = this.store.state, { current: doubt } = this, { activeElement: active } = document;
    if (!project) return;
    const hadFocus = active === document.body || byId("review-view").contains(active) || byId("views").contains(active);
    this.writeKinds();
    this.writeList(project);
    byId("doubt").hidden = !doubt;
    byId("review-note").textContent = this.noteWords(project);
    byId("doubt-problem").textContent = this.problem;
    byId("doubt-problem").hidden = !this.problem;
    if (!doubt) {
      delete byId("doubt").dataset.row;
      return;
    }
    Object.assign(byId("doubt").dataset, { row: doubt.ask[0] ?? -1, kind: doubt.kind });
    if (!same || JSON.stringify(same) !== JSON.stringify(doubt)) writeDoubt(project, doubt);
    this.offer(project, doubt);
    if (hadFocus && !same) byId("doubt").focus({ preventScroll: true });
  }

  noteWords({ phase, has_learned: hasLearned }) {
    if (phase === "starting") return "The rows are being compared; doubts come after the first answers.";
    const parts = [];
    const isDone = this.groups.length > 0 && this.groups.every((one) => one.count === 0); // else the next kind is on its way
    if (!this.current && isDone) parts.push(hasLearned ? "Nothing is left to look at. How many labels are right is proved in the audit." : "Doubts come once two classes have labels.");
    if (hasLearned && !this.settled) parts.push("New labels are judged in a moment, and the list may change.");
    const { words } = this.groups.find((one) => one.kind === (this.kind ?? "label")) ?? { words: "" };
    if (words) parts.push(sentence(words));
    return parts.join(" ");
  }

  writeKinds() {
    refill(byId("doubt-kinds"), ...this.groups.map(({ kind, title, count: number }) => {
      const traits = { class: "doubt-kind", disabled: !number, aria: { pressed: String(kind === this.kind) }, data: { name: `kind:${kind}` } };
      const made = button(title, () => this.choose(kind), traits);
      made.append(element("span", { class: "size", text: count(number) }));
      return made;
    }));
  }

  writeList(project) {
    const lines = this.doubts.map((doubt, place) => element("li", {}, element("button", {
      type: "button", class: "doubt-entry", onclick: () => this.turnTo(place), data: { name: `doubt:${keyOf(doubt)}` },
      aria: { current: String(place === this.at) },
    }, doubtLine(project, doubt))));
    const left = this.total - this.doubts.length;
    if (left > 0) lines.push(element("li", { class: "faint", text: `and ${count(left)} more` }));
    refill(byId("doubt-list"), ...lines);
    byId("doubt-list").children[this.at]?.scrollIntoView({ block: "nearest" });
  }

  /** Write what can be answered. */
  offer(project, doubt) {
    const { read_only: isClosed } = project, taken = takeWords(doubt);
    refill(byId("doubt-deeds"),
      taken ? button(taken, (event) => this.accept(event), { key: "Enter", class: "loud", disabled: isClosed, data: { name: "take" } }) : null,
      button(keepWords(doubt), (event) => this.keep(event), { key: "K", disabled: isClosed, data: { name: "keep" } }),
      button("Skip", () => this.skip(), { key: "S", data: { name: "skip-doubt" } }));
    const classes = doubt.kind === "spelling" ? [] : openClasses(project);
    const buttons = classes.filter((one) => one.key).map(({ code, name, key }) => {
      const isSuggested = name === doubt.suggested;
      const traits = { key, icon: markIcon(styleOf(code)), title: name, class: `answer-key${isSuggested ? " suggested" : ""}`, disabled: isClosed, data: { name: `doubt:${code}` } };
      return button(nameOf(name), (event) => this.label(name, "click", event), traits);
    });
    if (classes.length > 9) buttons.push(button(`All ${classes.length} classes`, (event) => this.pick(event), { key: "C", class: "answer-key", disabled: isClosed, data: { name: "doubt:all" } }));
    if (classes.length) buttons.push(button("New class", (event) => this.create(event), { key: "N", class: "answer-key", disabled: isClosed, data: { name: "doubt:new" } }));
    refill(byId("doubt-answers"), ...buttons);
  }

  choose(kind) {
    Object.assign(this, { kind, doubts: [], at: 0, problem: "" });
    return this.load();
  }

  turnTo(place) {
    Object.assign(this, { at: place, problem: "" });
    this.show();
  }

  /** Show the next one without an answer; further ones are fetched at the end of the list. */
  async skip() {
    if (!this.current) return;
    if (this.at === this.doubts.length - 1 && this.total > this.doubts.length) {
      const { kind } = this, hidden = this.answered.size;
      const told = await ask("/api/doubts/list", { kind, from: String(this.doubts.length) }).catch(() => null);
      if (told && kind === this.kind && hidden === this.answered.size) {
        const known = new Set(this.doubts.map(keyOf));
        this.doubts.push(...told.doubts.filter((one) => !known.has(keyOf(one)) && !this.answered.has(keyOf(one))));
      }
    }
    this.turnTo((this.at + 1) % this.doubts.length);
  }

  step(by) {
    if (this.current) this.turnTo(Math.max(0, Math.min(this.doubts.length - 1, this.at + by)));
  }

  /** Show the next doubt at once and save; where that fails, this one comes back with the reason. */
  async answer(save) {
    const { current: doubt, at } = this;
    if (!doubt || this.store.state.project.read_only) return;
    const key = keyOf(doubt), saving = save(doubt);
    this.problem = "";
    this.answered.add(key);
    this.doubts = this.doubts.filter((one) => one !== doubt);
    this.countUp(doubt, -1);
    this.at = Math.min(at, Math.max(0, this.doubts.length - 1));
    this.show();
    try {
      await saving;
      if (!this.doubts.length) this.load();
    } catch (error) {
      this.answered.delete(key);
      this.doubts.splice(at, 0, doubt);
      this.countUp(doubt, 1);
      Object.assign(this, { at, problem: `Not saved: ${error.message} This doubt is still open.` });
      this.show();
    }
  }

  countUp({ kind }, by) {
    this.total += by;
    this.groups = this.groups.map((one) => (one.kind === kind ? { ...one, count: one.count + by } : one));
  }

  label(name, how, { timeStamp }) {
    if (this.current?.ask.length) return this.answer(({ ask: rows }) => this.deeds.label(rows, name, how, timeStamp));
  }

  keep({ timeStamp }) {
    return this.answer((doubt) => this.deeds.keep(doubt, keepWords(doubt), timeStamp));
  }

  accept(event) {
    const { current: doubt } = this;
    if (!doubt || doubt.suggested === null) return;
    if (doubt.kind === "spelling") return this.answer(({ given, suggested }) => this.deeds.renameClass(given, suggested, true));
    return this.label(doubt.suggested, "key", event);
  }

  async pick(event) {
    const { current: doubt } = this, { project } = this.store.state;
    if (!doubt?.ask.length || project.read_only) return;
    const one = await chooseClass(project, "Label as");
    if (one && this.current === doubt) this.label(one.name, "key", event);
  }

  async create(event) {
    const { current: doubt } = this;
    if (!doubt?.ask.length || this.store.state.project.read_only) return;
    const name = await askText("A new class", { note: "What is asked about gets it as its label.", word: "Make it" });
    if (name === null || this.current !== doubt) return;
    try {
      if (codeOf(this.store.state.project, name) < 0) await this.deeds.addClass(name);
    } catch (error) {
      this.problem = `Not saved: ${error.message} This doubt is still open.`;
      this.show();
      return;
    }
    this.label(name, "key", event);
  }

  /** Look again after something was taken back: it may be a doubt once more. */
  recall() {
    this.answered.clear();
    if (this.store.state.view === "review") return this.load();
  }

  /** Return what keys do in this view. */
  keys() {
    return {
      Enter: (event) => this.accept(event), k: (event) => this.keep(event), s: () => this.skip(),
      n: (event) => this.create(event), c: (event) => this.pick(event),
      ArrowDown: () => this.step(1), ArrowUp: () => this.step(-1),
      ...classKeys(this.store.state.project, ({ name }, event) => this.label(name, "key", event)),
    };
  }
}
