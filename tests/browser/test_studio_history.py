"""The history on the studio's page in a real browser, with the real server behind it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from tests.support.chromium import Browser, Page, open_browser, open_page
from tests.support.patience import PATIENCE_S
from tests.support.studio_client import Client

import beltrami as bt
from beltrami.labelling.options import LearningOptions
from beltrami.studio_server.desk import Desk
from beltrami.studio_server.handle import Studio
from beltrami.tables import TableOptions

pytestmark = pytest.mark.usefixtures("few_trees")

N, N_GIVEN = 160, 16
HOSTILE = "<img src=x onerror=alert(1)>"


@dataclass
class Reader:
    """A person who looks at what happened."""

    page: Page
    desk: Desk
    client: Client
    truth: list[str]

    @property
    def n_drawn_as_given(self) -> int:
        """Labels that the map draws, as the store of the page has them."""
        return int(self.page.locator("#moment-words").inner_text().split(": ")[1].split()[0])

    def see(self, selector: str, words: str) -> None:
        self.page.locator(selector, has_text=words).first.wait_for(timeout=1000 * PATIENCE_S)

    def look(self, number: int) -> None:
        self.page.locator(f'[data-name="event:{number}"]').click()
        self.see("#looking", f"after event {number},")

    def label(self, *rows: int) -> int:
        """Label rows one by one, as somebody else; return the number of the last event."""
        for row in rows:
            body = {"rows": [row], "label": self.truth[row], "how": "key"}
            saved = int(self.client.ask("/api/labels", body)["saved"])
        self.client.settled()
        return saved


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def sit_down(browser: Browser) -> Iterator[Callable[..., Reader]]:
    """Open a studio with a few labels, at its history."""
    moons = bt.two_moons(N, random_state=0)
    truth = ["left" if target == 0 else "right" for target in moons.targets]
    table = {
        "id": [f"r{row}" for row in range(N)],
        "x": moons.points[:, 0],
        "y": moons.points[:, 1],
        "kind": [one if row % 10 == 0 else None for row, one in enumerate(truth)],
    }
    options = TableOptions(label="kind", id="id", features=("x", "y"), min_classes=0)
    with (
        Studio.open(table, options, LearningOptions()) as studio,
        open_page(browser) as page,
    ):
        client = Client(studio.url)
        client.settled()
        one = Reader(page, studio._desk, client, truth)

        def come(*rows: int, **size: int) -> Reader:
            if size:
                page.set_viewport_size(size)
            if rows:
                one.label(*rows)
            page.goto(studio.url)
            page.locator('a[href="#history"]').click()
            page.locator("#events li").first.wait_for()
            return one

        yield come


def test_events_and_curves_are_shown_and_grow_with_what_happens(sit_down):
    one = sit_down(1, 2, 3)
    one.see("#events li", "You called row r3")
    one.see("#events li", "The data brought labels of 16 rows")
    assert one.page.locator("#accepted-chart svg polyline.curve").count() == 1
    one.client.audit()
    one.page.locator("#accuracy-chart svg .band, #accuracy-chart svg .range").first.wait_for()
    said = one.page.locator("#accuracy-chart svg").get_attribute("aria-label")
    assert "Held-out accuracy against labels given" in said
    one.label(4)
    one.see("#events li", "called row r4")
    assert one.page.locator("#moment").get_attribute("max") == "7"


def test_a_moment_is_looked_at_and_nothing_is_changed(sit_down):
    one = sit_down(1, 2, 3)
    one.look(4)
    one.see("#looking", "Nothing is changed.")
    one.see("#moment-words", "After event 4 of 6")
    assert one.n_drawn_as_given == N_GIVEN + 1
    assert one.page.locator('#events li[aria-current="true"]').get_attribute("data-event") == "4"
    one.label(5)  # somebody labels meanwhile, and the moment stays
    one.see("#events li", "called row r5")
    one.see("#moment-words", "After event 4 of 7")
    one.page.keyboard.press("Escape")
    one.page.locator("#looking .notice").wait_for(state="detached")
    one.see("#moment-words", "Now, after 7 events: 20 labels")
    assert len(one.desk.project.events) == 7


def test_the_map_of_a_moment_is_its_own_and_comes_back(sit_down):
    one = sit_down(1, 2, 3)
    one.page.locator('a[href="#map"]').click()
    one.see("#legend", "left")
    before = one.page.locator("#legend").inner_text()
    one.page.locator('a[href="#history"]').click()
    one.look(2)  # before the data brought their labels
    one.page.locator('a[href="#map"]').click()
    one.see("#legend", f"no label{N}")
    assert "left" not in one.page.locator("#legend").inner_text()
    one.page.keyboard.press("Escape")
    one.see("#legend", "left")
    assert one.page.locator("#legend").inner_text() == before


def test_labels_are_refused_with_a_word_while_one_looks_at_the_past(sit_down):
    one = sit_down(1, 2, 3)
    one.look(4)
    for key in ("1", "Enter", "z", "Delete"):
        one.page.locator("#said").evaluate("line => { line.textContent = ''; }")
        one.page.locator("#looking").click()
        one.page.keyboard.press(key)
        one.see("#said", "nothing can be labelled")
    one.page.locator('a[href="#map"]').click()
    one.page.locator("#search input").fill("r159")
    one.page.locator("#search input").press("Enter")
    one.see("#selection-title", "r159")
    assert one.page.locator("#bar").is_hidden()
    one.page.keyboard.press("1")
    one.see("#said", "nothing can be labelled")
    assert len(one.desk.project.events) == 6
    one.page.locator('a[href="#queue"]').click()  # there one works with what is now
    one.page.locator("#looking .notice").wait_for(state="detached")
    one.page.locator("#item[data-row]").wait_for()


def test_one_returns_after_a_question_and_comes_forth_again(sit_down):
    one = sit_down(1, 2, 3)
    one.look(4)
    one.page.get_by_role("button", name="Return to this moment").click()
    one.see("dialog", "2 rows would have none any more")
    one.see("dialog", "Nothing is lost")
    one.page.get_by_role("button", name="Leave it").click()
    assert len(one.desk.project.events) == 6
    one.page.get_by_role("button", name="Return to this moment").click()
    one.page.locator("dialog").get_by_role("button", name="Return").click()
    one.see("#events li", "returned to the moment after event 4")
    one.see("#events li.fallen", "returned from")
    one.see("#moment-words", f"Now, after 7 events: {N_GIVEN + 1} labels")
    assert one.page.locator("#looking .notice").count() == 0
    one.look(6)
    one.page.get_by_role("button", name="Return to this moment").click()
    one.page.locator("dialog").get_by_role("button", name="Return").click()
    one.see("#moment-words", f"Now, after 8 events: {N_GIVEN + 3} labels")
    assert {1, 2, 3} <= set(one.desk.project.state.labels)


def test_the_slider_and_arrows_move_over_moments(sit_down):
    one = sit_down(1, 2, 3)
    one.page.locator("#moment").focus()
    one.page.keyboard.press("ArrowLeft")
    one.see("#looking", "after event 5,")
    one.page.locator("#past-title").click()
    one.page.keyboard.press("ArrowLeft")
    one.see("#looking", "after event 4,")
    one.page.keyboard.press("ArrowRight")
    one.see("#looking", "after event 5,")
    one.page.keyboard.press("ArrowRight")
    one.page.locator("#looking .notice").wait_for(state="detached")


def test_a_replay_plays_is_paused_and_ends(sit_down):
    one = sit_down(1, 2, 3, 4, 5, 6, 7, 8)
    one.page.keyboard.press("p")
    one.see("#looking", "after event")
    one.page.keyboard.press("p")
    one.page.get_by_role("button", name="Replay from here").wait_for()
    held = one.page.locator("#moment-words").inner_text()
    one.page.wait_for_timeout(700)
    assert one.page.locator("#moment-words").inner_text() == held
    one.page.keyboard.press("p")
    one.see("#moment-words", "Now, after 11 events")  # it ends where it is now
    one.page.keyboard.press("p")
    one.page.get_by_role("button", name="Pause").wait_for()
    one.page.keyboard.press("Escape")
    one.see("#moment-words", "Now, after 11 events")
    assert len(one.desk.project.events) == 11


def test_what_people_typed_is_text(sit_down):
    one = sit_down()
    one.client.ask("/api/labels", {"rows": [3], "label": HOSTILE, "how": "key"})
    one.see("#events li", f"called row r3 “{HOSTILE}”")
    one.look(3)
    assert one.page.locator("#events img").count() == 0


def test_an_open_round_is_not_told_on_the_page(sit_down):
    one = sit_down()
    one.client.ask("/api/audit/draw", {})
    row = one.client.ask("/api/audit/card")["card"]["row"]
    one.client.ask("/api/audit/answer", {"row": row, "answer": one.truth[row]})
    one.see("#events li", "answered a row of the open round")
    assert f"row r{row}" not in one.page.locator("#events").inner_text()


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_page(sit_down, width):
    one = sit_down(1, 2, 3, width=width, height=844)
    one.look(4)
    assert one.page.evaluate("document.documentElement.scrollWidth") <= width
