/* The host's look: light or dark, as Jupyter, marimo and VS Code say it, else as the system prefers. */

const SYSTEM = "(prefers-color-scheme: dark)";

/** Return "light" or "dark". */
export function hostTheme() {
  const { body, documentElement: root } = document, names = [...root.classList, ...body.classList];
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false" ? "dark" : "light";
  const said = body.dataset.theme ?? root.dataset.theme ?? "";
  if (said === "dark" || names.some((name) => ["dark", "dark-theme", "vscode-dark", "theme-dark"].includes(name))) return "dark";
  if (said === "light" || names.some((name) => ["light", "light-theme", "vscode-light", "theme-light"].includes(name))) return "light";
  return matchMedia(SYSTEM).matches ? "dark" : "light";
}

/** Call `act(theme)` now and whenever it may have changed; returns what ends that. */
export function watchTheme(act) {
  let last = null;
  const look = () => {
    const theme = hostTheme();
    if (theme !== last) act(theme);
    last = theme;
  };
  const observer = new MutationObserver(look), system = matchMedia(SYSTEM);
  for (const one of [document.body, document.documentElement]) observer.observe(one, { attributes: true });
  system.addEventListener("change", look);
  look();
  return () => { observer.disconnect(); system.removeEventListener("change", look); };
}
