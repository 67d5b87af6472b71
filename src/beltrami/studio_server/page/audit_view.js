/* The audit: how much may be wrong, blind cards one by one, and what the answers prove at the end. */

import { answerButtons } from "./answer_keys.js";
import { askText, chooseClass } from "./dialogs.js";
import { button, byId, element, refill } from "./elements.js";
import { codeOf, itemBody } from "./item.js";
import { RiskPanel } from "./risk_panel.js";
import { classKeys } from "./store.js";
import { ask, tell } from "./wire.js";
import { count, sentence } from "./words.js";

export class AuditView {
  constructor(store, deeds, notices) {
    Object.assign(this, { store, deeds, notices, told: null, card: null, isAsking: false, asksAgain: false, isBusy: false, isCounting: false, turns: 0 });
    this.risk = new RiskPanel((risk, moves) => this.setRisk(risk, moves));
    store.watch(["view", "project"], ({ view, project }) => {
      if (view !== "audit" || !project) return;
      this.offer(project);
      if (!this.card) this.refresh();
    });
  }

  /** Ask what is known; a change meanwhile asks once more. */
  async refresh() {
    this.asksAgain = this.isAsking;
    if (this.isAsking) return;
    this.isAsking = true;
    this.show();
    try {
      do {
        this.asksAgain = false;
        this.told = await ask("/api/audit");
        if (this.told.open && !this.card && !this.isBusy) await this.turn();
      } while (this.asksAgain || (!this.told.settled && this.store.state.view === "audit"));
    } catch (error) {
      this.complain(error);
    } finally {
      this.isAsking = this.isCounting = false;
      this.risk.hear();
      this.show();
    }
  }

  /** Take the next card of the open round; the one that lies here stays where it is the next. */
  async turn() {
    const turn = (this.turns += 1), { card } = await ask("/api/audit/card");
    if (turn === this.turns && card?.row !== this.card?.row) this.card = card;
  }

  /** Do one thing after the other, and say where it fails. */
  async act(deed) {
    if (this.isBusy || this.store.state.project?.read_only) return;
    this.isBusy = true;
    byId("audit-problem").textContent = "";
    try {
      await deed();
    } catch (error) {
      this.complain(error);
    } finally {
      this.isBusy = false;
    }
    if (!this.card) await this.refresh();
  }

  async setRisk(risk, moves) {
    byId("audit-problem").textContent = "";
    await this.deeds.inTurn("/api/audit/risk", { risk }).catch((error) => this.complain(error));
    this.risk.saved = moves;
    await this.refresh();
  }

  complain(error) {
    byId("audit-problem").textContent = sentence(error.message);
  }

  draw() {
    if (this.card || !this.told) return;
    this.act(async () => {
      this.told = { ...this.told, ...(await tell("/api/audit/draw", {})) };
      await this.turn();
      this.show();
    });
  }

  /** Save an answer, null where it cannot be told, and show the next card. */
  answer(name) {
    const { card } = this;
    if (!card) return;
    this.act(async () => {
      try {
        this.told = { ...this.told, ...(await tell("/api/audit/answer", { row: card.row, answer: name })) };
      } finally {
        await this.turn(); // also where somebody else was faster
        this.isCounting = !this.card;
      }
      if (this.card) this.show();
    });
  }

  async create() {
    const { card } = this;
    if (!card || this.store.state.project.read_only) return;
    const name = await askText("A new class", { note: "This row is answered by it, and counts as a wrong label.", word: "Make it" });
    if (name === null || this.card !== card) return;
    try {
      if (codeOf(this.store.state.project, name) < 0) await this.deeds.addClass(name);
    } catch (error) {
      this.complain(error);
      return;
    }
    this.answer(name);
  }

  async choose() {
    const { card } = this;
    if (!card) return;
    const one = await chooseClass(this.store.state.project, "This row is");
    if (one && this.card === card) this.answer(one.name);
  }

  show() {
    const { told, card, store: { state: { project } } } = this, { activeElement: active } = document;
    const hadFocus = active === document.body || byId("proof").contains(active);
    this.risk.show(told, project);
    this.sayProof();
    byId("audit-act").hidden = Boolean(card);
    byId("audit-card").hidden = !card;
    if (!card) {
      delete byId("audit-card").dataset.row;
      return;
    }
    const { left, of, round } = told.open ?? { left: 1, of: 1, round: 1 };
    byId("audit-card").dataset.row = card.row;
    byId("audit-count").textContent = `Round ${round}: row ${of - left + 1} of ${of}`;
    Object.assign(byId("audit-bar"), { max: of, value: of - left });
    byId("audit-id").textContent = card.item.id;
    refill(byId("audit-body"), itemBody(card.item, "large"));
    byId("audit-body").scrollTop = 0;
    if (hadFocus) byId("audit-card").focus({ preventScroll: true });
  }

  /** Say what is proved, or what is missing; nothing while a round is open. */
  sayProof() {
    const { told, card } = this, proof = this.isCounting ? null : told?.certificate, line = byId("audit-sentence");
    const isProved = Boolean(proof?.is_proved);
    line.classList.toggle("proved", isProved);
    byId("audit-act").querySelector("button").className = isProved ? "quiet" : "loud";
    if (isProved) line.textContent = `You may stop: ${proof.sentence.charAt(0).toLowerCase()}${proof.sentence.slice(1)}`;
    else line.textContent = proof?.sentence ?? this.openWords();
    byId("audit-left").textContent = card || this.isCounting ? "" : proof ? proof.target_left : told?.stale ? sentence(told.stale) : this.firstWords();
  }

  openWords() {
    if (this.card) return "";
    if (!this.told) return "The rows are being compared and the labels judged; rows can be drawn then.";
    if (this.isCounting) return "The round is complete; what it proves is being worked out.";
    if (!this.told.settled) return "The labels are being judged; a moment.";
    return this.told.accepted ? "Nothing is proved yet of these labels." : "No label of ours is accepted yet.";
  }

  firstWords() {
    const { told } = this;
    if (!told?.settled || !told.accepted) return told?.settled ? "Label rows of two classes first, or allow more to be wrong." : "";
    const goal = `${Number((100 * told.target).toPrecision(4))} %`;
    const needed = told.answers ? `${count(told.answers)} right answers and no wrong one prove that at least ${goal} of all are right, at 95 % confidence; each wrong one takes some more.` : `They are too few to prove that ${goal} of them are right, but something is proved by any.`;
    return `Some of the ${count(told.accepted)} accepted labels are drawn at random, and you say what these rows are without seeing what we said. ${needed}`;
  }

  /** Write the buttons. */
  offer(project) {
    const isClosed = project.read_only;
    refill(byId("audit-act"), button("Draw rows to check", () => this.draw(), { key: "D", class: "loud", disabled: isClosed, data: { name: "draw" } }));
    refill(byId("audit-answers"), ...answerButtons(project, { label: (name) => this.answer(name), choose: () => this.choose(), create: () => this.create() }));
    refill(byId("audit-aside"), button("Cannot tell", () => this.answer(null), { key: "U", disabled: isClosed, data: { name: "blank" } }),
      element("span", { class: "faint", text: "counts as wrong" }));
  }

  /** Return what keys do in this view. */
  keys() {
    return {
      d: () => this.draw(), u: () => this.answer(null), n: () => this.create(), c: () => this.choose(),
      ...classKeys(this.store.state.project, ({ name }) => this.answer(name)),
    };
  }
}
