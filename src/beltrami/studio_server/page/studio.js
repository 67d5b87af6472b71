/* The studio's page: its parts made and joined; who hears what, and which view is shown. */

import { AuditView } from "./audit_view.js";
import { Contents } from "./contents.js";
import { DataView } from "./data_view.js";
import { Deeds } from "./deeds.js";
import { showHelp, startDialogs } from "./dialogs.js";
import { byId } from "./elements.js";
import { HistoryView } from "./history_view.js";
import { listenToKeys } from "./keys.js";
import { MapView } from "./map_view.js";
import { startMarkerQuestion } from "./marker_question.js";
import { Meter } from "./meter.js";
import { Notices } from "./notices.js";
import { QueueView } from "./queue_view.js";
import { startReport } from "./report_button.js";
import { ReviewView } from "./review_view.js";
import { Stage } from "./stage.js";
import { Store, emptyState } from "./store.js";
import { startTheme } from "./theme.js";
import { startTop } from "./top.js";
import { Live, ask } from "./wire.js";

const VIEWS = ["map", "queue", "review", "audit", "history", "data"];

/** Show the view of the address; without one, the queue where nothing has a label yet, else the map. */
function startViews(store) {
  const read = () => VIEWS.find((view) => location.hash === `#${view}`);
  addEventListener("hashchange", () => { if (read()) store.set({ view: read() }); });
  store.watch(["project"], ({ project, view }) => {
    if (!project || view) return;
    const first = read() ?? (project.given === 0 ? "queue" : "map");
    history.replaceState(null, "", `#${first}`);
    store.set({ view: first });
  });
  store.watch(["view"], ({ view }) => { for (const name of VIEWS) byId(`${name}-view`).hidden = name !== view; });
}

/** Write on the body what the page shows, for whoever looks from outside. */
function startFacts(store) {
  store.watch(["view", "project", "given", "version", "behind"], ({ view, project, given, version, behind }) => {
    Object.assign(document.body.dataset, { view: view ?? "", rows: project?.rows ?? 0, given, version, behind });
  });
}

/** Take what the studio sends; versions count once they are drawn. */
function startHearing(store, stage, notices) {
  const hear = (message) => {
    if (message.type === "places") store.set({ places: { x: message.x, y: message.y, extent: message.extent } });
    else if (message.type === "answers" || message.type === "changes") stage.answer(message);
    else if (message.type === "progress") store.set({ progress: message });
    else if (message.type === "word") {
      notices.warn(message.text);
      store.set({ word: message });
    }
    else if (message.type === "state") {
      const { behind, version } = store.state, isShown = message.version <= version;
      store.set({ project: message, given: message.given, classes: message.classes.length, behind: isShown ? message.behind : Math.max(message.behind, behind) });
    }
  };
  const notice = (connection) => {
    store.set({ tries: 0, ...connection });
    // A socket does not say why it was refused; a request does.
    if (connection.tries === 2) ask("/api/state").catch((error) => { if (error.status === 401) notices.warn(error.message); });
  };
  new Live("/api/live", hear, notice).open();
}

function start() {
  const store = new Store(emptyState()), meter = new Meter(), contents = new Contents();
  startTheme(store);
  startViews(store); // before the map, which must find its new place in sight
  const notices = new Notices(store), deeds = new Deeds(store, meter, notices), stage = new Stage(store, meter);
  const map = new MapView(store, stage, deeds, contents, notices);
  const queue = new QueueView(store, deeds, contents, notices);
  const review = new ReviewView(store, deeds, notices);
  const audit = new AuditView(store, deeds, notices);
  const past = new HistoryView(store, stage, deeds, notices);
  const data = new DataView(store, deeds, contents, notices);
  const undo = async ({ timeStamp }) => {
    if (store.state.moment) return past.refuse();
    if (store.state.view === "audit" && audit.card) {
      notices.say("An answer in an audit is final. Labels can be taken back in the other views; this round may then prove nothing of the labels as they are.");
      return;
    }
    try {
      await queue.recall(await deeds.undo(timeStamp));
      await review.recall();
    } catch (error) {
      notices.warn(error.status === 409 ? error.message : `Not taken back: ${error.message}`);
    }
  };
  const search = () => {
    location.hash = "#map";
    store.set({ view: "map" });
    byId("search").elements.text.focus();
  };
  startTop(store, undo);
  startReport(store, notices);
  startMarkerQuestion(store, notices, () => data.renew());
  startDialogs();
  startFacts(store);
  const views = { map, queue, review, audit, history: past, data };
  listenToKeys(() => past.guard({ ...views[store.state.view]?.keys?.(), z: undo, "?": showHelp, "/": search }));
  startHearing(store, stage, notices);
}

start();
