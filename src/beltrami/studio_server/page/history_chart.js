/* The two curves of the history, drawn as SVG: numbers against the labels that people had given. */

const SVG = "http://www.w3.org/2000/svg";
const HIGH = 190, LEFT = 44, RIGHT = 14, TOP = 12, BOTTOM = 34; // pixels
const STEPS = [1, 2, 2.5, 5, 10];

function drawn(tag, traits = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(traits)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Return about `most` round numbers from low to high. */
function ticksOf(low, high, most, isWhole = false) {
  const rough = (high - low) / most || 1, power = 10 ** Math.floor(Math.log10(rough));
  let step = power * STEPS.find((one) => one * power >= rough * 0.999);
  if (isWhole) step = Math.max(1, Math.round(step));
  const ticks = [];
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + step * 1e-6; tick += step) ticks.push(tick + 0); // no −0
  return ticks;
}

/**
 * A chart in a host. `traits`: `value(point)` what the line shows, null for nothing; `band(point)` its range;
 * `floor(told)` where the axis begins; `most(points)` where it ends; `said(value)` a tick; `choose(event)`.
 */
export class Chart {
  constructor(host, traits) {
    Object.assign(this, { host, traits, told: { points: [], audits: [], falls: [] }, at: null, words: "" });
    new ResizeObserver(() => this.draw()).observe(host);
    host.addEventListener("click", (event) => this.pick(event));
  }

  /** Draw what is told of the past; `words` say the same. */
  show(told, words) {
    Object.assign(this, { told, words });
    this.draw();
  }

  /** Draw a line at the labels of a moment, none for null. */
  point(at) {
    if (at === this.at) return;
    this.at = at;
    this.draw();
  }

  draw() {
    const wide = this.host.clientWidth, points = this.told.points.filter((one) => this.traits.value(one) !== null);
    if (!wide) return;
    if (!points.length) {
      this.host.replaceChildren();
      this.scale = null;
      return;
    }
    const most = Math.max(1, ...this.told.points.map((one) => one.given), ...this.told.audits.map((one) => one.given));
    const [low, high] = [this.traits.floor({ ...this.told, points }), this.traits.most(points)];
    const x = (given) => LEFT + ((wide - LEFT - RIGHT) * given) / most;
    const y = (value) => TOP + (HIGH - TOP - BOTTOM) * (1 - (value - low) / (high - low));
    this.scale = { points, x };
    const svg = drawn("svg", { width: wide, height: HIGH, viewBox: `0 0 ${wide} ${HIGH}`, role: "img", "aria-label": this.words });
    svg.append(...this.axes(x, y, most, low, high, wide), ...this.band(points, x, y), ...this.line(points, x, y), ...this.marks(x, y));
    this.host.replaceChildren(svg);
  }

  axes(x, y, most, low, high, wide) {
    const rows = ticksOf(low, high, 3, this.traits.isWhole).flatMap((tick) => [
      drawn("line", { class: "grid", x1: LEFT, x2: wide - RIGHT, y1: y(tick), y2: y(tick) }),
      drawn("text", { class: "tick", x: LEFT - 7, y: y(tick) + 4, "text-anchor": "end" }, this.traits.said(tick)),
    ]);
    const columns = ticksOf(0, most, Math.max(2, Math.floor(wide / 90)), true).map((tick) => (
      drawn("text", { class: "tick", x: x(tick), y: HIGH - BOTTOM + 16, "text-anchor": "middle" }, String(tick))));
    const name = drawn("text", { class: "tick", x: wide - RIGHT, y: HIGH - 3, "text-anchor": "end" }, "labels given");
    return [...rows, ...columns, name];
  }

  /** The range of what was measured, where two or more were on the way to now. */
  band(points, x, y) {
    const way = this.traits.band ? points.filter((one) => one.way) : [];
    if (way.length < 2) {
      return way.map((one) => drawn("line", { class: "range", x1: x(one.given), x2: x(one.given), y1: y(this.traits.band(one)[0]), y2: y(this.traits.band(one)[1]) }));
    }
    const edge = (end) => way.map((one) => `${x(one.given)},${y(this.traits.band(one)[end])}`);
    return [drawn("polygon", { class: "band", points: [...edge(1), ...edge(0).reverse()].join(" ") })];
  }

  line(points, x, y) {
    const place = (one) => `${x(one.given)},${y(this.traits.value(one))}`, way = points.filter((one) => one.way);
    const dot = (one) => drawn("circle", { class: one.way ? "dot" : "dot aside", cx: x(one.given), cy: y(this.traits.value(one)), r: one.way ? 2.4 : 2 });
    const shown = points.length > 120 ? points.filter((one) => !one.way) : points;
    return [drawn("polyline", { class: "curve", points: way.map(place).join(" ") }), ...shown.map(dot)];
  }

  /** Proofs of audits, and the moment that is looked at. */
  marks(x, y) {
    const marks = [];
    for (const one of this.traits.hasProofs ? this.told.audits : []) {
      const [left, top] = [x(one.given), y(one.lower)];
      const mark = drawn("path", { class: "proof", d: `M${left} ${top - 6}L${left + 5.5} ${top}L${left} ${top + 6}L${left - 5.5} ${top}Z` });
      mark.append(drawn("title", {}, one.words));
      marks.push(mark);
    }
    if (this.at !== null) marks.push(drawn("line", { class: "here", x1: x(this.at), x2: x(this.at), y1: TOP, y2: HIGH - BOTTOM }));
    return marks;
  }

  /** Choose the moment nearest to a click. */
  pick({ clientX }) {
    if (!this.scale) return;
    const left = clientX - this.host.getBoundingClientRect().left, { points, x } = this.scale;
    const nearest = points.filter((one) => one.way).reduce((best, one) => (
      best && Math.abs(x(best.given) - left) <= Math.abs(x(one.given) - left) ? best : one), null);
    if (nearest) this.traits.choose(nearest.event);
  }
}
