/* Which rows are drawn and which match: pure functions of the page's state. */

import { SOURCES, measure, nameOf, percent } from "./words.js";

/** What a row can be by its source: the four sources, then two marks on top of them. */
export const KINDS_OF_ROW = [...SOURCES, "labelled by area", "marked “cannot tell”"];

/** Return the class a row is drawn in: its own where somebody stands for it, else -1. */
export function shownCode({ codes, source }, row) {
  return (source[row] & 3) < 2 ? codes[row] : -1;
}

/** Return the column that paints the map, or null. */
export function paintedColumn({ paint, columns }) {
  return paint.startsWith("column:") ? columns.get(paint.slice(7)) ?? null : null;
}

/** Return 1 for each row that is drawn, or null where all are. */
export function visibleMask(state) {
  const { answers, hidden, paint, hidesOthers } = state, column = paintedColumn(state);
  if (!answers) return null;
  const matches = hidesOthers ? filterMask(state) : null;
  const tests = [];
  if (hidden.source.size) tests.push((row) => !hidden.source.has(answers.source[row] & 3));
  if (paint === "class" && hidden.class.size) tests.push((row) => !hidden.class.has(shownCode(answers, row)));
  if (column?.values && hidden.column.size) tests.push((row) => !hidden.column.has(column.codes[row] - 1));
  if (matches) tests.push((row) => matches[row]);
  return maskOf(answers.codes.length, tests);
}

/** Return 1 for each row that matches all filters, or null where there are none. */
export function filterMask(state) {
  if (!state.answers) return null;
  return maskOf(state.answers.codes.length, state.filters.map((filter) => makeTest(filter, state)));
}

function maskOf(n, tests) {
  if (!tests.length) return null;
  const mask = new Uint8Array(n);
  for (let row = 0; row < n; row++) mask[row] = tests.every((test) => test(row)) ? 1 : 0;
  return mask;
}

/** Return the rows of a mask. */
export function rowsOf(mask) {
  const rows = new Uint32Array(mask.length);
  let n = 0;
  for (let row = 0; row < mask.length; row++) if (mask[row]) rows[n++] = row;
  return rows.slice(0, n);
}

function makeTest(filter, { answers, columns }) {
  const { codes, confidence, source } = answers;
  if (filter.on === "class") return (row) => filter.values.includes(shownCode(answers, row));
  if (filter.on === "source") {
    return (row) => filter.values.some((kind) => (kind < 4 ? (source[row] & 3) === kind : source[row] & (4 << (kind - 4))));
  }
  if (filter.on === "confidence") {
    const [low, high] = [filter.low ?? 0, filter.high ?? 100].map((share) => Math.round((255 * share) / 100));
    return (row) => codes[row] >= 0 && confidence[row] >= low && confidence[row] <= high;
  }
  const column = columns.get(filter.on.slice(7));
  if (column.values) return (row) => filter.values.includes(column.codes[row] - 1);
  const [low, high] = [filter.low ?? -Infinity, filter.high ?? Infinity].map((value) => placeOf(column, value));
  return (row) => column.codes[row] > 0 && column.codes[row] >= low && column.codes[row] <= high;
}

/** Return the code of a number in a numeric column. */
function placeOf({ low, high }, value) {
  if (!Number.isFinite(value)) return value;
  return high > low ? 1 + Math.round((65534 * (value - low)) / (high - low)) : 1 + (value > low) - (value < low);
}

/** Return a filter in words, as its chip says it. */
export function filterWords(filter, { project, columns }) {
  const range = (said) => {
    if (filter.low === null) return `at most ${said(filter.high)}`;
    return filter.high === null ? `at least ${said(filter.low)}` : `${said(filter.low)} to ${said(filter.high)}`;
  };
  const some = (names) => (names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", "));
  if (filter.on === "confidence") return `confidence ${range((value) => percent(value / 100))}`;
  if (filter.on === "source") return some(filter.values.map((kind) => KINDS_OF_ROW[kind]));
  if (filter.on === "class") {
    return `class ${some(filter.values.map((code) => (code < 0 ? "none" : nameOf(project.classes[code].name))))}`;
  }
  const name = filter.on.slice(7), column = columns.get(name);
  if (!column.values) return `${name} ${range(measure)}`;
  return `${name} ${some(filter.values.map((code) => (code < 0 ? "missing" : nameOf(column.values[code]))))}`;
}
