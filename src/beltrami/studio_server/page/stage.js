/* The map on the page: one canvas, which stands large in the map view, small in the queue and in the history. */

import { PointMap } from "./map.js";
import { byId } from "./elements.js";
import { filterMask, paintedColumn, rowsOf, visibleMask } from "./masks.js";
import { stylesOf } from "./palette.js";

const HOSTS = { queue: "locator", history: "past-host" };
const isSmall = (view) => view in HOSTS; // without tools, filters or a legend of its own
const EDGE = 14; // pixels that a row which must be seen keeps from an edge

export class Stage {
  constructor(store, meter) {
    this.store = store;
    this.meter = meter;
    this.canvas = byId("points");
    this.frame = byId("stage");
    this.map = new PointMap(this.canvas);
    this.isDue = false;
    this.mask = this.lit = null; // what the map was told last: telling it takes a look at every row
    this.now = null; // the answers of now, also while those of another moment are shown
    this.past = null; // the answers of that moment
    this.kept = null; // how the map was looked at before another view took it
    this.map.onnote = (words) => { byId("stage-note").textContent = words; };
    this.map.onnote(this.map.note);
    new ResizeObserver(() => this.map.resize()).observe(this.canvas);
    this.watch();
  }

  watch() {
    const { store, map } = this;
    store.watch(["theme"], ({ theme }) => map.setTheme(theme, this.shade("backgroundColor"), this.shade("color")));
    store.watch(["view"], ({ view }) => this.move(view));
    store.watch(["places"], ({ places }) => {
      byId("stage-words").hidden = places !== null;
      if (places) map.setPlaces(places.x, places.y, places.extent);
    });
    store.watch(["view", "places", "paint", "columns", "classes"], (state) => this.dress(state));
    store.watch(["view", "answers", "hidden", "hidesOthers", "filters", "paint", "columns"], (state) => this.mind(state));
    store.watch(["view", "selection", "filters", "hidesOthers"], (state) => this.highlight(state));
    store.watch(["answers"], (state) => { if (state.filters.length && !state.selection) this.highlight(state); });
    store.watch(["view", "picked", "question"], ({ view, picked, question }) => {
      const row = isSmall(view) ? (view === "queue" ? question?.row ?? -1 : -1) : picked;
      map.setPicked(row);
      if (row >= 0) this.reveal(row);
    });
    store.watch(["view", "tool"], ({ view, tool }) => map.setTool(isSmall(view) ? "pan" : tool));
  }

  shade(name) {
    return getComputedStyle(this.frame)[name].match(/\d+/g).slice(0, 3).map(Number);
  }

  /** Put the canvas where the view wants it. */
  move(view) {
    const host = byId(HOSTS[view] ?? "map-host"), from = this.frame.parentElement;
    if (from === host) return;
    const { map } = this, { zoom, centre } = map, kept = this.kept;
    if (from.id === "map-host") this.kept = this.store.state.places && { zoom, centre };
    host.prepend(this.frame);
    map.resize();
    map.reset();
    if (kept && host.id === "map-host") this.look(kept);
  }

  /** Look at the map as it was looked at before. */
  look({ zoom, centre: [x, y] }) {
    const { map } = this;
    map.zoomBy(zoom);
    const [[left], [right]] = [map.toPlane([0, 0]), map.toPlane([1, 0])], scale = 1 / (right - left);
    map.panBy((map.centre[0] - x) * scale, (y - map.centre[1]) * scale);
  }

  /** Bring a row to the middle that lies outside of what is seen. */
  reveal(row) {
    const [left, top] = this.map.toScreen(row), { clientWidth: wide, clientHeight: high } = this.canvas;
    if (!wide) return; // nothing is seen at all
    if (left < 0 || top < 0 || left > wide || top > high) this.map.centreOn(row);
  }

  /** Move the map, and draw it smaller where that is not enough, until no row of some lies in its lowest `covered` pixels. */
  uncover(rows, covered) {
    const { map, canvas } = this, free = canvas.clientHeight - covered - EDGE;
    if (!rows.length || covered <= 0 || free < 2 * EDGE) return;
    const span = () => {
      const tops = Array.from(rows, (row) => map.toScreen(row)[1]).filter((top) => top <= canvas.clientHeight);
      return [tops.reduce((a, b) => Math.min(a, b), Infinity), tops.reduce((a, b) => Math.max(a, b), -Infinity)];
    };
    let [top, bottom] = span();
    if (bottom <= free) return;
    if (bottom - Math.max(top, EDGE) > free - EDGE) {
      map.zoomBy((free - EDGE) / (bottom - Math.max(top, EDGE)));
      [top, bottom] = span();
    }
    map.panBy(0, free - bottom);
  }

  /** Show the rows that nobody hides; on the small map all of them. */
  mind(state) {
    const mask = isSmall(state.view) ? null : visibleMask(state);
    if (mask || this.mask) this.map.setVisible(mask);
    this.mask = mask;
  }

  /** Colour by class, confidence, source or a column; on the small map, where no legend is, by class. */
  dress(state) {
    const column = isSmall(state.view) ? null : paintedColumn(state);
    const styles = stylesOf(Math.max(column?.values?.length ?? state.classes, 1));
    const isPlain = !isSmall(state.view) && !state.paint.startsWith("column:");
    if (!column) this.map.setPaint({ mode: isPlain ? state.paint : "class", styles });
    else {
      const { low, high, codes, values } = column;
      const painted = { kind: values ? "categorical" : "numeric", codes, n: values?.length ?? 0, low, high };
      this.map.setPaint({ mode: "column", styles, column: painted });
    }
  }

  /** Let a selection stand out, or else what the filters leave. */
  highlight(state) {
    let rows = null;
    if (!isSmall(state.view)) {
      const mask = state.selection || state.hidesOthers ? null : filterMask(state);
      rows = state.selection?.rows ?? (mask ? rowsOf(mask) : null);
    }
    if (rows || this.lit) this.map.setSelection(rows);
    this.lit = rows;
  }

  /** Hand answers to the map, unless it shows another moment; the page says their version once they are drawn. */
  answer(frame) {
    const { store, map, now } = this, { codes, confidence, source, rows } = frame;
    if (frame.type === "answers") {
      this.now = { codes, confidence, source };
      if (!this.past) map.setAnswers(this.now);
    } else {
      if (!now) return; // all of them are on their way
      for (let k = 0; k < rows.length; k++) {
        now.codes[rows[k]] = codes[k];
        now.confidence[rows[k]] = confidence[k];
        now.source[rows[k]] = source[k];
      }
      if (!this.past) map.changeAnswers(rows, { codes, confidence, source });
    }
    if (!this.past) store.set({ answers: { ...this.now } });
    store.set({ classes: Math.max(frame.nClasses, store.state.classes) });
    this.next = frame;
    this.report();
  }

  /** Show the answers of another moment, or with null those of now. */
  lookAt(frame) {
    if (!frame && !this.past) return;
    this.past = frame && { codes: frame.codes, confidence: frame.confidence, source: frame.source };
    const shown = this.past ?? this.now;
    if (!shown) return;
    this.map.setAnswers(shown);
    this.store.set({ answers: { ...shown } });
  }

  /** After the next frame, which the map draws first, say what it shows. */
  report() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      const { version, behind, given } = this.next, { saved } = this.store.state;
      this.meter.draw(version);
      if (version < saved) this.store.set({ version, behind: Math.max(behind, 1) });
      else this.store.set({ version, behind, given });
    });
  }
}
