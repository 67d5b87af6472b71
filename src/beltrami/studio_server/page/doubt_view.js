/* One doubt as people see it: what is in question at the left, what speaks otherwise at the right. */

import { byId, element, refill } from "./elements.js";
import { className, codeOf, itemBody } from "./item.js";
import { nameOf, percent, rowCount } from "./words.js";

const SIDES = {
  label: ["The row", "Labelled rows that speak of it"],
  between: ["The row", "Labelled rows that speak of it"],
  twins: ["The rows", "Labelled rows around them"],
  island: ["Some of its rows; the first one is asked about", ""],
  unlike: ["Some of these rows; the first one is asked about", ""],
  spelling: ["Rows of the rarer class", "Rows of the other class"],
};
const KEEP = {
  label: "Keep the label", between: "Leave it unlabelled", twins: "Keep both labels", island: "Leave them",
  unlike: "Leave them", spelling: "Keep two classes",
};

/** Return a doubt's name among others, the same as long as it is the same. */
export const keyOf = ({ kind, value, rows }) => `${kind}:${value}:${rows[0] ?? ""}:${rows.length}`;

/** Return what keeping a doubt is called. */
export const keepWords = ({ kind }) => KEEP[kind];

/** Return what a suggestion that is taken does, or null where there is none. */
export function takeWords({ kind, given, suggested }) {
  if (suggested === null) return null;
  if (kind === "spelling") return `Merge “${nameOf(given)}” into “${nameOf(suggested)}”`;
  return kind === "twins" ? `Label all as “${nameOf(suggested)}”` : `Label it “${nameOf(suggested)}”`;
}

/** Return a line of the list: which row or rows, and what it is about. */
export function doubtLine(project, { kind, rows, items, given, suggested, score }) {
  const first = kind === "spelling" ? null : rows.length > 1 ? rowCount(rows.length) : items[0]?.id;
  const line = element("span", { class: "doubt-line" });
  if (first) line.append(element("span", { class: "id", text: first }));
  if (kind === "label") line.append(className(project, codeOf(project, given)), "→");
  if (kind === "spelling" || kind === "twins") line.append(element("span", { class: "name", text: nameOf(given) }));
  if (kind === "spelling") line.append("→", element("span", { class: "name", text: nameOf(suggested) }));
  else if (suggested !== null && kind !== "twins") line.append(className(project, codeOf(project, suggested)));
  if (kind === "label" && score > 0.5) line.append(element("span", { class: "size", text: percent(score) }));
  return line;
}

/** Show a doubt in its place on the page. */
export function writeDoubt(project, doubt) {
  const { kind, items, neighbours, words } = doubt, [left, right] = SIDES[kind];
  byId("doubt-words").textContent = words;
  byId("doubt-rows-title").textContent = left;
  byId("doubt-others-title").textContent = right;
  byId("doubt-others-part").hidden = !right;
  const size = items.length > 1 || kind === "spelling" ? "small" : "large";
  refill(byId("doubt-rows"), ...items.map((item, place) => card(project, item, place ? "small" : size)));
  const others = neighbours.map((item) => card(project, item, "small"));
  refill(byId("doubt-others"), ...(others.length ? others : [element("li", { class: "note", text: "None is close enough to say anything." })]));
}

function card(project, item, size) {
  const head = element("p", { class: "line" }, element("span", { class: "id", text: item.id }), className(project, codeOf(project, item.label)));
  if (item.share !== undefined) head.append(element("span", { class: "faint", title: "Share of what all labelled rows around it say", text: item.share < 0.01 ? "weighs less than 1 %" : `weighs ${percent(item.share)}` }));
  return element("li", { data: { item: item.row } }, head, itemBody(item, size));
}
