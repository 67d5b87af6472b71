/* The rows that are selected, themselves: sixty at a time, pictures as they come into sight. */

import { button, byId, element, refill } from "./elements.js";
import { AT_ONCE } from "./contents.js";
import { answerLine, className, itemBody } from "./item.js";
import { shownCode } from "./masks.js";
import { count, rowCount } from "./words.js";

const FROM = { lasso: "in the lasso", rectangle: "in the rectangle", search: "found", filter: "in the filter" };

export class SelectionPanel {
  constructor(store, contents, notices) {
    Object.assign(this, { store, contents, notices, lines: new Map(), turn: 0 });
    store.watch(["selection"], ({ selection }) => { if (selection) this.list(selection); });
    store.watch(["selection", "picked", "project"], (state) => { if (!state.selection) this.single(state); });
    store.watch(["answers", "project"], (state) => {
      for (const [row, line] of this.lines) line.replaceChildren(...answerLine(state, row).childNodes);
      if (state.selection && state.project) this.summarise(state);
    });
    store.watch(["picked"], ({ picked }) => {
      for (const one of byId("items").querySelectorAll("[data-item]")) {
        one.classList.toggle("picked", Number(one.dataset.item) === picked);
      }
    });
  }

  /** Show one row with all it has, or say how to select. */
  async single({ picked, project }) {
    if (picked === this.alone && picked >= 0) return;
    this.alone = picked;
    const turn = ++this.turn;
    this.lines.clear();
    byId("selection-sum").textContent = "";
    byId("selection-clear").hidden = picked < 0;
    if (picked < 0 || !project) {
      byId("selection-title").textContent = "Nothing selected";
      refill(byId("items"), element("p", { class: "note", text: "Click a point to see its row. Draw a lasso or a rectangle around several, search, or select what a filter leaves; then one key labels them." }));
      return;
    }
    byId("selection-title").textContent = "One row";
    const [item] = await this.fetch([picked]);
    if (turn !== this.turn || !item) return;
    byId("selection-title").textContent = `Row ${item.id}`;
    const line = answerLine(this.store.state, picked);
    this.lines.set(picked, line);
    refill(byId("items"), element("article", { class: "single" }, line, itemBody(item, "large")));
  }

  /** Show a selection from its beginning. */
  list(selection) {
    this.alone = -1;
    this.turn++;
    this.lines.clear();
    byId("selection-clear").hidden = false;
    byId("items").replaceChildren(element("ol", { class: this.store.state.project?.has_pictures ? "pictures" : "lines" }));
    this.summarise(this.store.state);
    return this.more(selection);
  }

  summarise({ selection: { rows, from, total }, answers, project }) {
    byId("selection-title").textContent = `${rowCount(rows.length)} ${FROM[from]}`;
    const sizes = new Map();
    if (answers) for (const row of rows) sizes.set(shownCode(answers, row), (sizes.get(shownCode(answers, row)) ?? 0) + 1);
    const largest = [...sizes].sort((a, b) => b[1] - a[1]).slice(0, 4);
    refill(byId("selection-sum"), ...largest.map(([code, size]) => element("span", {}, className(project, code), ` ${count(size)}`)));
    if (total > rows.length) byId("selection-sum").append(element("span", { text: `the first of ${count(total)} hits` }));
  }

  /** Show the next sixty. */
  async more(selection) {
    const turn = this.turn, list = byId("items").querySelector("ol"), from = list.children.length;
    const items = await this.fetch(Array.from(selection.rows.slice(from, from + AT_ONCE)));
    if (turn !== this.turn) return;
    list.append(...items.map((item) => this.line(item)));
    byId("items").querySelector(".more")?.remove();
    const left = selection.rows.length - list.children.length;
    if (left > 0 && items.length) {
      const words = `Show ${count(Math.min(left, AT_ONCE))} more (${count(list.children.length)} of ${count(selection.rows.length)} shown)`;
      byId("items").append(button(words, () => this.more(selection), { class: "quiet more" }));
    }
  }

  line(item) {
    const { store } = this, answer = answerLine(store.state, item.row);
    this.lines.set(item.row, answer);
    const show = element("button", {
      type: "button", class: "row-id", text: item.id, title: "Show on the map", onclick: () => store.set({ picked: item.row }),
    });
    const out = button("×", () => this.leaveOut(item.row), { class: "out", title: "Leave this row out", aria: { label: `Leave row ${item.id} out of the selection` } });
    return element("li", { data: { item: item.row } }, element("div", { class: "line" }, show, out), itemBody(item, "small"), answer);
  }

  leaveOut(row) {
    const { selection } = this.store.state, rows = selection.rows.filter((one) => one !== row);
    this.store.set({ selection: rows.length ? { ...selection, rows } : null });
  }

  async fetch(rows) {
    try {
      return await this.contents.of(rows);
    } catch (error) {
      this.notices.warn(`These rows cannot be shown: ${error.message}`);
      return [];
    }
  }
}
