/* The data view: what each column is taken for, to be corrected; some rows; the classes. */

import { button, byId, element, refill } from "./elements.js";
import { ClassTable } from "./class_table.js";
import { ask, tell } from "./wire.js";
import { count, shorten } from "./words.js";

const ROLES = { id: "id of the row", numeric: "number", categorical: "category", text: "text", ignored: "left out" };
const LISTS = { text: "text", categories: "categorical", numbers: "numeric", ignore: "ignored" };
const FIXED = { label: "label", vectors: "vector" };

export class DataView {
  constructor(store, deeds, contents, notices) {
    Object.assign(this, { store, contents, notices, columns: [], wanted: new Map() });
    this.classes = new ClassTable(store, deeds, notices);
    byId("roles-apply").append(
      button("Read the table so", () => this.apply(), { class: "loud", id: "apply-roles" }),
      button("As it was", () => this.write(), { id: "forget-roles" }));
    store.watch(["view"], ({ view }) => { if (view === "data") this.load(); });
    store.watch(["word"], ({ view, word }) => { if (view === "data" && word) this.load(); });
    store.watch(["progress"], ({ view, progress }) => { if (view === "data" && progress?.over) this.load(); });
  }

  async load() {
    try {
      this.data = await ask("/api/data");
      this.write();
    } catch (error) {
      refill(byId("lines"), element("p", { class: "note", text: error.message }));
    }
  }

  write() {
    const { columns, lines, preview, can_change: canChange } = this.data;
    this.wanted.clear();
    refill(byId("lines"), ...lines.map((text) => element("p", { class: "note", text })));
    byId("roles-fixed").hidden = canChange;
    for (const host of [byId("columns").closest(".scroll"), byId("preview-rows").closest("section")]) host.hidden = !columns.length;
    byId("columns").parentElement.classList.toggle("unexplained", columns.every(({ reason }) => !reason));
    refill(byId("columns"), ...columns.map((column) => this.columnRow(column, canChange)));
    refill(byId("preview-head"), element("tr", {}, ...preview.names.map((text) => element("th", { scope: "col", text }))));
    refill(byId("preview-rows"), ...preview.rows.map((row) => element("tr", {}, ...row.map((text) => element("td", { text: shorten(text, 120) })))));
    this.offerApply();
  }

  columnRow(column, canChange) {
    const { name, reason, examples, missing, distinct } = column, now = roleOf(column);
    let role;
    if (!(now in ROLES)) role = element("span", { text: FIXED[now] ?? now });
    else {
      role = element("select", {
        class: "field", disabled: !canChange || this.store.state.project?.read_only, aria: { label: `Role of ${name}` },
        onchange: () => this.want(column, role.value),
      }, ...Object.entries(ROLES).map(([value, text]) => element("option", { value, text })));
      role.value = now;
    }
    return element("tr", {},
      element("th", { scope: "row", text: name }),
      element("td", { class: "role" }, role),
      element("td", { class: "examples", text: examples.map((text) => shorten(text, 40)).join(" · ") }),
      element("td", { class: "number", text: count(distinct), data: { unit: "distinct" } }),
      element("td", { class: "number", text: count(missing), data: { unit: "missing" } }),
      element("td", { class: "reason", text: reason }));
  }

  want(column, role) {
    if (role === roleOf(column)) this.wanted.delete(column.name);
    else this.wanted.set(column.name, role);
    this.offerApply();
  }

  offerApply() {
    byId("roles-apply").hidden = this.wanted.size === 0;
    byId("roles-words").textContent = `${count(this.wanted.size)} to change. The table is read and learned anew; your labels stay.`;
  }

  /** Send every list that changes, whole: what was asked for earlier stays in it. A text names its features alone, so the others are named with it. */
  async apply() {
    const { columns, has_named_features: hasNamed } = this.data, body = {};
    for (const [key, role] of Object.entries(LISTS)) {
      const before = columns.filter(({ asked }) => asked === key);
      const after = columns.filter(({ name, asked }) => (this.wanted.has(name) ? this.wanted.get(name) === role : asked === key));
      if (before.length !== after.length || after.some((one) => !before.includes(one))) body[key] = after.map(({ name }) => name);
    }
    const id = columns.find(({ name }) => this.wanted.get(name) === "id")?.name, before = columns.find(({ role }) => role === "id")?.name;
    if (id !== undefined) body.id = id;
    else if (this.wanted.has(before)) body.id = null;
    if (body.text?.length || hasNamed) body.features = this.features();
    try {
      await tell("/api/roles", body);
      this.renew();
      byId("roles-apply").hidden = true;
    } catch (error) {
      this.notices.warn(`The roles stay as they were: ${error.message}`);
    }
  }

  /** Forget what was shown of the table, which is read anew. */
  renew() {
    this.contents.forget();
    this.store.set({ columns: new Map(), filters: [], paint: "class" });
    this.notices.say("The table is read anew.");
  }

  /** Return the columns that rows are to be compared by, all of them. */
  features() {
    const isFeature = (column) => !["id", "ignored", "label"].includes(this.wanted.get(column.name) ?? roleOf(column));
    return this.data.columns.filter(isFeature).map(({ name }) => name);
  }
}

/** Return the role of a column as the select has it: the kind of a feature, or what else it is. */
function roleOf({ role, kind }) {
  return role === "feature" ? kind : role;
}
