"""What drawing the map takes: frames while it is panned, memory of the page, and deltas.

The module `map.js` in a Chromium without a graphics card, on a canvas of 1280 by 800 pixels: by
WebGL2, which the processor plays here, and by stamping, which the map chooses where there is no
card. Points lie in eight blobs, one in a thousand is given. Panning moves the view a little before
every frame for some seconds; a frame counts when it is on the screen. Memory is what the page's own
process, and the browser's process for graphics, hold privately beyond an empty page.

Run: python -m benchmarks.studio.drawing
"""

import argparse
import statistics
import time
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from tests.support.chromium import Browser, Page, open_browser, open_page

from benchmarks.common.command import contest_parser, results_folder
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.pages import table, write_results

STEM = "studio_drawing"
SIZES, SECONDS = (200_000, 1_000_000), 4.0
BACKENDS = {"software": "WebGL2, in software", "canvas": "stamped"}
MARKS = {"frames": 60.0, "memory": 300.0}

_PAGE = """<!doctype html><meta charset="utf-8"><title>map</title><link rel="icon" href="data:,">
<style>body { margin: 0 } canvas { position: absolute; width: 1280px; height: 800px }</style>
<canvas id="points"></canvas><script type="module" src="/bench.js"></script>"""

_SCRIPT = """
import { PointMap, classStyles } from "./map.js";
let state = 1, map, rows;
const random = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
const normal = () => Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
const frame = () => new Promise((done) => requestAnimationFrame(done));
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const inUnit = (value) => Math.max(0, Math.min(1, value));

/* Wait until what was drawn is drawn: reading a pixel waits for the card. */
const finish = () => {
  const gl = document.getElementById("points").getContext("webgl2");
  if (gl) gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
};
const clock = (act) => {
  const begun = performance.now();
  act();
  return performance.now() - begun;
};

window.makeRows = (n) => {
  rows = { x: new Float32Array(n), y: new Float32Array(n), codes: new Int32Array(n),
           confidence: new Uint8Array(n), source: new Uint8Array(n) };
  for (let i = 0; i < n; i++) {
    const code = rows.codes[i] = Math.floor(8 * random()), turn = code * Math.PI / 4;
    rows.x[i] = inUnit(0.5 + 0.35 * Math.cos(turn) + 0.05 * normal());
    rows.y[i] = inUnit(0.5 + 0.35 * Math.sin(turn) + 0.05 * normal());
    rows.confidence[i] = 255 * random();
    rows.source[i] = i % 1000 === 0 ? 0 : random() < 0.05 ? 2 : 1;
  }
};
window.open = (prefer) => clock(() => {
  map = new PointMap(document.getElementById("points"), { prefer });
  map.setPaint({ mode: "class", styles: classStyles(8) });
  map.setPlaces(rows.x, rows.y, [1, 1]);
  map.setAnswers(rows);
  map.draw();
  finish();
});
window.pan = async (seconds) => {
  map.zoomBy(1.2);
  const begun = performance.now(), before = map.frames, points = [];
  for (let turn = 0; performance.now() - begun < 1000 * seconds; turn += 0.1) {
    map.panBy(9 * Math.cos(turn), 9 * Math.sin(turn));
    await frame();
    points.push(map.drawn);
  }
  const spent = (performance.now() - begun) / 1000;
  return { frames: (map.frames - before) / spent, drawn: median(points) };
};
window.change = (count, times) => {
  const n = rows.codes.length, taken = [], drawn = [];
  for (let k = 0; k < times; k++) {
    const chosen = new Uint32Array(count).map((_, j) => (count === n ? j : n * random()));
    const answers = { codes: new Int32Array(count).fill(k % 8),
                      confidence: new Uint8Array(count).fill(200),
                      source: new Uint8Array(count).fill(1) };
    taken.push(clock(() => map.changeAnswers(chosen, answers)));
    drawn.push(taken[k] + clock(() => { map.draw(); finish(); }));
  }
  return { taken: median(taken), drawn: median(drawn) };
};
window.point = () => {
  const first = clock(() => map.at(640, 400)), times = [];
  for (let k = 0; k < 200; k++) times.push(clock(() => map.at(1280 * random(), 800 * random())));
  const path = Array.from({ length: 400 }, (_, k) => {
    const turn = (2 * Math.PI * k) / 400, size = 0.25 + 0.1 * Math.sin(9 * turn);
    return [0.6 + size * Math.cos(turn), 0.6 + size * Math.sin(turn)];
  });
  let found = 0;
  map.onselect = (inside) => { found = inside.length; };
  return { first, worst: Math.max(...times), lasso: clock(() => map.select(path, "lasso")), found };
};
window.told = () => ({ backend: map.backend, note: map.note, drawn: map.drawn });
document.body.dataset.state = "ready";
"""


def measure(browser: Browser, n: int, prefer: str, seconds: float) -> dict[str, Any]:
    """Open a map of n points in a fresh page and return what it takes."""
    with open_page(browser, viewport={"width": 1280, "height": 800}) as page:
        page.route("**/*", _serve)
        page.goto("http://map.test/")
        page.wait_for_selector("body[data-state=ready]", state="attached")
        empty = _memory(browser, page)
        page.evaluate("n => makeRows(n)", n)
        first = page.evaluate("prefer => open(prefer)", prefer)
        page.wait_for_timeout(500)
        told = page.evaluate("told()")
        changes = {
            str(count): page.evaluate("([count, times]) => change(count, times)", [count, times])
            for count, times in ((1, 9), (1000, 9), (n, 3))
        }
        panned = page.evaluate("seconds => pan(seconds)", seconds)
        pointed = page.evaluate("point()")
        full = _memory(browser, page)
    memory = {name: max(0.0, round(full[name] - empty[name], 1)) for name in full}
    return {
        "n": n,
        "prefer": prefer,
        **told,
        "first_ms": round(first, 1),
        "frames": round(panned["frames"], 1),
        "drawn_in_motion": panned["drawn"],
        "changes": _rounded(changes),
        **{f"point_{name}": round(value, 2) for name, value in pointed.items()},
        "page_mb": memory["renderer"],
        "graphics_mb": memory["GPU"],
    }


def _rounded(changes: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    return {
        count: {name: round(value, 2) for name, value in times.items()}
        for count, times in changes.items()
    }


def _serve(route: Any) -> None:
    name = route.request.url.rsplit("/", 1)[1]
    if name == "":
        route.fulfill(body=_PAGE, content_type="text/html")
        return
    script = files("beltrami.report.page").joinpath("map.js").read_text(encoding="utf-8")
    route.fulfill(body=_SCRIPT if name == "bench.js" else script, content_type="text/javascript")


def _memory(browser: Browser, page: Page) -> dict[str, float]:
    """Return the megabytes that pages and graphics hold privately, garbage collected."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.detach()
    time.sleep(0.5)
    whole = browser.new_browser_cdp_session()
    held = {"renderer": 0.0, "GPU": 0.0}
    for process in whole.send("SystemInfo.getProcessInfo")["processInfo"]:
        if process["type"] in held:
            held[process["type"]] += _private_mb(process["id"])
    whole.detach()
    return held


def _private_mb(number: int) -> float:
    rollup = Path(f"/proc/{number}/smaps_rollup").read_text(encoding="ascii")
    lines = [line.split() for line in rollup.splitlines()]
    return sum(int(line[1]) for line in lines if line[0].startswith("Private_")) / 1000


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    facts, rows = record["circumstances"], record["rows"]
    columns = [f"{row['n']:,}, {BACKENDS[row['prefer']]}" for row in rows]

    def line(name: str, show: Any) -> list[str]:
        return [name, *(show(row) for row in rows)]

    def change(which: int, part: str) -> Any:
        return lambda row: f"{list(row['changes'].values())[which][part]:.1f}"

    lines = [
        line("frames a second while panning", lambda row: f"{row['frames']:.0f}"),
        line("points in such a frame", lambda row: f"{row['drawn_in_motion']:,}"),
        line("points at rest", lambda row: f"{row['drawn']:,}"),
        line("first picture, ms", lambda row: f"{row['first_ms']:.0f}"),
        line("1 new answer: call, ms", change(0, "taken")),
        line("and drawn, ms", change(0, "drawn")),
        line("1,000 new answers: call, ms", change(1, "taken")),
        line("and drawn, ms", change(1, "drawn")),
        line("all answers new: call, ms", change(2, "taken")),
        line("and drawn, ms", change(2, "drawn")),
        line("first look under the pointer, ms", lambda row: f"{row['point_first']:.0f}"),
        line("worst of 200 more, ms", lambda row: f"{row['point_worst']:.1f}"),
        line(
            "lasso of 400 corners, ms (rows)",
            lambda row: f"{row['point_lasso']:.0f} ({row['point_found']:,})",
        ),
        line("memory of the page, MB", lambda row: f"{row['page_mb']:.0f}"),
        line("memory of the graphics process, MB", lambda row: f"{row['graphics_mb']:.0f}"),
    ]
    stamped = [row["frames"] for row in rows if row["prefer"] == "canvas"]
    largest = max(row["page_mb"] + row["graphics_mb"] for row in rows)
    return "\n".join(
        [
            "# Drawing the map",
            "",
            "`map.js` on a canvas of 1280 by 800 pixels in a Chromium without a graphics card, so "
            "that the processor plays the card for WebGL2: what a frame takes there is one call "
            "for all points, which a card draws in a few milliseconds. The map does not choose "
            "this by itself: where there is no card it stamps marks into pixels, at most 150,000 "
            "points at rest, said in a note, and in motion as many as a frame has time for.",
            "",
            f"Stamped, panning shows {statistics.median(stamped):.0f} frames a second (the mark is "
            f"{MARKS['frames']:.0f}). The largest map holds {largest:.0f} MB in both processes "
            f"(the mark is {MARKS['memory']:.0f}), the arrays of the rows themselves included.",
            "",
            table(("", *columns), lines),
            f"{facts['cpu']}, {facts['cores']} cores, load {record['load']:.1f} at the start; "
            f"Chromium {record['browser']}; commit {facts['commit']}, {facts['date']}.",
            "",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure every size in both ways and write the page."""
    parser = contest_parser("studio.drawing", __doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--toy", action="store_true", help="a few points, half a second each")
    asked = parser.parse_args(arguments)
    sizes, seconds = ((3000,), 0.3) if asked.toy else (SIZES, SECONDS)
    warn_if_busy()
    load = Path("/proc/loadavg").read_text(encoding="ascii").split()[0]
    rows = []
    for n in sizes:
        for prefer in BACKENDS:
            with open_browser() as browser:
                rows.append(measure(browser, n, prefer, seconds))
                version = browser.version
            print(rows[-1], flush=True)
    record = {
        "circumstances": circumstances(),
        "load": float(load),
        "browser": version,
        "rows": rows,
    }
    write_results(results_folder(asked.out, toy=asked.toy), STEM, record, render(record))


if __name__ == "__main__":
    main()
