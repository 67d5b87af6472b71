"""The widget's module in a real browser, with a real widget in the kernel's place."""

import numpy as np
import pytest
from tests.support.chromium import open_browser
from tests.support.notebook_stage import open_notebook

import beltrami as bt

pytestmark = pytest.mark.usefixtures("few_trees")

HOSTILE = "<img src=x onerror=alert(1)>"
MOONS = bt.two_moons(120, random_state=0)


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


@pytest.fixture
def widget():
    columns = {
        "name": [f"{HOSTILE} {row}" for row in range(120)],
        "x": MOONS.points[:, 0],
        "y": MOONS.points[:, 1],
        "kind": [f"moon {MOONS.targets[row]}" if row % 20 == 0 else "" for row in range(120)],
    }
    made = bt.LabelWidget(columns, "kind", id="name", features=["x", "y"])
    yield made
    made.close()


@pytest.fixture
def notebook(browser, widget):
    with open_notebook(browser, widget) as opened:
        yield opened


def test_what_is_drawn_around_is_selected_labelled_and_taken_back(notebook, widget):
    root = notebook.show()
    before = widget.labels
    notebook.lasso(root, 0.02, 0.02, 0.5, 0.98)
    notebook.rest()
    chosen = widget.selection
    assert 5 < len(chosen) < 115
    assert f"{len(chosen)} rows are selected." in root.locator(".words-line").inner_text()
    root.get_by_label("Name of a class").fill("a third")
    root.get_by_role("button", name="Label", exact=True).click()
    notebook.rest()
    ids = [f"{HOSTILE} {row}" for row in chosen]
    assert [widget.labels[name] for name in ids] == ["a third"] * len(ids)
    assert widget.selection == []
    assert root.get_by_role("button", name="a third").is_visible()
    root.get_by_role("button", name="Undo").click()
    notebook.rest()
    assert widget.labels == before


def test_keys_label_what_is_selected_and_reach_no_host(notebook, widget):
    root = notebook.show()
    notebook.page.evaluate("addEventListener('keydown', () => { document.title = 'heard'; })")
    widget.selection = [5]
    notebook.push()
    root.locator("canvas.points").focus()
    notebook.page.keyboard.press("2")
    notebook.rest()
    assert widget.labels[f"{HOSTILE} 5"] == "moon 1"
    notebook.page.keyboard.press("z")
    notebook.rest()
    assert f"{HOSTILE} 5" not in widget.labels
    assert notebook.page.title() == "notebook"
    assert root.get_attribute("data-lm-suppress-shortcuts") == "true"


def test_a_label_can_be_taken_away_and_is_said_to_be_replaced(notebook, widget):
    root = notebook.show()
    widget.selection = [0]
    notebook.push()
    assert "which has a label" in root.locator(".words-line").inner_text()
    root.get_by_role("button", name="No label").click()
    notebook.rest()
    assert f"{HOSTILE} 0" not in widget.labels
    assert root.get_by_role("button", name="No label").is_hidden()


def test_the_row_under_the_pointer_is_shown_as_text(notebook):
    root = notebook.show()
    box = root.locator("canvas.points").bounding_box()
    card = root.locator(".card")
    for step in range(60):
        notebook.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 7 * step)
        notebook.page.wait_for_timeout(110)
        if card.is_visible():
            break
    assert HOSTILE in card.inner_text()
    assert card.locator("img").count() == 0


def test_a_second_display_shows_the_same_and_both_follow(notebook, widget):
    first, second = notebook.show(), notebook.show("second", in_shadow=True)
    notebook.lasso(first, 0.02, 0.02, 0.5, 0.98)
    notebook.rest()
    words = first.locator(".words-line").inner_text()
    assert f"{len(widget.selection)} rows" in words
    assert second.locator(".words-line").inner_text() == words
    second.get_by_role("button", name="moon 1").click()
    notebook.rest()
    sizes = [one.locator(".sizes").all_inner_texts() for one in (first, second)]
    assert sizes[0] == sizes[1]
    assert int(sizes[0][1].split(" + ")[0]) > 40
    notebook.page.evaluate("ends[0]()")
    widget.undo()
    notebook.push()
    assert second.locator(".sizes").all_inner_texts() != sizes[1]
    assert first.locator(".sizes").all_inner_texts() == sizes[0]


@pytest.mark.parametrize(
    ("host", "theme"),
    [
        ("document.body.dataset.jpThemeLight = 'false'", "dark"),
        ("document.body.dataset.jpThemeLight = 'true'", "light"),
        ("document.body.classList.add('dark', 'dark-theme')", "dark"),
        ("document.body.classList.add('light')", "light"),
    ],
    ids=["jupyter dark", "jupyter light", "marimo dark", "marimo light"],
)
def test_the_look_is_the_hosts_and_follows_it(notebook, host, theme):
    other = "light" if theme == "dark" else "dark"
    notebook.page.emulate_media(color_scheme=other)
    root = notebook.show()
    look = "(el) => [el.style.colorScheme, getComputedStyle(el).backgroundColor]"
    system = root.evaluate(look)
    assert system[0] == other
    notebook.page.evaluate(host)
    notebook.rest()
    chosen = root.evaluate(look)
    assert chosen[0] == theme
    assert chosen[1] != system[1]


def test_a_silent_kernel_is_spoken_of_and_nothing_is_called_labelled(notebook, widget):
    notebook.page.clock.install()
    root = notebook.show()
    widget.selection = [7]
    notebook.push()
    notebook.is_silent = True
    root.get_by_role("button", name="moon 0").click()
    notebook.page.clock.run_for(600)
    assert root.locator(".waiting").inner_text() == "The kernel is at work."
    notebook.page.clock.run_for(9000)
    assert "does not answer" in root.locator(".waiting").inner_text()
    assert "run the cell of this map again" in root.locator(".waiting").inner_text()
    assert root.get_by_role("button", name="moon 0").is_disabled()
    assert f"{HOSTILE} 7" not in widget.labels


def test_a_kernel_that_has_ended_is_said_to_have(notebook, widget):
    root = notebook.show()
    widget.selection = [7]
    notebook.push()
    notebook.page.evaluate("() => { model.send = () => { throw new Error('no way'); }; }")
    root.get_by_role("button", name="moon 0").click()
    notebook.rest()
    assert "kernel of this map has ended" in root.locator(".problem").inner_text()
    assert root.locator(".waiting").inner_text() == ""
    assert root.get_by_role("button", name="moon 0").is_enabled()


def test_an_error_of_the_kernel_is_shown_and_the_selection_stays(notebook, widget):
    root = notebook.show()
    widget.selection = [7]
    notebook.push()
    root.get_by_label("Name of a class").fill("x" * 3000)
    root.get_by_role("button", name="Label", exact=True).click()
    notebook.rest()
    assert root.locator(".problem").inner_text().startswith("Not labelled: ")
    assert widget.selection == [7]
    assert f"{HOSTILE} 7" not in widget.labels


def test_a_map_that_was_closed_says_so(notebook, widget):
    root = notebook.show()
    widget.selection = [7]
    widget._session.close()
    notebook.push()
    assert "go on with the newer one" in root.locator(".words-line").inner_text()
    assert root.get_by_role("button", name="moon 0").is_disabled()


def test_many_classes_are_typed(browser):
    names = [f"class {number:02}" for number in range(40)]
    columns = {"x": np.arange(200.0), "kind": names + [""] * 160}
    many = bt.LabelWidget(columns, "kind")
    with open_notebook(browser, many) as notebook:
        root = notebook.show()
        assert root.locator(".classes button").count() == 25  # and one to take labels away
        many.selection = [150]
        notebook.push()
        assert "one of 40" in root.get_by_label("Name of a class").get_attribute("placeholder")
        root.get_by_label("Name of a class").fill("class 39")
        root.get_by_label("Name of a class").press("Enter")
        notebook.rest()
        assert many.labels[150] == "class 39"
        assert len(many._facts["classes"]) == 40
    many.close()
