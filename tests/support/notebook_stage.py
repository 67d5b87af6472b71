"""A page that plays a notebook: the widget's module on one side, a real widget on the other."""

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Browser, Locator, Page

from beltrami.notebook.front import script, styles
from beltrami.notebook.widget import LabelWidget
from tests.support.chromium import open_page

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>notebook</title><link rel="icon" href="data:,">
<link rel="stylesheet" href="/widget.css"></head>
<body><div id="first"></div><div id="second"></div>
<script type="module" src="/start.js"></script></body></html>"""

_START = """
import widget from "./widget.js";

const bytes = (text) => (
  new DataView(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer)
);

class Model {
  heard = {};
  state = {};
  changed = {};

  take(state) {
    for (const [name, value] of Object.entries(state)) {
      const isBytes = name === "_places" || name === "_answers";
      const before = this.state[name + ":text"] ?? JSON.stringify(this.state[name]);
      const text = isBytes ? value : JSON.stringify(value);
      if (before === text) continue;
      if (isBytes) this.state[name + ":text"] = value;
      this.state[name] = isBytes ? bytes(value) : value;
      this.fire(`change:${name}`);
    }
  }

  fire(name, ...rest) { for (const act of this.heard[name] ?? []) act(...rest); }
  get(name) { return this.state[name]; }
  on(name, act) { (this.heard[name] ??= []).push(act); }
  off(name, act) { this.heard[name] = (this.heard[name] ?? []).filter((one) => one !== act); }

  set(name, value) {
    this.state[name] = this.changed[name] = value;
    this.fire(`change:${name}`);
  }

  async save_changes() {
    const changed = this.changed;
    this.changed = {};
    this.hear(await window.kernel({ traits: changed }));
  }

  async send(message) { this.hear(await window.kernel({ message })); }

  hear(answer) {
    if (!answer) return;
    this.take(answer.state);
    for (const one of answer.sent) this.fire("msg:custom", one, []);
  }
}

window.model = new Model();
model.take(await window.kernel({ opened: true }));
window.ends = [];
window.show = (id, inShadow) => {
  let el = document.getElementById(id);
  if (inShadow) {
    const sheet = document.createElement("link");
    Object.assign(sheet, { rel: "stylesheet", href: "/widget.css" });
    el = el.attachShadow({ mode: "open" });
    el.append(sheet, document.createElement("div"));
    el = el.lastChild;
  }
  const made = document.createElement("div"); // hosts hand over what is on no page yet
  ends.push(widget.render({ model, el: made }));
  setTimeout(() => el.append(made), 30);
};
document.body.dataset.state = "ready";
"""

_KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_TRAITS = ("selection", "height", "_facts", "_drawn")


@dataclass
class Notebook:
    """The page, and the widget in the kernel behind it."""

    page: Page
    widget: LabelWidget
    is_silent: bool = False
    sent: list[dict[str, Any]] = field(default_factory=list)

    def hear(self, event: dict[str, Any]) -> Any:
        """Do what a kernel does with what a page sends."""
        if event.get("opened"):
            return self.state()
        if self.is_silent:
            return None
        self.sent.clear()
        for name, value in event.get("traits", {}).items():
            setattr(self.widget, name, value)
        if "message" in event:
            self.widget._hear(self.widget, event["message"], [])
        return {"state": self.state(), "sent": self.sent}

    def state(self) -> dict[str, Any]:
        """Return the traits that a host hands over."""
        plain = {name: getattr(self.widget, name) for name in _TRAITS}
        frames = {name: getattr(self.widget, name) for name in ("_places", "_answers")}
        return plain | {name: base64.b64encode(one).decode() for name, one in frames.items()}

    def push(self) -> None:
        """Hand over what the kernel changed by itself."""
        self.page.evaluate("(state) => model.take(state)", self.state())

    def show(self, place: str = "first", *, in_shadow: bool = False) -> Locator:
        """Display the widget, and return where."""
        self.page.evaluate("([id, inShadow]) => show(id, inShadow)", [place, in_shadow])
        root = self.page.locator(f"#{place} .beltrami")
        root.wait_for()
        self.page.wait_for_timeout(60)
        return root

    def lasso(self, root: Locator, left: float, top: float, right: float, bottom: float) -> None:
        """Draw around a part of the map, given by shares of its sides."""
        box = root.locator("canvas.points").bounding_box()
        assert box is not None
        corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        for place in places[1:]:
            self.page.mouse.move(*place, steps=6)
        self.page.mouse.up()

    def rest(self) -> None:
        """Wait until what was asked for has come."""
        self.page.wait_for_timeout(150)


@contextmanager
def open_notebook(browser: Browser, widget: LabelWidget, **options: Any) -> Iterator[Notebook]:
    """Open a page beside a widget; options go to the browser."""
    options = {"viewport": {"width": 900, "height": 900}, **options}
    with open_page(browser, **options) as page:
        notebook = Notebook(page, widget)
        widget.send = lambda content, buffers=None: notebook.sent.append(content)
        page.expose_function("kernel", notebook.hear)
        page.route("**/*", _serve)
        page.goto("http://notebook.test/index.html")
        page.wait_for_selector("body[data-state=ready]", state="attached")
        yield notebook


def _serve(route: Any) -> None:
    name = route.request.url.rsplit("/", 1)[1]
    bodies = {
        "index.html": _PAGE,
        "start.js": _START,
        "widget.js": script(),
        "widget.css": styles(),
    }
    route.fulfill(
        status=200 if name in bodies else 404,
        body=bodies.get(name, ""),
        content_type=_KINDS[name.rsplit(".", 1)[1]],
        headers={"Content-Security-Policy": "default-src 'self'; img-src 'self' data:"},
    )
