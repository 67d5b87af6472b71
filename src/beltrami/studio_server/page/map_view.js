/* The map view: tools, colours, search, the card under the pointer, and labels for what is selected. */

import { byId, element } from "./elements.js";
import { askText, chooseClass } from "./dialogs.js";
import { FilterPanel } from "./filter_panel.js";
import { answerLine, itemBody } from "./item.js";
import { LabelBar, MOST_ROWS } from "./label_bar.js";
import { startLegend } from "./legend.js";
import { filterMask } from "./masks.js";
import { SelectionPanel } from "./selection_panel.js";
import { classKeys, targetRows } from "./store.js";
import { ask, askFrame } from "./wire.js";

const PAUSE_MS = 70; // before the row under the pointer is fetched
const STEP = 60; // pixels of an arrow key

export class MapView {
  constructor(store, stage, deeds, contents, notices) {
    Object.assign(this, { store, stage, deeds, contents, notices, hovered: -1 });
    startLegend(store);
    this.selection = new SelectionPanel(store, contents, notices);
    this.filters = new FilterPanel(store, (name) => this.loadColumn(name));
    this.bar = new LabelBar(store, {
      label: (code, event) => this.label(code, event), create: (event) => this.create(event),
      choose: (event) => this.choose(event), clear: (event) => this.label(null, event),
    });
    store.watch(["selection", "picked"], (state) => this.uncover(state));
    this.listenToMap();
    this.listenToTools();
    byId("selection-clear").addEventListener("click", () => this.clear());
  }

  listenToMap() {
    const { map } = this.stage, { store } = this;
    map.onpick = (row) => { if (store.state.view === "map") store.set({ picked: row, selection: null }); };
    map.onselect = (rows, from) => this.select(rows, from);
    map.onhover = (row, left, top) => this.hover(row, left, top);
    map.onview = () => this.hover(-1);
  }

  listenToTools() {
    const { store } = this;
    for (const input of document.querySelectorAll("input[name=tool]")) {
      input.addEventListener("change", () => store.set({ tool: input.value }));
    }
    store.watch(["tool"], ({ tool }) => {
      for (const input of document.querySelectorAll("input[name=tool]")) input.checked = input.value === tool;
    });
    for (const button of document.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => this.zoom(button.dataset.zoom));
    }
    const paint = byId("paint");
    paint.addEventListener("change", () => this.colour(paint.value));
    store.watch(["project"], ({ project }) => { if (project) this.offerColours(project); });
    store.watch(["paint"], (state) => { paint.value = state.paint; });
    const search = byId("search");
    search.addEventListener("submit", (event) => {
      event.preventDefault();
      this.search(search.elements.text.value.trim());
    });
    search.elements.text.addEventListener("keydown", (event) => { if (event.key === "Escape") event.target.blur(); });
  }

  zoom(way) {
    if (way === "reset") this.stage.map.reset();
    else this.stage.map.zoomBy(way === "in" ? 1.5 : 1 / 1.5);
  }

  offerColours(project) {
    const columns = project.columns.map(({ name }) => [`column:${name}`, name]);
    const wanted = [["class", "Class"], ["confidence", "Confidence"], ["source", "Source"], ...columns], paint = byId("paint");
    if (paint.options.length !== wanted.length) paint.replaceChildren(...wanted.map(([value, text]) => element("option", { value, text })));
    paint.value = this.store.state.paint;
  }

  async colour(paint) {
    try {
      if (paint.startsWith("column:")) await this.loadColumn(paint.slice(7));
      this.store.set({ paint, hidden: { ...this.store.state.hidden, column: new Set() } });
    } catch (error) {
      byId("paint").value = this.store.state.paint;
      this.notices.warn(`The map cannot be coloured so: ${error.message}`);
    }
  }

  /** Return a column, fetched once. */
  async loadColumn(name) {
    const { columns } = this.store.state;
    if (!columns.has(name)) {
      const { column, codes } = await askFrame("/api/column", { name });
      this.store.set({ columns: new Map(columns).set(name, { ...column, codes }) });
    }
    return this.store.state.columns.get(name);
  }

  /** Select rows; those that filters leave out are not caught by a lasso. */
  select(rows, from) {
    const mask = filterMask(this.store.state), caught = mask ? rows.filter((row) => mask[row]) : rows;
    if (!caught.length) this.notices.say("No row lies in there.");
    this.store.set({ selection: caught.length ? { rows: caught, from } : null, picked: -1 });
  }

  async search(text) {
    if (!text) return;
    try {
      const { rows, count } = await ask("/api/search", { text });
      if (!rows.length) this.notices.say(`No row holds “${text}”.`);
      else if (rows.length === 1) this.store.set({ selection: null, picked: rows[0] });
      else this.store.set({ selection: { rows: Uint32Array.from(rows), from: "search", total: count }, picked: -1 });
      byId("search").elements.text.setAttribute("aria-invalid", String(!rows.length));
      if (rows.length) byId("points").focus();
    } catch (error) {
      this.notices.warn(`The search failed: ${error.message}`);
    }
  }

  /** Keep what was chosen from lying under the bar that labels it. */
  uncover(state) {
    const bar = byId("bar"), isOver = !bar.hidden && getComputedStyle(bar).position === "absolute";
    if (state.view !== "map" || !state.places || !isOver) return;
    const covered = byId("points").getBoundingClientRect().bottom - bar.getBoundingClientRect().top;
    this.stage.uncover(targetRows(state), covered);
  }

  clear() {
    this.store.set({ selection: null, picked: -1 });
  }

  /** Label what is selected; `code` null takes labels away. */
  label(code, event) {
    return this.labelAs(code === null ? null : this.store.state.project.classes[code].name, event);
  }

  /** Give what is selected a name, or none. A selection stays where saving failed. */
  async labelAs(name, { timeStamp }) {
    const { store, notices } = this, { project, selection } = store.state, rows = targetRows(store.state);
    if (!rows.length || rows.length > MOST_ROWS || project.read_only) return;
    try {
      await this.deeds.label(rows, name, rows.length > 1 ? "area" : "click", timeStamp);
      notices.calm();
      if (selection && store.state.selection === selection) this.clear();
    } catch (error) {
      notices.warn(`Not saved: ${error.message} Nothing was labelled; what you selected is still selected.`);
    }
  }

  async create(event) {
    const { store } = this, { selection, picked } = store.state;
    if (!targetRows(store.state).length || store.state.project.read_only) return;
    const name = await askText("A new class", { note: "What is selected gets it as its label.", word: "Make it" });
    // Something else may be selected by now: the name was meant for those rows alone.
    const isSame = store.state.selection === selection && store.state.picked === picked;
    if (name !== null && isSame) await this.labelAs(name, event);
  }

  async choose(event) {
    const { project } = this.store.state;
    if (!targetRows(this.store.state).length || project.read_only) return;
    const one = await chooseClass(project, "Label what is selected as");
    if (one) await this.label(one.code, event);
  }

  /** Show a card with the row under the pointer, after a moment. */
  hover(row, left = 0, top = 0) {
    if (row === this.hovered) return;
    this.hovered = row;
    clearTimeout(this.timer);
    if (row < 0) byId("card").hidden = true;
    else this.timer = setTimeout(() => this.showCard(row, left, top), PAUSE_MS);
  }

  async showCard(row, left, top) {
    const [item] = await this.contents.of([row]).catch(() => []), card = byId("card"), frame = byId("stage");
    if (row !== this.hovered || !item) return;
    card.replaceChildren(element("p", { class: "id", text: item.id }), itemBody(item, "small"), answerLine(this.store.state, row));
    card.hidden = false;
    const place = (at, size, room) => Math.max(6, Math.min(room - size - 6, at + 18 + size > room ? at - 18 - size : at + 18));
    card.style.left = `${place(left, card.offsetWidth, frame.clientWidth)}px`;
    card.style.top = `${place(top, card.offsetHeight, frame.clientHeight)}px`;
  }

  /** Return what keys do in this view. */
  keys() {
    const { store } = this, { map } = this.stage, use = (tool) => () => store.set({ tool });
    const keys = {
      m: use("pan"), l: use("lasso"), r: use("rectangle"), a: () => this.filters.select(), Escape: () => this.clear(),
      n: (event) => this.create(event), c: (event) => this.choose(event), Delete: (event) => this.label(null, event),
      Enter: (event) => { if (this.bar.proposed >= 0 && !this.bar.isFound) this.label(this.bar.proposed, event); },
    };
    if (document.activeElement === byId("points")) {
      Object.assign(keys, {
        ArrowLeft: () => map.panBy(STEP, 0), ArrowRight: () => map.panBy(-STEP, 0), ArrowUp: () => map.panBy(0, STEP),
        ArrowDown: () => map.panBy(0, -STEP), "+": () => this.zoom("in"), "=": () => this.zoom("in"),
        "-": () => this.zoom("out"), 0: () => this.zoom("reset"),
      });
    }
    return { ...keys, ...classKeys(store.state.project, ({ code }, event) => this.label(code, event)) };
  }
}
