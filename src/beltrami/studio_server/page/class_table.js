/* The classes with their counts, to be renamed, merged, added to and, where no row has one, removed. */

import { button, byId, element, refill } from "./elements.js";
import { askText, askWhether, chooseClass } from "./dialogs.js";
import { className, codeOf } from "./item.js";
import { openClasses } from "./store.js";
import { count, nameOf, rowCount } from "./words.js";

export class ClassTable {
  constructor(store, deeds, notices) {
    Object.assign(this, { store, deeds, notices });
    byId("class-add").append(button("Add a class", () => this.add(), { id: "add-class" }));
    store.watch(["project"], ({ project }) => { if (project) this.write(project); });
  }

  write(project) {
    const classes = openClasses(project);
    byId("add-class").disabled = project.read_only;
    byId("classes-empty").hidden = classes.length > 0;
    byId("classes-table").hidden = classes.length === 0;
    refill(byId("classes-rows"), ...classes.map(({ code, name, key, given, labelled, left }) => element("tr", {},
      element("th", { scope: "row" }, className(project, code)),
      element("td", {}, key ? element("kbd", { text: key }) : ""),
      ...[given, labelled, left].map((number) => element("td", { class: "number", text: count(number) })),
      element("td", { class: "acts" },
        button("Rename", () => this.rename(name), { disabled: project.read_only, data: { name: `rename:${code}` }, aria: { label: `Rename ${name}` } }),
        button("Merge into…", () => this.merge(name), { disabled: project.read_only || classes.length < 2, data: { name: `merge:${code}` }, aria: { label: `Merge ${name} into another class` } }),
        given ? null : button("Remove", () => this.remove(name), { disabled: project.read_only, data: { name: `remove:${code}` }, aria: { label: `Remove ${name}` } })))));
  }

  /** Remove a class that no row has; undo brings it back. */
  remove(name) {
    return this.change(() => this.deeds.removeClass(name));
  }

  async add() {
    const name = await askText("A new class", { word: "Add it" });
    if (name === null) return;
    if (codeOf(this.store.state.project, name) >= 0) this.notices.say(`There is a class “${name}” already.`);
    else await this.change(() => this.deeds.addClass(name));
  }

  async rename(name) {
    const to = await askText(`Rename “${nameOf(name)}”`, { note: "Its labels keep their rows.", value: name, word: "Rename" });
    if (to === null || to === name) return;
    if (codeOf(this.store.state.project, to) >= 0) await this.confirm(name, to);
    else await this.change(() => this.deeds.renameClass(name, to, false), () => this.confirm(name, to));
  }

  async merge(name) {
    const { project } = this.store.state, to = await chooseClass(project, `Merge “${nameOf(name)}” into`, codeOf(project, name));
    if (to) await this.confirm(name, to.name);
  }

  /** Ask before two classes become one. */
  async confirm(name, to) {
    const { project } = this.store.state, given = project.classes[codeOf(project, name)].given;
    const note = `${rowCount(given)} that people labelled “${nameOf(name)}” become “${nameOf(to)}”, and “${nameOf(name)}” is gone. Undo takes it back.`;
    const isSure = await askWhether(`Merge “${nameOf(name)}” into “${nameOf(to)}”?`, { note, word: "Merge" });
    if (isSure) await this.change(() => this.deeds.renameClass(name, to, true));
  }

  async change(act, onConflict) {
    try {
      await act();
      this.notices.calm();
    } catch (error) {
      if (error.status === 409 && onConflict) await onConflict();
      else this.notices.warn(`Not saved: ${error.message}`);
    }
  }
}
