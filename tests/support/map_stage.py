"""A tiny page with nothing but the map on it, under the strictest policy, for tests of `map.js`."""

import io
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page

from tests.support.chromium import open_page
from tests.support.patience import PATIENCE_S

SIDE = 448
"""Of the canvas, in pixels: 48 are margin, so that a plane of side 1 is 400 pixels wide."""

BACKENDS = ("software", "canvas")
"""What is asked for; `software` is WebGL2 even where the processor plays the card, as here."""

GIVEN, LABELLED, ABSTAINED, UNREACHED = range(4)
# One of every kind: x, y, code, confidence, source.
KINDS = [
    (0.0, 0.0, 0, 255, LABELLED),
    (1.0, 0.0, 1, 0, LABELLED),
    (0.0, 1.0, 3, 60, ABSTAINED),
    (1.0, 1.0, -1, 0, UNREACHED),
    (0.5, 0.5, 2, 255, GIVEN),
    (0.25, 0.5, 8, 255, LABELLED),
    (0.75, 0.5, 12, 255, LABELLED),
    (0.5, 0.25, 24, 255, LABELLED),
]

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>map</title><link rel="icon" href="/none.png">
<link rel="stylesheet" href="/look.css"></head><body>
<div id="stage"><canvas id="points" tabindex="0" role="img" aria-label="a map"></canvas></div>
<script type="module" src="/start.js"></script></body></html>"""

_LOOK = """
body { margin: 0; height: 2000px; }
#stage { position: relative; width: 448px; height: 448px; }
#stage.wide { width: 648px; }
canvas { display: block; width: 100%; height: 100%; }
"""

_START = """
import * as module from "./map.js";
const heard = { hover: [], pick: [], select: [], view: 0, note: [] };
const grounds = { light: [255, 255, 255], dark: [27, 30, 35] };
const inks = { light: [29, 33, 38], dark: [244, 244, 242] };
window.module = module;
window.heard = heard;
window.answers = (codes, confidence, source) => ({
  codes: Int32Array.from(codes), confidence: Uint8Array.from(confidence),
  source: Uint8Array.from(source),
});
window.show = ({ prefer, theme, x, y, codes, confidence, source }) => {
  const map = new module.PointMap(document.getElementById("points"), { prefer });
  map.onhover = (row, left, top) => heard.hover.push([row, left, top]);
  map.onpick = (row) => heard.pick.push(row);
  map.onselect = (rows, kind) => heard.select.push([kind, rows.constructor.name, [...rows]]);
  map.onview = () => { heard.view++; };
  map.onnote = (text) => heard.note.push(text);
  map.setTheme(theme, grounds[theme], inks[theme]);
  map.setPaint({ mode: "class", styles: module.classStyles(36) });
  map.setPlaces(Float32Array.from(x), Float32Array.from(y), [1, 1]);
  map.setAnswers(answers(codes, confidence, source));
  map.draw();
  window.map = map;
};
window.rest = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
document.body.dataset.state = "ready";
"""

_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript", "png": "image/png"}


@dataclass(frozen=True, slots=True)
class Stage:
    """The page, with the map on it as ``map``."""

    page: Page
    ground: np.ndarray

    def do(self, script: str, argument: Any = None) -> Any:
        """Run a script, wait until what it asked for is drawn, and return its value."""
        value = self.page.evaluate(f"async (given) => {{ {script} }}", argument)
        self.page.evaluate("rest()")
        return value

    def until(self, condition: str, seconds: float = PATIENCE_S) -> None:
        """Wait until something holds; playwright's own waiting would need `unsafe-eval`."""
        end = time.monotonic() + seconds
        while not self.page.evaluate(f"() => {condition}"):
            assert time.monotonic() < end, f"{condition} does not hold after {seconds} s"
            self.page.wait_for_timeout(30)

    def heard(self, name: str) -> Any:
        """Return what the map called back."""
        return self.page.evaluate(f"heard.{name}")

    def picture(self) -> np.ndarray:
        """Return the pixels that a person sees, of the map alone."""
        box = self.page.locator("#stage").bounding_box()
        assert box is not None
        image = Image.open(io.BytesIO(self.page.screenshot(clip=box))).convert("RGB")
        return np.asarray(image).astype(int)

    def pixel(self, x: float, y: float) -> np.ndarray:
        """Return the colour at a place of the plane, where it lies at first."""
        left, top = place(x, y)
        return self.picture()[int(top), int(left)]


def place(x: float, y: float) -> tuple[float, float]:
    """Return where a place of the plane lies on the canvas before anything was moved."""
    return SIDE / 2 + 400 * (x - 0.5), SIDE / 2 - 400 * (y - 0.5)


@contextmanager
def open_stage(
    browser: Browser,
    *,
    prefer: str,
    rows: Sequence[tuple[float, float, int, int, int]],
    theme: str = "light",
    first: str = "",
    **options: Any,
) -> Iterator[Stage]:
    """Open the page with rows of (x, y, code, confidence, source); options go to the browser.

    `first` is a script that runs before those of the page.
    """
    options = {"viewport": {"width": 700, "height": 600}, **options}
    with open_page(browser, **options) as page:
        page.route("**/*", _serve)
        page.add_init_script(first)
        page.goto("http://map.test/index.html")
        page.wait_for_selector("body[data-state=ready]", state="attached")
        names = ("x", "y", "codes", "confidence", "source")
        columns = dict(zip(names, zip(*rows, strict=True), strict=True))
        ground = np.array([255, 255, 255] if theme == "light" else [27, 30, 35])
        stage = Stage(page, ground)
        stage.do("show(given)", {"prefer": prefer, "theme": theme, **columns})
        yield stage


def _serve(route: Any) -> None:
    name = route.request.url.rsplit("/", 1)[1]
    bodies = {"index.html": _PAGE, "look.css": _LOOK, "start.js": _START, "none.png": ""}
    if name == "map.js":
        bodies[name] = files("beltrami.report.page").joinpath(name).read_text(encoding="utf-8")
    route.fulfill(
        status=200 if name in bodies else 404,
        body=bodies.get(name, ""),
        content_type=_KINDS[name.rsplit(".", 1)[1]],
        headers={"Content-Security-Policy": "default-src 'self'"},
    )


def cloud(n: int, seed: int = 0, sources: tuple[int, ...] = (1, 1, 1, 2)) -> list:
    """Return n rows in a square, of eight classes, with the sources in turn."""
    random = np.random.default_rng(seed)
    x, y = random.random((2, n))
    return [
        (float(a), float(b), int(code), int(sure), sources[i % len(sources)])
        for i, (a, b, code, sure) in enumerate(
            zip(x, y, random.integers(8, size=n), random.integers(256, size=n), strict=True)
        )
    ]


def drag(page: Page, path: list, *, release: bool = True) -> None:
    """Press the mouse, move it along a path, and let go."""
    page.mouse.move(*path[0])
    page.mouse.down()
    for point in path[1:]:
        page.mouse.move(*point)
    if release:
        page.mouse.up()
