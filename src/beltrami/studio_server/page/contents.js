/* The content of rows, fetched when it is looked at and kept for a while. */

import { ask } from "./wire.js";

export const AT_ONCE = 60; // rows of one request
const MOST = 3000; // rows kept

export class Contents {
  constructor() {
    this.items = new Map();
  }

  /** Return the items of some rows, at most sixty, in their order. */
  async of(rows) {
    const missing = rows.filter((row) => !this.items.has(row));
    if (missing.length) this.keep((await ask("/api/rows", { rows: missing.join(",") })).rows);
    return rows.map((row) => this.items.get(row)).filter((item) => item !== undefined);
  }

  /** Return a row's item as the studio sees it now, with its suggestion. */
  async fresh(row) {
    const { rows } = await ask("/api/rows", { rows: String(row) });
    this.keep(rows);
    return rows[0];
  }

  keep(items) {
    for (const item of items) this.items.set(item.row, item);
    for (const row of this.items.keys()) {
      if (this.items.size <= MOST) break;
      this.items.delete(row);
    }
  }

  forget() {
    this.items.clear();
  }
}
