"""The audit on the studio's page in a real browser, with the real server behind it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

N = 200
GUESSED = re.compile(r"(Perhaps|sure)\b")


@dataclass
class Auditor:
    """A person before the page, who knows what each row is."""

    page: Page
    desk: Desk
    client: Client
    truth: list[str]

    @property
    def row(self) -> int:
        return int(self.page.locator("#audit-card[data-row]").get_attribute("data-row") or "")

    def see(self, selector: str, words: str) -> None:
        self.page.locator(selector, has_text=words).first.wait_for(timeout=1000 * PATIENCE_S)

    def answer(self, n: int, *, wrong: int = 0) -> None:
        """Answer cards by the keys of the classes, the first few wrongly."""
        for place in range(n):
            row = self.row
            key = {"left": "1", "right": "2"}[self.truth[row]]
            self.page.keyboard.press(key if place >= wrong else {"1": "2", "2": "1"}[key])
            gone = f'#audit-card:not([data-row="{row}"])'
            self.page.locator(gone).wait_for(state="attached")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def sit_down(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Auditor]]:
    """Open a studio in which all is labelled rightly, at the audit."""
    moons = bt.two_moons(N, random_state=0)
    truth = ["left" if target == 0 else "right" for target in moons.targets]
    table = {
        "x": moons.points[:, 0],
        "y": moons.points[:, 1],
        "kind": [one if row % 5 == 0 else None for row, one in enumerate(truth)],
    }
    options = TableOptions(label="kind", features=("x", "y"), min_classes=0)
    with (
        Studio.open(table, options, LearningOptions()) as studio,
        open_page(browser) as page,
    ):
        client = Client(studio.url)
        client.settled()
        page.goto(studio.url)

        def come(n_answered: int = 0, **size: int) -> Auditor:
            if size:
                page.set_viewport_size(size)
            if n_answered:
                client.ask("/api/audit/draw", {})
            for _ in range(n_answered):
                row = client.ask("/api/audit/card")["card"]["row"]
                client.ask("/api/audit/answer", {"row": row, "answer": truth[row]})
            page.locator('a[href="#audit"]').click()
            page.locator("#risk-words:not(:empty)").wait_for()
            return Auditor(page, studio._desk, client, truth)

        yield come


def test_an_audit_by_keys_ends_in_a_proof(sit_down):
    one = sit_down()
    one.see("#audit-sentence", "Nothing is proved yet")
    assert one.page.locator("#audit-act button.loud").is_visible()
    one.page.get_by_role("button", name="Draw rows to check").press("Enter")
    one.see("#audit-count", "Round 1: row 1 of 65")
    assert "guess" not in one.page.locator("#audit-card").inner_html()
    assert not GUESSED.search(one.page.locator("#proof").inner_text())
    one.answer(64)
    one.see("#audit-count", "row 65 of 65")
    assert one.page.locator("#audit-sentence").inner_text() == ""  # nothing before the end
    one.answer(1)
    one.see("#audit-sentence.proved", "You may stop: at least 9")
    one.see("#audit-left", "95 % is proved.")
    assert one.page.locator("#audit-act button.quiet").is_visible()
    proof = one.client.audit()["certificate"]
    assert (proof["n_answers"], proof["n_wrong"]) == (65, 0)
    assert one.page.locator("body").get_attribute("data-view") == "audit"


def test_wrong_and_blank_answers_leave_words_on_what_is_missing(sit_down):
    one = sit_down(60)
    one.see("#audit-count", "row 61 of 65")
    row = one.row
    one.page.keyboard.press("u")
    one.page.locator(f'#audit-card:not([data-row="{row}"])').wait_for(state="attached")
    one.answer(4, wrong=3)
    one.see("#audit-sentence", "3 were wrong and 1 left blank")
    one.see("#audit-left", "95 % is not proved")
    assert not one.page.locator("#audit-sentence.proved").count()


def test_a_label_given_meanwhile_makes_the_proof_stale(sit_down):
    one = sit_down(65)
    one.see("#audit-sentence.proved", "You may stop")
    one.client.ask("/api/labels", {"rows": [1, 2, 3, 4], "label": "another"})
    one.see("#audit-left", "have changed since the rows were drawn")
    assert not one.page.locator("#audit-sentence.proved").count()
    assert "You may stop" not in one.page.locator("main").inner_text()


def test_the_slider_says_how_many_labels_a_risk_accepts_and_sets_it(sit_down):
    one = sit_down()
    one.see("#risk-words", "Every answer is accepted: 160 labels")
    one.page.locator("#risk").focus()
    with one.page.expect_response("**/api/audit/risk"):
        for _ in range(11):
            one.page.keyboard.press("ArrowLeft")
    one.see("#risk-words", "At most 0.5 % wrong, by our estimate")
    accepted = one.client.audit()["accepted"]
    one.see("#risk-words", f"{accepted} labels of ours")
    assert one.desk.project.state.risk == 0.005
    facts = one.page.locator("#risk-facts").inner_text()
    assert "Estimated" in facts
    assert "Measured" in facts


def test_the_slider_stays_where_it_rests_until_the_studio_knows_of_it(sit_down):
    one = sit_down()
    one.page.locator("#risk").focus()
    held: list[Any] = []
    is_held = True

    def hold(route):
        if is_held:
            held.append(route)
        else:
            route.continue_()

    one.page.route("**/api/audit", hold)
    with one.page.expect_response("**/api/audit/risk"):
        for _ in range(11):
            one.page.keyboard.press("ArrowLeft")
    one.page.wait_for_timeout(300)
    one.see("#risk-words", "At most 0.5 % wrong")
    for route in held:
        route.continue_()
    is_held = False
    one.page.locator("#risk-words", has_text=f"{one.client.audit()['accepted']} labels").wait_for()
    one.see("#risk-words", "At most 0.5 % wrong")


def test_a_class_that_was_forgotten_is_an_answer_as_well(sit_down):
    one = sit_down()
    one.page.keyboard.press("d")
    one.see("#audit-count", "row 1 of 65")
    one.page.keyboard.press("n")
    one.page.keyboard.type("neither")
    one.page.keyboard.press("Enter")
    one.see("#audit-count", "row 2 of 65")
    assert list(one.desk.project.state.audits.answers.values()) == ["neither"]


def test_z_takes_no_label_back_while_a_card_lies_open(sit_down):
    one = sit_down()
    one.client.ask("/api/labels", {"rows": [1], "label": one.truth[1], "how": "key"})
    one.client.settled()
    one.page.keyboard.press("d")
    one.see("#audit-count", "row 1 of 65")
    given = dict(one.desk.project.state.labels)
    one.page.keyboard.press("z")
    one.see("#said", "An answer in an audit is final")
    assert dict(one.desk.project.state.labels) == given


def test_an_answer_counts_where_its_card_comes_a_second_time(sit_down):
    one = sit_down()
    held: list[Any] = []

    def hold(route):
        held.append(route)

    one.page.route("**/api/audit/card", hold)
    one.page.keyboard.press("d")
    one.page.wait_for_timeout(300)
    first, *late = held
    first.continue_()
    one.see("#audit-count", "row 1 of 65")
    one.page.keyboard.press("n")
    one.page.keyboard.type("neither")
    for route in late:
        route.continue_()
    one.page.wait_for_timeout(300)
    one.page.unroute("**/api/audit/card")
    one.page.keyboard.press("Enter")
    one.see("#audit-count", "row 2 of 65")


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_page(sit_down, width):
    one = sit_down(width=width, height=844)
    one.page.keyboard.press("d")
    one.see("#audit-count", "row 1 of 65")
    assert one.page.evaluate("document.documentElement.scrollWidth") <= width
