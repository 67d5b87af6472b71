/* One display of the map: tools, points, the card under the pointer, classes to choose from, words. */

import { PointMap } from "./map.js";
import { button, element, markIcon, refill } from "./elements.js";
import { answerLine, itemBody } from "./item.js";
import { styleOf, stylesOf } from "./palette.js";
import { count, nameOf, rowCount, sentence } from "./words.js";

const TOOLS = [["pan", "Move", "M"], ["lasso", "Lasso", "L"], ["rectangle", "Box", "B"]];
const MOST_BUTTONS = 24; // classes with a button; the others are typed
const PAUSE_MS = 70; // before the row under the pointer is asked for
const MOST_ITEMS = 500; // rows that are kept
const STEP = 60; // pixels of an arrow key

export class View {
  /** `acts` has label(rows, name), undo(), select(rows) and item(row); the last returns a promise. */
  constructor(acts) {
    Object.assign(this, { acts, facts: null, answers: null, selection: [], items: new Map(), hovered: -1, timer: 0, busy: 0 });
    this.tools = new Map(TOOLS.map(([tool, words, key]) => [tool, button(words, () => this.use(tool), { key })]));
    this.undo = button("Undo", () => this.takeBack(), { key: "Z" });
    this.canvas = element("canvas", { tabIndex: 0, class: "points", role: "img" });
    this.card = element("div", { class: "card", hidden: true });
    this.note = element("p", { class: "stage-note" });
    this.stage = element("div", { class: "stage" }, this.canvas, this.card, this.note);
    this.words = element("p", { class: "words-line", role: "status" });
    this.problem = element("p", { class: "problem", role: "alert" });
    this.waiting = element("p", { class: "waiting", role: "status" });
    this.classes = element("div", { class: "classes" });
    this.form = this.makeForm();
    this.foot = element("div", { class: "foot" });
    this.root = element("div", { class: "beltrami", tabIndex: -1, onkeydown: (event) => this.press(event) },
      this.bar(), this.stage, this.words, this.problem, this.waiting,
      element("div", { class: "choices" }, this.classes, this.form), this.foot);
    this.root.setAttribute("data-lm-suppress-shortcuts", "true"); // keys pressed here are not Jupyter's
  }

  bar() {
    const zoom = (factor) => () => this.map.zoomBy(factor);
    const zooms = [["+", zoom(1.5), "Closer"], ["−", zoom(1 / 1.5), "Farther"], ["All", () => this.map.reset(), "The whole map"]];
    return element("div", { class: "tools" },
      element("div", { class: "group", role: "group", aria: { label: "What a drag does" } }, ...this.tools.values()),
      element("div", { class: "group" }, ...zooms.map(([text, act, title]) => button(text, act, { title, aria: { label: title } }))),
      this.undo);
  }

  makeForm() {
    this.names = element("datalist", { id: `beltrami-${crypto.getRandomValues(new Uint32Array(2)).join("-")}` });
    this.name = element("input", { type: "text", placeholder: "New class", autocomplete: "off", aria: { label: "Name of a class" } });
    this.name.setAttribute("list", this.names.id);
    this.name.addEventListener("input", () => this.allow());
    this.give = element("button", { type: "submit", class: "quiet", text: "Label" });
    return element("form", { class: "new", onsubmit: (event) => { event.preventDefault(); this.labelByName(); } }, this.name, this.names, this.give);
  }

  /** Make the map; it is drawn as soon as the host puts it on the page. */
  start(height) {
    this.stage.style.height = `${height}px`;
    this.map = new PointMap(this.canvas);
    this.map.onnote = (words) => { this.note.textContent = words; };
    this.map.onnote(this.map.note);
    this.map.onpick = (row) => this.acts.select(row < 0 ? [] : [row]);
    this.map.onselect = (rows) => this.acts.select(Array.from(rows));
    this.map.onhover = (row, left, top) => this.hover(row, left, top);
    this.map.onview = () => this.hover(-1);
    this.observer = new ResizeObserver(() => { this.shade(); this.map.resize(); });
    this.observer.observe(this.canvas);
    this.use("lasso");
  }

  close() {
    this.observer?.disconnect();
    clearTimeout(this.timer);
  }

  // What is shown

  dress(theme) {
    this.root.style.colorScheme = this.theme = theme;
    this.shade();
  }

  /** Give the map the colours of its ground and its ink, which it has only where it stands on a page. */
  shade() {
    if (!this.stage.isConnected) return;
    const look = getComputedStyle(this.stage), shades = [look.backgroundColor, look.color].map((text) => text.match(/[\d.]+/g).slice(0, 3).map(Number));
    const known = [this.theme, ...shades].join();
    if (known !== this.known) this.map.setTheme(this.theme, ...shades);
    this.known = known;
  }

  place({ x, y, extent }) {
    this.map.setPlaces(x, y, extent);
  }

  answer({ codes, confidence, source, nClasses }) {
    this.answers = { codes, confidence, source };
    this.map.setPaint({ mode: "class", styles: stylesOf(Math.max(nClasses, 1)) });
    this.map.setAnswers(this.answers);
    this.choose(this.selection);
  }

  tell(facts) {
    this.facts = facts;
    this.canvas.setAttribute("aria-label", `Map of ${rowCount(facts.rows)} of ${facts.source}, ${count(facts.given)} with a label`);
    this.writeClasses();
    this.writeFoot();
    this.allow();
  }

  /** Let the selected rows stand out, and say how many they are. */
  choose(rows) {
    this.selection = rows;
    this.map.setSelection(rows.length > 1 ? Uint32Array.from(rows) : null);
    this.map.setPicked(rows.length === 1 ? rows[0] : -1);
    this.allow();
  }

  /** Say what a choice would do, and let only what can be done be done. */
  allow() {
    const { facts, selection, answers } = this, isOver = Boolean(facts?.is_over);
    const isIdle = selection.length > 0 && !this.busy && !isOver;
    for (const one of this.classes.children) one.disabled = !isIdle;
    this.give.disabled = !isIdle || !this.name.value.trim();
    this.name.disabled = isOver;
    this.undo.disabled = !facts?.can_undo || this.busy > 0 || isOver;
    const given = answers ? selection.filter((row) => (answers.source[row] & 3) === 0).length : 0;
    if (this.away) [this.away.disabled, this.away.hidden] = [!isIdle, given === 0];
    this.words.textContent = isOver ? "This map was opened anew, or closed. What was labelled here is kept; go on with the newer one."
      : selection.length ? targetWords(selection.length, given) : "Click a row, or draw around several; then choose what they are.";
  }

  writeClasses() {
    const open = this.facts.classes.map((one, code) => ({ ...one, code })).filter((one) => !one.gone);
    const buttons = open.slice(0, MOST_BUTTONS).map(({ code, name, given, labelled }, place) => {
      const sizes = element("span", { class: "sizes", text: `${count(given)} + ${count(labelled)}` });
      const made = button(nameOf(name), () => this.label(name), {
        key: place < 9 ? String(place + 1) : undefined, icon: markIcon(styleOf(code)), data: { name: `class:${code}` },
        title: `${nameOf(name)}: ${count(given)} given, ${count(labelled)} labelled by us`,
      });
      made.append(sizes);
      return made;
    });
    this.away = open.length ? button("No label", () => this.label(null), { key: "Del", class: "quiet away", data: { name: "away" } }) : null;
    refill(this.classes, ...buttons, this.away);
    this.names.replaceChildren(...open.map(({ name }) => element("option", { value: name })));
    this.keys = new Map(open.slice(0, 9).map(({ name }, place) => [String(place + 1), name]));
    this.name.placeholder = open.length > MOST_BUTTONS ? `New class, or one of ${count(open.length)}` : "New class";
  }

  writeFoot() {
    const { headline, evidence, warnings, kept } = this.facts;
    const isOpen = this.foot.querySelector("details")?.open ?? false;
    const list = element("ul", {}, ...warnings.map((text) => element("li", { text: sentence(text) })));
    const title = warnings.length === 1 ? "One thing to know before you trust it" : `${count(warnings.length)} things to know before you trust it`;
    this.foot.replaceChildren(
      element("p", {}, element("strong", { text: headline }), " ", evidence.join(" ")),
      ...(warnings.length ? [element("details", { open: isOpen }, element("summary", { text: title }), list)] : []),
      element("p", { class: "faint", text: kept }),
    );
  }

  warn(words) {
    this.problem.textContent = words;
  }

  wait(words) {
    this.waiting.textContent = words;
  }

  // What a person does

  use(tool) {
    for (const [name, made] of this.tools) made.setAttribute("aria-pressed", String(name === tool));
    this.map.setTool(tool);
  }

  labelByName() {
    const name = this.name.value.trim();
    if (name) this.label(name);
  }

  /** Label what is selected; null takes labels away. What was selected stays where that failed. */
  label(name) {
    const rows = this.selection;
    if (!rows.length || this.busy) return undefined;
    return this.inTurn(async () => {
      await this.acts.label(rows, name);
      this.name.value = "";
      if (this.selection === rows) this.acts.select([]);
    }, "Not labelled: ");
  }

  takeBack() {
    return this.inTurn(() => this.acts.undo(), "Not taken back: ");
  }

  /** Do one thing after the other; a word says what went wrong. */
  async inTurn(act, words) {
    this.busy++;
    this.allow();
    try {
      await act();
      this.warn("");
    } catch (error) {
      this.warn(`${words}${error.message}`);
    } finally {
      this.busy--;
      this.allow();
    }
  }

  press(event) {
    event.stopPropagation(); // keys pressed here are not the host's
    if (event.target === this.name || event.ctrlKey || event.metaKey || event.altKey) return;
    const { map } = this, act = {
      m: () => this.use("pan"), l: () => this.use("lasso"), b: () => this.use("rectangle"), z: () => { if (!this.undo.disabled) this.takeBack(); },
      n: () => this.name.focus(), escape: () => this.acts.select([]), delete: () => { if (this.away && !this.away.hidden) this.label(null); },
      arrowleft: () => map.panBy(STEP, 0), arrowright: () => map.panBy(-STEP, 0), arrowup: () => map.panBy(0, STEP),
      arrowdown: () => map.panBy(0, -STEP), "+": () => map.zoomBy(1.5), "=": () => map.zoomBy(1.5), "-": () => map.zoomBy(1 / 1.5), 0: () => map.reset(),
    }[event.key.toLowerCase()] ?? (this.keys?.has(event.key) ? () => this.label(this.keys.get(event.key)) : null);
    if (!act) return;
    event.preventDefault();
    act();
  }

  // The card

  hover(row, left = 0, top = 0) {
    if (row === this.hovered) return;
    this.hovered = row;
    clearTimeout(this.timer);
    if (row < 0) this.card.hidden = true;
    else this.timer = setTimeout(() => this.showCard(row, left, top), PAUSE_MS);
  }

  async showCard(row, left, top) {
    const item = await this.itemOf(row);
    if (row !== this.hovered || !item) return;
    const { card, stage } = this;
    card.replaceChildren(element("p", { class: "id", text: item.id }), itemBody(item, "small"), answerLine({ project: this.facts, answers: this.answers }, row));
    card.hidden = false;
    const place = (at, size, room) => Math.max(6, Math.min(room - size - 6, at + 18 + size > room ? at - 18 - size : at + 18));
    card.style.left = `${place(left, card.offsetWidth, stage.clientWidth)}px`;
    card.style.top = `${place(top, card.offsetHeight, stage.clientHeight)}px`;
  }

  async itemOf(row) {
    if (!this.items.has(row)) {
      const item = await this.acts.item(row).catch((error) => this.warn(`Row ${row} cannot be shown: ${error.message}`));
      if (!item) return null;
      this.items.set(row, item);
      if (this.items.size > MOST_ITEMS) this.items.delete(this.items.keys().next().value);
    }
    return this.items.get(row);
  }
}

function targetWords(number, given) {
  if (number === 1) return given ? "One row is selected, which has a label: another choice replaces it." : "One row is selected: choose what it is.";
  const replaced = given ? ` ${rowCount(given)} of them ${given === 1 ? "has" : "have"} a label already, which this replaces.` : "";
  return `${rowCount(number)} are selected. Labels of an area count a quarter of one that was looked at.${replaced}`;
}
