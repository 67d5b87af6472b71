/* The keyboard: one place that decides whether a key is meant for the page or for what has the focus. */

const REPEATED = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "+", "-"]);

/** Call what `actions()` binds to a key, unless somebody is typing, choosing or pressing a button. */
export function listenToKeys(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
    if (document.querySelector("dialog[open]") || isTyping(event.target)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if ((key === "Enter" || key === " ") && event.target.closest("button, a, summary, input, select, label")) return;
    const act = actions()[key];
    if (!act) return;
    event.preventDefault();
    if (!event.repeat || REPEATED.has(key)) act(event);
  });
}

function isTyping(target) {
  if (target.closest("select, textarea")) return true;
  return target instanceof HTMLInputElement && !["radio", "checkbox", "button"].includes(target.type);
}
