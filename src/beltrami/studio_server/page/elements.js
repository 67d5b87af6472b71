/* Elements of the page. What a user's file holds enters as text only, never as markup. */

const SVG = "http://www.w3.org/2000/svg";

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
  const icon = document.createElementNS(SVG, "svg"), use = document.createElementNS(SVG, "use");
  icon.setAttribute("class", "mark");
  icon.setAttribute("viewBox", "-6 -6 12 12");
  icon.setAttribute("aria-hidden", "true");
  icon.style.color = `light-dark(${light}, ${dark})`;
  use.setAttribute("href", `#mark-${mark}`);
  icon.append(use);
  return icon;
}

export const byId = (id) => document.getElementById(id);

/** Put elements in the place of what is there, and keep the focus on the one called the same. */
export function refill(host, ...children) {
  const name = host.contains(document.activeElement) ? document.activeElement.dataset.name : undefined;
  host.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
  if (name !== undefined) {
    for (const one of host.querySelectorAll("[data-name]")) if (one.dataset.name === name) one.focus();
  }
}
