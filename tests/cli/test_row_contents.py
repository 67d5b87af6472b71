"""Commands show rows, and not only ids."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.support.command_line import Shell

pytestmark = pytest.mark.usefixtures("few_trees")


def rows_of(path: str) -> list[dict[str, str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: str, rows: list[dict[str, Any]]) -> None:
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_data(path: str = "data.csv", n: int = 40, **more: Any) -> None:
    """Two far groups with columns that a person can read; row 0 has the label of the others."""
    rows = [
        {
            "key": f"r{i}",
            "size": f"{i % 2 * 4 + i / n:.3f}",
            "colour": ("red", "blue")[i % 2],
            "kind": "" if i >= 12 else "ba"[i % 2] if i == 0 else "ab"[i % 2],
        }
        | {name: value(i) for name, value in more.items()}
        for i in range(n)
    ]
    write_rows(path, rows)


@pytest.fixture
def data(shell: Shell) -> Shell:
    write_data()
    return shell


def test_suggest_lists_and_writes_what_the_rows_are(data: Shell) -> None:
    out = data("suggest", "data.csv", "--id", "key", "--label", "kind", "-n", "3", "-o", "ask.csv")
    asked = rows_of("ask.csv")
    assert list(asked[0]) == [
        "id", "ask_rank", "reason", "settles", "guess", "label", "size", "colour"
    ]  # fmt: skip
    own = {row["key"]: row for row in rows_of("data.csv")}
    for row in asked:
        assert float(row["size"]) == float(own[row["id"]]["size"])
        assert row["colour"] == own[row["id"]]["colour"]
        shown = f"size: {float(row['size']):g}, colour: {row['colour']}"
        assert f"{row['id']} ({shown}): {row['reason']}" in out
    listed = json.loads(
        data("suggest", "data.csv", "--id", "key", "--label", "kind", "-n", "3", "--json")
    )
    assert listed["questions"][0]["colour"] in {"red", "blue"}


def test_a_filled_in_list_is_read_back_as_labels(data: Shell) -> None:
    write_data(label=lambda i: f"tag {i}", ID=lambda i: i)
    first = ("data.csv", "--id", "key", "--label", "kind")
    data("suggest", *first, "-n", "4", "-o", "ask.csv")
    assert "'label' is called 'data_label', 'ID' is called 'data_ID'" in data.err
    asked = rows_of("ask.csv")
    assert asked[0]["data_label"].startswith("tag ")
    write_rows("ask.csv", [row | {"label": "c"} for row in asked])
    data("label", *first, "--labels", "ask.csv", "-o", "labels.csv")
    found = {row["id"]: row for row in rows_of("labels.csv")}
    for row in asked:
        assert (found[row["id"]]["label"], found[row["id"]]["source"]) == ("c", "human")


def test_check_shows_what_a_doubtful_row_is(data: Shell) -> None:
    write_data(n=120)
    out = data("check", "data.csv", "--id", "key", "--label", "kind", "-o", "issues.csv")
    assert "row r0 (size: 0, colour: red): given b, the others say a" in out
    assert rows_of("issues.csv")[0] | {"score": ""} == {
        "id": "r0", "given": "b", "suggested": "a", "score": "", "sure": "yes", "size": "0",
        "colour": "red",
    }  # fmt: skip


def label(data: Shell, *more: str, out: str = "labels.csv") -> None:
    data("label", "data.csv", "--id", "key", "--label", "kind", "-o", out, *more)


def test_audit_shows_rows_and_never_their_labels(data: Shell) -> None:
    write_data(answer=lambda i: f"mine {i}", note=lambda i: "=1+1" if i == 3 else f"n{i}")
    label(data)
    out = data("audit", "labels.csv", "-n", "5", "-o", "a.csv")
    assert "what the rows are: from data.csv" in out
    assert "'answer' is called 'data_answer'" in data.err
    own = {row["key"]: row for row in rows_of("data.csv")}
    drawn = rows_of("a.csv")
    assert list(drawn[0]) == ["id", "answer", "size", "colour", "data_answer", "note"]
    for row in drawn:
        assert (row["colour"], row["note"]) == (own[row["id"]]["colour"], own[row["id"]]["note"])
    write_rows("a.csv", [row | {"answer": "ab"[int(row["id"][1:]) % 2]} for row in drawn])
    assert "of 5 checked" in data("audit", "labels.csv", "--answers", "a.csv")


def test_audit_finds_the_data_in_another_folder_and_only_if_they_are_the_same(data: Shell) -> None:
    label(data, out="out/labels.csv")
    assert "from data.csv" in data("audit", "out/labels.csv", "-n", "2", "-o", "out/a.csv")
    Path("data.csv").write_text(
        Path("data.csv").read_text().replace("r39,4.975", "r39,5.975"), encoding="utf-8"
    )
    said = data("audit", "out/labels.csv", "-o", "out/b.csv")
    assert "only ids: the data that were labelled (data.csv) are not to be found" in said
    assert list(rows_of("out/b.csv")[0]) == ["id", "answer"]
    named = data("audit", "out/labels.csv", "--data", "data.csv", "-o", "out/c.csv")
    assert "from data.csv" in named
    assert "data.csv is not known to be what was labelled" in data.err
    assert list(rows_of("out/c.csv")[0]) == ["id", "answer", "size", "colour"]


def test_labels_given_since_do_not_make_the_data_others(data: Shell) -> None:
    label(data)
    text = Path("data.csv").read_text(encoding="utf-8")
    Path("data.csv").write_text(text.replace("r30,0.750,red,", "r30,0.750,red,a"), encoding="utf-8")
    assert "from data.csv" in data("audit", "labels.csv", "-n", "2")


def test_data_without_the_rows_drawn_are_refused(data: Shell) -> None:
    label(data)
    write_data("other.csv", 14)
    message = data.refused("audit", "labels.csv", "-n", "9", "--data", "other.csv")
    assert "rows drawn are not in 'other.csv'" in message
    assert "there is no column 'key'" in data.refused(
        "audit", "labels.csv", "-n", "9", "--data", "labels.csv"
    )


def test_row_numbers_of_other_data_are_refused(data: Shell) -> None:
    data("label", "data.csv", "--label", "kind", "--ignore", "key", "-o", "labels.csv")
    write_data("other.csv", 50)
    message = data.refused("audit", "labels.csv", "-n", "2", "--data", "other.csv")
    assert "another row could be shown" in message
    assert "from data.csv" in data("audit", "labels.csv", "-n", "2")


def test_a_labels_file_without_facts_hides_what_is_called_a_label(data: Shell) -> None:
    write_data(label=lambda i: "secret", **{"class": lambda i: "secret"})
    label(data)
    Path("labels.csv.meta.json").unlink()
    assert "only ids" in data("audit", "labels.csv", "-n", "2")
    data("audit", "labels.csv", "--data", "data.csv")
    assert "not known to be what was labelled" in data.err
    shown = rows_of("labels.audit.csv")[0]
    assert "secret" not in shown.values()
    assert shown["colour"] in {"red", "blue"}


def test_labels_with_data_serve_an_audit_without_the_data(data: Shell) -> None:
    write_data(confidence=lambda i: i)
    label(data, "--with-data")
    assert "'confidence' is called 'data_confidence'" in data.err
    assert list(rows_of("labels.csv")[0])[-5:] == [
        "key", "size", "colour", "kind", "data_confidence"
    ]  # fmt: skip
    Path("data.csv").unlink()
    assert "your columns in labels.csv" in data("audit", "labels.csv", "-n", "4", "-o", "a.csv")
    drawn = rows_of("a.csv")
    assert list(drawn[0]) == ["id", "answer", "key", "size", "colour", "data_confidence"]
    assert all(row["data_confidence"] == row["id"][1:] for row in drawn)


def test_rows_with_embeddings_are_found_again(data: Shell) -> None:
    rng = np.random.default_rng(0)
    np.save("vectors.npy", rng.normal(size=(40, 3)) + 5 * (np.arange(40) % 2)[:, None])
    label(data, "--embeddings", "vectors.npy")
    assert "from data.csv" in data("audit", "labels.csv", "-n", "2", "-o", "a.csv")
    assert list(rows_of("a.csv")[0]) == ["id", "answer", "size", "colour"]


@pytest.fixture
def pictures(shell: Shell) -> Shell:
    rng = np.random.default_rng(0)
    for number in range(40):
        pixels = rng.integers(0, 80, (16, 16)) + 120 * (number % 2)
        place = Path("shots") / ("first", "second")[number // 20]
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels.astype(np.uint8)).save(place / f"{number}.png")
    names = sorted(path.relative_to("shots").as_posix() for path in Path("shots").rglob("*.png"))
    given = [name for name in names if name.startswith("first")][:12]
    parity = {name: int(Path(name).stem) % 2 for name in given}
    write_rows("given.csv", [{"id": name, "label": "ab"[parity[name]]} for name in given])
    return shell


def test_pictures_stand_as_paths_as_seen_from_the_file(pictures: Shell) -> None:
    pictures("suggest", "shots", "--labels", "given.csv", "-n", "3", "-o", "out/ask.csv")
    for row in rows_of("out/ask.csv"):
        assert row["picture"] == f"../shots/{row['id']}"
        assert (Path("out") / row["picture"]).is_file()
    pictures("label", "shots", "--labels", "given.csv", "--with-data", "-o", "deep/er/labels.csv")
    assert rows_of("deep/er/labels.csv")[0]["picture"].startswith("../../shots/first/")
    pictures("audit", "deep/er/labels.csv", "-n", "3", "-o", "a.csv")
    assert all(row["picture"] == f"shots/{row['id']}" for row in rows_of("a.csv"))


def test_pictures_are_called_pictures_and_no_matrix(pictures: Shell) -> None:
    pictures("label", "shots", "--labels", "given.csv", "-o", "labels.csv")
    assert "features: 40 pictures, made grey, 16 by 16 pixels\n" in pictures.err
    assert "the rows of the matrix" not in pictures.err
    assert "float32" not in pictures.err
    ids = sorted(path.relative_to("shots").as_posix() for path in Path("shots").rglob("*.png"))
    np.savez("vectors.npz", ids=ids, vectors=np.random.default_rng(0).normal(size=(40, 3)))
    beside = ("--labels", "given.csv", "--embeddings", "vectors.npz")
    pictures("label", "shots", *beside, "-o", "beside.csv")
    assert "features: 40 rows x 3 float64 columns, euclidean distance\n" in pictures.err


def test_an_audit_of_pictures_finds_their_folder(pictures: Shell) -> None:
    pictures("label", "shots", "--labels", "given.csv", "-o", "labels.csv")
    assert "from shots" in pictures("audit", "labels.csv", "-n", "3", "-o", "a.csv")
    assert all(row["picture"] == f"shots/{row['id']}" for row in rows_of("a.csv"))
    shutil.move("shots", "elsewhere")
    assert "only ids" in pictures("audit", "labels.csv", "-o", "b.csv")
    pictures("audit", "labels.csv", "--data", "elsewhere", "-o", "c.csv")
    assert all(row["picture"] == f"elsewhere/{row['id']}" for row in rows_of("c.csv"))
