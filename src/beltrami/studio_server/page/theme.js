/* Light or dark: what the reader chose, or else what the system prefers. */

import { byId } from "./elements.js";

const KEPT = "beltrami-theme";

export function startTheme(store) {
  const system = matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;
  const kept = localStorage.getItem(KEPT);
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  const tell = () => store.set({ theme: root.dataset.theme ?? (system.matches ? "dark" : "light") });
  system.addEventListener("change", tell);
  byId("theme").addEventListener("click", () => {
    root.dataset.theme = store.state.theme === "dark" ? "light" : "dark";
    localStorage.setItem(KEPT, root.dataset.theme);
    tell();
  });
  tell();
  store.watch(["theme"], ({ theme }) => {
    byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
    byId("theme").setAttribute("aria-label", theme === "dark" ? "Light theme" : "Dark theme");
  });
}
