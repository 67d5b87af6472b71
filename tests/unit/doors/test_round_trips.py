"""What leaves through a door comes back the same, however odd it is."""

import warnings
from contextlib import closing

import pytest
from tests.support.door_rows import FILES, ODD, WITH_USERS, opened, said, send, take

from beltrami.project import open_project
from beltrami.tables import TableOptions

ODD_IDS = [*ODD, "two\nlines", "tab\there", "\r", '"', "'", "end ", " ", "\u2028", "a\x1bb", "ID"]


@pytest.fixture
def called():
    return [*ODD_IDS, "a gap", "another"]


@pytest.fixture
def answers():
    """An odd class, person and id for each row, and two gaps."""
    people = [*ODD, "ann", "a@b.org", "Zoë"]
    hows = ("key", "area", "click")
    return [
        (ODD[row % len(ODD)], people[-row % len(people)], hows[row % 3])
        for row in range(len(ODD_IDS))
    ]


@pytest.mark.parametrize("form", FILES)
@pytest.mark.parametrize("is_numbered", [False, True], ids=["ids", "row numbers"])
def test_every_odd_class_person_and_id_comes_back(form, is_numbered, called, answers, tmp_path):
    called = len(called) if is_numbered else called
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cells that look like formulas
        with opened(called, tmp_path / "a.beltrami", answers) as first:
            path, before = send(first, form, tmp_path), said(first)
    with opened(called, tmp_path / "b.beltrami") as second:
        assert take(second, path).counts["imported"] == len(ODD_IDS)
        after = said(second)
    if form not in WITH_USERS:
        before = {name: (label, "me", False) for name, (label, _, _) in before.items()}
    assert after == before


@pytest.mark.parametrize("form", FILES)
def test_columns_of_the_data_are_not_taken_for_ours(form, tmp_path):
    """The data have ids and labels of their own, under other names, which go along."""
    cells = (f"k{i},{i * i % 7},{'x' if i < 2 else ''}" for i in range(6))
    (tmp_path / "data.csv").write_text("\n".join(["key,size,topic", *cells, ""]))
    options = TableOptions(min_classes=0, id="key", label="topic")
    paths = [tmp_path / "a.beltrami", tmp_path / "b.beltrami"]
    with closing(open_project(tmp_path / "data.csv", options, paths[0])) as first:
        first.label("ann", [1, 3], "y", "key")
        path, before = send(first, form, tmp_path), said(first)
    with closing(open_project(tmp_path / "data.csv", options, paths[1])) as second:
        taken = take(second, path, "ann")
        assert said(second) == before
    assert (taken.counts["imported"], taken.n_same, taken.n_replaced) == (2, 1, 1)
