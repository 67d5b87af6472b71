/* Errors of scripts are never silent. Loaded before all modules, so that theirs are seen too. */

(() => {
  const show = (words) => {
    const act = () => {
      document.body.dataset.error = words;
      const line = document.createElement("p");
      line.className = "notice bad";
      line.setAttribute("role", "alert");
      line.textContent = `Something went wrong on this page: ${words}. Your saved labels are safe; reload the page to go on.`;
      document.getElementById("errors").replaceChildren(line);
    };
    if (document.getElementById("errors")) act();
    else addEventListener("DOMContentLoaded", act);
  };
  addEventListener("error", (event) => {
    if (event.target instanceof HTMLImageElement) return; // a picture says so itself
    if (event.message?.startsWith("ResizeObserver loop")) return; // a resize put off to the next frame
    show(event.message || `${event.target?.src || event.target?.href} did not load`);
  }, true);
  addEventListener("unhandledrejection", (event) => show(String(event.reason?.message ?? event.reason)));
})();
