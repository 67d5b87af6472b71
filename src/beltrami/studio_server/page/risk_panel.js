/* The slider of risk: how many labels each would accept, what is only an estimate and what was measured. */

import { byId, element, refill } from "./elements.js";
import { count, percent } from "./words.js";

const REST_MS = 300; // keys move the slider step by step; where it rests is meant

export class RiskPanel {
  /** `choose(risk, moves)` saves a risk, null for none, and says in `saved` after which move it was chosen. */
  constructor(choose) {
    Object.assign(this, { choose, steps: [], facts: [], moves: 0, saved: 0, heard: 0, timer: 0 });
    byId("risk").addEventListener("input", () => this.preview());
    byId("risk").addEventListener("change", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.save(), REST_MS);
    });
  }

  save() {
    this.choose(this.steps[Number(byId("risk").value)].risk, this.moves);
  }

  /** Say that what is told from now on knows of all that was saved. */
  hear() {
    this.heard = this.saved;
  }

  show(told, project) {
    byId("risk-side").hidden = !told?.curve.length;
    if (!told?.curve.length || this.moves !== this.heard) return;
    this.steps = stepsOf(told);
    this.facts = factsOf(told, project);
    const slider = byId("risk");
    slider.max = this.steps.length - 1;
    slider.value = this.steps.findIndex((one) => one.risk === told.risk);
    slider.disabled = project.read_only;
    this.say();
  }

  /** Say what the slider would do while it is moved. */
  preview() {
    this.moves++;
    this.say();
  }

  say() {
    const place = Number(byId("risk").value), { risk, accepted } = this.steps[place], most = Math.max(1, ...this.steps.map((one) => one.accepted));
    const words = risk === null ? "Every answer is accepted" : `At most ${shareWords(risk)} wrong, by our estimate`;
    byId("risk-words").textContent = `${words}: ${count(accepted)} labels of ours.`;
    byId("risk").setAttribute("aria-valuetext", byId("risk-words").textContent);
    refill(byId("risk-bars"), ...this.steps.map((one, number) => {
      const bar = element("span", { class: number === place ? "chosen" : "" });
      bar.style.height = `${Math.max(2, (100 * one.accepted) / most)}%`;
      return bar;
    }));
    refill(byId("risk-facts"), ...this.facts.flatMap(([name, said]) => [element("dt", { text: name }), element("dd", { text: said })]));
  }
}

/** Return all risks that can be chosen, in order, the one in force among them, and none at the end. */
function stepsOf({ curve, risk, accepted }) {
  const isNew = risk !== null && !curve.some((one) => one.risk === risk);
  const risks = [...curve, ...(isNew ? [{ risk, accepted }] : [])].sort((a, b) => a.risk - b.risk);
  const all = risk === null ? accepted : Math.max(accepted, ...curve.map((one) => one.accepted));
  return [...risks, { risk: null, accepted: all }];
}

function factsOf({ expected, certificate }, project) {
  const facts = [];
  if (expected !== null) facts.push(["Estimated", `${percent(expected)} of the accepted labels are right. It is our own opinion.`]);
  const tested = project.evidence.find((line) => /^(Tested|Nothing was tested)/.test(line));
  if (tested) facts.push(["Measured", tested]);
  facts.push(["Proved", certificate ? certificate.sentence : "Nothing yet of these labels: that takes rows drawn at random."]);
  return facts;
}

const shareWords = (risk) => `${Number((100 * risk).toPrecision(3))} %`;
