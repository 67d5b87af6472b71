/* The page around the map: colours, legend, pointer, keys, tool tip, and links into the map. */

const MODES = ["class", "confidence", "source"];
const SOURCES = ["given by you", "labelled by us", "left to you", "reached by no label"];
const MARK_OF_SOURCE = ["given", "disc", "ring", "cross"];
// Doubtful is orange, sure is blue: two hues that every eye tells apart.
const RAMP = { light: ["#a83200", "#d9701a", "#c9a45c", "#5f9fc6", "#00507f"],
               dark: ["#ff7a2e", "#f0a050", "#c9b48a", "#6fb4dc", "#9fdcff"] };
const TINTS = { light: { grey: "#8b9198", 0: "#1d2126", 1: "#0072B2", 2: "#D08A00", 3: "#8b9198" },
                dark: { grey: "#888e97", 0: "#F4F4F2", 1: "#56B4E9", 2: "#E69F00", 3: "#888e97" } };
const LEGEND_LIMIT = 200;

const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** Return the colour at a share of a ramp of colours. */
function between(ramp, share) {
  const place = share * (ramp.length - 1), k = Math.min(ramp.length - 2, Math.floor(place));
  const [a, b] = [rgb(ramp[k]), rgb(ramp[k + 1])];
  return a.map((value, channel) => Math.round(value + (b[channel] - value) * (place - k)));
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
  constructor(points) {
    this.points = points;
    this.canvas = document.getElementById("points");
    this.tip = document.getElementById("tip");
    this.legend = document.getElementById("legend");
    this.scatter = new Scatter(this.canvas, points);
    this.mode = "class";
    this.hidden = { class: new Set(), source: new Set() };
    this.ground = this.ink = [0, 0, 0];
    this.isDue = false;
    this.dress();
  }

  /** Give each point its colour, mark and strength, for this mode and theme; then draw. */
  dress() {
    const { points, scatter, mode } = this, name = theme.name, tints = TINTS[name];
    const classes = points.classes.map((one) => rgb(one[name])), grey = rgb(tints.grey);
    const ramp = Array.from({ length: 256 }, (_, k) => between(RAMP[name], k / 255));
    for (let i = 0; i < points.n; i++) {
      const source = points.source[i], code = points.codes[i];
      const isOpen = source === ABSTAINED || source === UNREACHED;
      let colour = isOpen || code < 0 ? grey : classes[code];
      if (mode === "confidence" && source !== UNREACHED) colour = ramp[points.confidence[i]];
      if (mode === "source") colour = rgb(tints[source]);
      scatter.colours.set(colour, 3 * i);
      scatter.strength[i] = isOpen ? 0.9 : mode === "class" ? 0.45 + points.confidence[i] / 510 : 0.85;
      const mark = mode === "class" && code >= 0 ? points.classes[code].mark : "disc";
      scatter.marks[i] = MARKS.indexOf(isOpen ? MARK_OF_SOURCE[source] : mark);
      scatter.visible[i] = !this.hidden.class.has(isOpen ? -1 : code) && !this.hidden.source.has(source);
    }
    this.ground = getComputedStyle(this.canvas.parentElement).backgroundColor.match(/\d+/g).slice(0, 3).map(Number);
    this.ink = rgb(tints[0]);
    this.writeLegend();
    this.draw();
  }

  draw() {
    const start = performance.now();
    this.scatter.draw(this.ground, this.ink);
    this.canvas.style.touchAction = this.scatter.view.zoom > 1 ? "none" : "pan-y";
    Object.assign(document.body.dataset, {
      points: this.points.n, drawn: this.scatter.drawn, colour: this.mode, theme: theme.name,
      zoom: this.scatter.view.zoom.toFixed(3), frame: (performance.now() - start).toFixed(1),
    });
    if (this.scatter.picked >= 0) this.placeTip();
  }

  /** Draw once before the next frame, however often it is asked for. */
  redraw() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => { this.isDue = false; this.draw(); });
  }

  move(change) {
    change(this.scatter.view);
    this.redraw();
  }

  setMode(mode) {
    if (!MODES.includes(mode)) return;
    this.mode = mode;
    for (const input of document.querySelectorAll("input[name=colour]")) input.checked = input.value === mode;
    this.dress();
  }

  /** Pick a point: circle it and say what it is. */
  pick(i) {
    if (i === this.scatter.picked) return;
    this.scatter.picked = i;
    this.scatter.show(this.ink);
    this.canvas.classList.toggle("pointed", i >= 0);
    this.tip.hidden = i < 0;
    document.body.dataset.hover = i;
    if (i >= 0) {
      this.writeTip(i);
      this.placeTip();
    }
  }

  writeTip(i) {
    const { points } = this, source = points.source[i], code = points.codes[i];
    const name = code < 0 ? "no label" : points.classes[code].name || "(blank)";
    const parts = [element("div", "id", points.id(i))];
    if (points.previews !== null) parts.push(element("div", "text", points.previews[i]));
    parts.push(element("div", "label", source === ABSTAINED && code >= 0 ? `perhaps ${name}` : name));
    const sure = source === UNREACHED ? "" : `, confidence ${Math.round(points.confidence[i] / 2.55)} %`;
    parts.push(element("div", "line", SOURCES[source] + (source === GIVEN ? "" : sure)));
    const given = points.given[i];
    if (given >= 0 && given !== code) parts.push(element("div", "line", `you said ${points.classes[given].name}`));
    this.tip.replaceChildren(...parts);
  }

  placeTip() {
    const { view, picked } = this.scatter, [left, top] = view.toScreen(this.points.x[picked], this.points.y[picked]);
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const x = left + 18 + width > view.width ? left - 18 - width : left + 18;
    const y = top + 18 + height > view.height ? top - 18 - height : top + 18;
    this.tip.style.left = `${Math.max(6, Math.min(view.width - width - 6, x))}px`;
    this.tip.style.top = `${Math.max(6, Math.min(view.height - height - 6, y))}px`;
  }

  /** Bring a point to the middle and pick it; `scroll` brings the map itself into sight. */
  goTo(i, scroll) {
    const { points } = this, zoom = Math.max(1, Math.min(6, Math.sqrt(points.n / 300)));
    if (!this.scatter.visible[i]) {
      for (const set of Object.values(this.hidden)) set.clear();
      this.dress();
    }
    this.scatter.view.centre(points.x[i], points.y[i], zoom);
    this.draw();
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
      const shown = this.points.classes.slice(0, LEGEND_LIMIT);
      shown.forEach((one, code) => item("class", code, one.name || "(blank)", one.mark, one[name]));
      item("class", -1, "no label", "ring", tints.grey);
      const left = this.points.classes.length - shown.length;
      if (left > 0) list.append(element("li", "still", `and ${left} more`));
    } else {
      SOURCES.forEach((text, source) => item("source", source, text, MARK_OF_SOURCE[source], this.mode === "source" ? tints[source] : tints.grey));
    }
    this.legend.replaceChildren(...(this.mode === "confidence" ? this.rampParts(name) : [this.bothButtons()]), list);
  }

  rampParts(name) {
    const ramp = element("div", "ramp"), ends = element("div", "ends");
    ramp.style.background = `linear-gradient(to right, ${RAMP[name].join(", ")})`;
    ends.append(element("span", "", "0 %"), element("span", "", "confidence"), element("span", "", "100 %"));
    return [ramp, ends, document.createElement("hr")];
  }

  bothButtons() {
    const line = element("div", "both"), set = this.hidden[this.mode];
    const all = this.mode === "source" ? SOURCES.keys() : [-1, ...this.points.classes.keys()];
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
      const others = (kind === "source" ? [...SOURCES.keys()] : [-1, ...this.points.classes.keys()]).filter((one) => one !== value);
      const isAlone = !set.has(value) && others.every((one) => set.has(one));
      set.clear();
      if (!isAlone) for (const one of others) set.add(one);
    } else if (!set.delete(value)) set.add(value);
    this.pick(-1);
    this.dress();
    this.legend.querySelector(`[data-${kind}="${value}"]`)?.focus();
  }
}

/** Drag, pinch, wheel and hover. The wheel keeps scrolling a page that is already in motion. */
function listenToPointer(panel) {
  const { canvas, scatter } = panel, touches = new Map();
  const place = (event) => [event.offsetX, event.offsetY];
  const spread = () => {
    const [[ax, ay], [bx, by]] = [...touches.values()];
    return [Math.hypot(ax - bx, ay - by) || 1, (ax + bx) / 2, (ay + by) / 2];
  };
  let scrolledAt = -1000;
  addEventListener("scroll", () => { scrolledAt = performance.now(); }, { passive: true });
  canvas.addEventListener("wheel", (event) => {
    const isScrolling = performance.now() - scrolledAt < 250;
    if (!event.ctrlKey && (isScrolling || (event.deltaY > 0 && scatter.view.zoom === 1))) return;
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1) * (event.ctrlKey ? 5 : 1);
    panel.move((view) => view.magnify(Math.exp(-0.0018 * Math.max(-400, Math.min(400, pixels))), ...place(event)));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    touches.set(event.pointerId, place(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!touches.has(event.pointerId)) {
      panel.pick(scatter.at(...place(event)));
      return;
    }
    const [left, top] = touches.get(event.pointerId), before = touches.size === 2 ? spread() : null;
    touches.set(event.pointerId, place(event));
    if (before) {
      const [size, x, y] = spread();
      panel.move((view) => { view.pan(x - before[1], y - before[2]); view.magnify(size / before[0], x, y); });
    } else if (touches.size === 1) {
      canvas.classList.add("dragged");
      panel.move((view) => view.pan(event.offsetX - left, event.offsetY - top));
    }
  });
  const release = (event) => {
    touches.delete(event.pointerId);
    canvas.classList.remove("dragged");
  };
  canvas.addEventListener("pointerup", (event) => { release(event); panel.pick(scatter.at(...place(event))); });
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => { if (!touches.size) panel.pick(-1); });
  canvas.addEventListener("dblclick", (event) => panel.move((view) => view.magnify(2, ...place(event))));
}

function listenToKeys(panel) {
  const step = 60, actions = {
    ArrowLeft: (view) => view.pan(step, 0), ArrowRight: (view) => view.pan(-step, 0),
    ArrowUp: (view) => view.pan(0, step), ArrowDown: (view) => view.pan(0, -step),
    "+": (view) => view.magnify(1.5), "=": (view) => view.magnify(1.5),
    "-": (view) => view.magnify(1 / 1.5), 0: (view) => view.reset(), Escape: () => panel.pick(-1),
  };
  panel.canvas.addEventListener("keydown", (event) => {
    const act = actions[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    panel.move(act);
  });
  const zooms = { in: actions["+"], out: actions["-"], reset: actions[0] };
  for (const button of document.querySelectorAll(".zoom button")) {
    button.addEventListener("click", () => panel.move(zooms[button.dataset.zoom]));
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
    const found = panel.points.find(field.value.trim());
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
  if (asked.has("zoom")) panel.scatter.view.magnify(Number(asked.get("zoom")) || 1);
  panel.draw();
  const point = Number(asked.get("hover") ?? NaN);
  if (Number.isInteger(point) && point >= 0 && point < panel.points.n) panel.pick(point);
}

function start() {
  const packed = JSON.parse(document.getElementById("data").textContent);
  const panel = packed === null ? null : new MapPanel(new Points(packed));
  const repaint = () => { theme.label(); panel?.dress(); };
  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => { theme.name = theme.name === "dark" ? "light" : "dark"; repaint(); });
  theme.dark.addEventListener("change", repaint);
  theme.label();
  if (panel) {
    listenToPointer(panel);
    listenToKeys(panel);
    listenToFields(panel);
    new ResizeObserver(() => { panel.scatter.resize(); panel.draw(); }).observe(panel.canvas);
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
