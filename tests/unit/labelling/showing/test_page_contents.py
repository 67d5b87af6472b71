"""What the page of a labelling shows of its rows."""

import base64
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import beltrami as bt
from beltrami.labelling.showing.page import page_of

pytestmark = pytest.mark.usefixtures("few_trees")

N = 160


def labelled(extra: dict[str, Any] | None = None, **options: Any) -> "bt.Labelling":
    """Two far groups and an island, with one wrong label, in the first row."""
    rng = np.random.default_rng(0)
    side = np.arange(N) % 2
    x = rng.normal(size=N) + 8 * side
    x[-30:] += 60
    table = {
        "id": [f"r{i}" for i in range(N)],
        "x": x,
        "z": rng.normal(size=N),
        "colour": ["mauve", *(["red", "blue"] * N)[: N - 1]],
        "label": ["b", *("ab"[i % 2] if i < 40 else None for i in range(1, N))],
    }
    return bt.label(table | (extra or {}), n_questions=5, features=["x"], **options)


def test_lists_show_the_cells_of_their_rows() -> None:
    found = labelled()
    page = page_of(found, with_map=False)
    asked = [one.id for one in page.questions]
    examples = [name for one in page.islands for name in one.examples]
    assert examples
    assert {*asked, *(one.id for one in page.issues), *examples} == set(page.views)
    assert [one.id for one in page.issues] == ["r0"]
    names = [name for name, _, _ in page.views["r0"].cells]
    assert names == ["x", "z", "colour"]
    assert page.views["r0"].cells[2] == ("colour", "mauve", "no other row has this")
    assert page.previews is not None
    assert page.previews(np.array([0]))[0].startswith("x: 0.12573, z: ")
    assert (page.pictures, page.pictures_note) == ({}, "")


def test_lists_show_the_beginning_of_a_text_and_say_where_it_was_cut() -> None:
    texts = [f"the text of row number {i} goes on and on " * 20 for i in range(N)]
    page = page_of(labelled({"text": texts}, text=["text"]), with_map=False)
    name = page.questions[0].id
    view = page.views[name]
    assert view.text == texts[int(name[1:])][:319] + "…"
    assert [name for name, _, _ in view.cells] == ["x", "z", "colour"]


def test_lists_prefer_unusual_cells_and_count_the_others() -> None:
    many = {f"n{i}": np.arange(N) % (3 + i) for i in range(12)}
    page = page_of(labelled(many | {"last": ["odd", *["even"] * (N - 1)]}), with_map=False)
    view = page.views["r0"]
    assert len(view.cells) == 6
    assert [(name, odd) for name, _, odd in view.cells if odd] == [
        ("colour", "no other row has this"),
        ("last", "no other row has this"),
    ]
    assert view.n_more == 16 - 6


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for number in range(N):
        pixels = rng.integers(0, 80, (20, 30)) + 120 * (number % 2)
        Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / f"{number:03d}.png")
    return tmp_path


def page_of_pictures(folder: Path) -> Any:
    given = {"id": [f"{i:03d}.png" for i in range(30)], "label": ["ab"[i % 2] for i in range(30)]}
    return bt.label(folder, labels=given, n_questions=5)


def test_pictures_are_small_png_of_all_rows_where_they_fit(folder: Path) -> None:
    page = page_of(page_of_pictures(folder), with_map=False)
    assert set(page.pictures) == {f"{i:03d}.png" for i in range(N)}
    assert page.pictures_note == "Pictures are copies of at most 64 pixels."
    with Image.open(io.BytesIO(base64.b64decode(page.pictures["007.png"]))) as image:
        assert (image.format, image.size) == ("PNG", (30, 20))


def test_pictures_of_the_rows_that_lists_name_come_first_and_the_limit_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = page_of_pictures(folder)
    monkeypatch.setattr("beltrami.labelling.showing.page_contents._PICTURE_BYTES", 20_000)
    page = page_of(found, with_map=False)
    assert {one.id for one in page.questions} <= set(page.pictures) != set(page.ids)
    assert sum(map(len, page.pictures.values())) <= 20_000
    note = re.fullmatch(
        r"Pictures are copies of at most 64 pixels, of (\d+) of 160 rows: all rows that lists name "
        r"and others at random, as many as fit into 20 kB\.",
        page.pictures_note,
    )
    assert note is not None
    assert int(note.group(1)) == len(page.pictures)
    again = page_of(found, with_map=False)
    assert again.pictures == page.pictures


def test_a_picture_that_is_gone_leaves_the_rest(folder: Path) -> None:
    found = page_of_pictures(folder)
    asked = found.questions[0].row
    (folder / f"{asked:03d}.png").unlink()
    page = page_of(found, with_map=False)
    assert len(page.pictures) == N - 1
    assert f"{asked:03d}.png" in page.views


def test_the_report_of_a_table_and_of_pictures_is_one_file(folder: Path, tmp_path: Path) -> None:
    html = labelled().report(tmp_path / "table.html").read_text("utf-8")
    assert "no other row has this" in html
    html = page_of_pictures(folder).report(tmp_path / "pictures.html").read_text("utf-8")
    assert html.count("data:image/png;base64,") >= 5
