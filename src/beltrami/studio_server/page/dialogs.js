/* Small dialogs: the browser keeps the focus in them, and Escape leaves them. */

import { button, byId, element } from "./elements.js";
import { className } from "./item.js";
import { openClasses } from "./store.js";
import { count } from "./words.js";

/** Show a dialog; the promise is of what `finish` was called with, or null where it was left. */
function show(title, fill) {
  return new Promise((resolve) => {
    const dialog = element("dialog", { aria: { labelledby: "dialog-title" } });
    let answer = null;
    const finish = (value) => { answer = value; dialog.close(); };
    const form = element("form", { method: "dialog" }, element("h2", { id: "dialog-title", text: title }));
    form.append(...fill(finish));
    form.addEventListener("submit", (event) => event.preventDefault());
    dialog.append(form);
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    dialog.addEventListener("close", () => { dialog.remove(); resolve(answer); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

function endings(finish, word, read) {
  return element("div", { class: "endings" },
    button("Leave it", () => finish(null)),
    element("button", { type: "submit", class: "loud", text: word, onclick: () => read(finish) }));
}

/** Ask for a line of text. */
export function askText(title, { note = "", value = "", word }) {
  const field = element("input", { type: "text", class: "field", value, maxLength: 200, autocomplete: "off", spellcheck: false, aria: { label: title } });
  const problem = element("p", { class: "problem", role: "alert" });
  const read = (finish) => {
    const text = field.value.trim();
    if (text) finish(text);
    else problem.textContent = "A name needs at least one letter.";
  };
  const shown = show(title, (finish) => [note ? element("p", { class: "note", text: note }) : "", field, problem, endings(finish, word, read)]);
  field.focus();
  field.select();
  return shown;
}

/** Ask whether to go on. */
export function askWhether(title, { note, word }) {
  return show(title, (finish) => [element("p", { class: "note", text: note }), endings(finish, word, (done) => done(true))]);
}

/** Let one of all classes be chosen by its first letters; `besides` is left out. */
export function chooseClass(project, title, besides = -1) {
  const classes = openClasses(project).filter((one) => one.code !== besides);
  const field = element("input", {
    type: "text", class: "field", placeholder: "First letters", autocomplete: "off", spellcheck: false, role: "combobox",
    aria: { label: title, controls: "choices", expanded: "true", autocomplete: "list" },
  });
  const list = element("ul", { id: "choices", role: "listbox", aria: { label: "Classes" } });
  let found = classes, at = 0;
  const shown = show(title, (finish) => {
    const write = () => {
      list.replaceChildren(...found.map((one, place) => element("li", {
        id: `choice-${place}`, role: "option", aria: { selected: String(place === at) }, onclick: () => finish(one),
      }, className(project, one.code), element("span", { class: "faint", text: count(one.given) }))));
      if (!found.length) list.append(element("li", { class: "faint", text: "No class begins so." }));
      field.setAttribute("aria-activedescendant", found.length ? `choice-${at}` : "");
      list.children[at]?.scrollIntoView({ block: "nearest" });
    };
    field.addEventListener("input", () => {
      [found, at] = [sortByLetters(classes, field.value), 0];
      write();
    });
    field.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Enter" && found[at]) finish(found[at]);
      else if (step && found.length) {
        at = (at + step + found.length) % found.length;
        write();
      } else return;
      event.preventDefault();
    });
    write();
    return [field, list];
  });
  field.focus();
  return shown;
}

/** Return the classes that begin with some letters, then those that have a word that does. */
function sortByLetters(classes, text) {
  const letters = text.trim().toLowerCase();
  const begins = classes.filter((one) => one.name.toLowerCase().startsWith(letters));
  const inside = classes.filter((one) => !begins.includes(one) && ` ${one.name.toLowerCase()}`.includes(` ${letters}`));
  return [...begins, ...inside];
}

const KEYS = {
  Queue: [
    ["1 to 9, 0, …", "label, save, next"], ["Enter", "take the suggestion"], ["S", "skip; you are not asked again"],
    ["U", "nobody can tell"], ["N", "a new class for this row"], ["C", "choose among all classes by letters"],
  ],
  Audit: [["D", "draw rows to check"], ["1 to 9, 0, …", "what this row is; final"], ["U", "cannot tell; counts as wrong"], ["N, C", "a new class, or any class"]],
  Map: [
    ["1 to 9, 0, …", "label what is selected"], ["Enter", "label it as the bar says"], ["N, C", "a new class, or any class"],
    ["Delete", "take its labels away"], ["M, L, R", "move, lasso, rectangle"], ["A", "select all rows of the filter"],
    ["Esc", "select nothing"], ["Arrows, +, −, 0", "move and zoom, while the map has the focus; 0 labels where a class has it"],
  ],
  Review: [
    ["Enter", "take the suggestion"], ["K", "keep it as it is"], ["1 to 9, 0, …", "another class"], ["N, C", "a new class, or any class"],
    ["S", "skip; nothing is saved"], ["↑, ↓", "go through the list"],
  ],
  History: [
    ["←, →", "one event back, one forth"], ["P", "replay, or pause"], ["Esc", "back to now"],
  ],
  Everywhere: [["Z", "take the last change back, without limit"], ["/", "search on the map"], ["?", "this help"]],
};

/** Show all keys. */
export function showHelp() {
  const sections = Object.entries(KEYS).map(([name, keys]) => element("section", {},
    element("h3", { text: name }),
    element("dl", { class: "keys" }, ...keys.map(([key, words]) => element("div", {},
      element("dt", {}, element("kbd", { text: key })), element("dd", { text: words }))))));
  return show("Keys", (finish) => [
    element("div", { class: "help" }, ...sections),
    element("p", { class: "note", text: "Classes have the keys 1 to 9, 0 and then letters, in the order in which they were named; each stands beside its class." }),
    element("div", { class: "endings" }, element("button", { type: "submit", class: "loud", text: "Close", autofocus: true, onclick: () => finish(null) })),
  ]);
}

/** Bind the buttons of the page that open a dialog by themselves. */
export function startDialogs() {
  byId("help").addEventListener("click", showHelp);
}
