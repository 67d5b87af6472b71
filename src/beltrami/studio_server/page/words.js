/* Numbers as people read them. */

const WHOLE = new Intl.NumberFormat("en-GB");
const SHORT = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 4 });

export const SOURCES = ["given by you", "labelled by us", "left to you", "reached by no label"];

/** Return 1240 as "1,240". */
export const count = (number) => WHOLE.format(number);

/** Return "1 row", "312 rows". */
export const rowCount = (number) => `${count(number)} ${number === 1 ? "row" : "rows"}`;

/** Return a share as "86 %"; what is not quite sure is never called 100 %. */
export function percent(share) {
  return `${share < 1 ? Math.min(99, Math.round(100 * share)) : 100} %`;
}

/** Return a number of a column with at most four digits that matter, and whole ones whole. */
export const measure = (value) => (Number.isInteger(value) ? WHOLE : SHORT).format(value);

/** Return an estimate of seconds as "about 12 s" or "about 3 min". */
export function duration(seconds) {
  if (seconds < 1) return "less than 1 s";
  return seconds < 100 ? `about ${Math.round(seconds)} s` : `about ${Math.round(seconds / 60)} min`;
}

/** Return words as a sentence: with a capital at its beginning and a stop at its end. */
export function sentence(words) {
  const text = words.trim();
  return text.slice(0, 1).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? "" : ".");
}

/** Return the name of a class or a value, with a word for one that shows nothing. */
export const nameOf = (text) => (text.trim() === "" ? "(blank)" : text);

/** Return a text of at most `most` characters, with dots where it was cut. */
export const shorten = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
