"""The report opens, draws and answers in a real browser, without a network."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support.chromium import Browser, open_browser, open_page
from tests.support.fake_pages import HOSTILE, fake_page, filled_page, hostile_page

from beltrami.report.page import Page, render

# A frame that is asked for comes at once, so that a test need not wait for the screen.
TOOLS = """
window.requestAnimationFrame = (act) => setTimeout(act, 0);
const frame = () => new Promise((done) => setTimeout(done, 10));
const state = () => ({ ...document.body.dataset });
const canvas = document.getElementById("points");
const send = async (target, event) => {
  target.dispatchEvent(event);
  await frame();
  return state();
};
const key = (name) => send(canvas, new KeyboardEvent("keydown", { key: name, bubbles: true }));
const pointer = (kind, x, y, id = 1) => {
  const box = canvas.getBoundingClientRect();
  const place = { clientX: box.left + x, clientY: box.top + y };
  return send(canvas, new PointerEvent(kind, { pointerId: id, ...place, bubbles: true }));
};
const click = async (target) => { target.click(); await frame(); return state(); };
"""


@dataclass(frozen=True, slots=True)
class Visit:
    """What the browser made of a page."""

    dom: str

    @property
    def data(self) -> dict[str, str]:
        """What the page's script wrote about itself on the body."""
        body = re.search(r"<body[^>]*>", self.dom).group()
        return {key: unescape(value) for key, value in re.findall(r'data-(\w+)="(.*?)"', body)}

    @property
    def answers(self) -> dict:
        """What the test's own script reports."""
        assert "answers" in self.data, f"the test's script did not come to its end: {self.data}"
        return json.loads(self.data["answers"])


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for all tests of the module; only a build machine must have it."""
    with open_browser() as opened:
        yield opened


@pytest.fixture
def visit(browser: Browser, tmp_path: Path) -> Callable[..., Visit]:
    """Open a page at an address, with a script of the test's own at its end."""

    def look(page: Page, address: str = "", script: str = "", **options: Any) -> Visit:
        html = render(page)
        if script:
            own = (
                f'<script type="module">(async () => {{ {TOOLS} const answers = {{}}; {script}\n'
                "document.body.dataset.answers = JSON.stringify(answers); })()"
                ".catch((error) => { document.body.dataset.errors = String(error); });</script>"
            )
            html = html.replace("</body>", own + "</body>")
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        options = {"viewport": {"width": 1280, "height": 1000}, **options}
        with open_page(browser, **options) as opened:
            opened.goto(f"{path.as_uri()}{address}")
            opened.wait_for_selector("body[data-state=ready]", state="attached")
            ended = "body[data-answers], body[data-errors]" if script else "body"
            opened.wait_for_selector(ended, state="attached")
            return Visit(opened.content())

    return look


def test_all_points_are_drawn_and_the_address_chooses_the_view(visit):
    seen = visit(fake_page(), "#colour=confidence&hover=17&theme=dark")
    assert seen.data.get("errors") is None
    assert seen.data["state"] == "ready"
    assert seen.data["points"] == seen.data["drawn"] == "1797"
    assert (seen.data["colour"], seen.data["theme"]) == ("confidence", "dark")
    assert seen.data["hover"] == "17"
    tip = re.search(r'<div id="tip".*?</div></div>', seen.dom, re.S).group()
    assert '<div class="id">17</div>' in tip
    assert "confidence" in tip


def test_the_map_answers_to_wheel_keys_buttons_drag_and_pinch(visit):
    seen = visit(
        fake_page(),
        script="""
        canvas.setPointerCapture = () => {};  // made-up pointers cannot be captured
        const wheel = (deltaY) =>
          send(canvas, new WheelEvent("wheel", { deltaY, clientX: 300, clientY: 300 }));
        answers.wheel = (await wheel(-400)).zoom;
        answers.reset = (await key("0")).zoom;
        answers.plus = await key("+");
        answers.minus = (await key("-")).zoom;
        await key("+"); await key("+"); await key("+"); await key("+");
        const before = state().centre;
        for (let i = 0; i < 6; i++) await key("ArrowLeft");
        answers.arrows = [before, state().centre];
        for (let i = 0; i < 3; i++) await pointer("pointermove", 400, 300);
        await pointer("pointerdown", 400, 300);
        await pointer("pointermove", 100, 300);
        answers.drag = (await pointer("pointerup", 100, 300)).centre;
        const button = (name) => click(document.querySelector(`button[data-zoom=${name}]`));
        answers.resetButton = (await button("reset")).zoom;
        answers.inButton = (await button("in")).zoom;
        answers.outButton = (await button("out")).zoom;
        await pointer("pointerdown", 300, 300, 1);
        await pointer("pointerdown", 400, 300, 2);
        await pointer("pointermove", 500, 300, 2);
        answers.pinch = (await pointer("pointerup", 500, 300, 2)).zoom;
        answers.tabIndex = canvas.tabIndex;
        """,
    )
    assert seen.data.get("errors") is None
    answers = seen.answers
    assert float(answers["wheel"]) == pytest.approx(np.exp(0.72), abs=0.01)
    assert answers["reset"] == answers["minus"] == answers["resetButton"] == "1.000"
    assert answers["plus"]["zoom"] == answers["inButton"] == "1.500"
    assert answers["outButton"] == "1.000"
    assert answers["arrows"][0] != answers["arrows"][1]
    assert answers["drag"] != answers["arrows"][1]
    assert float(answers["pinch"]) == pytest.approx(2.0, abs=0.01)
    assert answers["tabIndex"] == 0


def test_legend_choice_links_and_search_lead_to_rows(visit):
    page = fake_page()
    seen = visit(
        page,
        script="""
        const entry = (code) => document.querySelector(`#legend [data-class="${code}"]`);
        answers.hidden = (await click(entry(0))).drawn;
        answers.pressed = entry(0).getAttribute("aria-pressed");
        answers.again = (await click(entry(0))).drawn;
        await send(entry(3), new MouseEvent("click", { shiftKey: true, bubbles: true }));
        answers.alone = state().drawn;
        answers.all = (await click(document.querySelector("#legend .both button"))).drawn;
        answers.modes = [];
        for (const input of document.querySelectorAll("input[name=colour]")) {
          const after = await click(input);
          const entries = document.querySelectorAll("#legend li").length;
          answers.modes.push([input.value, after.colour, entries]);
        }
        const link = document.querySelector("#questions [data-point]");
        answers.link = [link.dataset.point, (await click(link)).hover, link.textContent];
        answers.tip = document.getElementById("tip").textContent;
        const form = document.getElementById("find");
        form.elements.id.value = "123";
        await send(form, new SubmitEvent("submit", { cancelable: true }));
        answers.found = state().hover;
        form.elements.id.value = "nobody";
        await send(form, new SubmitEvent("submit", { cancelable: true }));
        answers.invalid = form.elements.id.getAttribute("aria-invalid");
        answers.themes = [state().theme, (await click(document.getElementById("theme"))).theme];
        """,
    )
    assert seen.data.get("errors") is None
    answers = seen.answers
    is_open = page.source >= 2
    assert int(answers["hidden"]) == 1797 - np.sum((page.codes == 0) & ~is_open)
    assert answers["pressed"] == "false"
    assert answers["again"] == answers["all"] == "1797"
    assert int(answers["alone"]) == np.sum((page.codes == 3) & ~is_open)
    assert answers["modes"] == [
        ["class", "class", 11],
        ["confidence", "confidence", 4],
        ["source", "source", 4],
    ]
    assert answers["link"] == [page.questions[0].id] * 3
    assert answers["tip"].startswith(page.questions[0].id)
    assert answers["found"] == "123"
    assert answers["invalid"] == "true"
    assert sorted(answers["themes"]) == ["dark", "light"]


def test_a_row_under_the_pointer_is_named_and_drawn_in_its_colour(visit):
    column, row = (index.ravel() for index in np.meshgrid(np.arange(20), np.arange(20)))
    page = replace(
        fake_page(400, 2, n_given=0),
        ids=np.array([f"{x}-{y}" for x, y in zip(column, row, strict=True)], dtype=object),
        positions=np.column_stack([column, row]).astype(float),
        codes=np.where(column < 10, 0, 1),
        source=np.ones(400, dtype=np.uint8),
        confidence=np.ones(400),
        questions=(),
    )
    seen = visit(
        page,
        "#theme=light",
        script="""
        const box = canvas.getBoundingClientRect(), side = Math.min(box.width, box.height) - 48;
        const at = (x, y) => [
          box.width / 2 + (x - 9.5) / 19 * side,
          box.height / 2 - (y - 9.5) / 19 * side,
        ];
        const scale = canvas.width / box.width, pen = canvas.getContext("2d");
        const pixel = (place) => {
          const [left, top] = place.map((length) => Math.round(length * scale));
          return [...pen.getImageData(left, top, 1, 1).data].slice(0, 3);
        };
        answers.seen = [];
        for (const [x, y] of [[0, 0], [19, 0], [0, 19], [19, 19], [7, 12], [13, 4], [9.5, 9.5]]) {
          const [left, top] = at(x, y);
          await pointer("pointermove", left + 3, top - 3);
          const name = document.querySelector("#tip .id").textContent;
          answers.seen.push([name, document.getElementById("tip").hidden, pixel([left, top])]);
        }
        """,
    )
    assert seen.data.get("errors") is None
    *points, gap = seen.answers["seen"]
    assert [name for name, _, _ in points] == ["0-0", "19-0", "0-19", "19-19", "7-12", "13-4"]
    assert [is_hidden for _, is_hidden, _ in points] == [False] * 6
    assert gap[1] is True
    blue, orange = np.array([0, 114, 178]), np.array([230, 159, 0])
    for (_, _, pixel), colour in zip(points, [blue, orange] * 3, strict=True):
        np.testing.assert_allclose(pixel, 0.95 * colour + 0.05 * 255, atol=4)
    assert gap[2] == [255, 255, 255]


def test_the_tool_tip_shows_what_a_row_is(visit):
    page = filled_page()
    named = next(one.id for one in page.questions if int(one.id) < 100)
    other = next(row for row in range(100) if str(row) not in {one.id for one in page.questions})
    seen = visit(
        page,
        script=f"""
        for (const row of [{named}, {other}, 150]) {{
          await send(window, new Event("focus"));
          location.hash = `hover=${{row}}`;
          await frame(); await frame();
          const image = document.querySelector("#tip img");
          if (image) await image.decode();
          answers[row] = [document.getElementById("tip").innerText, image?.naturalWidth ?? 0];
        }}
        const shown = [...document.querySelectorAll("td.what img")];
        await Promise.all(shown.map((one) => one.decode()));
        answers.drawn = shown.map((one) => one.naturalWidth);
        """,
    )
    assert seen.data.get("errors") is None
    for row, width in ((named, 1), (other, 1), (150, 0)):
        text, natural = seen.answers[str(row)]
        assert text.startswith(f"{row}\n")
        assert f"the words of row {row}" in text
        assert natural == width
    assert set(seen.answers["drawn"]) == {1}


def test_sixty_thousand_points_are_drawn(visit):
    seen = visit(fake_page(60_000, 3, n_given=20))
    assert seen.data.get("errors") is None
    assert seen.data["state"] == "ready"
    assert seen.data["drawn"] == "60000"


def test_markup_in_the_data_stays_text(visit):
    seen = visit(hostile_page(), "#hover=1&colour=source")
    assert seen.data.get("errors") is None
    assert "owned" not in seen.data
    assert seen.data["hover"] == "1"
    shown = re.sub(r"<script.*?</script>", "", seen.dom, flags=re.S)
    assert "<img" not in re.sub(r'<img class="picture" src="data:image/png;base64,', "", shown)
    assert unescape(seen.dom).count(HOSTILE[:20]) > 10


def test_the_policy_stops_whatever_would_reach_out(visit):
    seen = visit(
        fake_page(20, 2),
        expected="Content Security Policy",
        script="""
        answers.stopped = [];
        addEventListener("securitypolicyviolation", (event) => {
          answers.stopped.push(event.effectiveDirective);
        });
        await fetch("https://example.org/").catch(() => {});
        const image = new Image();
        image.src = "https://example.org/a.png";
        const script = document.createElement("script");
        script.src = "https://example.org/a.js";
        document.body.append(image, script);
        await new Promise((done) => setTimeout(done, 300));
        """,
    )
    assert sorted(seen.answers["stopped"]) == ["connect-src", "img-src", "script-src-elem"]


PAGES = {
    "no map": lambda: fake_page(positions=None),
    "narrow": lambda: fake_page(2000, 30),
    "narrow, with contents": filled_page,
}


@pytest.mark.parametrize("name", PAGES)
def test_other_pages_are_whole(visit, name):
    seen = visit(
        PAGES[name](),
        viewport={"width": 1280 if name == "no map" else 420, "height": 1000},
        script="""
        const root = document.documentElement;
        answers.overflow = root.scrollWidth - root.clientWidth;
        answers.width = root.clientWidth;
        const button = document.getElementById("theme");
        await click(button);
        answers.theme = root.dataset.theme;
        answers.offer = button.textContent;
        """,
    )
    assert seen.data.get("errors") is None
    assert seen.data["state"] == "ready"
    assert seen.answers["overflow"] <= 0
    assert seen.answers["width"] <= 1280
    assert (seen.answers["theme"], seen.answers["offer"]) in (
        ("light", "Dark theme"),
        ("dark", "Light theme"),
    )
    assert ("points" in seen.data) is (name != "no map")
