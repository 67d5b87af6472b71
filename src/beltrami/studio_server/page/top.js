/* The head of the page: which file, what is known, how much is done, and what can be taken back. */

import { button, byId, element, refill } from "./elements.js";
import { count, nameOf } from "./words.js";

const COUNTS = { given: "by you", labelled: "by us", abstained: "left to you", unreached: "reached by no label" };

export function startTop(store, undo) {
  const undoButton = button("Undo", undo, { key: "Z", id: "undo" });
  byId("deeds").prepend(undoButton);
  store.watch(["project"], ({ project }) => { if (project) writeProject(project); });
  store.watch(["project", "done"], ({ project, done }) => writeUndo(undoButton, project, done));
  store.watch(["behind", "project"], ({ behind, project }) => writeBehind(behind, project));
  // Keys are then meant for the view and no longer for its link.
  byId("views").addEventListener("click", ({ detail, target }) => { if (detail) target.closest("a")?.blur(); });
  store.watch(["view"], ({ view }) => {
    for (const link of document.querySelectorAll("#views a")) {
      if (link.hash === `#${view}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  });
}

function writeProject(project) {
  document.title = `${project.source} · Beltrami studio`;
  byId("source").textContent = project.source;
  byId("headline").textContent = project.headline;
  byId("export").download = `${project.source.replace(/\.[^.]*$/, "")}-labels.csv`;
  const others = project.users.filter((name) => name !== project.user);
  byId("who").textContent = others.length ? `You are ${project.user}; ${others.join(", ")} can label here too.` : "";
  refill(byId("counts"), ...Object.entries(COUNTS).map(([key, words]) => element("div", { class: key },
    element("dt", { text: words }), element("dd", { text: count(project.counts[key]) }))));
  refill(byId("share"), ...Object.keys(COUNTS).filter((key) => project.counts[key]).map((key) => {
    const part = element("span", { class: key });
    part.style.flexGrow = project.counts[key];
    return part;
  }));
  byId("about").textContent = project.about;
  byId("about").hidden = !project.about;
  writeTrust(project);
}

/** Evidence in a sentence, warnings behind one click. */
function writeTrust({ evidence, warnings }) {
  byId("evidence").textContent = evidence.join(" ");
  byId("warnings").hidden = !warnings.length;
  byId("warnings-title").textContent = warnings.length === 1
    ? "One thing to know before you trust this" : `${warnings.length} things to know before you trust this`;
  refill(byId("warnings-list"), ...warnings.map((text) => element("li", { text })));
}

function writeUndo(undoButton, project, done) {
  const words = done.at(-1);
  undoButton.disabled = !project || project.read_only || !(project.can_undo || done.length);
  undoButton.title = words ? `Take back: ${words}` : "Take your last change back";
  undoButton.setAttribute("aria-label", words ? `Undo: ${words}` : "Undo your last change");
  byId("undo-words").textContent = words && !undoButton.disabled ? nameOf(words) : "";
}

function writeBehind(behind, project) {
  const isLearning = project && (project.phase === "starting" || project.phase === "learning");
  const labels = behind === 1 ? "1 label behind" : `${count(behind)} labels behind`;
  const isFirst = project && !project.has_learned && project.classes.filter((one) => one.given).length > 1;
  const late = isFirst ? "Learning from your first labels." : `The map is ${labels}.`;
  byId("behind").textContent = behind > 0 && project?.given ? late : isLearning ? "Learning." : "";
}
