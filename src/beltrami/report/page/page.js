/* The page around the map: what was packed, legend, keys, tool tip, and links into the map. */

import { PointMap, RAMPS, TINTS, rgb } from "./map.js";

const MODES = ["class", "confidence", "source"];
const SOURCES = ["given by you", "labelled by us", "left to you", "reached by no label"];
const GIVEN = 0, ABSTAINED = 2, UNREACHED = 3; // of `source`
const MARK_OF_SOURCE = ["given", "disc", "ring", "cross"];
const LEGEND_LIMIT = 200;

/** Return the bytes of a base64 text as an array of `Kind`, of exactly `length` entries. */
function decode(text, Kind, length) {
  const raw = atob(text);
  if (raw.length !== length * Kind.BYTES_PER_ELEMENT) {
    throw new RangeError(`${length} numbers were due and ${raw.length} bytes came`);
  }
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Kind(bytes.buffer);
}

/** What `packing.py` packed; every column a typed array. Classes count from 0, -1 is none. */
class Rows {
  constructor(packed) {
    const n = packed.n, Code = packed.wide ? Uint16Array : Uint8Array;
    const places = decode(packed.positions, Uint16Array, 2 * n);
    this.n = n;
    this.extent = packed.extent;
    this.x = Float32Array.from({ length: n }, (_, i) => places[2 * i] / 65535);
    this.y = Float32Array.from({ length: n }, (_, i) => places[2 * i + 1] / 65535);
    this.codes = Int32Array.from(decode(packed.codes, Code, n), (code) => code - 1);
    this.given = Int32Array.from(decode(packed.given, Code, n), (code) => code - 1);
    this.source = decode(packed.source, Uint8Array, n);
    this.confidence = decode(packed.confidence, Uint8Array, n);
    this.rows = packed.rows === null ? null : decode(packed.rows, Uint32Array, n);
    this.ids = packed.ids;
    this.previews = packed.previews;
    this.pictures = packed.pictures;
    this.styles = packed.styles;
    this.classes = packed.classes.map((name, code) => ({ name, ...packed.styles[code % packed.styles.length] }));
  }

  id(i) {
    return this.ids === null ? String(this.rows[i]) : this.ids[i];
  }

  /** Return where the picture of a row is, "" for nowhere; lists hold those of the rows they name. */
  picture(i) {
    const packed = this.pictures[i];
    if (packed) return `data:image/png;base64,${packed}`;
    return document.querySelector(`img[data-row="${i}"]`)?.src ?? "";
  }

  find(id) {
    for (let i = 0; i < this.n; i++) if (this.id(i) === id) return i;
    return -1;
  }
}

/** Return an element with a class and a text; text is never read as markup. */
function element(tag, name, text = "") {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.textContent = text;
  return made;
}

function markIcon(mark, colour) {
  const icon = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  icon.setAttribute("class", "mark");
  icon.setAttribute("viewBox", "-6 -6 12 12");
  icon.setAttribute("aria-hidden", "true");
  icon.style.color = colour;
  use.setAttribute("href", `#mark-${mark}`);
  icon.append(use);
  return icon;
}

/** Light or dark: what the reader chose, or else what the system prefers. */
const theme = {
  dark: matchMedia("(prefers-color-scheme: dark)"),
  get name() {
    return document.documentElement.dataset.theme || (this.dark.matches ? "dark" : "light");
  },
  set name(value) {
    document.documentElement.dataset.theme = value;
    this.label();
  },
  label() {
    document.getElementById("theme").textContent = this.name === "dark" ? "Light theme" : "Dark theme";
  },
};

class MapPanel {
  constructor(rows) {
    this.rows = rows;
    this.canvas = document.getElementById("points");
    this.tip = document.getElementById("tip");
    this.legend = document.getElementById("legend");
    this.map = new PointMap(this.canvas);
    this.map.setPlaces(rows.x, rows.y, rows.extent);
    this.map.setAnswers(rows);
    this.visible = new Uint8Array(rows.n);
    this.mode = "class";
    this.hidden = { class: new Set(), source: new Set() };
    this.picked = -1;
    this.map.onhover = this.map.onpick = (i) => this.pick(i);
    this.map.onview = () => { this.report(); if (this.picked >= 0) this.placeTip(); };
    this.map.onnote = () => this.writeNote();
    this.writeNote();
    this.dress();
  }

  /** Show the rows of this mode, theme and legend; then draw. */
  dress() {
    const { rows, map, mode, hidden, visible } = this;
    for (let i = 0; i < rows.n; i++) {
      const source = rows.source[i], isOpen = source === ABSTAINED || source === UNREACHED;
      visible[i] = hidden.class.has(isOpen ? -1 : rows.codes[i]) || hidden.source.has(source) ? 0 : 1;
    }
    const ground = getComputedStyle(this.canvas.parentElement).backgroundColor.match(/\d+/g).slice(0, 3).map(Number);
    map.setTheme(theme.name, ground, rgb(TINTS[theme.name][0]));
    map.setPaint({ mode, styles: rows.styles });
    map.setVisible(visible);
    this.writeLegend();
    map.draw();
    this.report();
  }

  /** Say on the page itself how the map stands. */
  report() {
    const { map, rows, mode } = this;
    Object.assign(document.body.dataset, {
      points: rows.n, drawn: map.drawn, colour: mode, theme: theme.name, backend: map.backend,
      zoom: map.zoom.toFixed(3), centre: map.centre.map((place) => place.toFixed(4)).join(),
    });
  }

  writeNote() {
    const line = document.getElementById("drawing");
    line.textContent = this.map.note;
    line.hidden = !this.map.note;
  }

  setMode(mode) {
    if (!MODES.includes(mode)) return;
    this.mode = mode;
    for (const input of document.querySelectorAll("input[name=colour]")) input.checked = input.value === mode;
    this.dress();
  }

  /** Pick a point: circle it and say what it is. */
  pick(i) {
    if (i === this.picked) return;
    this.picked = i;
    this.map.setPicked(i);
    this.canvas.classList.toggle("pointed", i >= 0);
    this.tip.hidden = i < 0;
    document.body.dataset.hover = i;
    if (i >= 0) {
      this.writeTip(i);
      this.placeTip();
    }
  }

  writeTip(i) {
    const { rows } = this, source = rows.source[i], code = rows.codes[i];
    const name = code < 0 ? "no label" : rows.classes[code].name || "(blank)";
    const parts = [element("div", "id", rows.id(i))];
    const picture = rows.picture(i);
    if (picture) parts.push(Object.assign(element("img", "picture"), { src: picture, alt: "" }));
    if (rows.previews?.[i]) parts.push(element("div", "text", rows.previews[i]));
    parts.push(element("div", "label", source === ABSTAINED && code >= 0 ? `perhaps ${name}` : name));
    const sure = source === UNREACHED ? "" : `, confidence ${Math.round(rows.confidence[i] / 2.55)} %`;
    parts.push(element("div", "line", SOURCES[source] + (source === GIVEN ? "" : sure)));
    const given = rows.given[i];
    if (given >= 0 && given !== code) parts.push(element("div", "line", `you said ${rows.classes[given].name}`));
    this.tip.replaceChildren(...parts);
  }

  placeTip() {
    const [left, top] = this.map.toScreen(this.picked), { clientWidth, clientHeight } = this.canvas;
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const x = left + 18 + width > clientWidth ? left - 18 - width : left + 18;
    const y = top + 18 + height > clientHeight ? top - 18 - height : top + 18;
    this.tip.style.left = `${Math.max(6, Math.min(clientWidth - width - 6, x))}px`;
    this.tip.style.top = `${Math.max(6, Math.min(clientHeight - height - 6, y))}px`;
  }

  /** Bring a point to the middle and pick it; `scroll` brings the map itself into sight. */
  goTo(i, scroll) {
    if (!this.visible[i]) {
      for (const set of Object.values(this.hidden)) set.clear();
      this.dress();
    }
    this.map.centreOn(i, Math.max(1, Math.min(6, Math.sqrt(this.rows.n / 300))));
    this.map.draw();
    this.pick(i);
    if (scroll) document.getElementById("map").scrollIntoView();
  }

  writeLegend() {
    const list = element("ul"), name = theme.name, tints = TINTS[name];
    const item = (kind, value, text, mark, colour) => {
      const line = element("li"), button = element("button");
      button.type = "button";
      button.title = text;
      button.dataset[kind] = value;
      button.setAttribute("aria-pressed", String(!this.hidden[kind].has(value)));
      button.append(markIcon(mark, colour), element("span", "name", text));
      button.addEventListener("click", (event) => this.toggle(kind, value, event.shiftKey));
      line.append(button);
      list.append(line);
    };
    if (this.mode === "class") {
      const shown = this.rows.classes.slice(0, LEGEND_LIMIT);
      shown.forEach((one, code) => item("class", code, one.name || "(blank)", one.mark, one[name]));
      item("class", -1, "no label", "ring", tints.grey);
      const left = this.rows.classes.length - shown.length;
      if (left > 0) list.append(element("li", "still", `and ${left} more`));
    } else {
      SOURCES.forEach((text, source) => item("source", source, text, MARK_OF_SOURCE[source], this.mode === "source" ? tints[source] : tints.grey));
    }
    this.legend.replaceChildren(...(this.mode === "confidence" ? this.rampParts(name) : [this.bothButtons()]), list);
  }

  rampParts(name) {
    const ramp = element("div", "ramp"), ends = element("div", "ends");
    ramp.style.background = `linear-gradient(to right, ${RAMPS.confidence[name].join(", ")})`;
    ends.append(element("span", "", "0 %"), element("span", "", "confidence"), element("span", "", "100 %"));
    return [ramp, ends, document.createElement("hr")];
  }

  bothButtons() {
    const line = element("div", "both"), set = this.hidden[this.mode];
    const all = this.mode === "source" ? SOURCES.keys() : [-1, ...this.rows.classes.keys()];
    const button = (text, act) => {
      const made = element("button", "", text);
      made.type = "button";
      made.addEventListener("click", () => { act(); this.dress(); this.legend.querySelector("button").focus(); });
      line.append(made);
    };
    button("Show all", () => set.clear());
    button("Hide all", () => { for (const value of all) set.add(value); });
    return line;
  }

  /** Hide or show a class or source; `alone` hides all others, or shows all if it is alone. */
  toggle(kind, value, alone) {
    const set = this.hidden[kind];
    if (alone) {
      const others = (kind === "source" ? [...SOURCES.keys()] : [-1, ...this.rows.classes.keys()]).filter((one) => one !== value);
      const isAlone = !set.has(value) && others.every((one) => set.has(one));
      set.clear();
      if (!isAlone) for (const one of others) set.add(one);
    } else if (!set.delete(value)) set.add(value);
    this.pick(-1);
    this.dress();
    this.legend.querySelector(`[data-${kind}="${value}"]`)?.focus();
  }
}

function listenToKeys(panel) {
  const { map } = panel, step = 60, actions = {
    ArrowLeft: () => map.panBy(step, 0), ArrowRight: () => map.panBy(-step, 0),
    ArrowUp: () => map.panBy(0, step), ArrowDown: () => map.panBy(0, -step),
    "+": () => map.zoomBy(1.5), "=": () => map.zoomBy(1.5),
    "-": () => map.zoomBy(1 / 1.5), 0: () => map.reset(), Escape: () => panel.pick(-1),
  };
  panel.canvas.addEventListener("keydown", (event) => {
    const act = actions[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  const zooms = { in: actions["+"], out: actions["-"], reset: actions[0] };
  for (const button of document.querySelectorAll(".zoom button")) {
    button.addEventListener("click", () => zooms[button.dataset.zoom]());
  }
}

function listenToFields(panel) {
  for (const input of document.querySelectorAll("input[name=colour]")) {
    input.addEventListener("change", () => panel.setMode(input.value));
  }
  for (const button of document.querySelectorAll("[data-point]")) {
    button.addEventListener("click", () => panel.goTo(Number(button.dataset.point), true));
  }
  const form = document.getElementById("find"), field = form.elements.id;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const found = panel.rows.find(field.value.trim());
    field.setAttribute("aria-invalid", String(found < 0));
    field.setCustomValidity(found < 0 ? "No row on the map has this id." : "");
    field.reportValidity();
    if (found >= 0) panel.goTo(found, false);
  });
  field.addEventListener("input", () => { field.setCustomValidity(""); field.removeAttribute("aria-invalid"); });
}

/** The address may say how the map is looked at: #colour=source&hide=0,2&zoom=3&hover=17&theme=dark */
function readAddress(panel) {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (["light", "dark"].includes(asked.get("theme"))) theme.name = asked.get("theme");
  if (!panel) return;
  if (asked.has("hide")) panel.hidden.class = new Set(asked.get("hide").split(",").map(Number));
  panel.setMode(asked.get("colour") ?? panel.mode);
  if (asked.has("zoom")) panel.map.zoomBy(Number(asked.get("zoom")) || 1);
  panel.map.draw();
  const point = Number(asked.get("hover") ?? NaN);
  if (Number.isInteger(point) && point >= 0 && point < panel.rows.n) panel.pick(point);
}

function start() {
  const packed = JSON.parse(document.getElementById("data").textContent);
  const panel = packed === null ? null : new MapPanel(new Rows(packed));
  const repaint = () => { theme.label(); panel?.dress(); };
  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => { theme.name = theme.name === "dark" ? "light" : "dark"; repaint(); });
  theme.dark.addEventListener("change", repaint);
  theme.label();
  if (panel) {
    listenToKeys(panel);
    listenToFields(panel);
    new ResizeObserver(() => panel.map.resize()).observe(panel.canvas);
  }
  listenToPrinter(repaint);
  addEventListener("hashchange", () => readAddress(panel));
  readAddress(panel);
  document.body.dataset.state = "ready";
}

/** Paper is light, and shows every fact. */
function listenToPrinter(repaint) {
  let before = "";
  addEventListener("beforeprint", () => {
    document.querySelector(".facts").open = true;
    before = document.documentElement.dataset.theme || "";
    document.documentElement.dataset.theme = "light";
    repaint();
  });
  addEventListener("afterprint", () => {
    if (before) document.documentElement.dataset.theme = before;
    else delete document.documentElement.dataset.theme;
    repaint();
  });
}

start();
