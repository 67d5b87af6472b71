/* Binary frames of the studio, decoded; a frame of the wrong length is an error, never a guess. */

const HEAD = 32;
const KINDS = { 1: readPlaces, 2: readAnswers, 3: readChanges, 4: readColumn };

/** Return a frame's header and arrays: `type` is places, answers, changes or column. */
export function decodeFrame(buffer) {
  const head = new DataView(buffer);
  const word = buffer.byteLength < HEAD ? "" : String.fromCharCode(...new Uint8Array(buffer, 0, 4));
  if (word !== "BLT1") throw new RangeError(`a frame of ${buffer.byteLength} bytes does not begin as frames do`);
  const number = (place) => head.getUint32(8 + 4 * place, true), kind = head.getUint8(4);
  if (!(kind in KINDS)) throw new RangeError(`a frame is of kind ${kind}, which this page does not know`);
  const frame = {
    version: number(0), n: number(1), m: number(2), given: number(3), behind: number(4), nClasses: number(5),
  };
  return { ...frame, ...KINDS[kind](buffer, frame) };
}

function require(buffer, bytes) {
  if (buffer.byteLength !== bytes) {
    throw new RangeError(`a frame of ${bytes} bytes was due, and ${buffer.byteLength} came`);
  }
}

function readPlaces(buffer, { n }) {
  require(buffer, HEAD + 8 + 4 * n);
  const head = new DataView(buffer), places = new Uint16Array(buffer, HEAD + 8, 2 * n);
  const x = new Float32Array(n), y = new Float32Array(n);
  for (let row = 0; row < n; row++) {
    x[row] = places[2 * row] / 65535;
    y[row] = places[2 * row + 1] / 65535;
  }
  return { type: "places", x, y, extent: [head.getFloat32(HEAD, true), head.getFloat32(HEAD + 4, true)] };
}

/** Return class codes, from 0, with -1 for none. */
function readCodes(buffer, from, length) {
  const codes = new Uint16Array(buffer, from, length), made = new Int32Array(length);
  for (let k = 0; k < length; k++) made[k] = codes[k] - 1;
  return made;
}

function readAnswers(buffer, { n, m }) {
  require(buffer, HEAD + 4 * n);
  if (m !== n) throw new RangeError(`answers for ${m} of ${n} rows came as if they were all`);
  return {
    type: "answers",
    codes: readCodes(buffer, HEAD, n),
    confidence: new Uint8Array(buffer, HEAD + 2 * n, n),
    source: new Uint8Array(buffer, HEAD + 3 * n, n),
  };
}

function readChanges(buffer, { n, m }) {
  require(buffer, HEAD + 8 * m);
  const rows = new Uint32Array(buffer, HEAD, m);
  for (let k = 0; k < m; k++) if (rows[k] >= n) throw new RangeError(`row ${rows[k]} changed, of ${n}`);
  return {
    type: "changes",
    rows,
    codes: readCodes(buffer, HEAD + 4 * m, m),
    confidence: new Uint8Array(buffer, HEAD + 6 * m, m),
    source: new Uint8Array(buffer, HEAD + 7 * m, m),
  };
}

/** Numeric: `low`, `high`; categorical: `values`. Codes count from 1, 0 is a missing value. */
function readColumn(buffer, { n }) {
  const length = new DataView(buffer).getUint32(HEAD, true), from = HEAD + 4 + length;
  require(buffer, from + 2 * n);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, HEAD + 4, length)));
  return { column: header, codes: new Uint16Array(buffer, from, n), type: "column" };
}
