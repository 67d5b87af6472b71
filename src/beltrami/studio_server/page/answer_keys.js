/* The buttons by which a row is named: a class each, all of them, a new one; each says its key. */

import { button, markIcon } from "./elements.js";
import { styleOf } from "./palette.js";
import { openClasses } from "./store.js";
import { nameOf } from "./words.js";

/** Return the buttons of a project's classes; `label(name, event)`, `choose(event)` and `create(event)` do what they say. */
export function answerButtons(project, { label, choose, create }) {
  const classes = openClasses(project), { read_only: isClosed } = project;
  const made = (words, act, key, name, traits = {}) => button(words, act, { key, class: "answer-key", disabled: isClosed, data: { name: `answer:${name}` }, ...traits });
  const buttons = classes.filter((one) => one.key).map(({ code, name, key }) => (
    made(nameOf(name), (event) => label(name, event), key, code, { icon: markIcon(styleOf(code)), title: name })));
  if (classes.length > 9) buttons.push(made(`All ${classes.length} classes`, choose, "C", "all"));
  const isFirst = classes.length === 0;
  buttons.push(made(isFirst ? "Name the first class" : "New class", create, "N", "new", isFirst ? { class: "answer-key loud" } : {}));
  return buttons;
}
