"""The widget without a browser: traits, labels, undo, errors."""

import builtins
import importlib
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import traitlets
from numpy.testing import assert_array_equal

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.notebook import missing
from beltrami.project import AREA_WEIGHT, ProjectError
from beltrami.studio_server.wire.frames import ANSWERS, PLACES

pytestmark = pytest.mark.usefixtures("few_trees")

MOONS = bt.two_moons(80, random_state=0)
POINTS, N = {"x": MOONS.points[:, 0], "y": MOONS.points[:, 1]}, 80
KINDS = [f"moon {target}" if row % 20 < 2 else "" for row, target in enumerate(MOONS.targets)]


class Page:
    """What a page would hear and say."""

    def __init__(self, widget):
        self.widget, self.answers = widget, []
        widget.send = lambda content, buffers=None: self.answers.append(content)

    def ask(self, **request):
        self.widget._hear(self.widget, {"number": "me:1", **request}, [])
        assert self.answers[-1]["to"] == "me:1"
        return self.answers[-1]


@pytest.fixture
def widget():
    made = bt.LabelWidget(POINTS | {"kind": KINDS}, "kind")
    yield made
    made.close()


@pytest.fixture
def bare():
    made = bt.LabelWidget(POINTS)
    yield made
    made.close()


def test_labels_of_the_table_are_there_and_answered(widget):
    assert set(widget.labels.values()) == {"moon 0", "moon 1"}
    assert list(widget.labels) == [row for row in range(N) if KINDS[row]]
    assert widget._places[4] == PLACES
    assert widget._answers[4] == ANSWERS
    assert f"{N - len(widget.labels)} rows labelled from your" in widget._facts["headline"]
    assert repr(widget) == f"<LabelWidget of dict: 80 rows, {len(widget.labels)} labels>"


def test_a_label_changes_the_trait_and_the_map_and_is_observed(widget):
    seen, before = [], widget._answers
    widget.observe(lambda change: seen.append(change["new"]), "labels")
    assert Page(widget).ask(do="label", rows=[5, 6], label="a third") == {"to": "me:1"}
    assert (widget.labels[5], widget.labels[6]) == ("a third", "a third")
    assert seen == [widget.labels]
    assert widget._answers != before
    assert [one["name"] for one in widget._facts["classes"]][-1] == "a third"


def test_everything_can_be_taken_back_and_no_more(widget):
    page, before = Page(widget), widget.labels
    page.ask(do="label", rows=[5], label="moon 0")
    page.ask(do="label", rows=[0], label=None)
    assert 0 not in widget.labels
    assert widget.undo()
    assert page.ask(do="undo")["undone"]
    assert widget.labels == before
    assert not widget.undo()
    assert not page.ask(do="undo")["undone"]


def test_a_persons_label_stays_whatever_is_learned_or_judged(widget):
    page = Page(widget)
    wrong = "moon 1" if MOONS.targets[7] == 0 else "moon 0"
    page.ask(do="label", rows=[7], label=wrong)
    for row in (30, 50, 70):
        page.ask(do="label", rows=[row], label=f"moon {MOONS.targets[row]}")
    widget.settle()
    assert widget.labels[7] == wrong
    assert widget.result().columns["label"][7] == wrong


def test_labels_of_an_area_count_a_quarter(widget):
    page = Page(widget)
    page.ask(do="label", rows=[3, 4], label="moon 0")
    page.ask(do="label", rows=[5], label="moon 0")
    found = widget.result()
    assert_array_equal(found.intake.weights[[3, 4, 5]], [AREA_WEIGHT, AREA_WEIGHT, 1.0])
    assert found.intake.origins["how"][[3, 5]].tolist() == ["area", "click"]


def test_the_result_is_that_of_a_fresh_labelling(widget):
    for row in range(10, 14):
        Page(widget).ask(do="label", rows=[row], label=f"moon {MOONS.targets[row]}")
    kinds = [widget.labels.get(row, "") for row in range(N)]
    fresh = bt.label(POINTS | {"kind": kinds}, "kind")
    found = widget.result()
    for name in ("label", "source", "confidence", "ask_rank"):
        assert_array_equal(found.columns[name], fresh.columns[name])


def test_without_two_classes_there_is_no_result(bare):
    with pytest.raises(InvalidInputError, match=r"labels of 0 class\(es\), and 2 are needed"):
        bare.result()
    Page(bare).ask(do="label", rows=[1, 2], label="one")
    with pytest.raises(InvalidInputError, match=r"labels of 1 class\(es\)"):
        bare.result()
    bare.settle()
    assert bare.labels == {1: "one", 2: "one"}


@pytest.mark.parametrize(
    ("rows", "kept"),
    [([3, 1], [1, 3]), ((2,), [2]), (np.array([9, 9]), [9]), (pd.Index([4]), [4]), ([], [])],
    ids=["list", "tuple", "numpy", "pandas", "none"],
)
def test_a_selection_is_a_sorted_list_of_rows(bare, rows, kept):
    bare.selection = rows
    assert bare.selection == kept
    assert all(type(row) is int for row in bare.selection)


@pytest.mark.parametrize("rows", [[80], [-1], [1.5], ["1"], [True], [None]], ids=str)
def test_what_is_no_row_cannot_be_selected(bare, rows):
    with pytest.raises(traitlets.TraitError, match="is no row: rows are counted from 0 to 79"):
        bare.selection = rows
    assert bare.selection == []


def test_labels_can_be_read_and_not_be_set(widget):
    with pytest.raises(traitlets.TraitError, match="read-only"):
        widget.labels = {}


@pytest.mark.parametrize(
    "request_",
    [
        {"do": "label", "rows": [80], "label": "a"},
        {"do": "label", "rows": [], "label": "a"},
        {"do": "label", "rows": [-1], "label": "a"},
        {"do": "label", "rows": [1.5], "label": "a"},
        {"do": "label", "rows": [1], "label": ""},
        {"do": "label", "rows": [1], "label": 7},
        {"do": "label", "rows": [1], "label": ["a"]},
        {"do": "label", "rows": [0]},
        {"do": "label", "label": "a"},
        {"do": "row", "row": 80},
        {"do": "row"},
        {"do": "row", "row": "1"},
        {"do": "fly"},
        {},
    ],
    ids=str,
)
def test_what_a_page_asks_wrongly_is_refused_in_words_and_changes_nothing(widget, request_):
    before = widget.labels
    assert Page(widget).ask(**request_)["error"]
    assert widget.labels == before


def test_a_message_that_is_no_record_is_refused(widget):
    page = Page(widget)
    widget._hear(widget, "nonsense", [])
    assert page.answers[-1]["error"]


def test_a_row_is_shown_with_all_it_holds(widget):
    item = Page(widget).ask(do="row", row=4)["item"]
    assert item["id"] == "4"
    assert [cell["name"] for cell in item["cells"]] == ["x", "y"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames_with_odd_ids_and_classes_come_back_as_they_are(make):
    names = ["", "  ", "<b>", "naïve 🦋", 'quo"te'] + [f"id {row}" for row in range(5, N)]
    names[:2] = ["a\nb", "c d"]
    kinds = ["☃ <i>", "1"] * 4 + [None] * (N - 8)
    made = bt.LabelWidget(make(POINTS | {"id": names, "kind": kinds}), "kind", id="id")
    assert made.labels == dict(zip(names[:8], kinds[:8], strict=True))
    Page(made).ask(do="label", rows=[4], label="tab\there")
    assert "error" not in Page(made).ask(do="undo")
    made.close()


def test_a_cell_that_is_run_again_takes_the_project_over(tmp_path):
    place = tmp_path / "mine.beltrami"
    first = bt.LabelWidget(POINTS, project=place)
    Page(first).ask(do="label", rows=[1], label="one")
    second = bt.LabelWidget(POINTS, project=place)
    assert second.labels == first.labels == {1: "one"}
    assert first._facts["is_over"]
    assert not second._facts["is_over"]
    assert "opened anew" in Page(first).ask(do="label", rows=[2], label="two")["error"]
    with pytest.raises(ProjectError, match="opened anew"):
        first.undo()
    Page(second).ask(do="label", rows=[2], label="two")
    assert second.labels == {1: "one", 2: "two"}
    assert "kept in mine.beltrami" in second._facts["kept"]
    second.close()
    assert second.labels == {1: "one", 2: "two"}


def test_labels_of_data_in_memory_are_said_to_last_as_long_as_the_kernel(bare):
    folder = bare._session.path.parent
    assert "as long as this kernel" in bare._facts["kept"]
    assert folder.exists()
    bare.close()
    assert not folder.exists()


def test_a_label_that_could_not_be_learned_is_saved_and_that_is_said(widget, monkeypatch):
    def fail(*_):
        raise MemoryError("no room")

    monkeypatch.setattr(widget._session._desk.learning.learner, "update", fail)
    error = Page(widget).ask(do="label", rows=[5], label="moon 0")["error"]
    assert error.startswith("the label is saved, but the map could not learn from it")
    assert widget.labels[5] == "moon 0"


def test_a_fault_of_ours_is_said_to_the_page_and_raised(widget, monkeypatch):
    def fail(*_):
        raise RuntimeError("broken")

    page = Page(widget)
    monkeypatch.setattr(widget._session, "item", fail)
    with pytest.raises(RuntimeError, match="broken"):
        page.ask(do="row", row=1)
    assert "RuntimeError: broken" in page.answers[-1]["error"]


def test_a_table_that_cannot_be_read_leaves_nothing_behind():
    with pytest.raises(InvalidInputError):
        bt.LabelWidget({"x": []})
    with pytest.raises(bt.BeltramiError):
        bt.LabelWidget("no such file.csv")


def test_without_anywidget_the_name_is_there_and_says_what_to_install(monkeypatch):
    import beltrami.notebook as room

    def refuse(name, *rest):
        if name.partition(".")[0] in ("anywidget", "traitlets"):
            raise ImportError(name)
        return real(name, *rest)

    real = builtins.__import__
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "__import__", refuse)
        for name in ("anywidget", "beltrami.notebook.widget"):
            patch.delitem(sys.modules, name, raising=False)
        assert importlib.reload(room).LabelWidget is missing.LabelWidget
    with pytest.raises(ImportError, match=r'pip install "beltrami\[widget\]"'):
        missing.LabelWidget(POINTS, label="kind")
    importlib.reload(room)
