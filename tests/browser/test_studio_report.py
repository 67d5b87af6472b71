"""The report by a click in the studio: a file that opens without a network, on any screen."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.chromium import Browser, open_browser, open_page
from tests.support.studio_client import Client

import beltrami as bt
from beltrami.labelling.options import LearningOptions
from beltrami.studio_server.handle import Studio
from beltrami.tables import TableOptions

pytestmark = pytest.mark.usefixtures("few_trees")

N = 200
OPTIONS = TableOptions(label="kind", features=("x", "y"), min_classes=0)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as opened:
        yield opened


def write_moons(path: Path, every: int) -> list[str]:
    """Write rows of which each so-manieth has a label; return what all of them are."""
    moons = bt.two_moons(N, random_state=0)
    truth = ["left" if target == 0 else "right" for target in moons.targets]
    lines = [
        f"{x:.5f},{y:.5f},{one if row % every == 0 else ''}"
        for row, ((x, y), one) in enumerate(zip(moons.points, truth, strict=True))
    ]
    path.write_text("\n".join(["x,y,kind", *lines, ""]))
    return truth


def audit(client: Client, truth: list[str]) -> None:
    """Draw a round and answer it rightly."""
    client.ask("/api/audit/draw", {})
    while (card := client.ask("/api/audit/card")["card"]) is not None:
        client.ask("/api/audit/answer", {"row": card["row"], "answer": truth[card["row"]]})


@pytest.fixture(scope="module")
def report(browser: Browser, tmp_path_factory, few_trees) -> Path:
    """The file that a click on the page hands over."""
    folder = tmp_path_factory.mktemp("report")
    truth = write_moons(folder / "moons.csv", 5)
    with (
        Studio.open(folder / "moons.csv", OPTIONS, LearningOptions(), user="ann") as studio,
        open_page(browser) as page,
    ):
        client = Client(studio.url)
        for row in range(1, 40, 3):
            client.ask("/api/labels", {"rows": [row], "label": truth[row], "how": "key"})
        client.ask("/api/undo", {})
        client.settled()
        audit(client, truth)
        page.goto(studio.url)
        page.locator('a[href="#data"]').click()
        with page.expect_download() as handed:
            page.get_by_role("button", name="Report").click()
        page.locator("#said", has_text="The report is in your downloads").wait_for()
        assert handed.value.suggested_filename == "moons-report.html"
        handed.value.save_as(folder / "report.html")
    return folder / "report.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_report_opens_without_a_network_on_any_screen(browser, report, width, scheme):
    size = {"width": width, "height": 844}
    with open_page(browser, viewport=size, color_scheme=scheme, offline=True) as page:
        page.goto(report.as_uri())
        page.locator('body[data-state="ready"]').wait_for(state="attached")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("#work tbody tr").first.is_visible()
        assert "95 % is proved." in page.locator("#audit").inner_text()
        words = page.locator("pre.command").inner_text()
        assert words == "beltrami label --project moons.beltrami -o labels.csv"
        assert page.locator("#work .chart").count() == 3  # labels, accepted rows, held-out labels


def test_why_there_is_no_report_is_said_on_the_page(browser, tmp_path):
    write_moons(tmp_path / "moons.csv", 2 * N)
    # What the server refuses, a browser writes to its console.
    context = browser.new_context()
    with Studio.open(tmp_path / "moons.csv", OPTIONS, LearningOptions()) as studio:
        Client(studio.url).settled()
        page = context.new_page()
        page.goto(studio.url)
        page.locator('a[href="#data"]').click()
        page.get_by_role("button", name="Report").click()
        page.locator("#warned", has_text="No report: ").wait_for()
        assert "2 are needed to tell them apart" in page.locator("#warned").inner_text()
        assert page.get_by_role("button", name="Report").is_enabled()
        context.close()
