/* The state of the page: changes go in, and those who watch what changed are told. */

export class Store {
  constructor(state) {
    this.state = state;
    this.watchers = [];
  }

  /** Call `act(state)` now and whenever one of `names` has changed. */
  watch(names, act) {
    this.watchers.push({ names, act });
    act(this.state);
  }

  /** Take a change over; a value counts as changed unless it is the same. */
  set(change) {
    const changed = Object.keys(change).filter((name) => !Object.is(this.state[name], change[name]));
    if (!changed.length) return;
    Object.assign(this.state, change);
    for (const { names, act } of this.watchers) if (names.some((name) => changed.includes(name))) act(this.state);
  }
}

/** All that the page knows when it opens. */
export function emptyState() {
  return {
    view: null, // map, queue, review, audit, history or data
    project: null, // what GET /api/state says
    places: null, // x, y, extent
    answers: null, // codes (-1 none), confidence and source of all rows, as typed arrays
    moment: null, // what GET /api/history/moment says of the moment that is looked at; then answers are of it
    version: 0, // the last event that the drawn map includes
    behind: 0, // saved changes that it does not
    saved: 0, // the last event of this page that is on disk
    given: 0,
    classes: 0, // places in the list of classes, those that are gone included
    theme: "light",
    isOpen: true, // the socket
    tries: 0,
    progress: null,
    word: null, // the last that a person had to read
    paint: "class", // class, confidence, source, or column:NAME
    columns: new Map(), // those that were fetched, by name
    hidden: { class: new Set(), source: new Set(), column: new Set() },
    filters: [],
    hidesOthers: false, // whether rows outside the filter vanish
    tool: "pan",
    selection: null, // rows, and from what: lasso, rectangle, search or filter
    picked: -1,
    question: null, // the one that is shown in the queue
    done: [], // words for what undo would take back, the last at the end
  };
}

/** Keys of classes in their order: numbers, then the letters that no view has a use for. */
const KEYS = [..."1234567890BEFGHIJOQTVWXY"];

/** Return the classes that can be given, in order, each with its code and its key if it has one; the class “7” has the key 7. */
export function openClasses(project) {
  const open = (project?.classes ?? []).map((one, code) => ({ ...one, code })).filter((one) => !one.gone);
  const own = new Set(open.map(({ name }) => name).filter((name) => /^[0-9]$/.test(name)));
  const others = KEYS.filter((key) => !own.has(key)).values();
  return open.map((one) => ({ ...one, key: own.has(one.name) ? one.name : others.next().value }));
}

/** Return what the keys of classes do, where `act(one, event)` is done to a class. */
export function classKeys(project, act) {
  const keyed = openClasses(project).filter((one) => one.key);
  return Object.fromEntries(keyed.map((one) => [one.key.toLowerCase(), (event) => act(one, event)]));
}

/** Return the project as it is drawn: with the classes of the moment that is looked at. */
export const shownProject = ({ project, moment }) => (project && moment ? { ...project, classes: moment.classes } : project);

/** Return the rows that a key would label on the map. */
export function targetRows({ selection, picked }) {
  if (selection) return selection.rows;
  return picked >= 0 ? Uint32Array.of(picked) : new Uint32Array(0);
}
