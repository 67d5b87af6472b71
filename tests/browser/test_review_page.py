"""The review in a real browser, against the real studio on a small table."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.chromium import Browser, Page, open_browser, open_page
from tests.support.patience import wait_until
from tests.unit.studio_server.test_review import TABLE, WRONG, Client, write_clouds

from beltrami.labelling.options import LearningOptions
from beltrami.studio_server.handle import Studio

pytestmark = [
    pytest.mark.usefixtures("few_trees"),
    pytest.mark.filterwarnings("ignore::beltrami.core.errors.ConnectedByBridgesWarning"),
]


@dataclass
class Review:
    """A page that shows the review, and the studio behind it."""

    page: Page
    client: Client
    url: str

    @property
    def row(self) -> int:
        return int(self.page.locator("#doubt[data-row]").get_attribute("data-row") or -1)

    def open(self, kind: str) -> None:
        self.page.locator(f'[data-name="kind:{kind}"]').click()
        self.page.locator(f"#doubt[data-kind={kind}]").wait_for()

    def count(self, kind: str) -> int:
        return int(self.page.locator(f'[data-name="kind:{kind}"] .size').inner_text())

    def turn_to(self, row: int) -> None:
        """Go through the list by keys until a row is shown."""
        for _ in range(20):
            if self.row == row:
                return
            self.page.keyboard.press("ArrowDown")
        raise AssertionError(f"row {row} is not in the list")

    def wait_saved(self, words: str) -> None:
        self.page.locator("#said", has_text=words).wait_for()

    def label_of(self, row: int) -> str | None:
        return self.client.ask(f"/api/rows?rows={row}")["rows"][0]["label"]

    def reload(self) -> None:
        self.client.settled()
        self.page.reload()
        self.page.locator("#doubt[data-row]").wait_for()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@contextmanager
def open_forgiving(browser: Browser, **options: Any) -> Iterator[Page]:
    """Open a page that may be refused something."""
    context = browser.new_context(**options)
    try:
        yield context.new_page()
    finally:
        context.close()


@contextmanager
def visit(
    browser: Browser, folder: Path, opener: Any = open_page, **options: Any
) -> Iterator[Review]:
    path = write_clouds(folder / "clouds.csv")
    with Studio.open(path, TABLE, LearningOptions()) as studio:
        client = Client(studio.url)
        client.settled()
        with opener(browser, **options) as page:
            page.goto(studio.url)
            page.locator("#legend li").first.wait_for()
            page.locator('#views a[href="#review"]').click()
            page.locator("#doubt[data-row]").wait_for()
            yield Review(page, client, studio.url)


@pytest.fixture
def review(browser: Browser, tmp_path: Path) -> Iterator[Review]:
    with visit(browser, tmp_path) as opened:
        yield opened


def test_a_doubt_stands_beside_the_rows_that_say_otherwise(review):
    assert review.page.locator("body").get_attribute("data-view") == "review"
    review.turn_to(WRONG)
    review.page.locator(f'#doubt-rows [data-item="{WRONG}"]', has_text="high").wait_for()
    others = review.page.locator("#doubt-others li")
    assert others.count() == 5
    assert sum("low" in text for text in others.all_inner_texts()) >= 3
    assert "called “high”" in review.page.locator("#doubt-words").inner_text()


def test_enter_takes_the_suggestion_and_shows_the_next(review):
    review.turn_to(WRONG)
    before = review.count("label")
    review.page.keyboard.press("Enter")
    review.wait_saved("1 row as “low”")
    assert review.row != WRONG
    assert review.label_of(WRONG) == "low"
    assert review.count("label") < before
    review.page.keyboard.press("z")
    review.wait_saved("Taken back")
    assert review.label_of(WRONG) == "high"
    review.page.locator("#doubt-list button", has_text=str(WRONG)).wait_for()


def test_what_is_kept_is_not_asked_again_until_it_is_taken_back(review):
    review.open("island")
    review.page.keyboard.press("k")
    review.wait_saved("leave them")
    assert review.count("island") == 0
    review.reload()
    assert review.count("island") == 0
    review.page.keyboard.press("z")
    review.wait_saved("Taken back")
    review.page.locator('[data-name="kind:island"]:enabled').wait_for()
    assert review.count("island") == 1


def test_a_number_gives_another_class_and_skipping_saves_nothing(review):
    given = review.client.ask("/api/state")["given"]
    first = review.row
    review.page.keyboard.press("s")
    assert review.row != first
    assert review.client.ask("/api/state")["version"] == review.client.settled()["version"]
    review.open("island")
    asked = review.row
    review.page.keyboard.press("3")
    review.wait_saved("1 row as “low”")
    assert review.label_of(asked) == "low"
    assert review.client.ask("/api/state")["given"] == given + 1


def test_twins_and_spellings_are_settled_by_one_key_each(review):
    review.open("twins")
    review.page.keyboard.press("Enter")
    review.wait_saved("2 rows as “low”")
    assert (review.label_of(20), review.label_of(21)) == ("low", "low")
    review.open("spelling")
    assert not review.page.locator("#doubt-answers button").count()
    review.page.keyboard.press("Enter")
    review.wait_saved("“High” merged into “high”")
    assert review.label_of(82) == "high"


def test_all_doubts_can_be_answered_to_the_end(review):
    def doubts():
        return review.client.ask("/api/doubts")

    done = review.page.locator("#review-note", has_text="Nothing is left to look at")
    for _ in range(60):
        if done.is_visible():
            break
        review.page.keyboard.press("k")
        review.page.wait_for_timeout(100)
    done.wait_for()
    review.wait_saved("Saved")
    # The note is there before the last answer is saved.
    wait_until(lambda: {one["count"] for one in doubts()["groups"]} == {0}, pause_s=0.1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_review_fits_a_telephone(browser, tmp_path, scheme):
    size = {"width": 390, "height": 844}
    with visit(browser, tmp_path, viewport=size, color_scheme=scheme) as review:
        for kind in ("label", "twins", "spelling", "island"):
            review.open(kind)
            assert review.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_what_could_not_be_saved_comes_back_with_the_reason(browser, tmp_path):
    with visit(browser, tmp_path, opener=open_forgiving) as review:
        answer = {"status": 507, "json": {"error": "the disk is full"}}
        review.page.route("**/api/doubts/keep", lambda route: route.fulfill(**answer))
        row, before = review.row, review.count("label")
        review.page.keyboard.press("k")
        review.page.locator("#doubt-problem", has_text="The disk is full").wait_for()
        assert (review.row, review.count("label")) == (row, before)
