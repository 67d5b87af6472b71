/* The points of the map: decoding, the view, the nearest point, and drawing into pixels. */

const GIVEN = 0, ABSTAINED = 2, UNREACHED = 3; // of `source`; 1 is labelled by us
const NEAR = 14; // how far from a point, in pixels, the pointer still means it

/** Return the bytes of a base64 text as an array of `Kind`, of exactly `length` entries. */
function decode(text, Kind, length) {
  const raw = atob(text);
  if (raw.length !== length * Kind.BYTES_PER_ELEMENT) {
    throw new RangeError(`${length} numbers were due and ${raw.length} bytes came`);
  }
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Kind(bytes.buffer);
}

/** What `packing.py` packed; every column a typed array. Classes count from 0, -1 is none. */
class Points {
  constructor(packed) {
    const n = packed.n, Code = packed.wide ? Uint16Array : Uint8Array;
    const places = decode(packed.positions, Uint16Array, 2 * n);
    this.n = n;
    this.extent = packed.extent;
    this.x = Float32Array.from({ length: n }, (_, i) => places[2 * i] / 65535);
    this.y = Float32Array.from({ length: n }, (_, i) => packed.extent[1] - places[2 * i + 1] / 65535);
    this.codes = Int32Array.from(decode(packed.codes, Code, n), (code) => code - 1);
    this.given = Int32Array.from(decode(packed.given, Code, n), (code) => code - 1);
    this.source = decode(packed.source, Uint8Array, n);
    this.confidence = decode(packed.confidence, Uint8Array, n);
    this.rows = packed.rows === null ? null : decode(packed.rows, Uint32Array, n);
    this.ids = packed.ids;
    this.previews = packed.previews;
    this.classes = packed.classes.map((name, code) => ({ name, ...packed.styles[code % packed.styles.length] }));
    this.order = this.layers();
  }

  id(i) {
    return this.ids === null ? String(this.rows[i]) : this.ids[i];
  }

  find(id) {
    for (let i = 0; i < this.n; i++) if (this.id(i) === id) return i;
    return -1;
  }

  /** Rows in the order they are drawn: shuffled, so that no class hides another; given ones last. */
  layers() {
    const order = Int32Array.from({ length: this.n }, (_, i) => i);
    let state = 12345;
    for (let i = this.n - 1; i > 0; i--) {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      const j = Math.floor((state / 4294967296) * (i + 1));
      [order[i], order[j]] = [order[j], order[i]];
    }
    const last = order.filter((i) => this.given[i] >= 0);
    const sorted = new Int32Array(this.n);
    sorted.set(order.filter((i) => this.given[i] < 0));
    sorted.set(last, this.n - last.length);
    return sorted;
  }
}

/** Cells of a square grid with the points in each, so that looking up a place costs a few of them. */
class Grid {
  constructor(points) {
    this.points = points;
    this.side = Math.max(1, Math.min(256, Math.ceil(Math.sqrt(points.n / 4))));
    const cells = this.side * this.side;
    this.start = new Int32Array(cells + 1);
    const cell = Int32Array.from(points.x, (x, i) => this.at(x) + this.side * this.at(points.y[i]));
    for (const c of cell) this.start[c + 1]++;
    for (let c = 0; c < cells; c++) this.start[c + 1] += this.start[c];
    const next = this.start.slice();
    this.members = new Int32Array(points.n);
    cell.forEach((c, i) => { this.members[next[c]++] = i; });
  }

  at(share) {
    return Math.max(0, Math.min(this.side - 1, Math.floor(share * this.side)));
  }

  /** Return the visible point nearest to (x, y) and within `reach`, or -1; given ones win ties. */
  nearest(x, y, reach, visible) {
    let best = -1, least = reach * reach;
    for (let row = this.at(y - reach); row <= this.at(y + reach); row++) {
      const first = this.start[row * this.side + this.at(x - reach)];
      const last = this.start[row * this.side + this.at(x + reach) + 1];
      for (let k = first; k < last; k++) {
        const i = this.members[k];
        if (!visible[i]) continue;
        const dx = this.points.x[i] - x, dy = this.points.y[i] - y;
        const far = (dx * dx + dy * dy) * (this.points.given[i] >= 0 ? 0.3 : 1);
        if (far <= least) [best, least] = [i, far];
      }
    }
    return best;
  }
}

/** How the plane of the points lies on the screen: `zoom` 1 shows all of it. */
class View {
  constructor(extent) {
    this.extent = extent;
    this.width = this.height = 1;
    this.reset();
  }

  reset() {
    this.zoom = 1;
    this.x = this.extent[0] / 2;
    this.y = this.extent[1] / 2;
  }

  get scale() {
    const room = (size) => Math.max(size - 48, 20);
    return this.zoom * Math.min(room(this.width) / this.extent[0], room(this.height) / this.extent[1]);
  }

  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 + (y - this.y) * this.scale];
  }

  toPlane(left, top) {
    return [this.x + (left - this.width / 2) / this.scale, this.y + (top - this.height / 2) / this.scale];
  }

  pan(right, down) {
    const clamp = (value, most) => Math.max(0, Math.min(most, value));
    this.x = clamp(this.x - right / this.scale, this.extent[0]);
    this.y = clamp(this.y - down / this.scale, this.extent[1]);
  }

  /** Zoom by `factor` and keep what lies under (left, top) where it is. */
  magnify(factor, left = this.width / 2, top = this.height / 2) {
    const [x, y] = this.toPlane(left, top);
    this.zoom = Math.max(1, Math.min(400, this.zoom * factor));
    const [newLeft, newTop] = this.toScreen(x, y);
    if (this.zoom === 1) this.reset();
    else this.pan(left - newLeft, top - newTop);
  }

  centre(x, y, zoom) {
    [this.x, this.y, this.zoom] = [x, y, Math.max(this.zoom, zoom)];
  }
}

const PATHS = {
  disc: (pen, r) => pen.arc(0, 0, r, 0, 7),
  triangle: (pen, r) => { pen.moveTo(0, -1.3 * r); pen.lineTo(1.2 * r, 0.9 * r); pen.lineTo(-1.2 * r, 0.9 * r); },
  square: (pen, r) => pen.rect(-0.9 * r, -0.9 * r, 1.8 * r, 1.8 * r),
  diamond: (pen, r) => { pen.moveTo(0, -1.35 * r); pen.lineTo(1.2 * r, 0); pen.lineTo(0, 1.35 * r); pen.lineTo(-1.2 * r, 0); },
  ring: (pen, r) => pen.arc(0, 0, 0.9 * r, 0, 7),
  cross: (pen, r) => { pen.moveTo(-r, -r); pen.lineTo(r, r); pen.moveTo(r, -r); pen.lineTo(-r, r); },
};

const MARKS = Object.keys(PATHS);

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

/** Marks written straight into pixels: sixty thousand take a few milliseconds, with no GPU. */
class Raster {
  resize(width, height) {
    this.image = new ImageData(width, height);
    // Kept apart: reading them off the image sixty thousand times is slow.
    [this.width, this.height, this.data] = [width, height, this.image.data];
    this.words = new Uint32Array(this.data.buffer);
  }

  clear([red, green, blue]) {
    this.words.fill(((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0);
  }

  stamp(mask, left, top, red, green, blue, alpha) {
    const { width, height, data } = this, { half, across, down, share } = mask;
    const x = Math.round(left), y = Math.round(top);
    const isInside = x >= half && y >= half && x < width - half && y < height - half;
    for (let k = 0; k < share.length; k++) {
      const column = x + across[k], row = y + down[k];
      if (!isInside && (column < 0 || row < 0 || column >= width || row >= height)) continue;
      const at = 4 * (row * width + column), part = share[k] * alpha;
      data[at] += (red - data[at]) * part;
      data[at + 1] += (green - data[at + 1]) * part;
      data[at + 2] += (blue - data[at + 2]) * part;
    }
  }
}

/** The map: points in a view, each with a colour, a mark and a strength, drawn into a canvas. */
class Scatter {
  constructor(canvas, points) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d", { alpha: false, willReadFrequently: true });
    this.points = points;
    this.grid = new Grid(points);
    this.view = new View(points.extent);
    this.raster = new Raster();
    this.visible = new Uint8Array(points.n).fill(1);
    this.colours = new Uint8Array(3 * points.n);
    this.strength = new Float32Array(points.n).fill(1);
    this.marks = new Uint8Array(points.n); // places in MARKS
    this.picked = -1;
    this.drawn = 0;
    this.sketch = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    this.made = new Map();
    this.resize();
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    this.density = Math.min(2, window.devicePixelRatio || 1);
    [this.view.width, this.view.height] = [Math.max(1, box.width), Math.max(1, box.height)];
    this.canvas.width = Math.round(this.view.width * this.density);
    this.canvas.height = Math.round(this.view.height * this.density);
    this.raster.resize(this.canvas.width, this.canvas.height);
  }

  /** Radius of a mark in screen pixels: many points are small, and grow as one comes closer. */
  get radius() {
    const area = this.view.width * this.view.height;
    const fair = 0.21 * Math.sqrt(area / Math.max(1, this.points.n));
    return Math.max(1.1, Math.min(4.2, fair)) * Math.min(2.4, this.view.zoom ** 0.3);
  }

  /** Masks of all marks at the present radius, in steps of an eighth, each made once. */
  masks() {
    const radius = Math.round(8 * this.radius * this.density) / 8;
    if (!this.made.has(radius)) {
      const size = Math.max(1.75 * radius, 5 * this.density);
      this.made.set(radius, {
        plain: MARKS.map((mark) => cover(this.sketch, mark, radius)),
        ringed: MARKS.map((mark) => cover(this.sketch, mark, (mark === "disc" ? 0.66 : 0.58) * size)),
        ring: [size + this.density, size, 0.83 * size].map((outer) => cover(this.sketch, "disc", outer)),
      });
    }
    return this.made.get(radius);
  }

  /** Draw all visible points; `ground` and `ink` are the colours behind and around them. */
  draw(ground, ink) {
    const { points, raster, density } = this, { x, y, given } = points;
    const { plain, ringed, ring } = this.masks();
    const scale = this.view.scale * density, [left, top] = this.view.toScreen(0, 0);
    raster.clear(ground);
    this.drawn = 0;
    for (const i of points.order) {
      if (!this.visible[i]) continue;
      const px = left * density + x[i] * scale, py = top * density + y[i] * scale;
      if (px < -20 || py < -20 || px > this.canvas.width + 20 || py > this.canvas.height + 20) continue;
      const red = this.colours[3 * i], green = this.colours[3 * i + 1], blue = this.colours[3 * i + 2];
      if (given[i] >= 0) {
        raster.stamp(ring[0], px, py, ...ground, 1);
        raster.stamp(ring[1], px, py, ...ink, 1);
        raster.stamp(ring[2], px, py, ...ground, 1);
        raster.stamp(ringed[this.marks[i]], px, py, red, green, blue, 1);
      } else {
        raster.stamp(plain[this.marks[i]], px, py, red, green, blue, this.strength[i]);
      }
      this.drawn++;
    }
    this.show(ink);
  }

  /** Put the pixels on the screen, and a circle around the point that was picked. */
  show(ink) {
    const { pen, points, density } = this;
    pen.putImageData(this.raster.image, 0, 0);
    if (this.picked < 0) return;
    const [left, top] = this.view.toScreen(points.x[this.picked], points.y[this.picked]);
    pen.beginPath();
    pen.arc(left * density, top * density, (this.radius + 7) * density, 0, 7);
    pen.lineWidth = 2 * density;
    pen.strokeStyle = `rgb(${ink.join(" ")})`;
    pen.stroke();
  }

  /** Return the point under a place on the screen, or -1. */
  at(left, top) {
    const [x, y] = this.view.toPlane(left, top);
    return this.grid.nearest(x, y, NEAR / this.view.scale, this.visible);
  }
}
