"""How fast a label answers: keys pressed in a real browser, at 60,000 and 1,000,000 rows.

The sheets of `benchmarks.front_door.scale` with ten labels on each, and MNIST's 60,000 images,
opened as a user would. In the queue a key labels the item that is shown; the page notes when the
key went down, when the label was saved, and when the recoloured map was on the screen. Keys come
at the pace of a quick person. Chromium draws without a graphics card here.

Run: python -m benchmarks.studio.latency
"""

import argparse
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from tests.support.chromium import open_browser

from benchmarks.common.command import RESULTS
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.pages import table, versions_line, write_results
from benchmarks.front_door.scale import sheets, write_problem
from benchmarks.studio.process import Running, running

STEM = "studio_latency"
SIZES = {60_000: 200, 1_000_000: 100}
PACE_S = {60_000: 0.7, 1_000_000: 2.5}
MARKS = """() => performance.getEntriesByType("mark")
  .filter((one) => one.name.startsWith("beltrami:"))
  .map((one) => ({ name: one.name, at: one.startTime, number: one.detail }))"""


def label_by_keys(page: Any, studio: Running, targets: np.ndarray, count: int, pace: float) -> Any:
    """Press the key of the true class of every item that is shown; return the page's notes."""
    classes = [one["name"] for one in studio.ask("/api/state")["classes"]]
    for _ in range(count):
        began = time.perf_counter()
        row = int(page.locator("#item").get_attribute("data-row"))
        place = classes.index(f"sheet {targets[row]}")
        # The tenth class has no key; by then what is suggested is right.
        page.keyboard.press(str(place + 1) if place < 9 else "Enter")
        page.wait_for_function(
            "(row) => document.getElementById('item')?.dataset.row !== String(row)", arg=row
        )
        time.sleep(max(0.0, pace - (time.perf_counter() - began)))
    page.wait_for_function("() => document.body.dataset.behind === '0'")
    return page.evaluate(MARKS)


def spans(marks: list[dict[str, Any]]) -> dict[str, list[float]]:
    """Return milliseconds from each key to saved and to drawn."""
    keys = [one["at"] for one in marks if one["name"] == "beltrami:key"]
    found: dict[str, list[float]] = {}
    for end in ("saved", "drawn"):
        at = {one["number"]: one["at"] for one in marks if one["name"] == f"beltrami:{end}"}
        ends = sorted(at.values())
        found[end] = [
            next(one for one in ends if one >= key) - key
            for key in keys
            if ends and key <= ends[-1]
        ]
    return found


def measure(n: int, count: int, folder: Path) -> dict[str, Any]:
    """Label so many items at n rows, and return what it took."""
    source = folder / f"sheets{n}.parquet"
    write_problem(source, n)
    targets = sheets(n)[1]
    with running(source, cache=folder / "cache") as studio, open_browser() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(studio.url)
        until_ready = studio.wait_until_ready()
        page.goto(studio.base + "/#queue")
        page.wait_for_selector("#item[data-row]", timeout=60_000)
        time.sleep(5.0)  # the rest of the first work
        marks = label_by_keys(page, studio, targets, count, PACE_S[n])
        memory = page.evaluate("() => performance.memory?.usedJSHeapSize ?? 0")
        state = studio.ask("/api/state")
    taken = spans(marks)
    return {
        "n": n,
        "until_ready_s": round(until_ready, 1),
        "labels": count,
        "given": state["given"],
        "page_heap_mb": round(memory / 1e6, 1),
    } | {
        f"{end}_{name}_ms": round(float(np.percentile(values, share)), 1)
        for end, values in taken.items()
        for name, share in (("median", 50), ("p95", 95))
    }


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    names = {
        "labels": "labels",
        "saved_median_ms": "key to saved, median, ms",
        "saved_p95_ms": "95th percentile",
        "drawn_median_ms": "key to recoloured, median, ms",
        "drawn_p95_ms": "95th percentile",
        "until_ready_s": "first answers after opening, s",
        "page_heap_mb": "page's heap, MB",
    }
    paces = ", ".join(f"{PACE_S[one['n']]} s at {one['n']:,} rows" for one in record["rows"])
    rows = [[title, *(str(one[key]) for one in record["rows"])] for key, title in names.items()]
    heads = ["", *(f"{one['n']:,} rows" for one in record["rows"])]
    return "\n".join(
        [
            "# Key to saved, key to recoloured",
            "",
            "Keys pressed in Chromium in the studio's queue, at the pace of a quick person "
            f"({paces}); "
            "software rendering, server and browser on the same two cores. Judging anew when the "
            "labels have doubled is included.",
            "",
            table(heads, rows),
            versions_line(record["circumstances"]),
            "",
        ]
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure every size; the files are written after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--labels", type=int, default=None)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    warn_if_busy()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for n in asked.sizes:
            rows.append(measure(n, asked.labels or SIZES[n], Path(folder)))
            print(rows[-1], flush=True)
            record = {"circumstances": circumstances(), "rows": rows}
            write_results(asked.out, STEM, record, render(record))


if __name__ == "__main__":
    main()
