/* The map of points, for the report, the studio and the notebook: one module, nothing loaded.

Rows come as typed arrays and leave as typed arrays. Each row has a slot, its place in a shuffled
order of drawing, so that no class hides another and the first slots are a random sample; all that
is drawn of it is one word of 32 bits there. WebGL2 draws the words as they lie; where there is none,
or it is lost, marks are stamped into the pixels of a canvas. */

const GIVEN = 0, ABSTAINED = 2, UNREACHED = 3; // of `source`, its low two bits; 1 is labelled by us
const BY_AREA = 4, RINGED = 16, LISTED = 32, HIDDEN = 64, DIMMED = 128; // more bits of a word
const KEPT = LISTED | HIDDEN | DIMMED; // what new answers leave as it is
const NEAR = 14; // how far from a point, in pixels, the pointer still means it
const STILL = { mouse: 4, pen: 6, touch: 12 }; // pixels that a hand may tremble in a click
const MOST_STAMPED = 150_000; // points that a canvas draws; of more, a sample
const TURN = 400; // milliseconds in which points move to new places
const REST = 140; // milliseconds without motion, after which all points are drawn
const FLUENT = 13; // milliseconds of stamping in a frame of motion, which shows fewer points then

// -------------------------------------------------------------------------------------------------
// Colours

/** Colours of no class, and of the sources; those of 0 are the ink of rings. */
export const TINTS = {
  light: { grey: "#8b9198", 0: "#1d2126", 1: "#0072B2", 2: "#D08A00", 3: "#8b9198" },
  dark: { grey: "#888e97", 0: "#F4F4F2", 1: "#56B4E9", 2: "#E69F00", 3: "#888e97" },
};

/** Doubtful is orange and sure is blue, low is violet and high is yellow: every eye tells them apart. */
export const RAMPS = {
  confidence: {
    light: ["#a83200", "#d9701a", "#c9a45c", "#5f9fc6", "#00507f"],
    dark: ["#ff7a2e", "#f0a050", "#c9b48a", "#6fb4dc", "#9fdcff"],
  },
  numbers: {
    light: ["#44207a", "#33608f", "#1f8f86", "#63ad4c", "#dba800"],
    dark: ["#8a72e0", "#4d93d6", "#35b3a2", "#97cf68", "#ffe04f"],
  },
};

const COLOURS = [
  ["#0072B2", "#2E93D9"], ["#E69F00", "#E69F00"], ["#009E73", "#17B98B"], ["#CC79A7", "#DE97BD"],
  ["#56B4E9", "#8FD3F9"], ["#D55E00", "#F0752A"], ["#DDCB1C", "#F0E442"], ["#000000", "#F4F4F2"],
  ["#882255", "#C9588F"], ["#7A6A1E", "#A8964A"], ["#5A45C4", "#9C8CF5"], ["#5E7480", "#9FB4C0"],
];

/** Return colours and mark of each class, as `colours.py` gives them. */
export function classStyles(count) {
  return Array.from({ length: count }, (_, code) => {
    const [light, dark] = COLOURS[code % 12];
    return { light, dark, mark: [code % 12 < 8 ? "disc" : "triangle", "square", "diamond"][Math.floor(code / 12) % 3] };
  });
}

/** Return red, green and blue, from 0 to 255, of a colour like #0072B2. */
export const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** Return the colour at a share of a ramp of colours. */
function between(ramp, share) {
  const place = share * (ramp.length - 1), k = Math.min(ramp.length - 2, Math.floor(place));
  const [a, b] = [rgb(ramp[k]), rgb(ramp[k + 1])];
  return a.map((value, channel) => Math.round(value + (b[channel] - value) * (place - k)));
}

const MODES = ["class", "confidence", "source", "numbers", "categories"];

/** What a word looks like: colours and marks in one table, entry 0 for what has none. */
class Paint {
  constructor({ mode, styles, column }, theme) {
    const name = mode === "column" ? (column.kind === "numeric" ? "numbers" : "categories") : mode;
    const ramp = RAMPS[name]?.[theme], tints = TINTS[theme];
    this.mode = MODES.indexOf(name);
    if (this.mode < 0) throw new RangeError(`the map can be coloured by class, confidence, source or column, not by ${mode}`);
    this.cycle = Math.max(1, styles.length);
    const rows = ramp ? Array.from({ length: 256 }, (_, k) => [...between(ramp, k / 255), 0])
      : name === "source" ? [0, 1, 2, 3].map((source) => [...rgb(tints[source]), 0])
        : styles.map((style) => [...rgb(style[theme]), MARKS.indexOf(style.mark)]);
    // Four bytes an entry: red, green, blue and the mark; whole lines of 256 entries.
    this.table = new Uint8Array(1024 * Math.ceil((rows.length + 1) / 256));
    [[...rgb(tints.grey), 0], ...rows].forEach((entry, k) => this.table.set(entry, 4 * k));
  }

  /** Return the entry of the table for a point; the shader below has the same lines. */
  entry(word, column) {
    const source = word & 3, code = this.mode === 4 ? column : word >>> 16;
    if (this.mode === 1) return source === UNREACHED ? 0 : 1 + ((word >>> 8) & 255);
    if (this.mode === 2) return 1 + source;
    if (this.mode === 3) return column === 0 ? 0 : 1 + Math.floor(((column - 1) * 255) / 65534 + 0.5);
    return code === 0 || (this.mode === 0 && source >= ABSTAINED) ? 0 : 1 + ((code - 1) % this.cycle);
  }
}

// -------------------------------------------------------------------------------------------------
// Points

/** A list of slots that grows at its end; `round` changes when it begins anew. */
class SlotList {
  constructor() {
    this.slots = new Uint32Array(64);
    this.length = this.round = 0;
  }

  clear() {
    this.length = 0;
    this.round++;
  }

  add(slot) {
    if (this.length === this.slots.length) {
      const larger = new Uint32Array(2 * this.length);
      larger.set(this.slots);
      this.slots = larger;
    }
    this.slots[this.length++] = slot;
  }
}

/** The rows: places by row, words by slot, and which slots are drawn above the others. */
class Points {
  constructor(n) {
    this.n = this.shown = n;
    this.isPlaced = false;
    this.x = this.y = new Float32Array(n).fill(1e9); // out of sight until places come
    this.past = null; // the places before, while points move
    this.words = new Uint32Array(n).fill(UNREACHED);
    this.column = null; // codes of a column, by slot
    this.ringed = new SlotList(); // every slot with a ring; some may have lost it since
    this.chosen = null; // slots of the selection, or null where there is none
    this.reached = 0; // rows that are not out of reach
    this.shuffle();
  }

  shuffle() {
    this.rowOf = new Uint32Array(this.n);
    this.slotOf = new Uint32Array(this.n);
    let state = 12345;
    for (let i = 0; i < this.n; i++) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const j = Math.floor((state / 4294967296) * (i + 1));
      this.rowOf[i] = this.rowOf[j];
      this.rowOf[j] = i;
    }
    for (let slot = 0; slot < this.n; slot++) this.slotOf[this.rowOf[slot]] = slot;
  }

  word(row) {
    return this.words[this.slotOf[row]];
  }

  /** Take the answer of a row; return its slot. */
  answer(row, code, confidence, source, isGiven) {
    const slot = this.slotOf[row], old = this.words[slot];
    let word = (old & KEPT) | (source & 15) | (confidence << 8) | ((code + 1) << 16);
    if (isGiven) {
      word |= RINGED | LISTED;
      if (!(old & LISTED)) this.ringed.add(slot);
    }
    this.reached += ((source & 3) !== UNREACHED) - ((old & 3) !== UNREACHED);
    this.words[slot] = word;
    return slot;
  }

  forgetRings() {
    this.ringed.clear();
    for (let slot = 0; slot < this.n; slot++) this.words[slot] &= ~LISTED;
  }

  show(mask) {
    this.shown = 0;
    for (let slot = 0; slot < this.n; slot++) {
      const isShown = mask === null || mask[this.rowOf[slot]] !== 0;
      this.words[slot] = isShown ? this.words[slot] & ~HIDDEN : this.words[slot] | HIDDEN;
      this.shown += isShown;
    }
  }

  choose(rows) {
    const { words, n } = this;
    for (let slot = 0; slot < n; slot++) words[slot] = rows === null ? words[slot] & ~DIMMED : words[slot] | DIMMED;
    this.chosen = rows === null ? null : new SlotList();
    if (rows === null) return;
    for (const row of rows) words[this.slotOf[row]] &= ~DIMMED;
    for (let slot = 0; slot < n; slot++) if (!(words[slot] & DIMMED)) this.chosen.add(slot);
  }

  /** Return the place of a row at a share of the way from where it was. */
  place(row, share) {
    const { x, y, past } = this;
    if (past === null) return [x[row], y[row]];
    return [past.x[row] + (x[row] - past.x[row]) * share, past.y[row] + (y[row] - past.y[row]) * share];
  }
}

/** Cells of a grid with the rows in each, so that looking up a place costs a few of them. */
class Grid {
  constructor(x, y) {
    const n = x.length;
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < n; i++) {
      if (x[i] < left) left = x[i];
      if (x[i] > right) right = x[i];
      if (y[i] < low) low = y[i];
      if (y[i] > high) high = y[i];
    }
    const wide = Math.max(right - left, 1e-9), tall = Math.max(high - low, 1e-9);
    const count = (share) => Math.max(1, Math.min(1024, Math.ceil(Math.sqrt((n / 4) * share))));
    Object.assign(this, { x, y, left, low, columns: count(wide / tall), lines: count(tall / wide) });
    this.wide = wide / this.columns;
    this.tall = tall / this.lines;
    this.start = new Uint32Array(this.columns * this.lines + 1);
    for (let i = 0; i < n; i++) this.start[this.cell(i) + 1]++;
    for (let c = 1; c < this.start.length; c++) this.start[c] += this.start[c - 1];
    this.members = new Uint32Array(n);
    const next = this.start.slice();
    for (let i = 0; i < n; i++) this.members[next[this.cell(i)]++] = i;
  }

  cell(i) {
    return this.lineAt(this.y[i]) * this.columns + this.columnAt(this.x[i]);
  }

  columnAt(x) {
    return Math.max(0, Math.min(this.columns - 1, (x - this.left) / this.wide)) | 0; // a NaN is 0
  }

  lineAt(y) {
    return Math.max(0, Math.min(this.lines - 1, (y - this.low) / this.tall)) | 0;
  }

  /** Return the row nearest to (x, y) within `reach`, or -1; `weigh` bends the square of a distance. */
  nearest(x, y, reach, weigh) {
    let best = -1, least = reach * reach;
    for (let line = this.lineAt(y - reach); line <= this.lineAt(y + reach); line++) {
      const first = this.start[line * this.columns + this.columnAt(x - reach)];
      const last = this.start[line * this.columns + this.columnAt(x + reach) + 1];
      for (let k = first; k < last; k++) {
        const i = this.members[k], dx = this.x[i] - x, dy = this.y[i] - y, square = dx * dx + dy * dy;
        if (square > reach * reach) continue;
        const far = square * weigh(i);
        if (far <= least) [best, least] = [i, far];
      }
    }
    return best;
  }

  /** Return which rows lie inside an outline: a byte each. */
  inside(outline) {
    const marks = new Uint8Array(this.x.length), crossed = this.crossed(outline), { left, right, low, high } = outline;
    for (let line = this.lineAt(low); line <= this.lineAt(high); line++) {
      let isIn = null; // known from one cell to the next, until an edge comes between
      for (let column = this.columnAt(left); column <= this.columnAt(right); column++) {
        const c = line * this.columns + column;
        if (crossed[c]) isIn = null;
        else isIn ??= outline.holds(this.left + (column + 0.5) * this.wide, this.low + (line + 0.5) * this.tall);
        if (isIn === false) continue;
        for (let k = this.start[c]; k < this.start[c + 1]; k++) {
          const i = this.members[k];
          marks[i] = isIn || outline.holds(this.x[i], this.y[i]) ? 1 : 0;
        }
      }
    }
    return marks;
  }

  /** Return the cells that an edge of the outline runs through: a byte each. */
  crossed({ x, y }) {
    const cells = new Uint8Array(this.columns * this.lines);
    for (let k = 0, j = x.length - 1; k < x.length; j = k++) {
      const slope = (x[k] - x[j]) / (y[k] - y[j]), [bottom, top] = y[j] < y[k] ? [y[j], y[k]] : [y[k], y[j]];
      for (let line = this.lineAt(bottom); line <= this.lineAt(top); line++) {
        const low = Math.max(bottom, this.low + line * this.tall), high = Math.min(top, this.low + (line + 1) * this.tall);
        const [p, q] = low < high ? [x[j] + slope * (low - y[j]), x[j] + slope * (high - y[j])] : [x[j], x[k]];
        const from = this.columnAt(Math.min(p, q)), to = this.columnAt(Math.max(p, q));
        cells.fill(1, line * this.columns + from, line * this.columns + to + 1);
      }
    }
    return cells;
  }
}

/** A closed path in the plane; inside is all that it winds around. */
class Outline {
  constructor(path) {
    this.x = Float64Array.from(path, (place) => place[0]);
    this.y = Float64Array.from(path, (place) => place[1]);
    [this.left, this.right] = [Math.min(...this.x), Math.max(...this.x)];
    [this.low, this.high] = [Math.min(...this.y), Math.max(...this.y)];
  }

  holds(px, py) {
    const { x, y } = this;
    let turns = 0;
    for (let k = 0, j = x.length - 1; k < x.length; j = k++) {
      if (y[j] <= py === y[k] <= py) continue;
      if (x[j] + ((py - y[j]) / (y[k] - y[j])) * (x[k] - x[j]) <= px) turns += y[j] < y[k] ? 1 : -1;
    }
    return turns !== 0;
  }
}

/** How the plane of the points, in which y goes up, lies on the screen: `zoom` 1 shows all of it. */
class View {
  constructor() {
    this.width = this.height = 1;
    this.extent = [1, 1];
    this.reset();
  }

  reset() {
    this.zoom = 1;
    [this.x, this.y] = this.extent.map((size) => size / 2);
  }

  get scale() {
    const room = (size) => Math.max(size - 48, 20);
    return this.zoom * Math.min(room(this.width) / this.extent[0], room(this.height) / this.extent[1]);
  }

  toScreen([x, y]) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  toPlane([left, top]) {
    return [this.x + (left - this.width / 2) / this.scale, this.y - (top - this.height / 2) / this.scale];
  }

  pan(right, down) {
    this.x -= right / this.scale;
    this.y += down / this.scale;
    this.hold();
  }

  /** Keep the middle of the screen on the plane. */
  hold() {
    this.x = Math.max(0, Math.min(this.extent[0], this.x));
    this.y = Math.max(0, Math.min(this.extent[1], this.y));
  }

  /** Zoom by `factor` and keep what lies under (left, top) where it is. */
  magnify(factor, left = this.width / 2, top = this.height / 2) {
    const place = this.toPlane([left, top]);
    this.zoom = Math.max(1, Math.min(400, this.zoom * factor));
    const [newLeft, newTop] = this.toScreen(place);
    if (this.zoom === 1) this.reset();
    else this.pan(left - newLeft, top - newTop);
  }
}

// -------------------------------------------------------------------------------------------------
// Drawing into the pixels of a canvas

const PATHS = {
  disc: (pen, r) => pen.arc(0, 0, r, 0, 7),
  triangle: (pen, r) => { pen.moveTo(0, -1.3 * r); pen.lineTo(1.2 * r, 0.9 * r); pen.lineTo(-1.2 * r, 0.9 * r); },
  square: (pen, r) => pen.rect(-0.9 * r, -0.9 * r, 1.8 * r, 1.8 * r),
  diamond: (pen, r) => { pen.moveTo(0, -1.35 * r); pen.lineTo(1.2 * r, 0); pen.lineTo(0, 1.35 * r); pen.lineTo(-1.2 * r, 0); },
  ring: (pen, r) => pen.arc(0, 0, 0.9 * r, 0, 7),
  cross: (pen, r) => { pen.moveTo(-r, -r); pen.lineTo(r, r); pen.moveTo(r, -r); pen.lineTo(-r, r); },
};

const MARKS = Object.keys(PATHS), RING = MARKS.indexOf("ring"), CROSS = MARKS.indexOf("cross");

/** Return the pixels that a mark of `radius` pixels covers around its centre, and how much of each. */
function cover(pen, mark, radius) {
  const half = Math.ceil(1.4 * radius) + 1, side = 2 * half + 1;
  pen.setTransform(1, 0, 0, 1, half + 0.5, half + 0.5);
  pen.clearRect(-half - 1, -half - 1, side + 1, side + 1);
  pen.beginPath();
  PATHS[mark](pen, radius);
  pen.lineWidth = Math.max(1, 0.55 * radius);
  if (mark === "ring" || mark === "cross") pen.stroke();
  else { pen.closePath(); pen.fill(); }
  const alpha = pen.getImageData(0, 0, side, side).data;
  const covered = Array.from({ length: side * side }, (_, k) => k).filter((k) => alpha[4 * k + 3] > 0);
  return {
    half,
    across: Int8Array.from(covered, (k) => (k % side) - half),
    down: Int8Array.from(covered, (k) => Math.floor(k / side) - half),
    share: Float32Array.from(covered, (k) => alpha[4 * k + 3] / 255),
  };
}

const READ = { willReadFrequently: true }; // pixels stay with the processor, which writes them

/** Marks written straight into pixels: sixty thousand take a few milliseconds, with no GPU. */
class Stamper {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d", READ);
    this.sketch = document.createElement("canvas").getContext("2d", READ);
    this.made = new Map();
    this.most = this.pace = MOST_STAMPED; // points of a frame, and of one in motion
  }

  // What the other painter needs to be told; here all is read when it is drawn.
  take() {}
  touch() {}

  /** Masks of all marks at a radius, in steps of an eighth, each made once. */
  masks(radius, density) {
    const step = Math.round(8 * radius) / 8;
    if (!this.made.has(step)) {
      const ringed = (size) => ({
        marks: MARKS.map((mark) => cover(this.sketch, mark, (mark === "disc" ? 0.66 : 0.58) * size)),
        rings: [size + density, size, 0.83 * size].map((outer) => cover(this.sketch, "disc", outer)),
      });
      const size = ringSize(step, density);
      this.made.set(step, {
        plain: MARKS.map((mark) => cover(this.sketch, mark, step)),
        ringed: [ringed(size), ringed(0.7 * size)],
      });
    }
    return this.made.get(step);
  }

  resize(width, height) {
    this.image = new ImageData(width, height);
    // Kept apart: reading them off the image for every point is slow.
    [this.width, this.height, this.bytes] = [width, height, this.image.data];
    this.pixels = new Uint32Array(this.bytes.buffer);
    this.made.clear();
  }

  /** Stamp a mask in the colour that begins at `entry` of a table of bytes. */
  stamp(mask, left, top, table, entry, alpha) {
    const { width, height, bytes } = this, { half, across, down, share } = mask;
    const red = table[entry], green = table[entry + 1], blue = table[entry + 2];
    const x = Math.floor(left), y = Math.floor(top);
    const isInside = x >= half && y >= half && x < width - half && y < height - half;
    for (let k = 0; k < share.length; k++) {
      const column = x + across[k], line = y + down[k];
      if (!isInside && (column < 0 || line < 0 || column >= width || line >= height)) continue;
      const at = 4 * (line * width + column), part = share[k] * alpha;
      bytes[at] += (red - bytes[at]) * part;
      bytes[at + 1] += (green - bytes[at + 1]) * part;
      bytes[at + 2] += (blue - bytes[at + 2]) * part;
    }
  }

  /** Draw the points and return how many; in motion as many as a frame has time for. */
  draw(scene) {
    const { points, isMoving, ground: [red, green, blue] } = scene, { chosen, ringed } = points;
    const begun = performance.now(), most = isMoving ? this.pace : this.most;
    this.pixels.fill(((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0);
    const below = Math.min(points.n, most), above = chosen === null ? 0 : Math.min(chosen.length, most);
    const yours = isMoving ? Math.min(ringed.length, most) : ringed.length;
    let drawn = this.layer(scene, null, below, RINGED, chosen === null ? 0 : DIMMED);
    if (chosen !== null) {
      drawn += this.layer(scene, ringed.slots, yours, 0, RINGED | DIMMED);
      drawn += this.layer(scene, chosen.slots, above, RINGED, 0);
    }
    drawn += this.layer(scene, ringed.slots, yours, DIMMED, RINGED);
    const took = Math.max(0.1, performance.now() - begun);
    this.pace = Math.max(5000, Math.min(this.most, ((below + above + yours) * FLUENT) / took));
    this.pen.putImageData(this.image, 0, 0);
    return drawn;
  }

  /** Draw the first `count` of some slots, those without the bits `never` and with all of `always`. */
  layer(scene, slots, count, never, always) {
    const { points, view, density, share } = scene, { words, column, rowOf, x, y, past } = points;
    const { plain, ringed } = this.masks(scene.radius * density, density);
    const scale = view.scale * density, [left, top] = view.toScreen([0, 0]).map((length) => length * density);
    let drawn = 0;
    for (let k = 0; k < count; k++) {
      const slot = slots === null ? k : slots[k], word = words[slot];
      if (word & (never | HIDDEN) || (word & always) !== always) continue;
      drawn++;
      const row = rowOf[slot], across = past === null ? x[row] : past.x[row] + (x[row] - past.x[row]) * share;
      const up = past === null ? y[row] : past.y[row] + (y[row] - past.y[row]) * share;
      const px = left + across * scale, py = top - up * scale;
      if (!(px > -40 && py > -40 && px < this.width + 40 && py < this.height + 40)) continue;
      this.point(scene, word, column === null ? 0 : column[slot], px, py, plain, ringed[word & BY_AREA ? 1 : 0]);
    }
    return drawn;
  }

  point({ points, paint, ground, ink }, word, column, px, py, plain, ringed) {
    const { table } = paint, source = word & 3, isDim = word & DIMMED, entry = 4 * paint.entry(word, column);
    const mark = source < ABSTAINED ? table[entry + 3] : source === ABSTAINED ? RING : points.reached ? CROSS : 0;
    if (word & RINGED) {
      const pale = isDim ? paleGrey(paint, ground) : null;
      this.stamp(ringed.rings[0], px, py, ground, 0, 1);
      this.stamp(ringed.rings[1], px, py, pale ?? ink, 0, 1);
      this.stamp(ringed.rings[2], px, py, ground, 0, 1);
      this.stamp(ringed.marks[mark], px, py, pale ?? table, pale ? 0 : entry, 1);
      return;
    }
    const strength = source >= ABSTAINED ? 0.9 : paint.mode === 0 ? 0.45 + ((word >>> 8) & 255) / 510 : 0.85;
    this.stamp(plain[mark], px, py, table, isDim ? 0 : entry, isDim ? 0.35 : strength);
  }
}

/** Return the grey of rings that are not selected, half way to the ground. */
const paleGrey = ({ table }, ground) => ground.map((value, channel) => Math.round((value + table[channel]) / 2));

const ringSize = (radius, density) => Math.max(1.75 * radius, 5 * density);

// -------------------------------------------------------------------------------------------------
// Drawing by WebGL2

const VERTEX = `#version 300 es
precision highp float;
precision highp sampler2D;
layout(location = 0) in vec2 place;
layout(location = 1) in vec2 past;
layout(location = 2) in uint word;
layout(location = 3) in uint column;
uniform vec2 centre, unit;
uniform float share, radius, ringSize, density;
uniform int mode, cycle, layer;
uniform bool isChosen, isReached;
uniform vec3 pale;
uniform sampler2D table;
flat out vec4 colour;
flat out vec3 size; // half a side, radius of the mark, radius of the ring
flat out ivec2 kind; // mark, ring: 0 none, 1 in ink, 2 pale

int entry(uint code, uint source) {
  if (mode == 1) return source == 3u ? 0 : 1 + int((word >> 8) & 255u);
  if (mode == 2) return 1 + int(source);
  if (mode == 3) return column == 0u ? 0 : 1 + int(floor(float(column - 1u) * 255.0 / 65534.0 + 0.5));
  return code == 0u || (mode == 0 && source >= 2u) ? 0 : 1 + int((code - 1u) % uint(cycle));
}

void main() {
  bool isDim = (word & 128u) != 0u, isRinged = (word & 16u) != 0u;
  bool isHere = layer < 2 ? !isRinged && (layer == 1 || isDim == isChosen) : isRinged && isDim == (layer == 2);
  if ((word & 64u) != 0u || !isHere) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); gl_PointSize = 1.0; return; }
  uint source = word & 3u;
  int k = entry(mode == 4 ? column : word >> 16, source);
  vec4 own = texelFetch(table, ivec2(k & 255, k >> 8), 0), grey = texelFetch(table, ivec2(0, 0), 0);
  float strength = source >= 2u ? 0.9 : mode == 0 ? 0.45 + float((word >> 8) & 255u) / 510.0 : 0.85;
  int mark = source < 2u ? int(own.a * 255.0 + 0.5) : source == 2u ? ${RING} : isReached ? ${CROSS} : 0;
  colour = vec4(isDim ? (isRinged ? pale : grey.rgb) : own.rgb, isDim ? 0.35 : strength);
  kind = ivec2(mark, isRinged ? (isDim ? 2 : 1) : 0);
  float ring = (word & 4u) != 0u ? 0.7 * ringSize : ringSize;
  size.y = isRinged ? (mark == 0 ? 0.66 : 0.58) * ring : radius;
  size.x = isRinged ? ring + density + 1.0 : (mark == 0 ? 1.0 : 1.45) * radius + 1.0;
  size.z = ring;
  gl_PointSize = 2.0 * size.x;
  gl_Position = vec4((mix(past, place, share) - centre) * unit, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
flat in vec4 colour;
flat in vec3 size;
flat in ivec2 kind;
uniform vec3 ground, ink, pale;
uniform float density;
out vec4 pixel;

// How far a place lies outside of a mark, in pixels.
float outside(int mark, vec2 p, float r) {
  float stroke = max(0.5, 0.275 * r);
  vec2 q = abs(p);
  if (mark == 0) return length(p) - r;
  if (mark == 1) return max(p.y - 0.9 * r, dot(vec2(q.x, p.y + 1.3 * r), vec2(0.87789, -0.47885)));
  if (mark == 2) return max(q.x, q.y) - 0.9 * r;
  if (mark == 3) return dot(q, vec2(0.74741, 0.66436)) - 0.89689 * r;
  if (mark == 4) return abs(length(p) - 0.9 * r) - stroke;
  return max(abs(q.x - q.y) * 0.70711 - stroke, (q.x + q.y) * 0.70711 - 1.41421 * r);
}

float cover(float away) { return clamp(0.5 - away, 0.0, 1.0); }

void main() {
  vec2 p = (gl_PointCoord - 0.5) * 2.0 * size.x;
  float own = cover(outside(kind.x, p, size.y));
  if (kind.y == 0) {
    pixel = vec4(colour.rgb, colour.a * own);
  } else {
    float away = length(p) - size.z;
    vec3 under = mix(mix(ground, kind.y == 1 ? ink : pale, cover(away)), ground, cover(away + 0.17 * size.z));
    pixel = vec4(mix(under, colour.rgb, own), cover(away - density));
  }
  if (pixel.a == 0.0) discard;
}`;

const UNIFORMS = ["centre", "unit", "share", "radius", "ringSize", "density", "mode", "cycle", "layer",
  "isChosen", "isReached", "table", "ground", "ink", "pale"];
const BLOCK = 2048; // words that are sent together
const EDGE = 96; // pixels around the canvas in which a point may lie and still show a part

/** Say whether WebGL2 is drawn by a card: where the processor plays it, stamping is ten times as fast. */
function hasCard() {
  const gl = document.createElement("canvas").getContext("webgl2", { failIfMajorPerformanceCaveat: true });
  if (gl === null) return false;
  const name = gl.getParameter(gl.getExtension("WEBGL_debug_renderer_info")?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER);
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

/** All points by one call of the graphics card; above them what is selected, and rings. */
class Graphics {
  constructor(canvas, needsCard) {
    if (needsCard && !hasCard()) throw new Error("this browser offers none here");
    // What was drawn is kept, so that it can be printed and saved as a picture.
    this.gl = canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false, preserveDrawingBuffer: true });
    if (this.gl === null) throw new Error("this browser has no WebGL2");
    this.canvas = canvas;
    this.most = Infinity;
    this.build();
  }

  /** Make all that lives on the card, which may have lost it. */
  build() {
    const { gl } = this, program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(`its shaders were refused (${gl.getProgramInfoLog(program)})`);
    }
    gl.useProgram(program);
    this.at = Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(program, name)]));
    gl.bindVertexArray(gl.createVertexArray());
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, name, gl.NEAREST);
    gl.vertexAttribI4ui(3, 0, 0, 0, 0); // the column, where there is none
    this.places = this.past = this.words = this.column = null;
    this.lists = new Map();
    this.stale = { places: true, words: true, column: true, paint: true };
    this.touched = null;
  }

  /** Learn that something is new as a whole. */
  take(...names) {
    for (const name of names) this.stale[name] = true;
  }

  /** Learn that the word of a slot is new. */
  touch(slot) {
    if (this.touched !== null) this.touched[(slot / BLOCK) | 0] = 1;
  }

  resize() {
    this.gl.viewport(-EDGE, -EDGE, this.canvas.width + 2 * EDGE, this.canvas.height + 2 * EDGE);
  }

  fill(buffer, location, values, size, kind) {
    const { gl } = this, made = buffer ?? gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, made);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(location);
    if (kind === gl.FLOAT) gl.vertexAttribPointer(location, size, kind, false, 0, 0);
    else gl.vertexAttribIPointer(location, size, kind, 0, 0);
    return made;
  }

  /** Send what is new to the card. */
  send({ points, paint }) {
    const { gl, stale } = this;
    if (stale.places) {
      this.places = this.fill(this.places, 0, bySlot(points.rowOf, points), 2, gl.FLOAT);
      if (points.past) this.past = this.fill(this.past, 1, bySlot(points.rowOf, points.past), 2, gl.FLOAT);
    }
    if (points.past === null && this.past !== null) {
      gl.disableVertexAttribArray(1);
      gl.deleteBuffer(this.past);
      this.past = null;
    }
    if (stale.words) {
      this.words = this.fill(this.words, 2, points.words, 1, gl.UNSIGNED_INT);
      this.touched = new Uint8Array(Math.ceil(points.n / BLOCK));
    } else this.sendTouched(points.words);
    if (stale.column && points.column !== null) this.column = this.fill(this.column, 3, points.column, 1, gl.UNSIGNED_SHORT);
    if (points.column === null) gl.disableVertexAttribArray(3);
    if (stale.paint) {
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, paint.table.length / 1024, 0, gl.RGBA, gl.UNSIGNED_BYTE, paint.table);
    }
    this.stale = {};
  }

  sendTouched(words) {
    const { gl, touched } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.words);
    for (let block = touched.indexOf(1); block >= 0; block = touched.indexOf(1, block)) {
      const begin = block;
      while (touched[block] === 1) touched[block++] = 0;
      const from = begin * BLOCK, to = Math.min(words.length, block * BLOCK);
      gl.bufferSubData(gl.ARRAY_BUFFER, 4 * from, words, from, to - from);
    }
  }

  /** Bind a list of slots, after sending what it has grown by. */
  bindList(name, list) {
    const { gl } = this, sent = this.lists.get(name) ?? { buffer: gl.createBuffer(), room: 0 };
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, sent.buffer);
    if (sent.list !== list || sent.round !== list.round || sent.room < list.length) {
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, list.slots, gl.DYNAMIC_DRAW);
      this.lists.set(name, { buffer: sent.buffer, room: list.slots.length, list, round: list.round, length: list.length });
    } else if (sent.length < list.length) {
      gl.bufferSubData(gl.ELEMENT_ARRAY_BUFFER, 4 * sent.length, list.slots, sent.length, list.length - sent.length);
      sent.length = list.length;
    }
  }

  /** Draw the points and return how many. */
  draw(scene) {
    const { gl } = this, { points, ground: [red, green, blue] } = scene;
    if (gl.isContextLost()) return 0;
    this.send(scene);
    gl.clearColor(red / 255, green / 255, blue / 255, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    this.setUniforms(scene);
    gl.uniform1i(this.at.layer, 0);
    gl.drawArrays(gl.POINTS, 0, points.n);
    const { chosen, ringed } = points;
    for (const [layer, list] of [[2, chosen && ringed], [1, chosen], [3, ringed]]) {
      if (!list?.length) continue;
      this.bindList(list === chosen ? "chosen" : "ringed", list);
      gl.uniform1i(this.at.layer, layer);
      gl.drawElements(gl.POINTS, list.length, gl.UNSIGNED_INT, 0);
    }
    return points.shown;
  }

  setUniforms({ points, paint, view, density, radius, share, ground, ink }) {
    const { gl, at } = this, of255 = (colour) => Array.from(colour, (value) => value / 255);
    const pixels = 2 * view.scale * density;
    gl.uniform2f(at.centre, view.x, view.y);
    gl.uniform2f(at.unit, pixels / (this.canvas.width + 2 * EDGE), pixels / (this.canvas.height + 2 * EDGE));
    gl.uniform1f(at.share, points.past === null ? 1 : share);
    gl.uniform1f(at.radius, radius * density);
    gl.uniform1f(at.ringSize, ringSize(radius * density, density));
    gl.uniform1f(at.density, density);
    gl.uniform1i(at.mode, paint.mode);
    gl.uniform1i(at.cycle, paint.cycle);
    gl.uniform1i(at.isChosen, points.chosen ? 1 : 0);
    gl.uniform1i(at.isReached, points.reached ? 1 : 0);
    gl.uniform1i(at.table, 0);
    gl.uniform3fv(at.ground, of255(ground));
    gl.uniform3fv(at.ink, of255(ink));
    gl.uniform3fv(at.pale, of255(paleGrey(paint, ground)));
  }
}

/** Return places two by two in the order of slots. */
function bySlot(rowOf, { x, y }) {
  const places = new Float32Array(2 * rowOf.length);
  for (let slot = 0; slot < rowOf.length; slot++) {
    places[2 * slot] = x[rowOf[slot]];
    places[2 * slot + 1] = y[rowOf[slot]];
  }
  return places;
}

// -------------------------------------------------------------------------------------------------
// Above the points, and the hand

/** A canvas over the other: the circle around the point that was picked, and outlines being drawn. */
class Overlay {
  constructor(canvas) {
    this.under = canvas;
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    Object.assign(this.canvas.style, { position: "absolute", pointerEvents: "none", inset: "auto" });
    canvas.after(this.canvas);
    this.pen = this.canvas.getContext("2d");
  }

  resize(width, height, density) {
    const { offsetLeft, offsetTop, clientLeft, clientTop } = this.under;
    [this.canvas.width, this.canvas.height] = [this.under.width, this.under.height];
    Object.assign(this.canvas.style, { left: `${offsetLeft + clientLeft}px`, top: `${offsetTop + clientTop}px`, width: `${width}px`, height: `${height}px` });
    this.density = density;
  }

  /** Draw circle and outline; `image` is what lies beneath where this canvas shows the points too. */
  draw(circle, outline, ink, image) {
    const { pen, canvas, density } = this, colour = ink.join(" "), isEmpty = !circle && !outline && !image;
    canvas.style.display = isEmpty ? "none" : ""; // an empty layer would cost each frame its share
    if (isEmpty) return;
    pen.setTransform(1, 0, 0, 1, 0, 0);
    if (image) pen.putImageData(image, 0, 0);
    else pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.setTransform(density, 0, 0, density, 0, 0);
    pen.strokeStyle = `rgb(${colour})`;
    if (circle) {
      pen.beginPath();
      pen.arc(...circle, 0, 7);
      pen.lineWidth = 2;
      pen.stroke();
    }
    if (!outline) return;
    pen.beginPath();
    for (const place of outline) pen.lineTo(...place);
    pen.closePath();
    pen.fillStyle = `rgb(${colour} / 8%)`;
    pen.fill();
    pen.lineWidth = 1.5;
    pen.setLineDash([5, 4]);
    pen.stroke();
    pen.setLineDash([]);
  }
}

/** Drag, pinch, wheel, hover and outlines. The wheel keeps scrolling a page that is in motion. */
class Hand {
  constructor(map, canvas) {
    Object.assign(this, { map, canvas, touches: new Map(), tool: "pan", gesture: null, path: [], hasMoved: false });
    let scrolledAt = -1000;
    addEventListener("scroll", () => { scrolledAt = performance.now(); }, { passive: true, capture: true });
    const listen = (name, act, options) => canvas.addEventListener(name, act, options);
    listen("wheel", (event) => this.wheel(event, performance.now() - scrolledAt < 250), { passive: false });
    listen("pointerdown", (event) => this.press(event));
    listen("pointermove", (event) => this.move(event));
    listen("pointerup", (event) => this.release(event));
    listen("pointercancel", (event) => this.drop(event));
    listen("pointerleave", (event) => { if (!this.touches.size && event.pointerType !== "touch") map.hover(-1); });
    listen("dblclick", (event) => map.zoomBy(2, event.offsetX, event.offsetY));
  }

  /** Where an outline runs, in the plane, or null. */
  get outline() {
    if (this.gesture !== "lasso" && this.gesture !== "rectangle") return null;
    if (this.gesture === "lasso" || this.path.length < 2) return this.path;
    const [[ax, ay]] = this.path, [bx, by] = this.path.at(-1);
    return [[ax, ay], [bx, ay], [bx, by], [ax, by]];
  }

  wheel(event, isScrolling) {
    if (!event.ctrlKey && (isScrolling || (event.deltaY > 0 && this.map.zoom === 1))) return;
    event.preventDefault();
    const pixels = event.deltaY * (event.deltaMode === 1 ? 16 : 1) * (event.ctrlKey ? 5 : 1);
    this.map.zoomBy(Math.exp(-0.0018 * Math.max(-400, Math.min(400, pixels))), event.offsetX, event.offsetY);
  }

  press(event) {
    if (event.button !== 0) return;
    this.canvas.setPointerCapture(event.pointerId);
    const place = [event.offsetX, event.offsetY];
    this.touches.set(event.pointerId, place);
    if (this.touches.size > 1) {
      [this.gesture, this.hasMoved] = ["pan", true];
      this.map.trace();
      return;
    }
    this.gesture = this.tool === "pan" && event.shiftKey && this.map.onselect ? "lasso" : this.tool;
    [this.pressed, this.hasMoved, this.path] = [place, false, [this.map.toPlane(place)]];
  }

  move(event) {
    const place = [event.offsetX, event.offsetY], last = this.touches.get(event.pointerId);
    if (!last) {
      this.map.hover(this.map.at(...place));
      return;
    }
    const before = this.spread();
    this.touches.set(event.pointerId, place);
    const [reach, x, y] = this.spread();
    this.hasMoved ||= Math.hypot(place[0] - this.pressed[0], place[1] - this.pressed[1]) > (STILL[event.pointerType] ?? 4);
    if (this.gesture === "pan") {
      this.canvas.classList.add("dragged");
      this.map.panBy(x - before[1], y - before[2]);
      if (reach && before[0]) this.map.zoomBy(reach / before[0], x, y);
    } else if (this.hasMoved && Math.hypot(place[0] - last[0], place[1] - last[1]) >= 1) {
      this.path.push(this.map.toPlane(place));
      this.map.trace();
    }
  }

  /** Return how far two fingers are apart (0 for one), and the middle between them. */
  spread() {
    const [a, b = a] = [...this.touches.values()];
    return [Math.hypot(a[0] - b[0], a[1] - b[1]), (a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
  }

  release(event) {
    if (!this.touches.has(event.pointerId)) return;
    const { gesture, outline, hasMoved } = this, place = [event.offsetX, event.offsetY];
    this.drop(event);
    if (!hasMoved) this.map.onpick?.(this.map.at(...place));
    else if (outline) this.map.select(outline, gesture);
    else if (event.pointerType !== "touch") this.map.hover(this.map.at(...place));
  }

  drop(event) {
    this.touches.delete(event.pointerId);
    this.canvas.classList.remove("dragged");
    if (this.touches.size) return;
    this.gesture = null;
    this.map.trace();
  }
}

// -------------------------------------------------------------------------------------------------

/** A map of points in a canvas, which stays the page's own: its role, its label, its keys.

Callbacks are properties: `onhover(row or -1, left, top)` with the place of the point in the canvas,
`onpick(row or -1)`, `onselect(rows inside an outline, "lasso" or "rectangle")`, `onview()` after the
view has changed and is drawn, `onnote(text)` when `note` changes, which a person must read. */
export class PointMap {
  #canvas;
  #painter = null;
  #overlay;
  #hand;
  #view = new View();
  #points = new Points(0);
  #grid = null;
  #scene = { ground: [255, 255, 255], ink: [29, 33, 38], density: 1 };
  #asked = { mode: "class", styles: classStyles(12) };
  #theme = "light";
  #picked = -1;
  #hovered = -1;
  #turn = null; // when points began to move, and the extents between which the view moves with them
  #reason = "";
  #told = "";
  #due = false;
  #tracing = false;
  #losing = 0;
  #movedAt = -Infinity;
  #resting = 0;
  #seen = "";

  onhover = null;
  onpick = null;
  onselect = null;
  onview = null;
  onnote = null;
  frames = 0;
  drawn = 0;

  constructor(canvas, { prefer = "webgl2" } = {}) {
    this.#canvas = canvas;
    this.#overlay = new Overlay(canvas);
    if (prefer !== "canvas") this.#start(prefer === "webgl2");
    if (this.#painter === null) this.#stamp();
    this.#hand = new Hand(this, canvas);
    this.#repaint();
    this.resize();
  }

  /** "webgl2" or "canvas". */
  get backend() {
    return this.#painter instanceof Graphics ? "webgl2" : "canvas";
  }

  /** What a person should know of how the points are drawn; empty where all is as it should be. */
  get note() {
    const { n } = this.#points, { most } = this.#painter, words = [];
    if (this.#reason) words.push(`Drawn without the graphics card: ${this.#reason}.`);
    const count = (number) => number.toLocaleString("en");
    if (n > most) words.push(`${count(most)} of ${count(n)} points are drawn, chosen at random; all given ones are.`);
    return words.join(" ");
  }

  get zoom() {
    return this.#view.zoom;
  }

  /** The place in the plane that lies in the middle of the canvas. */
  get centre() {
    return [this.#view.x, this.#view.y];
  }

  /** Take the places of the points: the arrays are kept, y goes up, `extent` is [wide, high]. */
  setPlaces(x, y, extent) {
    if (x.length !== y.length) throw new RangeError(`${x.length} places across and ${y.length} up do not fit together`);
    if (x.length !== this.#points.n) this.#begin(x.length);
    const points = this.#points, isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    points.past = points.isPlaced && !isStill ? { x: points.x, y: points.y } : null;
    this.#turn = points.past && { begun: performance.now(), from: this.#view.extent, to: extent };
    Object.assign(points, { x, y, isPlaced: true });
    this.#grid = null;
    this.#stretch(points.past ? this.#view.extent : extent);
    this.#painter.take("places");
    this.#tell();
    this.#schedule();
  }

  /** Take the answers of all rows: codes from 0 and -1 for none, confidence from 0 to 255, sources
  as the frames have them: 0 given, 1 labelled, 2 left to a person, 3 out of reach; 4 more: by area.

  `given`, where there is one, holds the class that a person gave a row, or -1; else rows of the
  source "given" are ringed. */
  setAnswers({ codes, confidence, source, given = null }) {
    if (codes.length !== this.#points.n) this.#begin(codes.length);
    const points = this.#points;
    points.forgetRings();
    for (let row = 0; row < points.n; row++) {
      const isGiven = given === null ? (source[row] & 3) === GIVEN : given[row] >= 0;
      points.answer(row, codes[row], confidence[row], source[row], isGiven);
    }
    this.#painter.take("words");
    this.#schedule();
  }

  /** Take new answers of some rows; the cost grows with their number only. */
  changeAnswers(rows, { codes, confidence, source }) {
    for (let k = 0; k < rows.length; k++) {
      this.#painter.touch(this.#points.answer(rows[k], codes[k], confidence[k], source[k], (source[k] & 3) === GIVEN));
    }
    this.#schedule();
  }

  /** Colour by class, confidence, source, or by a column of codes (0 is missing; see the frames). */
  setPaint({ mode, styles = this.#asked.styles, column = null }) {
    const points = this.#points, codes = mode === "column" ? column?.codes ?? [] : null;
    if (codes && codes.length !== points.n) throw new RangeError(`a column of ${codes.length} rows cannot colour a map of ${points.n}`);
    this.#repaint({ mode, styles, column });
    points.column = codes && new Uint16Array(points.n);
    for (let slot = 0; codes && slot < points.n; slot++) points.column[slot] = codes[points.rowOf[slot]];
    this.#painter.take("column");
  }

  setTheme(name, ground, ink) {
    this.#theme = name;
    Object.assign(this.#scene, { ground, ink });
    this.#repaint();
  }

  /** Draw, and let be hit, only the rows whose byte is not 0; null shows all. */
  setVisible(mask) {
    this.#points.show(mask);
    this.#painter.take("words");
    this.#schedule();
  }

  /** Let all other rows turn grey; null takes the selection back. */
  setSelection(rows) {
    this.#points.choose(rows);
    this.#painter.take("words");
    this.#schedule();
  }

  /** Draw a circle around a row; -1 takes it away. */
  setPicked(row) {
    this.#picked = row;
    this.trace();
  }

  /** Let a drag pan or draw an outline; an outline being drawn is dropped. */
  setTool(tool) {
    if (!["pan", "lasso", "rectangle"].includes(tool)) throw new RangeError(`the map has no tool "${tool}": it has pan, lasso and rectangle`);
    this.#hand.tool = tool;
    this.#hand.gesture = null;
    this.#canvas.style.cursor = tool === "pan" ? "" : "crosshair";
    this.#schedule();
  }

  /** Zoom by a factor around a place of the canvas, or its middle. */
  zoomBy(factor, left, top) {
    this.#move((view) => view.magnify(factor, left, top));
  }

  reset() {
    this.#move((view) => view.reset());
  }

  panBy(right, down) {
    this.#move((view) => view.pan(right, down));
  }

  /** Bring a row to the middle, at least at this zoom. */
  centreOn(row, zoom = 1) {
    const [x, y] = this.#points.place(row, 1);
    this.#move((view) => { Object.assign(view, { x, y, zoom: Math.max(view.zoom, zoom) }); view.hold(); });
  }

  /** Return where a row lies in the canvas, in pixels of the page. */
  toScreen(row) {
    return this.#view.toScreen(this.#points.place(row, this.#share()));
  }

  /** Return the place in the plane under a place of the canvas. */
  toPlane(place) {
    return this.#view.toPlane(place);
  }

  /** Return the row under a place of the canvas, or -1; given ones win ties. */
  at(left, top) {
    const points = this.#points, { most } = this.#painter;
    this.#grid ??= new Grid(points.x, points.y);
    return this.#grid.nearest(...this.toPlane([left, top]), NEAR / this.#view.scale, (row) => {
      const slot = points.slotOf[row], word = points.words[slot];
      if (word & HIDDEN || (slot >= most && !(word & RINGED))) return Infinity;
      return word & RINGED ? 0.3 : 1;
    });
  }

  /** Say which row the pointer is on. */
  hover(row) {
    if (row === this.#hovered) return;
    this.#hovered = row;
    this.onhover?.(row, ...(row < 0 ? [0, 0] : this.toScreen(row)));
  }

  /** Hand over the visible rows inside a closed path in the plane. */
  select(path, kind) {
    const points = this.#points;
    this.#grid ??= new Grid(points.x, points.y);
    const marks = this.#grid.inside(new Outline(path));
    let count = 0;
    for (let row = 0; row < points.n; row++) count += marks[row] &= points.word(row) & HIDDEN ? 0 : 1;
    const rows = new Uint32Array(count);
    for (let row = 0, k = 0; k < count; row++) if (marks[row]) rows[k++] = row;
    this.onselect?.(rows, kind);
  }

  /** Fit the drawing to the size that the canvas has on the page. */
  resize() {
    const view = this.#view, canvas = this.#canvas, density = Math.min(2, window.devicePixelRatio || 1);
    const box = canvas.getBoundingClientRect(), width = Math.max(1, box.width), height = Math.max(1, box.height);
    const [across, down] = [Math.round(width * density), Math.round(height * density)];
    if (canvas.width !== across) canvas.width = across;
    if (canvas.height !== down) canvas.height = down;
    Object.assign(view, { width, height });
    this.#scene.density = density;
    this.#overlay.resize(width, height, density);
    this.#painter.resize(across, down);
    this.draw();
  }

  /** Draw now; every setter has it done before the next frame. */
  draw() {
    const view = this.#view, now = performance.now();
    this.#due = false;
    const share = this.#share();
    if (this.#turn) this.#stretch(this.#turn.from.map((size, k) => size + (this.#turn.to[k] - size) * share));
    if (share === 1) [this.#turn, this.#points.past] = [null, null];
    const isMoving = this.#turn !== null || now - this.#movedAt < REST;
    Object.assign(this.#scene, { view, share, isMoving, points: this.#points, radius: this.#radius() });
    this.drawn = this.#painter.draw(this.#scene); // no work per point here where a card draws them
    this.frames++;
    this.#drawOverlay();
    this.#canvas.style.touchAction = view.zoom > 1 || this.#hand.tool !== "pan" ? "none" : "pan-y";
    if (this.#turn) this.#schedule();
    else if (isMoving && this.backend === "canvas") this.#rest();
    const seen = [view.x, view.y, view.zoom, view.width, view.height, share].join();
    if (seen === this.#seen) return;
    this.#seen = seen;
    this.#hovered = null; // a page may have hidden what it showed: the next move of the pointer says it again
    this.onview?.();
  }

  /** Draw what lies above the points before the next frame. */
  trace() {
    if (this.#due || this.#tracing) return;
    this.#tracing = true;
    requestAnimationFrame(() => { this.#tracing = false; if (!this.#due) this.#drawOverlay(); });
  }

  #begin(n) {
    this.#points = new Points(n);
    this.#grid = null;
    [this.#picked, this.#hovered] = [-1, -1];
    this.#painter.take("places", "words", "column");
    this.#repaint({ ...this.#asked, column: null, mode: this.#asked.mode === "column" ? "class" : this.#asked.mode });
  }

  #repaint(asked = this.#asked) {
    this.#scene.paint = new Paint(asked, this.#theme);
    this.#asked = asked;
    this.#painter.take("paint");
    this.#schedule();
  }

  #move(change) {
    change(this.#view);
    this.#movedAt = performance.now();
    this.#schedule();
  }

  #stretch(extent) {
    this.#view.extent = extent;
    if (this.#view.zoom === 1) this.#view.reset();
    else this.#view.hold();
  }

  #schedule() {
    if (this.#due) return;
    this.#due = true;
    requestAnimationFrame(() => { if (this.#due) this.draw(); });
  }

  /** Draw all points once nothing has moved for a while. */
  #rest() {
    clearTimeout(this.#resting);
    this.#resting = setTimeout(() => this.#schedule(), REST);
  }

  /** How far points have come on the way to their places, from 0 to 1. */
  #share() {
    if (this.#turn === null) return 1;
    const time = Math.min(1, (performance.now() - this.#turn.begun) / TURN);
    return time * time * (3 - 2 * time);
  }

  /** Radius of a mark in screen pixels: many points are small, and grow as one comes closer. */
  #radius() {
    const { width, height, zoom } = this.#view, fair = 0.21 * Math.sqrt((width * height) / Math.max(1, this.#points.n));
    return Math.max(1.1, Math.min(4.2, fair)) * Math.min(2.4, zoom ** 0.3);
  }

  #drawOverlay() {
    const circle = this.#picked < 0 ? null : [...this.toScreen(this.#picked), this.#radius() + 7];
    const outline = this.#hand?.outline?.map((place) => this.#view.toScreen(place));
    const image = this.#painter.canvas === this.#overlay.canvas ? this.#painter.image : null;
    this.#overlay.draw(circle, outline, this.#scene.ink, image);
  }

  // The graphics card: it may be missing, refuse, or be lost, for a moment or for good.

  #start(needsCard) {
    const canvas = this.#canvas;
    try {
      this.#painter = new Graphics(canvas, needsCard);
    } catch (error) {
      this.#reason = error.message;
      return;
    }
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.#losing = setTimeout(() => this.#fallBack("the connection to it was lost; load the page again to try anew"), 2000);
    });
    canvas.addEventListener("webglcontextrestored", () => {
      if (this.backend === "canvas") return;
      clearTimeout(this.#losing);
      this.#painter.build();
      this.resize();
    });
  }

  /** Draw by stamping; a canvas that gave its WebGL2 away has no other pen, so the one above shows the points. */
  #stamp() {
    const isFree = this.#canvas.getContext("2d", READ) !== null;
    this.#painter = new Stamper(isFree ? this.#canvas : this.#overlay.canvas);
  }

  #fallBack(reason) {
    this.#reason = reason;
    this.#stamp();
    this.resize();
    this.#tell();
  }

  #tell() {
    if (this.note === this.#told) return;
    this.#told = this.note;
    this.onnote?.(this.note);
  }
}
