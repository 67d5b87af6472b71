/* Elements of the page. What a user's file holds enters as text only, never as markup. */

const SVG = "http://www.w3.org/2000/svg";
const STROKE = { fill: "none", stroke: "currentColor", "stroke-width": 1.8 };
const SHAPES = {
  disc: [["circle", { r: 5 }]],
  triangle: [["path", { d: "M0-5.4 5.2 4.2H-5.2Z" }]],
  square: [["path", { d: "M-4.5-4.5H4.5V4.5H-4.5Z" }]],
  diamond: [["path", { d: "M0-6 5.2 0 0 6-5.2 0Z" }]],
  ring: [["circle", { r: 4, ...STROKE }]],
  cross: [["path", { d: "M-4-4 4 4M4-4-4 4", ...STROKE }]],
  given: [["circle", { r: 5.2, class: "halo" }], ["circle", { r: 3.4 }]],
};

/** Return an element; `traits` are properties of it (`class`, `text`, `data` and `aria` too). */
export function element(tag, traits = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(traits)) {
    if (value === undefined || value === null) continue;
    if (name === "class") made.className = value;
    else if (name === "text") made.textContent = value;
    else if (name === "data") Object.assign(made.dataset, value);
    else if (name === "aria") for (const [key, word] of Object.entries(value)) made.setAttribute(`aria-${key}`, word);
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Return a button that does one thing; `key` is the key that does the same, `icon` a mark before its words. */
export function button(text, act, { key, icon, class: name = "quiet", ...traits } = {}) {
  const keyTip = key === undefined ? null : element("kbd", { text: key, aria: { hidden: "true" } });
  const words = element("span", { class: "name", text });
  const made = element("button", { type: "button", class: name, onclick: act, ...traits }, keyTip, icon, words);
  if (key !== undefined) made.setAttribute("aria-keyshortcuts", key);
  return made;
}

/** Return the mark of a class (or of a source) in its colours for both grounds. */
export function markIcon({ light, dark, mark }) {
  const icon = drawing("svg", { class: "mark", viewBox: "-6 -6 12 12", "aria-hidden": "true" });
  icon.style.color = `light-dark(${light}, ${dark})`;
  icon.append(...SHAPES[mark].map(([tag, traits]) => drawing(tag, traits)));
  return icon;
}

function drawing(tag, traits) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(traits)) made.setAttribute(name, value);
  return made;
}

export const byId = (id) => document.getElementById(id);

/** Put elements in the place of what is there, and keep the focus on the one called the same. */
export function refill(host, ...children) {
  const focused = host.getRootNode().activeElement ?? null; // of the page, or of the shadow it stands in
  const name = host.contains(focused) ? focused?.dataset.name : undefined;
  host.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
  if (name !== undefined) {
    for (const one of host.querySelectorAll("[data-name]")) if (one.dataset.name === name) one.focus();
  }
}
