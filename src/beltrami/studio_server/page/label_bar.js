/* The bar that labels what is selected on the map: how many rows, as what, and what it would change. */

import { button, byId, element, markIcon, refill } from "./elements.js";
import { shownCode } from "./masks.js";
import { styleOf } from "./palette.js";
import { openClasses, targetRows } from "./store.js";
import { tell } from "./wire.js";
import { count, nameOf, rowCount } from "./words.js";

const PAUSE_MS = 250; // before the studio is asked what a label would change
export const MOST_ROWS = 200000; // of one label

export class LabelBar {
  /** `acts` has label(code, event), create(event), choose(event) and clear(event). */
  constructor(store, acts) {
    Object.assign(this, { store, acts, proposed: -1, changes: null, trial: null, timer: 0 });
    store.watch(["selection", "picked", "project", "moment"], (state) => this.aim(state));
    store.watch(["version"], () => this.consult());
  }

  /** Whether a search selected the rows: its Enter, pressed twice, must not label them. */
  get isFound() {
    return this.store.state.selection?.from === "search";
  }

  /** Propose the class that most of the rows have, and draw the bar anew. */
  aim(state) {
    const rows = targetRows(state), isOpen = rows.length > 0 && state.project && !state.project.read_only && !state.moment;
    byId("bar").hidden = !isOpen;
    const aimedAt = state.selection ?? state.picked;
    if (aimedAt !== this.aimedAt) this.proposed = isOpen ? proposeClass(state, rows) : -1;
    Object.assign(this, { rows, aimedAt });
    if (isOpen) this.write(state, rows);
    this.consult();
  }

  write(state, rows) {
    const classes = openClasses(state.project), { acts } = this;
    const buttons = classes.filter((one) => one.key).map(({ code, name, key }) => {
      const traits = { key, icon: markIcon(styleOf(code)), title: name, class: "answer-key", data: { name: `bar:${code}` } };
      const made = button(nameOf(name), (event) => acts.label(code, event), traits);
      for (const moment of ["pointerenter", "focus"]) made.addEventListener(moment, () => this.propose(code));
      return made;
    });
    const more = classes.length > 9 ? button("All classes", acts.choose, { key: "C", class: "answer-key", data: { name: "bar:all" } }) : null;
    const given = countGiven(state, rows);
    const away = given ? button(given === 1 ? "Take its label away" : `Take ${count(given)} labels away`, acts.clear, { key: "Del", class: "link", data: { name: "bar:clear" } }) : null;
    refill(byId("bar-classes"), ...buttons, more, button("New class", acts.create, { key: "N", class: "answer-key", data: { name: "bar:new" } }));
    refill(byId("bar-away"), away);
    const replaced = given ? ` ${rowCount(given)} already ${given === 1 ? "has" : "have"} a label by people, which this replaces.` : "";
    byId("bar-note").textContent = `Labels by area weigh less than rows that you looked at, and are marked so.${replaced}`;
    byId("bar-note").hidden = rows.length < 2;
    this.say();
  }

  propose(code) {
    if (code === this.proposed) return;
    this.proposed = code;
    this.consult();
  }

  /** Ask the studio, after a pause, what the proposed label would change. */
  consult() {
    clearTimeout(this.timer);
    this.trial?.abort();
    this.changes = null;
    this.say();
    const { rows, proposed } = this, { project, selection } = this.store.state;
    if (!selection || rows.length < 2 || rows.length > MOST_ROWS || proposed < 0 || byId("bar").hidden) return;
    this.say("working out what it would change");
    this.timer = setTimeout(async () => {
      this.trial = new AbortController();
      try {
        const answer = await tell("/api/trial", { rows: Array.from(rows), label: project.classes[proposed].name }, this.trial.signal);
        this.changes = answer.changes;
        this.say();
      } catch (error) {
        if (error.name !== "AbortError") this.say(`what it would change is not known: ${error.message}`);
      }
    }, PAUSE_MS);
  }

  /** Say what the label does; `meanwhile` stands for what it would change until that is known. */
  say(meanwhile = "") {
    const line = byId("bar-words"), { rows, proposed } = this, { project } = this.store.state;
    if (!rows?.length || !project) return;
    if (rows.length > MOST_ROWS) {
      line.textContent = `${rowCount(rows.length)} are selected, and one label takes at most ${count(MOST_ROWS)}: select fewer.`;
      return;
    }
    const what = rows.length === 1 ? "this row" : rowCount(rows.length);
    if (proposed < 0) {
      line.textContent = `Label ${what}: choose a class, or make a new one.`;
      return;
    }
    const name = element("strong", { text: nameOf(project.classes[proposed].name) });
    const effect = this.changes === null ? meanwhile : `would change about ${rowCount(this.changes)}`;
    const parts = [`Label ${what} as `, name, effect ? ` — ${effect.replace(/\.$/, "")}. ` : ". "];
    if (this.isFound) line.replaceChildren(...parts, "The key of the class does it; Enter labels nothing that was searched for.");
    else line.replaceChildren(...parts, element("kbd", { text: "Enter" }), " does it.");
  }
}

/** Return the class most of the rows are drawn in, else the first one, else -1. */
function proposeClass({ answers, project }, rows) {
  const classes = openClasses(project);
  if (!classes.length) return -1;
  const sizes = new Map();
  for (const row of rows) {
    const code = answers ? shownCode(answers, row) : -1;
    if (code >= 0) sizes.set(code, (sizes.get(code) ?? 0) + 1);
  }
  return [...sizes].sort((a, b) => b[1] - a[1])[0]?.[0] ?? classes[0].code;
}

function countGiven({ answers }, rows) {
  return answers ? rows.reduce((sum, row) => sum + ((answers.source[row] & 3) === 0), 0) : 0;
}
