/* What the page says: in passing, in a line that stays, and of long work. */

import { button, byId, element, refill } from "./elements.js";
import { duration, percent, sentence } from "./words.js";

const SHOWN_S = 5;

/** Lines for people; what was saved is spoken by screen readers, too. */
export class Notices {
  constructor(store) {
    this.timer = 0;
    store.watch(["isOpen", "tries"], ({ isOpen, tries }) => this.showConnection(isOpen, tries));
    store.watch(["project"], ({ project }) => this.showStanding(project));
    store.watch(["progress"], ({ progress }) => this.showProgress(progress));
  }

  /** Say something in passing. */
  say(words) {
    const line = byId("said");
    line.textContent = words;
    line.classList.add("shown");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => line.classList.remove("shown"), 1000 * SHOWN_S);
  }

  /** Say something that stays until it is put away. */
  warn(words) {
    const line = element("p", { class: "notice bad", role: "alert" }, element("span", { text: words }));
    line.append(button("Put away", () => line.remove()));
    byId("warned").replaceChildren(line);
  }

  calm() {
    byId("warned").replaceChildren();
  }

  showConnection(isOpen, tries) {
    const words = tries > 1
      ? "The connection to the studio is lost; the page tries again every few seconds. Is its command still running?"
      : "The connection to the studio is lost; trying again.";
    refill(byId("connection"), isOpen ? null : element("p", { class: "notice bad", role: "alert", text: words }));
  }

  showStanding(project) {
    const lines = [];
    if (project?.read_only) lines.push("Read-only: you can look at everything here and change nothing.");
    if (project?.phase === "failed") {
      lines.push(`Learning failed: ${sentence(project.failure ?? "the command that opened this page says why")} What you label is saved all the same.`);
    }
    refill(byId("standing"), ...lines.map((text) => element("p", { class: "notice", text })));
  }

  /** Show stage k of n, what it does, how far it is and how long it will take. */
  showProgress(progress) {
    const host = byId("progress");
    if (!progress || progress.over) {
      host.replaceChildren();
      return;
    }
    const { stage, stages, title, step, fraction, left } = progress;
    const words = [`Stage ${stage} of ${stages}: ${title}`];
    if (step && step !== title) words.push(step);
    if (fraction !== null) words.push(percent(fraction));
    if (left !== null) words.push(`${duration(left)} left`);
    const text = words.join(" · "), bar = element("progress", { max: 1, aria: { label: title } });
    if (fraction !== null) bar.value = fraction;
    host.replaceChildren(element("p", { class: "notice calm" }, element("span", { text }), bar));
  }
}
