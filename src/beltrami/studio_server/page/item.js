/* A row as people see it: its text, its picture, its columns, and what is said of it. */

import { element, markIcon } from "./elements.js";
import { NONE_STYLE, styleOf } from "./palette.js";
import { shownProject } from "./store.js";
import { SOURCES, nameOf, percent, shorten } from "./words.js";

const FEW_CELLS = 6; // columns of a row in a list
const FEW_LETTERS = 320;
const COARSE = 64; // pixels of a picture below which each is shown as it is
const SIDES = { small: 96, large: 512 };

/** Return a class with its mark; `code` below 0 is none. */
export function className(project, code) {
  const known = project.classes[code];
  const name = element("span", { class: "name", text: known ? nameOf(known.name) : "no label" });
  return element("span", { class: "class" }, markIcon(known ? styleOf(code) : NONE_STYLE), name);
}

/** Return the code of a class by its name, or -1. */
export function codeOf(project, name) {
  return project.classes.findIndex((one) => !one.gone && one.name === name);
}

/** Return what a row shows: picture, text and columns; `size` is small or large. */
export function itemBody(item, size) {
  const isLarge = size === "large", parts = [];
  if (item.picture) parts.push(picture(item, SIDES[size]));
  if (item.text !== null) {
    const text = isLarge ? item.text : shorten(item.text, FEW_LETTERS);
    parts.push(element("p", { class: "words", text: text || "(empty text)" }));
  }
  const cells = sortCells(item.cells), shown = isLarge ? cells : cells.slice(0, FEW_CELLS);
  if (shown.length) parts.push(cellList(shown));
  if (shown.length < cells.length) {
    parts.push(element("p", { class: "faint", text: `and ${cells.length - shown.length} more columns` }));
  }
  return element("div", { class: `body ${size}` }, ...parts);
}

function picture(item, side) {
  const image = element("img", {
    src: item.picture === true ? `/api/picture?row=${item.row}&side=${side}` : item.picture, alt: `Picture of row ${item.id}`,
    loading: side === SIDES.small ? "lazy" : "eager", width: side, height: side,
  });
  image.addEventListener("load", () => image.classList.toggle("coarse", Math.max(image.naturalWidth, image.naturalHeight) < COARSE));
  image.addEventListener("error", () => {
    image.replaceWith(element("p", { class: "faint", text: "The picture cannot be shown." }));
  });
  return image;
}

/** Return the columns with unusual ones first. */
function sortCells(cells) {
  return [...cells.filter((cell) => cell.unusual), ...cells.filter((cell) => !cell.unusual)];
}

function cellList(cells) {
  const list = element("dl", { class: "cells" });
  for (const { name, value, unusual } of cells) {
    const said = element("dd", {}, element("span", { text: nameOf(value) }));
    if (unusual) said.append(" ", element("span", { class: "unusual", text: `unusual: ${unusual}` }));
    list.append(element("div", {}, element("dt", { text: name }), said));
  }
  return list;
}

/** Return what the map says of a row: class, confidence, and who said so. */
export function answerLine(state, row) {
  const { answers } = state, project = shownProject(state);
  const line = element("p", { class: "answer" });
  if (!answers || !project) return line;
  const flags = answers.source[row], source = flags & 3, code = answers.codes[row];
  line.append(className(project, source === 3 ? -1 : code));
  const words = [SOURCES[source]];
  if (source === 1 || (source === 2 && code >= 0)) words.push(`${percent(answers.confidence[row] / 255)} sure`);
  if (flags & 4) words.push("by area");
  if (flags & 8) words.push("marked “cannot tell”");
  line.append(element("span", { class: "faint", text: words.join(", ") }));
  return line;
}
