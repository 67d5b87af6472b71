/* Filters: made in a small form, shown as chips that take them away again. */

import { button, byId, element, refill } from "./elements.js";
import { KINDS_OF_ROW, filterMask, filterWords, rowsOf } from "./masks.js";
import { openClasses } from "./store.js";
import { measure, nameOf, rowCount } from "./words.js";

const MANY = 12; // values beyond which letters narrow the list down

export class FilterPanel {
  constructor(store, loadColumn) {
    Object.assign(this, { store, loadColumn });
    this.subject = byId("filter-on");
    this.editor = byId("filter-editor");
    this.subject.addEventListener("change", () => this.edit());
    byId("filter-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.add();
    });
    store.watch(["project"], ({ project }) => { if (project) this.offer(project); });
    store.watch(["filters", "hidesOthers", "selection", "answers"], (state) => this.writeChips(state));
  }

  /** Offer class, confidence, source and all columns as subjects. */
  offer(project) {
    const columns = project.columns.map(({ name }) => [`column:${name}`, name]);
    const wanted = [["class", "Class"], ["confidence", "Confidence"], ["source", "Source"], ...columns];
    const now = [...this.subject.options].map((option) => option.value).join("\n");
    if (now === wanted.map(([value]) => value).join("\n")) return;
    refill(this.subject, ...wanted.map(([value, text]) => element("option", { value, text })));
    this.edit();
  }

  /** Show the form of a subject: a range, or values to tick. */
  async edit() {
    const on = this.subject.value, { project } = this.store.state;
    if (on === "confidence") return this.editRange("0", "100", "%");
    if (on === "source") return this.editValues(KINDS_OF_ROW.map((text, value) => ({ value, text })));
    if (on === "class") {
      const classes = openClasses(project).map(({ code, name }) => ({ value: code, text: nameOf(name) }));
      return this.editValues([...classes, { value: -1, text: "no label" }]);
    }
    refill(this.editor, element("p", { class: "faint", text: "Reading the column." }));
    const column = await this.loadColumn(on.slice(7));
    if (this.subject.value !== on) return undefined;
    if (!column.values) return this.editRange(measure(column.low), measure(column.high), "");
    const values = column.values.map((name, value) => ({ value, text: nameOf(name) }));
    return this.editValues([...values, { value: -1, text: "missing" }]);
  }

  editRange(low, high, unit) {
    const field = (name, placeholder, words) => element("input", {
      type: "number", step: "any", class: "field", name, placeholder, aria: { label: `${words}${unit ? `, in ${unit}` : ""}` },
    });
    refill(this.editor, element("div", { class: "range" }, field("low", low, "From"), element("span", { text: "to" }), field("high", high, "To"), element("span", { text: unit })));
  }

  editValues(values) {
    const lines = values.map(({ value, text }) => element("label", {},
      element("input", { type: "checkbox", name: "value", value: String(value) }), element("span", { text })));
    const parts = [element("div", { class: "ticks", role: "group", aria: { label: "Values" } }, ...lines)];
    if (values.length > MANY) {
      parts.unshift(element("input", {
        type: "search", class: "field", placeholder: "Letters of a value", aria: { label: "Narrow the values down" },
        oninput: (event) => {
          const letters = event.target.value.toLowerCase();
          for (const line of lines) line.hidden = !line.textContent.toLowerCase().includes(letters);
        },
      }));
    }
    refill(this.editor, ...parts);
  }

  /** Put the filter of the form in force; it takes the place of one on the same subject. */
  add() {
    const on = this.subject.value, read = (name) => this.editor.querySelector(`[name=${name}]`)?.value ?? "";
    const values = [...this.editor.querySelectorAll("[name=value]:checked")].map((box) => Number(box.value));
    const [low, high] = [read("low"), read("high")].map((text) => (text === "" ? null : Number(text)));
    if (!values.length && low === null && high === null) return;
    const others = this.store.state.filters.filter((filter) => filter.on !== on);
    this.store.set({ filters: [...others, { on, values, low, high }] });
    byId("chips").querySelector("[data-name=select]").focus(); // keys are meant for the page again
  }

  remove(filter) {
    this.store.set({ filters: this.store.state.filters.filter((one) => one !== filter) });
  }

  /** Select what the filters leave. */
  select() {
    const mask = filterMask(this.store.state);
    if (mask) this.store.set({ selection: { rows: rowsOf(mask), from: "filter" }, picked: -1 });
  }

  writeChips(state) {
    const mask = filterMask(state);
    byId("chips").hidden = mask === null;
    if (mask === null) return;
    const n = mask.reduce((sum, one) => sum + one, 0);
    const chips = state.filters.map((filter) => {
      const text = filterWords(filter, state);
      return element("button", {
        type: "button", class: "chip", title: `Take away: ${text}`, data: { name: filter.on }, aria: { label: `Take the filter away: ${text}` },
        onclick: () => this.remove(filter),
      }, element("span", { text }), element("span", { class: "cross", text: "×" }));
    });
    const box = element("input", {
      type: "checkbox", checked: state.hidesOthers, data: { name: "others" },
      onchange: (event) => this.store.set({ hidesOthers: event.target.checked }),
    });
    refill(byId("chips"), ...chips,
      button(n === 1 ? "Select this row" : `Select these ${rowCount(n)}`, () => this.select(), { key: "A", disabled: n === 0, data: { name: "select" } }),
      element("label", { class: "tick" }, box, "hide the others"));
  }
}
