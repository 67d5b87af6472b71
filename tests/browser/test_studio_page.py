"""The studio's page in a real browser, against a server that speaks its contract."""

import io
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.support.chromium import Browser, Page, open_browser, open_page
from tests.support.fake_learning import FakeStudio
from tests.support.fake_rows import HOSTILE, HOSTILE_ROW, LONG_ROW
from tests.support.fake_studio import serve
from tests.support.patience import PATIENCE_S

PHONE = {"viewport": {"width": 390, "height": 844}}
FULL = "The disk is full: 0 bytes are left."


@dataclass
class Desk:
    """A page and the studio behind it."""

    page: Page
    studio: FakeStudio

    @property
    def row(self) -> int:
        """The row that the queue shows."""
        return int(self.page.locator("#item[data-row]").get_attribute("data-row"))

    @property
    def labels(self) -> list[Any]:
        """What was posted as labels."""
        return [body for name, body in self.studio.posts if name == "labels"]

    def data(self, name: str) -> int:
        return int(self.page.locator("body").get_attribute(f"data-{name}"))

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def wait(self, condition: str) -> None:
        """Wait until an expression holds; asked from outside, as the page's policy forbids eval."""
        end = time.monotonic() + PATIENCE_S
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, f"{condition} did not come true"
            self.page.wait_for_timeout(10)

    def wait_for(self, **data: int) -> None:
        for name, number in data.items():
            self.wait(f"document.body.dataset.{name} === '{number}'")

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def see(self, selector: str, words: str) -> None:
        """Wait until an element says some words."""
        self.page.locator(selector, has_text=words).first.wait_for(timeout=1000 * PATIENCE_S)

    def place(self, row: int) -> tuple[float, float]:
        """Return where a row lies on the screen while all of the map is seen."""
        box = self.page.locator("#points").bounding_box()
        extent = self.studio.rows.places.max(0)
        scale = min((box["width"] - 48) / extent[0], (box["height"] - 48) / extent[1])
        across, up = (self.studio.rows.places[row] - extent / 2) * scale
        return box["x"] + box["width"] / 2 + across, box["y"] + box["height"] / 2 - up

    def drag(self, *places: tuple[float, float]) -> None:
        self.page.mouse.move(*places[0])
        self.page.mouse.down()
        for place in places[1:]:
            self.page.mouse.move(*place, steps=3)
        self.page.mouse.up()

    def enclose(self, code: int) -> None:
        """Draw around the middle of a class: a rectangle, or a lasso of three corners."""
        rows = np.flatnonzero(self.studio.rows.truth[:1900] == code)
        centre = self.studio.rows.places[rows].mean(0)
        row = rows[((self.studio.rows.places[rows] - centre) ** 2).sum(1).argmin()]
        x, y = self.place(row)
        self.drag((x - 40, y - 40), (x + 40, y - 40), (x + 40, y + 40))


@contextmanager
def open_forgiving(browser: Browser, **options: Any) -> Iterator[Page]:
    """Open a page that may be refused something, and whose scripts must not fail for it."""
    errors: list[str] = []
    context = browser.new_context(**options)
    try:
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        yield page
    finally:
        context.close()
    assert not errors


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Desk]]:
    """Open a studio of made-up rows at a view; a refusal is an error unless one is expected."""
    with ExitStack() as stack:

        def open_studio(
            kind: str = "text",
            view: str = "#map",
            *,
            given: int = 3,
            refusals: bool = False,
            change: Callable[[FakeStudio], None] | None = None,
            **options: Any,
        ) -> Desk:
            studio = FakeStudio(kind, given=given)
            if change is not None:
                change(studio)
            address = stack.enter_context(serve(studio))
            opener = open_forgiving if refusals else open_page
            page = stack.enter_context(opener(browser, **options))
            page.goto(address + view)
            desk = Desk(page, studio)
            desk.wait_for(rows=2000)
            if view in ("#map", "#queue"):
                target = "#legend li" if view == "#map" else "#item[data-row]"
                page.locator(target).first.wait_for()
            return desk

        yield open_studio


# The queue


def test_one_key_labels_saves_and_shows_the_next(visit):
    desk = visit(view="#queue")
    first = desk.row
    assert desk.text("#item-body").split()[0] == desk.studio.rows.texts[first].split()[0]
    desk.press("2")
    assert desk.row != first
    desk.wait_for(version=1, behind=0, given=16)
    assert desk.labels == [{"rows": [first], "label": "sailing", "how": "key"}]
    assert "Saved: 1 row as “sailing”" in desk.text("#said")
    times = desk.page.evaluate(
        "['key', 'saved', 'drawn'].map((name) => performance.getEntriesByName(`beltrami:${name}`)"
        ".map((mark) => [mark.detail, mark.startTime]))"
    )
    assert [len(marks) for marks in times] == [1, 1, 1]
    assert [marks[0][0] for marks in times] == [1, 1, 1]
    key, saved, drawn = (marks[0][1] for marks in times)
    assert key <= min(saved, drawn)  # the map may hear of a label before who gave it does


def test_the_next_question_does_not_wait_for_the_save(visit):
    desk = visit(view="#queue")
    desk.page.wait_for_timeout(200)
    desk.studio.save_s = 1.0
    first = desk.row
    desk.press("1")
    assert desk.row != first
    assert desk.data("given") == 15
    assert desk.text("#said") == ""
    desk.wait_for(given=16, version=1)


def test_labels_that_are_typed_quickly_are_all_saved_in_order(visit):
    desk = visit(view="#queue")
    rows = []
    for key in "123454":
        desk.wait(
            f"![NaN, ...{rows}].includes(Number(document.getElementById('item').dataset.row))"
        )
        rows.append(desk.row)
        desk.press(key)
    desk.wait_for(version=6)
    assert [body["rows"][0] for body in desk.labels] == rows
    assert len(set(rows)) == 6


def test_an_undo_waits_until_its_label_is_saved(visit):
    desk = visit(view="#queue")
    desk.studio.save_s = 0.4
    desk.press("3", "z")
    desk.page.wait_for_timeout(200)
    assert [name for name, _ in desk.studio.posts] == ["labels"]
    desk.wait_for(version=2)
    assert [name for name, _ in desk.studio.posts] == ["labels", "undo"]
    assert desk.data("given") == 15


def test_enter_takes_the_suggestion(visit):
    desk = visit(view="#queue")
    first = desk.row
    guess = desk.studio.item(first)["guess"]
    assert guess in desk.text("#suggestion")
    assert "Otherwise" in desk.text("#suggestion")
    desk.press("Enter")
    desk.wait_for(version=1)
    assert desk.labels == [{"rows": [first], "label": guess, "how": "key"}]


@pytest.mark.parametrize(
    ("confidence", "less", "words"),
    [
        (0.62, 0.3, r"^Perhaps \w+, 62 % sure\. Enter takes it\. Otherwise \w+, 30 %\.$"),
        (0.93, 0.06, r"^\w+, 93 % sure\. Enter takes it\. Otherwise \w+, 6 %\.$"),
        (0.995, 0.004, r"^\w+, 99 % sure\. Enter takes it\.$"),
    ],
)
def test_a_sure_suggestion_has_no_perhaps_and_no_otherwise_of_nothing(
    visit, confidence, less, words
):
    def be_sure(studio):
        item = studio.item
        sure = {"confidence": confidence, "second_confidence": less}
        studio.item = lambda row: item(row) | sure

    desk = visit(view="#queue", change=be_sure)
    said = re.sub(r"\s+", " ", desk.text("#suggestion")).replace(" ,", ",").strip()
    assert re.search(words, said)


@pytest.mark.parametrize(("side", "way"), [(8, "pixelated"), (80, "auto")])
def test_a_picture_of_few_pixels_is_not_blurred(visit, side, way):
    desk = visit("pictures")
    file = io.BytesIO()
    Image.new("L", (side, side)).save(file, "png")
    answer = {"body": file.getvalue(), "content_type": "image/png"}
    desk.page.route("**/api/picture*", lambda route: route.fulfill(**answer))
    desk.page.locator("#views a", has_text="Queue").click()
    desk.page.locator("#item-body img").wait_for()
    desk.wait(f"document.querySelector('#item-body img').naturalWidth === {side}")
    shown = "getComputedStyle(document.querySelector('#item-body img')).imageRendering"
    desk.wait(f"{shown} === '{way}'")


def test_skip_cannot_tell_and_undo(visit):
    desk = visit(view="#queue")
    skipped = desk.row
    desk.press("s")
    unsure = desk.row
    desk.press("u")
    desk.wait_for(version=2)
    marks = [body for name, body in desk.studio.posts if name == "marks"]
    assert marks == [{"rows": [skipped], "mark": "skip"}, {"rows": [unsure], "mark": "unsure"}]
    desk.see("#queue-done", "1 marked “cannot tell”")
    desk.see("#undo-words", "1 row marked “cannot tell”")
    desk.press("z")
    desk.wait(f"document.getElementById('item').dataset.row === '{unsure}'")
    assert "you took its answer back" in desk.text("#item-why").lower()
    desk.press("3", "z")
    desk.wait(f"document.getElementById('item').dataset.row === '{unsure}'")
    assert desk.studio.given[unsure] == -1
    desk.page.locator("#undo").click()
    desk.wait(f"document.getElementById('item').dataset.row === '{skipped}'")
    assert desk.page.locator("#undo").is_disabled()


def test_a_fresh_file_opens_in_the_queue_and_its_first_class_is_named_there(visit):
    desk = visit(view="", given=0)
    desk.wait("document.body.dataset.view === 'queue'")
    desk.page.locator("#item[data-row]").wait_for()
    assert "The first rows stand for the whole map." in desk.text("#queue-first")
    first = desk.row
    desk.press("n")
    desk.page.keyboard.type("birds")
    desk.press("Enter")
    desk.wait_for(given=1)
    assert desk.labels == [{"rows": [first], "label": "birds", "how": "key"}]
    assert desk.row != first
    desk.wait("document.getElementById('queue-first').hidden")
    assert re.sub(r"\s+", " ", desk.text("#answers button >> nth=0")).strip() == "1 birds"
    desk.press("1")
    desk.wait_for(given=2)


def test_a_save_that_fails_brings_the_row_back_and_says_why(visit):
    desk = visit(view="#queue", refusals=True)
    desk.page.wait_for_timeout(200)
    first = desk.row
    desk.studio.refuse = FULL
    desk.press("1")
    desk.see("#item-problem", FULL)
    assert desk.row == first
    assert desk.data("given") == 15
    assert desk.text("#said") == ""
    desk.studio.refuse = ""
    desk.press("1")
    desk.wait_for(given=16)
    assert not desk.page.locator("#item-problem").is_visible()
    assert desk.row != first


def test_a_class_that_is_called_by_a_digit_has_that_key(visit):
    def add_classes(studio):
        for name in ("0", "2", "12"):
            studio.code_of(name)

    desk = visit(view="#queue", change=add_classes)
    assert desk.page.locator("#answers kbd").all_inner_texts()[:8] == [*"13456027"]
    first = desk.row
    desk.press("2")
    desk.wait_for(version=1)
    assert [(body["rows"], body["label"]) for body in desk.labels] == [([first], "2")]


def test_every_class_has_its_key_while_there_are_keys_and_no_key_does_two_things(visit):
    def add_classes(studio):
        for k in range(25):
            studio.code_of(f"one more class {k}")

    desk = visit(view="#queue", change=add_classes)
    *classes, every, new = desk.page.locator("#answers kbd").all_inner_texts()
    assert (every, new) == ("C", "N")
    assert classes == [*"1234567890BEFGHIJOQTVWXY"]
    desk.press("?")
    helped = desk.page.locator("dialog kbd").all_inner_texts()
    commands = {one for text in helped for one in re.split(r",\s*", text) if len(one) == 1}
    assert {"S", "U", "K", "D", "M", "Z"} <= commands
    assert commands & set(classes) == {"0"}  # of the map's zoom, where no class has it
    desk.press("Escape")
    first = desk.row
    desk.press("0")
    desk.wait_for(version=1)
    second = desk.row
    desk.press("b")
    desk.wait_for(version=2)
    assert [(body["rows"], body["label"]) for body in desk.labels] == [
        ([first], "one more class 4"),
        ([second], "one more class 5"),
    ]
    desk.press("/")
    desk.page.keyboard.type("r0042")
    desk.press("Enter")
    desk.see("#selection-title", "Row r0042")
    assert desk.page.evaluate("document.activeElement.id") == "points"
    desk.press("0")
    desk.wait_for(version=3)
    assert desk.labels[2]["label"] == "one more class 4"
    desk.page.locator("#views a", has_text="Data").click()
    keys = desk.page.locator("#classes-rows td:nth-child(2)").all_inner_texts()
    assert keys == [*classes, *[""] * 6]


def test_a_new_class_does_not_land_on_a_row_that_came_back_meanwhile(visit):
    desk = visit(view="#queue", refusals=True)
    desk.page.wait_for_timeout(200)
    first, desk.studio.save_s, desk.studio.refuse = desk.row, 0.6, FULL
    desk.press("1")
    assert desk.row != first
    desk.press("n")
    desk.page.keyboard.type("birds")
    desk.wait(f"document.getElementById('item').dataset.row === '{first}'")
    desk.studio.save_s, desk.studio.refuse = 0.0, ""
    desk.press("Enter")
    desk.wait("document.querySelector('dialog') === null")
    desk.page.wait_for_timeout(200)
    assert [body["label"] for body in desk.labels] == ["gardens"]
    assert desk.row == first


def test_a_suggestion_whose_class_is_gone_is_not_taken(visit):
    desk = visit(view="#queue")
    guess = desk.studio.item(desk.row)["guess"]
    code = desk.studio.code_of(guess)
    desk.studio.classes[code]["gone"] = True
    desk.studio.tell(type="state", **desk.studio.state())
    desk.wait(f"document.querySelector('[data-name=\"answer:{code}\"]') === null")
    desk.see("#suggestion", "No suggestion yet.")
    desk.press("Enter")
    desk.page.wait_for_timeout(200)
    assert desk.labels == []


def test_labels_that_wait_are_sent_when_the_page_is_closed(visit):
    desk = visit(view="#queue")
    desk.page.wait_for_timeout(200)
    desk.studio.save_s = 0.5
    rows = []
    for key in "12":
        rows.append(desk.row)
        desk.press(key)
        desk.wait(f"document.getElementById('item').dataset.row !== '{rows[-1]}'")
    asked = []
    desk.page.on("dialog", lambda one: (asked.append(one.type), one.accept()))
    desk.page.goto("about:blank")
    end = time.monotonic() + PATIENCE_S
    while len(desk.labels) < 2 and time.monotonic() < end:
        desk.page.wait_for_timeout(20)
    assert [(body["rows"][0], body["label"]) for body in desk.labels] == [
        (rows[0], "gardens"),
        (rows[1], "sailing"),
    ]
    assert asked == []


def test_who_closes_the_page_before_an_undo_is_saved_is_asked(visit):
    desk = visit(view="#queue")
    desk.page.wait_for_timeout(200)
    desk.studio.save_s = 0.5
    desk.press("1", "z")
    asked = []
    desk.page.on("dialog", lambda one: (asked.append(one.type), one.accept()))
    desk.page.goto("about:blank")
    assert asked == ["beforeunload"]


def test_more_than_nine_classes_are_chosen_by_their_letters(visit):
    def add_classes(studio):
        for name in ("alps", "bees", "clay", "dunes", "elms", "fens", "ferns"):
            studio.code_of(name)

    desk = visit(view="#queue", change=add_classes)
    assert desk.page.locator("#answers kbd").all_inner_texts() == [*"1234567890BE", "C", "N"]
    first = desk.row
    desk.press("c")
    assert desk.page.locator("#choices li").count() == 12
    desk.page.keyboard.type("fe")
    assert [text.split()[0] for text in desk.page.locator("#choices li").all_inner_texts()] == [
        "fens",
        "ferns",
    ]
    desk.press("ArrowDown", "Enter")
    desk.wait_for(version=1)
    assert desk.labels == [{"rows": [first], "label": "ferns", "how": "key"}]


def test_the_queue_ends_with_a_word(visit):
    def settle(studio):
        studio.skipped[:] = True

    desk = visit(view="", change=settle)
    desk.page.locator("#views a", has_text="Queue").click()
    desk.see("#queue-empty", "Every row has a label or was set aside.")
    assert not desk.page.locator("#item").is_visible()


@pytest.mark.parametrize("kind", ["text", "table", "pictures"])
def test_every_answer_is_in_sight_whatever_a_row_holds(visit, kind):
    def add_classes(studio):
        for k in range(7):
            studio.code_of(f"one more class {k}")

    viewport = {"width": 1280, "height": 800}
    desk = visit(kind, "#queue", change=add_classes, viewport=viewport)
    for name in ("answer:8", "answer:all", "answer:new", "skip", "unsure"):
        box = desk.page.locator(f"#item [data-name='{name}']").bounding_box()
        assert box["y"] + box["height"] <= 800, name
    assert desk.page.locator("#item-body").bounding_box()["height"] >= 120
    assert desk.page.evaluate("document.documentElement.scrollHeight") == 800


# The map


def test_what_is_selected_does_not_lie_under_the_bar(visit):
    desk = visit(viewport={"width": 1280, "height": 800})
    box = desk.page.locator("#points").bounding_box()
    corner = box["x"] + box["width"] - 3, box["y"] + box["height"] - 3
    desk.press("r")
    desk.drag((box["x"] + 3, box["y"] + 3), corner)
    desk.see("#selection-title", "2,000 rows in the rectangle")
    desk.page.wait_for_timeout(300)
    bar = desk.page.locator("#bar").bounding_box()
    desk.page.evaluate("document.getElementById('bar').style.visibility = 'hidden'")
    above = {**bar, "y": box["y"] + 30, "height": bar["y"] - box["y"] - 30}
    assert count_coloured(desk.page, bar) == 0
    assert count_coloured(desk.page, above) > 1000


def count_coloured(page, clip):
    """Return how many pixels of a part of the page are neither white, grey nor black."""
    with Image.open(io.BytesIO(page.screenshot(clip=clip))) as image:
        return int((np.ptp(np.asarray(image.convert("RGB"), dtype=int), axis=2) > 40).sum())


def test_a_lasso_labels_an_area_after_saying_what_it_would_change(visit):
    desk = visit()
    desk.press("l")
    desk.enclose(2)
    desk.see("#selection-title", "in the lasso")
    n = int(desk.text("#selection-title").split()[0])
    assert n > 20
    desk.see("#bar-words", f"Label {n} rows as kitchen — would change about")
    assert "weigh less" in desk.text("#bar-note")
    desk.page.locator("#bar-classes button", has_text="weather").hover()
    desk.see("#bar-words", "as weather — would change about")
    trials = [body for name, body in desk.studio.posts if name == "trial"]
    assert [body["label"] for body in trials] == ["kitchen", "weather"]
    desk.press("5")
    desk.wait_for(version=1)
    assert (desk.labels[0]["label"], desk.labels[0]["how"]) == ("weather", "area")
    assert len(desk.labels[0]["rows"]) == n
    assert desk.text("#selection-title") == "Nothing selected"
    assert not desk.page.locator("#bar").is_visible()
    desk.press("z")
    desk.wait_for(version=2, given=15)


def test_a_rectangle_shows_sixty_rows_and_more(visit):
    desk = visit()
    desk.press("r")
    box = desk.page.locator("#points").bounding_box()
    left, top = box["x"] + 10, box["y"] + 10
    desk.drag((left, top), (left + box["width"] - 20, top + box["height"] - 20))
    desk.see("#selection-title", "2,000 rows in the rectangle")
    assert "15 rows already have a label by people, which this replaces." in desk.text("#bar-note")
    desk.wait("document.querySelectorAll('#items li').length === 60")
    desk.page.locator("#items .more").click()
    desk.wait("document.querySelectorAll('#items li').length === 120")
    desk.page.locator("#items .out").first.click()
    desk.see("#selection-title", "1,999 rows in the rectangle")
    desk.press("Escape")
    assert desk.text("#selection-title") == "Nothing selected"


def test_a_click_picks_a_row_and_a_key_labels_it(visit):
    desk = visit()
    row = int(np.flatnonzero(desk.studio.given >= 0)[0])  # drawn above the others
    desk.page.mouse.move(*desk.place(row))
    desk.see("#card", desk.studio.rows.ids[row])
    desk.page.mouse.click(*desk.place(row))
    desk.see("#selection-title", f"Row {desk.studio.rows.ids[row]}")
    assert desk.text("#items .words") == desk.studio.rows.texts[row]
    assert "given by you" in desk.text("#items .answer")
    desk.press("4")
    desk.wait_for(version=1)
    assert desk.labels == [{"rows": [row], "label": "railways", "how": "click"}]
    desk.see("#items .answer", "railways")
    desk.press("Delete")
    desk.wait_for(version=2, given=14)
    assert desk.labels[1]["label"] is None


def test_a_failing_save_on_the_map_keeps_the_selection(visit):
    desk = visit(refusals=True)
    desk.press("r")
    desk.enclose(1)
    desk.see("#selection-title", "in the rectangle")
    desk.studio.refuse = FULL
    desk.press("1")
    desk.see("#warned", FULL)
    assert "in the rectangle" in desk.text("#selection-title")
    desk.studio.refuse = ""
    desk.press("1")
    desk.wait_for(version=1)
    assert desk.text("#warned") == ""


def test_a_second_enter_after_a_search_labels_nothing(visit):
    desk = visit()
    desk.press("/")
    desk.page.keyboard.type("spinnaker")
    desk.press("Enter")
    desk.see("#selection-title", "rows found")
    desk.see("#bar-words", "The key of the class does it")
    desk.press("Enter")
    desk.page.wait_for_timeout(200)
    assert desk.labels == []
    assert "rows found" in desk.text("#selection-title")


def test_hits_of_a_search_are_selected(visit):
    desk = visit()
    desk.press("/")
    desk.page.keyboard.type("spinnaker")
    desk.press("Enter")
    n = len(desk.studio.rows.found("spinnaker"))
    desk.see("#selection-title", f"{n} rows found")
    desk.press("2")
    desk.wait_for(version=1)
    assert (len(desk.labels[0]["rows"]), desk.labels[0]["how"]) == (n, "area")
    desk.press("/", "Control+a")
    desk.page.keyboard.type("r0042")
    desk.press("Enter")
    desk.see("#selection-title", "Row r0042")
    desk.press("/", "Control+a")
    desk.page.keyboard.type("nowhere")
    desk.press("Enter")
    desk.see("#said", "No row holds “nowhere”.")


def filter_by(desk: Desk, name: str) -> None:
    if desk.page.locator("#filter[open]").count() == 0:
        desk.page.locator("#filter summary").click()
    desk.page.select_option("#filter-on", label=name)


def test_filters_become_chips_that_can_be_taken_away(visit):
    desk = visit("table")
    table = desk.studio.rows.table
    filter_by(desk, "age")
    desk.page.locator("#filter-editor [name=low]").fill("40")
    desk.page.locator("#filter-editor [name=high]").fill("50")
    desk.press("Enter")
    inside = (table["age"] >= 40) & (table["age"] <= 50)
    desk.see("#chips", f"Select these {inside.sum()} rows")
    filter_by(desk, "city")
    desk.page.get_by_role("checkbox", name="Bath").check()
    desk.page.locator("#filter-form button").click()
    both = inside & (table["city"] == "Bath")
    desk.see("#chips", f"Select these {both.sum()} rows")
    chips = desk.page.locator(".chip span:first-child").all_inner_texts()
    assert chips == ["age 40 to 50", "city Bath"]
    desk.press("a")
    desk.see("#selection-title", f"{both.sum()} rows in the filter")
    desk.press("3")
    desk.wait_for(version=1)
    assert desk.labels[0]["rows"] == np.flatnonzero(both).tolist()
    assert desk.labels[0]["how"] == "area"
    desk.page.locator(".chip").first.click()
    desk.page.locator(".chip").click()
    assert not desk.page.locator("#chips").is_visible()


def test_filters_by_class_confidence_and_source_count_their_rows(visit):
    desk = visit()
    codes, confidence, source = desk.studio.answers
    for name, fill, wanted in (
        ("Class", "railways", (codes == 4) & (source < 2)),
        ("Source", "left to you", source == 2),
        ("Confidence", None, (codes > 0) & (np.round(255 * confidence) >= 128)),
    ):
        filter_by(desk, name)
        if fill is None:
            desk.page.locator("#filter-editor [name=low]").fill("50")
        else:
            desk.page.get_by_role("checkbox", name=fill).check()
        desk.page.locator("#filter-form button").click()
        desk.see("#chips", f"Select these {wanted.sum():,} rows")
        desk.page.locator(".chip").click()


def test_what_a_filter_hides_cannot_be_picked_or_caught(visit):
    desk = visit()
    row = int(np.flatnonzero(desk.studio.given == 0)[0])
    desk.page.mouse.click(*desk.place(row))
    desk.see("#selection-title", f"Row {desk.studio.rows.ids[row]}")
    desk.press("Escape")
    filter_by(desk, "Class")
    desk.page.get_by_role("checkbox", name="sailing").check()
    desk.page.locator("#filter-form button").click()
    desk.press("r")
    desk.enclose(0)  # gardens
    desk.see("#said", "No row lies in there.")
    desk.page.get_by_role("checkbox", name="hide the others").check()
    desk.page.mouse.click(*desk.place(row))
    desk.page.wait_for_timeout(100)
    assert desk.text("#selection-title") == "Nothing selected"


def test_the_legend_counts_and_hides(visit):
    desk = visit()
    codes, _, source = desk.studio.answers
    sizes = [int(np.sum((codes == code) & (source < 2))) for code in range(1, 6)]
    sizes.append(int(np.sum(source >= 2)))
    assert desk.page.locator("#legend .size").all_inner_texts() == [f"{n:,}" for n in sizes]
    assert desk.page.locator("#legend kbd").all_inner_texts() == [*"12345"]
    row = int(np.flatnonzero(desk.studio.given == 0)[0])
    gardens = desk.page.locator("#legend button", has_text="gardens")
    gardens.click()
    assert gardens.get_attribute("aria-pressed") == "false"
    desk.page.mouse.click(*desk.place(row))
    desk.page.wait_for_timeout(100)
    assert desk.text("#selection-title") != f"Row {desk.studio.rows.ids[row]}"
    gardens.click(modifiers=["Shift"])
    pressed = [
        one.get_attribute("aria-pressed") for one in desk.page.locator("#legend li button").all()
    ]
    assert pressed == ["true", *["false"] * 5]
    desk.page.locator("#legend button", has_text="Show all").click()
    desk.page.mouse.click(*desk.place(row))
    desk.see("#selection-title", f"Row {desk.studio.rows.ids[row]}")


def test_the_map_is_coloured_by_confidence_source_and_columns(visit):
    desk = visit("table")
    options = desk.page.locator("#paint option").all_inner_texts()
    assert options == ["Class", "Confidence", "Source", "age", "income", "city"]
    shots = {}
    for name in options:
        desk.page.select_option("#paint", label=name)
        desk.page.wait_for_timeout(150)
        shots[name] = desk.page.locator("#points").screenshot()
        lines = desk.page.locator("#legend li .name").all_inner_texts()
        if name in ("Confidence", "age", "income"):
            assert desk.page.locator("#legend .ramp").is_visible()
        if name == "city":
            assert lines == ["Aberdeen", "Bath", "Cardiff", "Durham", "Exeter", "missing"]
        elif name == "Source":
            assert lines == ["given by you", "labelled by us", "left to you", "reached by no label"]
    assert len(set(shots.values())) == len(options)


def test_zoom_and_place_survive_a_look_at_the_queue(visit):
    desk = visit()
    row = int(np.flatnonzero(desk.studio.given == 2)[0])
    x, y = desk.place(row)
    middle = desk.page.locator("#points").bounding_box()
    across = x - middle["x"] - middle["width"] / 2
    down = y - middle["y"] - middle["height"] / 2
    desk.page.locator("#points").focus()
    desk.press("+", "+", "ArrowRight", "ArrowDown")
    place = (x + 1.25 * across - 60, y + 1.25 * down - 60)  # 2.25 times as large, one step on
    for _ in range(2):
        desk.page.mouse.click(*place)
        desk.see("#selection-title", f"Row {desk.studio.rows.ids[row]}")
        desk.press("Escape")
        desk.page.locator("#views a", has_text="Queue").click()
        desk.page.locator("#locator #points").wait_for()
        desk.page.locator("#views a", has_text="Map").click()
        desk.page.locator("#map-host #points").wait_for()
    desk.page.locator("#points").focus()
    desk.press("0")
    desk.page.mouse.click(x, y)
    desk.see("#selection-title", f"Row {desk.studio.rows.ids[row]}")


def test_pictures_of_a_selection_load_as_they_come_into_sight(visit):
    desk = visit("pictures")
    asked = []
    desk.page.on(
        "request", lambda one: asked.append(one.url) if "/api/picture" in one.url else None
    )
    desk.press("r")
    box = desk.page.locator("#points").bounding_box()
    left, top = box["x"] + 10, box["y"] + 10
    desk.drag((left, top), (left + box["width"] - 20, top + box["height"] - 20))
    desk.wait("document.querySelectorAll('#items li').length === 60")
    desk.page.wait_for_timeout(500)
    assert 0 < len(asked) < 60
    desk.wait("document.querySelector('#items img').naturalWidth === 96")
    desk.page.locator("#items .more").scroll_into_view_if_needed()
    desk.wait("[...document.querySelectorAll('#items img')].at(-1).naturalWidth === 96")


# The data


def test_classes_are_added_renamed_and_merged_and_merging_asks_first(visit):
    desk = visit(view="#data", refusals=True)
    names = desk.page.locator("#classes-rows .class .name")
    desk.page.locator("#add-class").click()
    desk.page.keyboard.type("birds")
    desk.press("Enter")
    desk.wait("document.querySelectorAll('#classes-rows tr').length === 6")
    desk.page.get_by_role("button", name="Rename birds").click()
    desk.page.keyboard.type("owls")
    desk.press("Enter")
    desk.see("#classes-rows", "owls")
    assert names.all_inner_texts()[-1] == "owls"
    desk.page.get_by_role("button", name="Merge gardens into another class").click()
    desk.page.keyboard.type("sai")
    desk.press("Enter")
    desk.see("dialog h2", "Merge “gardens” into “sailing”?")
    assert "3 rows that people labelled “gardens” become “sailing”" in desk.text("dialog")
    desk.press("Escape")
    desk.page.wait_for_timeout(150)
    assert names.count() == 6
    desk.page.get_by_role("button", name="Rename gardens").click()
    desk.page.keyboard.type("sailing")
    desk.press("Enter")
    desk.see("dialog h2", "Merge “gardens” into “sailing”?")
    desk.page.locator("dialog .loud").click()
    desk.wait("document.querySelectorAll('#classes-rows tr').length === 5")
    posts = [body for name, body in desk.studio.posts if name == "classes"]
    assert posts == [
        {"add": "birds"},
        {"rename": "birds", "to": "owls"},
        {"rename": "gardens", "to": "sailing", "merge": True},
    ]
    desk.page.locator("#views a", has_text="Map").click()
    assert desk.page.locator("#legend kbd").all_inner_texts() == [*"12345"]
    assert "gardens" not in desk.text("#legend")


def test_a_class_that_no_row_has_is_removed_and_others_offer_no_such_thing(visit):
    desk = visit(view="#data", change=lambda studio: studio.code_of("brids"))
    rows = desk.page.locator("#classes-rows tr")
    desk.wait("document.querySelectorAll('#classes-rows tr').length === 6")
    removers = desk.page.locator("#classes-rows button", has_text="Remove")
    assert removers.count() == 1
    removers.click()
    desk.wait("document.querySelectorAll('#classes-rows tr').length === 5")
    assert "brids" not in rows.all_inner_texts()
    assert desk.studio.posts == [("classes", {"remove": "brids"})]
    desk.see("#said", "Saved: class “brids” removed.")


def test_whether_minus_one_is_a_class_is_asked_on_the_page(visit):
    def doubt(studio):
        studio.marker = {"value": "-1", "column": "kind", "n_rows": 300}

    desk = visit(view="#queue", change=doubt)
    desk.see("#marker", "300 rows hold -1 in the column “kind”, and no cell of it is empty.")
    desk.page.get_by_role("button", name="-1 is a class").click()
    desk.see("#said", "The table is read anew.")
    desk.studio.marker = None
    desk.studio.tell(type="state", **desk.studio.state())
    desk.wait("document.getElementById('marker').textContent === ''")
    assert desk.studio.posts == [("roles", {"unlabeled": ""})]


def test_roles_are_corrected_and_the_table_is_read_anew(visit):
    desk = visit("table", "#data")
    desk.page.locator("#columns tr").first.wait_for()
    assert desk.text("#columns tr >> nth=0 >> .role") == "label"
    assert desk.page.locator("#columns tr >> nth=0 >> select").count() == 0
    assert "every value differs" in desk.text("#columns tr >> nth=1")
    desk.page.get_by_label("Role of age").select_option(label="category")
    desk.page.get_by_label("Role of income").select_option(label="left out")
    desk.page.get_by_label("Role of id").select_option(label="left out")
    desk.page.get_by_label("Role of city").select_option(label="text")
    assert "4 to change" in desk.text("#roles-words")
    desk.page.locator("#apply-roles").click()
    desk.see("#progress", "Stage 1 of 3: Reading the table")
    assert desk.studio.posts[-1] == (
        "roles",
        {
            "text": ["city"],
            "categories": ["age"],
            "ignore": ["id", "income"],
            "id": None,
            "features": ["age", "city", "remark"],
        },
    )
    desk.wait("document.getElementById('progress').textContent === ''")
    assert not desk.page.locator("#roles-apply").is_visible()


def test_a_role_that_was_asked_for_earlier_stays_when_another_is_changed(visit):
    desk = visit("table", "#data", change=lambda studio: studio.asked.update(income="ignore"))
    desk.page.get_by_label("Role of city").select_option(label="left out")
    desk.page.locator("#apply-roles").click()
    desk.see("#progress", "Stage 1 of 3: Reading the table")
    assert desk.studio.posts[-1] == ("roles", {"ignore": ["income", "city"]})


# The page as a whole


@pytest.mark.parametrize("kind", ["text", "table", "pictures"])
def test_a_phone_shows_every_view_without_scrolling_sideways(visit, kind):
    long_name = "a class whose name goes on and on and on without an end in sight"
    desk = visit(kind, **PHONE, has_touch=True, change=lambda studio: studio.code_of(long_name))
    desk.press("/")
    desk.page.keyboard.type("r004")
    desk.press("Enter")
    desk.see("#bar-words", "Label 10 rows")
    for name in ("Map", "Data", "Queue"):
        desk.page.locator("#views a", has_text=name).tap()
        desk.page.wait_for_timeout(150)
        wide = "[document.documentElement.scrollWidth, document.body.scrollWidth]"
        assert desk.page.evaluate(wide) == [390, 390]
    first = desk.row
    desk.page.locator("#answers button", has_text="sailing").tap()
    desk.wait_for(version=1)
    assert desk.labels == [{"rows": [first], "label": "sailing", "how": "click"}]
    assert desk.row != first


def test_the_keyboard_alone_reaches_every_view_and_labels(visit):
    desk = visit("table")
    desk.page.locator("body").focus()
    reached = []
    for _ in range(40):
        desk.press("Tab")
        reached.append(
            desk.page.evaluate(
                "[document.activeElement.id || document.activeElement.textContent.trim(),"
                "getComputedStyle(document.activeElement).outlineStyle]"
            )
        )
    names = [name for name, _ in reached]
    assert {"Map", "Queue", "Data", "export", "help", "theme", "paint", "points"} <= set(names)
    assert {style for name, style in reached if name in ("Queue", "points", "theme")} == {"solid"}
    desk.page.locator("#views a", has_text="Queue").focus()
    desk.press("Enter")
    desk.page.locator("#item[data-row]").wait_for()
    first = desk.row
    desk.press("2")  # the focus is on a link; the key is meant for the page
    desk.wait_for(version=1)
    assert desk.labels[0]["rows"] == [first]
    desk.page.locator("#answers button").first.focus()
    second = desk.row
    desk.press("Enter")
    desk.wait_for(version=2)
    assert desk.labels[1] == {"rows": [second], "label": "gardens", "how": "click"}
    desk.press("?")
    assert "take the suggestion" in desk.text("dialog")
    desk.press("1")  # not while the help is open
    desk.page.wait_for_timeout(150)
    desk.press("Escape")
    desk.wait("document.querySelector('dialog') === null")
    assert len(desk.labels) == 2


def test_a_key_that_is_held_down_labels_once(visit):
    desk = visit(view="#queue")
    desk.page.keyboard.down("2")
    for _ in range(5):
        desk.page.keyboard.down("2")
    desk.page.keyboard.up("2")
    desk.wait_for(version=1)
    assert len(desk.labels) == 1


def test_hostile_cells_classes_and_names_stay_text(visit):
    desk = visit("table", change=lambda studio: studio.code_of(HOSTILE))
    desk.press("/")
    desk.page.keyboard.type("<script>")
    desk.press("Enter")
    desk.see("#selection-title", f"Row r{HOSTILE_ROW:04d}")
    assert HOSTILE in desk.text("#items")
    desk.press("6")
    desk.wait_for(version=1)
    assert desk.labels[0]["label"] == HOSTILE
    desk.see("#items .answer", HOSTILE)
    for name in ("Data", "Queue", "Map"):
        desk.page.locator("#views a", has_text=name).click()
        desk.page.wait_for_timeout(150)
        assert desk.page.locator(f"#{name.lower()}-view").inner_text().count("<script>") > 0
    assert desk.page.locator("body").get_attribute("data-owned") is None
    assert desk.page.locator("main script, main b, main img[src=x]").count() == 0


def test_a_long_text_keeps_its_lines_and_scrolls(visit):
    desk = visit(
        view="#queue",
        change=lambda studio: studio.skipped.__setitem__(np.arange(2000) != LONG_ROW, True),
    )
    assert desk.row == LONG_ROW
    assert desk.text("#item-body .words").count("\n\n") == 39
    whole, seen = desk.page.evaluate(
        "[body.scrollHeight, body.clientHeight]".replace(
            "body", "document.getElementById('item-body')"
        )
    )
    assert whole > seen + 100
    assert desk.page.locator("#answers").bounding_box()["y"] < 760


def test_a_lost_connection_is_said_and_comes_back_with_what_was_missed(visit):
    desk = visit(refusals=True)
    desk.studio.is_down = True
    desk.studio.hang_up()
    desk.see("#connection", "The connection to the studio is lost")
    desk.studio.given[100] = 3
    desk.studio.answers = desk.studio.learn(desk.studio.given)
    desk.studio.version = desk.studio.n_events = 7
    desk.studio.is_down = False
    desk.wait_for(version=7, given=16)
    assert desk.text("#connection") == ""


def test_labels_behind_are_said_until_the_map_shows_them(visit):
    desk = visit(view="#queue")
    desk.studio.learn_s = 1.0
    desk.press("1")
    desk.wait_for(behind=1, given=16)
    assert desk.data("version") == 0
    desk.see("#behind", "The map is 1 label behind.")
    desk.wait_for(behind=0, version=1)
    assert desk.text("#behind") == ""


def test_a_read_only_studio_takes_no_label(visit):
    desk = visit(view="#queue", change=lambda studio: setattr(studio, "read_only", True))
    assert "Read-only" in desk.text("#standing")
    first = desk.row
    desk.press("1", "Enter", "s", "n")
    assert desk.row == first
    assert desk.studio.posts == []
    assert desk.page.locator("#answers button").first.is_disabled()
    assert desk.page.locator("dialog").count() == 0


def test_the_head_says_who_is_here_what_is_known_and_what_must_be_read(visit):
    desk = visit(change=lambda studio: studio.users.append("ben"))
    assert desk.text("#headline").startswith("Of 2,000 rows you labelled 15;")
    assert desk.text("#who") == "You are ann; ben can label here too."
    assert desk.text("#counts .given dd") == "15"
    assert desk.page.locator("#export").get_attribute("download") == "text-labels.csv"
    desk.page.locator("#warnings summary").click()
    assert "Half of the classes" in desk.text("#warnings-list")
    desk.studio.tell(type="word", text="The file changed since it was read.")
    desk.see("#warned", "The file changed since it was read.")
    desk.page.get_by_role("button", name="Put away").click()
    desk.studio.tell(
        type="progress",
        stage=2,
        stages=5,
        title="Comparing rows",
        step="tree 3",
        fraction=0.4,
        left=12.2,
        over=False,
    )
    desk.see("#progress", "Stage 2 of 5: Comparing rows · tree 3 · 40 % · about 12 s left")


def test_the_theme_follows_the_system_until_it_is_chosen(visit):
    desk = visit(color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert desk.page.evaluate(ground) == "rgb(20, 22, 26)"
    dark = desk.page.locator("#points").screenshot()
    desk.page.locator("#theme").click()
    assert desk.page.evaluate(ground) == "rgb(251, 250, 248)"
    desk.page.wait_for_timeout(200)
    assert desk.page.locator("#points").screenshot() != dark
    desk.page.reload()
    desk.wait_for(rows=2000)
    assert desk.page.evaluate(ground) == "rgb(251, 250, 248)"


def test_an_error_of_a_script_is_shown_and_marked(browser):
    with serve(FakeStudio("text", given=3)) as address:
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("body[data-rows='2000']")
        page.evaluate("setTimeout(() => { throw new Error('a test of errors'); })")
        page.locator("#errors", has_text="a test of errors").wait_for()
        assert "a test of errors" in page.locator("body").get_attribute("data-error")
        page.context.close()


def test_the_page_is_small_and_puts_no_markup_in():
    folder = files("beltrami.studio_server").joinpath("page")
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    assert sum(len(text.encode()) for text in texts.values()) < 250_000
    for name, text in texts.items():
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text
        ), name
        assert len(text.splitlines()) <= 400, name
    assert not re.search(r"\sstyle=|<style|\son\w+=|<script>", texts["index.html"])
