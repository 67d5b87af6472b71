/* The report: the studio makes it, which may take a while, and the browser keeps it as a file. */

import { byId, element } from "./elements.js";
import { askFile } from "./wire.js";

const KEPT_S = 60; // until a browser has surely taken the file

export function startReport(store, notices) {
  const asking = byId("report");
  asking.addEventListener("click", async () => {
    asking.disabled = true;
    notices.say("The report is being made.");
    try {
      keep(await askFile("/api/report"), `${store.state.project.source.replace(/\.[^.]*$/, "")}-report.html`);
      notices.say("The report is in your downloads.");
    } catch (error) {
      notices.warn(`No report: ${error.message}`);
    } finally {
      asking.disabled = false;
    }
  });
}

/** Let the browser keep a file. */
function keep(file, name) {
  const address = URL.createObjectURL(file);
  element("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000 * KEPT_S);
}
