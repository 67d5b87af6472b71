/* The legend: what colours and marks mean, how many rows have each, and which are hidden. */

import { button, byId, element, markIcon, refill } from "./elements.js";
import { paintedColumn, shownCode } from "./masks.js";
import { RAMPS } from "./map.js";
import { NONE_STYLE, SOURCE_STYLES, styleOf } from "./palette.js";
import { openClasses, shownProject } from "./store.js";
import { SOURCES, count, measure, nameOf, percent } from "./words.js";

const MOST = 200; // entries

const PAUSE_MS = 120; // while answers come in, counts follow them after a pause

export function startLegend(store) {
  const write = () => { if (store.state.project && store.state.answers) writeLegend(store, store.state); };
  let timer = 0;
  store.watch(["project", "moment", "paint", "columns", "hidden"], write);
  store.watch(["answers"], () => {
    clearTimeout(timer);
    timer = setTimeout(write, PAUSE_MS);
  });
}

function writeLegend(store, state) {
  const { kind, entries } = entriesOf(state), shown = entries.slice(0, MOST);
  const list = element("ul", {}, ...shown.map((entry) => legendLine(store, kind, entry, entries)));
  if (entries.length > MOST) list.append(element("li", { class: "faint", text: `and ${count(entries.length - MOST)} more` }));
  refill(byId("legend"), rampOf(state), bothButtons(store, kind, entries), list);
}

/** Return what can be hidden in this colouring: classes, values of a column, or sources. */
function entriesOf(state) {
  const { answers, paint } = state, project = shownProject(state), column = paintedColumn(state), n = answers.codes.length;
  if (paint === "class") {
    const sizes = tally(n, project.classes.length, (row) => shownCode(answers, row));
    const classes = openClasses(project).map(({ code, name, key }) => ({ value: code, text: nameOf(name), style: styleOf(code), size: sizes[code + 1], key }));
    return { kind: "class", entries: [...classes, { value: -1, text: "no label", style: NONE_STYLE, size: sizes[0] }] };
  }
  if (column?.values) {
    const sizes = tally(n, column.values.length, (row) => column.codes[row] - 1);
    const values = column.values.map((name, code) => ({ value: code, text: nameOf(name), style: styleOf(code), size: sizes[code + 1] }));
    return { kind: "column", entries: [...values, { value: -1, text: "missing", style: NONE_STYLE, size: sizes[0] }] };
  }
  const sizes = tally(n, 3, (row) => (answers.source[row] & 3) - 1);
  const grey = (style) => ({ ...NONE_STYLE, mark: style.mark });
  const entries = SOURCES.map((text, value) => ({ value, text, size: sizes[value], style: paint === "source" ? SOURCE_STYLES[value] : grey(SOURCE_STYLES[value]) }));
  return { kind: "source", entries };
}

/** Return how many rows have each code from -1 to `most` - 1. */
function tally(n, most, codeOf) {
  const sizes = new Array(most + 1).fill(0);
  for (let row = 0; row < n; row++) sizes[codeOf(row) + 1]++;
  return sizes;
}

function legendLine(store, kind, { value, text, style, size, key }, entries) {
  const isShown = !store.state.hidden[kind].has(value);
  const line = element("button", {
    type: "button", title: `${isShown ? "Hide" : "Show"} ${text}`, data: { name: `${kind}:${value}` },
    aria: { pressed: String(isShown) },
    onclick: (event) => store.set({ hidden: toggle(store.state.hidden, kind, value, event.shiftKey ? entries : null) }),
  }, markIcon(style), element("span", { class: "name", text }));
  if (key) line.append(element("kbd", { text: key, title: `Key ${key} labels as this class` }));
  line.append(element("span", { class: "size", text: count(size ?? 0) }));
  return element("li", {}, line);
}

/** Hide or show one; with all `entries`, show it alone, or all again if it is alone. */
function toggle(hidden, kind, value, entries) {
  const set = new Set(hidden[kind]);
  if (entries) {
    const others = entries.map((entry) => entry.value).filter((one) => one !== value);
    const isAlone = !set.has(value) && others.every((one) => set.has(one));
    return { ...hidden, [kind]: new Set(isAlone ? [] : others) };
  }
  if (!set.delete(value)) set.add(value);
  return { ...hidden, [kind]: set };
}

function bothButtons(store, kind, entries) {
  const choose = (values) => store.set({ hidden: { ...store.state.hidden, [kind]: new Set(values) } });
  return element("div", { class: "both" },
    button("Show all", () => choose([]), { class: "link", data: { name: "all" } }),
    button("Hide all", () => choose(entries.map((entry) => entry.value)), { class: "link", data: { name: "none" } }));
}

/** Return the ramp of a colouring by numbers, or null. */
function rampOf(state) {
  const column = paintedColumn(state), isNumeric = column && !column.values;
  if (state.paint !== "confidence" && !isNumeric) return null;
  const { light, dark } = isNumeric ? RAMPS.numbers : RAMPS.confidence;
  const stops = light.map((colour, k) => `light-dark(${colour}, ${dark[k]})`);
  const ramp = element("div", { class: "ramp" });
  ramp.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  const ends = isNumeric ? [measure(column.low), column.name, measure(column.high)] : [percent(0), "confidence", percent(1)];
  return element("div", {}, ramp, element("div", { class: "ends" }, ...ends.map((text) => element("span", { text }))));
}
