/* How long a label takes: marks at the key, when it was saved, and when the map shows it. */

const MOST = 1000; // marks kept of each name
const LATELY = 50; // draws that a late answer may still belong to

/** Mark a moment of an event on the browser's timeline, and forget the oldest past a thousand. */
function mark(name, event, startTime) {
  performance.mark(name, { detail: event, startTime });
  const kept = performance.getEntriesByName(name, "mark");
  if (kept.length <= MOST) return;
  performance.clearMarks(name);
  for (const one of kept.slice(-MOST / 2)) performance.mark(name, { detail: one.detail, startTime: one.startTime });
}

export class Meter {
  constructor() {
    this.waiting = []; // events that are saved and not drawn
    this.draws = [];
  }

  /** An event whose key was pressed at `pressedAt` is on disk. */
  save(event, pressedAt) {
    mark("beltrami:key", event, pressedAt);
    mark("beltrami:saved", event, performance.now());
    const draw = this.draws.find((one) => one.version >= event);
    if (draw) mark("beltrami:drawn", event, draw.at);
    else this.waiting.push(event);
  }

  /** The map on the screen includes all events up to `version`. */
  draw(version) {
    const at = performance.now();
    this.draws = [...this.draws, { version, at }].slice(-LATELY);
    for (const event of this.waiting.filter((one) => one <= version)) mark("beltrami:drawn", event, at);
    this.waiting = this.waiting.filter((one) => one > version);
  }
}
