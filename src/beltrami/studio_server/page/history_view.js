/* The history: curves, events, and moments that are looked at, replayed and returned to. */

import { askWhether } from "./dialogs.js";
import { button, byId, element, refill } from "./elements.js";
import { EventList, timeWords } from "./event_list.js";
import { Chart } from "./history_chart.js";
import { className } from "./item.js";
import { shownProject } from "./store.js";
import { ask, askFrame } from "./wire.js";
import { count, percent, rowCount, sentence } from "./words.js";

const REST_MS = 220; // where the slider rests is meant
const STAY_MS = 1200; // who looks for so long wants to see it as it was
const PACE_MS = 280; // of a replay
const MOST_STOPS = 80;
const RELOAD_MS = 500;
const DEEDS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "Enter", "n", "c", "Delete", "k", "d", "u"];

export class HistoryView {
  constructor(store, stage, deeds, notices) {
    Object.assign(this, { store, stage, deeds, notices, last: 1, turn: 0, isPlaying: false, told: null });
    this.events = new EventList({ choose: (number) => this.look(number), complain: (error) => this.complain(error), counted: (last) => this.bound(last), isReader: (user) => user === "me" && store.state.project?.user === user });
    const choose = (event) => this.look(event);
    this.charts = [
      new Chart(byId("accepted-chart"), { value: (one) => one.accepted, floor: () => 0, most: (points) => Math.max(1, ...points.map((one) => one.accepted)), said: count, isWhole: true, choose }),
      new Chart(byId("accuracy-chart"), {
        value: (one) => one.accuracy, band: (one) => [one.low, one.high], floor: ({ points, audits }) => Math.floor(10 * Math.min(0.9, ...points.map((one) => one.low), ...audits.map((one) => one.lower))) / 10,
        most: () => 1, said: percent, hasProofs: true, choose,
      }),
    ];
    this.listen();
    store.watch(["view"], ({ view }) => {
      if (view === "history") this.load();
      else if (view !== "map") this.leave(); // the other views work with the answers of now
    });
    store.watch(["project"], ({ view, project }) => { if (view === "history" && project) this.reload(); });
    store.watch(["moment", "view", "project"], (state) => this.show(state));
  }

  listen() {
    const slider = byId("moment");
    slider.addEventListener("input", () => {
      this.pause();
      byId("moment-words").textContent = `Event ${count(Number(slider.value))} of ${count(this.last)}.`;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.look(Number(slider.value)), REST_MS);
    });
    slider.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.leave();
    });
  }

  /** Ask for the curve and the newest events. */
  async load() {
    const listed = this.events.load();
    try {
      this.told = await ask("/api/history/curve");
      this.write();
    } catch (error) {
      this.complain(error);
    }
    await listed;
  }

  /** Ask again after a pause, for something has changed. */
  reload() {
    clearTimeout(this.reloading);
    this.reloading = setTimeout(() => { if (this.store.state.view === "history" && !this.isPlaying) this.load(); }, RELOAD_MS);
  }

  complain(error) {
    byId("history-problem").textContent = sentence(error.message);
  }

  /** Hear how many events there are. */
  bound(last) {
    this.last = last;
    byId("moment").max = last;
    this.show(this.store.state);
  }

  write() {
    const { points, audits, falls } = this.told, judged = points.filter((one) => one.accuracy !== null), newest = points.at(-1), latest = judged.at(-1);
    this.charts[0].show(this.told, newest ? `Accepted labels against labels given: ${count(newest.accepted)} accepted, ${count(newest.given)} given now.` : "");
    this.charts[1].show(this.told, latest ? `Held-out accuracy against labels given: ${percent(latest.accuracy)} at last, between ${percent(latest.low)} and ${percent(latest.high)}.` : "");
    byId("curve-note").textContent = noteOf(points, judged, audits);
    byId("falls-part").hidden = !falls.length;
    refill(byId("falls"), ...[...falls].reverse().map((fall) => element("li", {},
      button(`${percent(fall.from)} to ${percent(fall.to)} after event ${count(fall.event)}`, () => this.look(fall.event), { class: "link", data: { name: `fall:${fall.event}` } }),
      element("p", { class: "note", text: fall.words }))));
  }

  /**
   * Look at the moment after an event; the last one is now. Returns whether it is shown. Answers by the judgement of
   * now come at once; who stays is shown those of a fresh fit.
   */
  async look(event, isPlaying = false) {
    if (!isPlaying) this.pause();
    if (event >= this.last) return this.leave();
    const turn = ++this.turn;
    byId("history-problem").textContent = "";
    byId("moment").value = event;
    try {
      const [moment, frame] = await Promise.all([ask("/api/history/moment", { event }), askFrame("/api/history/map", { event, quick: 1 })]);
      if (turn !== this.turn) return false;
      this.stage.lookAt(frame); // before the words, which count what is drawn
      this.store.set({ moment });
      if (!isPlaying) this.refine(event, turn);
      return true;
    } catch (error) {
      if (turn === this.turn) this.complain(error);
      return false;
    }
  }

  /** Show the answers of a fresh fit to somebody who stays at a moment. */
  async refine(event, turn) {
    await new Promise((resolve) => setTimeout(resolve, STAY_MS));
    if (turn !== this.turn) return;
    const frame = await askFrame("/api/history/map", { event }).catch(() => null);
    if (frame && turn === this.turn) this.stage.lookAt(frame);
  }

  /** Go back to now. */
  leave() {
    this.turn++;
    this.pause();
    clearTimeout(this.timer);
    this.stage.lookAt(null);
    this.store.set({ moment: null });
    this.show(this.store.state);
    return true;
  }

  /** Say that the past is not labelled. */
  refuse() {
    this.notices.say("You look at an earlier moment, where nothing can be labelled. Esc goes back to now.");
  }

  async goBack() {
    const { moment, project } = this.store.state;
    if (!moment || moment.same || project.read_only) return;
    this.pause();
    const note = `${changeWords(moment.changes)} Audits, the risk and the columns stay as they are. Nothing is lost: a return to event ${count(moment.last)} brings you to where you are now.`;
    if (!await askWhether(`Return to the moment after event ${count(moment.event)}?`, { note, word: "Return" })) return;
    try {
      await this.deeds.returnTo(moment.event);
      this.leave();
      await this.load();
    } catch (error) {
      this.complain(error);
    }
  }

  /** Play the moments one after the other, from the one that is shown. */
  async play() {
    if (this.isPlaying) return this.pause();
    this.isPlaying = true;
    this.show(this.store.state);
    const from = this.store.state.moment?.event ?? 1, step = Math.max(1, Math.ceil((this.last - from) / MOST_STOPS));
    for (let event = from; event < this.last && this.isPlaying; event += step) {
      const began = performance.now();
      if (!await this.look(event, true)) break;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, PACE_MS - (performance.now() - began))));
    }
    if (this.isPlaying) this.leave();
    return undefined;
  }

  pause() {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    this.show(this.store.state);
  }

  step(by) {
    const at = this.store.state.moment?.event ?? this.last, event = Math.min(this.last, Math.max(1, at + by));
    if (event !== at) this.look(event);
  }

  /** Say which moment is shown, and what can be done with it. */
  show(state) {
    const { moment, project, view } = state;
    this.sayWhere(moment, view);
    if (view !== "history" || !project) return;
    byId("moment").value = moment?.event ?? this.last;
    byId("moment").setAttribute("aria-valuetext", moment ? `after event ${moment.event}` : "now");
    byId("moment-words").textContent = moment
      ? `After event ${count(moment.event)} of ${count(this.last)}, ${timeWords(moment.at)}: ${labelWords(moment.given)}.` : `Now, after ${count(this.last)} events: ${labelWords(project.given)}.`;
    byId("moment-changes").textContent = moment ? (moment.same ? "What people said was the same as it is now." : `If you return: ${changeWords(moment.changes)}`) : "Move the slider, choose an event or click on a curve to look at an earlier moment. To look changes nothing.";
    refill(byId("moment-deeds"),
      button(this.isPlaying ? "Pause" : moment ? "Replay from here" : "Replay", () => this.play(), { key: "P", disabled: this.last < 2, data: { name: "play" } }),
      button("Return to this moment", () => this.goBack(), { disabled: !moment || moment.same || project.read_only, data: { name: "return" } }));
    const shown = shownProject(state), classes = shown.classes.map((one, code) => ({ ...one, code })).filter((one) => !one.gone);
    refill(byId("moment-classes"), ...classes.map(({ code, given }) => element("li", {}, className(shown, code), element("span", { class: "faint", text: count(given) }))));
    for (const chart of this.charts) chart.point(moment ? moment.given : null);
    this.events.mark(moment?.event ?? null);
  }

  /** The banner, wherever the map of another moment is seen. */
  sayWhere(moment, view) {
    const isSeen = moment && (view === "map" || view === "history");
    refill(byId("looking"), isSeen ? element("p", { class: "notice calm", role: "status" },
      element("span", { text: `You look at the moment after event ${count(moment.event)}, ${timeWords(moment.at)}. Nothing is changed.` }),
      button("Back to now", () => this.leave(), { key: "Esc", data: { name: "leave" } })) : null);
  }

  /** Return what keys do while the past is shown: nothing that would be saved. */
  guard(keys) {
    if (!this.store.state.moment) return keys;
    const refused = Object.fromEntries(DEEDS.map((key) => [key, () => this.refuse()]));
    return { ...keys, ...refused, z: () => this.refuse(), Escape: () => this.leave() };
  }

  /** Return what keys do in this view. */
  keys() {
    return { p: () => this.play(), ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), Escape: () => this.leave() };
  }
}

const labelWords = (number) => (number === 1 ? "1 label" : `${count(number)} labels`);

/** Say what a return would do to labels. */
function changeWords({ back, gone, other }) {
  const parts = [[back, "would have a label again"], [gone, "would have none any more"], [other, "would have another one"]];
  const said = parts.filter(([number]) => number).map(([number, words]) => `${rowCount(number)} ${words}`);
  return said.length ? sentence(said.join(", ")) : "No label would be another; marks, classes or kept doubts would.";
}

/** Say what the curves rest on. */
function noteOf(points, judged, audits) {
  if (!points.length) return "What we answered is kept from now on, label by label; of earlier moments nothing is known.";
  const parts = [];
  if (!judged.length) parts.push("No labels were held out yet: that takes two labels of a class.");
  else parts.push("The band is the range of what was measured, at 95 % confidence. Labels that you chose yourself are not drawn at random, so it says how hard they are, too.");
  if (audits.length) parts.push(`A diamond is what an audit proved: ${audits.at(-1).words}`);
  if (points.some((one) => !one.way)) parts.push("Faint dots are moments that were returned from.");
  return parts.join(" ");
}
