/* The events in a list, the newest first, a page at a time; each names the moment after it. */

import { button, byId, element, refill } from "./elements.js";
import { ask } from "./wire.js";
import { count } from "./words.js";

const HOWS = { key: "by key", click: "by a click", area: "by area", api: "by a script", import: "imported" };
const DATE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** Return when something happened, as people here write it. */
export const timeWords = (at) => DATE.format(new Date(at));

export class EventList {
  /** `choose(number)` looks at a moment; `complain(error)` says what failed; `counted(last)` hears how many there are; `isReader(user)` says who is “You”. */
  constructor({ choose, complain, counted, isReader }) {
    Object.assign(this, { choose, complain, counted, isReader, shown: [], total: 0, user: "", turn: 0, at: null });
    byId("events-user").addEventListener("change", ({ target }) => {
      this.user = target.value;
      this.load();
    });
  }

  /** Show the newest events; with `isMore` the next older ones below. */
  async load(isMore = false) {
    const turn = ++this.turn, query = { from: isMore ? this.shown.length : 0 };
    if (this.user) query.user = this.user;
    try {
      const { events, count: total, last, users } = await ask("/api/history", query);
      if (turn !== this.turn) return;
      Object.assign(this, { shown: isMore ? [...this.shown, ...events] : events, total });
      this.counted(last);
      this.offer(users);
      if (isMore) byId("events").append(...events.map((one) => this.entry(one)));
      else refill(byId("events"), ...events.map((one) => this.entry(one)));
      this.mark(this.at);
      const left = this.total - this.shown.length;
      refill(byId("events-more"), left > 0 ? button(`Show older ones; ${count(left)} are left`, () => this.load(true), { data: { name: "older" } }) : null);
    } catch (error) {
      this.complain(error);
    }
  }

  /** Let one person be chosen, where there are several. */
  offer(users) {
    byId("events-of").hidden = users.length < 2 && !this.user;
    const wanted = [["", "everybody"], ...users.map((name) => [name, name])], choice = byId("events-user");
    if (choice.options.length === wanted.length) return;
    choice.replaceChildren(...wanted.map(([value, text]) => element("option", { value, text })));
    choice.value = this.user;
  }

  entry({ number, at, user, how, words, content, fate }) {
    const who = user === "file" ? "The data" : this.isReader(user) ? "You" : user, means = HOWS[how] ? `, ${HOWS[how]}` : "";
    const line = element("p", { class: "deed" }, element("strong", { text: who }), ` ${words}${means}`);
    if (fate) line.append(" ", element("span", { class: "fate", text: fate }));
    const said = [line, content ? element("p", { class: "faint content", text: content }) : null];
    return element("li", { value: number, class: fate ? "fallen" : "", data: { event: number } },
      element("button", { type: "button", class: "moment-of", text: count(number), title: timeWords(at), data: { name: `event:${number}` }, aria: { label: `Look at the moment after event ${number}` }, onclick: () => this.choose(number) }),
      element("div", {}, ...said.filter((one) => one)), element("time", { class: "faint", dateTime: at, text: timeWords(at) }));
  }

  /** Mark the event whose moment is looked at. */
  mark(number) {
    this.at = number;
    for (const line of byId("events").children) {
      if (Number(line.dataset.event) === number) line.setAttribute("aria-current", "true");
      else line.removeAttribute("aria-current");
    }
  }
}
