"""`beltrami label --save` and `beltrami apply`: a labeller is kept, and answers other tables."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest
from tests.support.command_line import Shell

import beltrami as bt
from beltrami.front_door.kept.file import VERSION
from beltrami.tables import read_table
from beltrami.tables.features.faults import Faults

pytestmark = pytest.mark.usefixtures("few_trees")

COLUMNS = ["id", "label", "source", "confidence", "guess", "second_label", "margin", "reached",
           "unlike"]  # fmt: skip
CLASSES = ("ant", "bee", "cat")


def rows_of(n: int, first: int = 0, share: float = 0.2, seed: int = 0) -> pa.Table:
    """Return three groups of points with a colour, and labels for a share of them."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(3, size=n)
    labels = [CLASSES[k] if rng.random() < share else None for k in kinds]
    return pa.table(
        {
            "id": [f"r{first + i}" for i in range(n)],
            "x": 6.0 * kinds + rng.normal(size=n),
            "y": rng.normal(size=n),
            "colour": [("red", "green", "blue")[k] for k in kinds],
            "kind": pa.array(labels, pa.string()),
        }
    )


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> bytes:
    """A labeller of such rows."""
    path = tmp_path_factory.mktemp("model") / "m.beltrami"
    return bt.label(rows_of(150), "kind", n_questions=0, method="poisson").save(path).read_bytes()


@pytest.fixture
def place(shell: Shell, kept: bytes) -> Shell:
    """The command line beside m.beltrami and new rows, some with a label."""
    Path("m.beltrami").write_bytes(kept)
    new = rows_of(60, first=500, share=0.1, seed=1)
    arrow_csv.write_csv(new, "new.csv")
    pq.write_table(new, "new.parquet")
    return shell


def read(path: Path | str) -> dict[str, list]:
    file = Path(path)
    if file.suffix == ".parquet":
        return pq.read_table(file).to_pydict()
    return arrow_csv.read_csv(file).to_pydict()


def test_a_labeller_is_saved_and_answers_new_rows(shell: Shell) -> None:
    arrow_csv.write_csv(rows_of(120), "old.csv")
    arrow_csv.write_csv(rows_of(40, first=500, share=0, seed=1), "new.csv")
    said = shell("label", "old.csv", "--label", "kind", "--save", "m.beltrami",
                 "--method", "poisson", "--ask", "0")  # fmt: skip
    assert "written: m.beltrami" in said
    found = json.loads(shell("apply", "m.beltrami", "new.csv", "-o", "out.csv", "--json"))
    assert found["counts"]["rows"] == 40
    assert found["facts"]["learned_from"] == "old.csv"
    answers = read("out.csv")
    assert list(answers) == COLUMNS
    truth = dict(zip(("red", "green", "blue"), CLASSES, strict=True))
    expected = [truth[one] for one in read("new.csv")["colour"]]
    assert answers["guess"] == expected
    assert set(answers["source"]) <= {"propagated", "abstained"}
    assert json.loads(Path("out.csv.meta.json").read_text())["labeller"] == "m.beltrami"


def test_every_form_of_the_same_rows_gets_the_same_answers(place: Shell) -> None:
    new = pq.read_table("new.parquet")
    pq.write_table(new, "groups.parquet", row_group_size=7)
    Path("new.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in new.to_pylist()))
    with pa.OSFile("new.arrow", "wb") as sink, pa.ipc.new_file(sink, new.schema) as writer:
        writer.write_table(new)
    found = []
    for name in ("new.csv", "new.parquet", "groups.parquet", "new.jsonl", "new.arrow"):
        place("apply", "m.beltrami", name, "-o", "out.parquet")
        found.append(pq.read_table("out.parquet"))
    assert all(one.equals(found[0]) for one in found)
    assert found[0].equals(bt.load("m.beltrami").apply(new))


def test_labels_in_the_new_data_stay_and_are_compared(place: Shell) -> None:
    new = rows_of(60, first=500, share=0, seed=1)
    truth = [CLASSES[("red", "green", "blue").index(one)] for one in new["colour"].to_pylist()]
    given = [*truth[:6], "bee" if truth[6] != "bee" else "ant", "wasp", *[None] * 52]
    at = new.column_names.index("kind")
    pq.write_table(new.set_column(at, "kind", pa.array(given)), "some.parquet")
    found = json.loads(place("apply", "m.beltrami", "some.parquet", "-o", "o.parquet", "--json"))
    assert found["checked"] == {"labels": 7, "disagree": 1, "of_unknown_classes": 1}
    assert found["counts"]["given"] == 8
    answers = read("o.parquet")
    assert answers["label"][:8] == given[:8] == answers["guess"][:8]
    assert answers["source"][:8] == ["human"] * 8
    assert answers["margin"][6] < 0 < answers["margin"][0]
    assert answers["second_label"][6] == truth[6]
    assert answers["margin"][7] is None
    assert answers["confidence"][7] is None
    assert "agrees with 6 of them (85.7%)" in place("apply", "m.beltrami", "some.parquet")


def test_rows_unlike_the_old_ones_are_left_counted_and_warned_of(place: Shell) -> None:
    new = rows_of(60, seed=2, share=0)
    away = pa.array(np.asarray(new["x"]) + 500.0)
    pq.write_table(new.set_column(1, "x", away), "far.parquet")
    said = place("apply", "m.beltrami", "far.parquet", "-o", "far.csv")
    assert "No row labelled by what was learned, 60 left to you" in said
    assert "60 rows unlike what the labeller saw" in said
    assert "! the rows have changed: 100.0% are unlike" in said
    answers = read("far.csv")
    assert set(answers["unlike"]) == {True}
    assert set(answers["source"]) == {"abstained"}
    assert set(answers["label"]) == {None}
    calm = place("apply", "m.beltrami", "new.csv")
    assert "! " not in calm


def test_other_shares_of_classes_are_warned_of(place: Shell) -> None:
    new = rows_of(90, seed=3, share=0)
    reds = new.filter(pc.equal(new["colour"], "red"))
    pq.write_table(reds, "reds.parquet")
    assert "shares of classes among the answers have changed: 'ant' 100% now" in place(
        "apply", "m.beltrami", "reds.parquet"
    )


def test_gaps_and_unknown_categories_are_said(place: Shell) -> None:
    Path("odd.csv").write_text("x,y,colour\n1,,red\n,,\n0.5,1,violet\n")
    found = json.loads(place("apply", "m.beltrami", "odd.csv", "-o", "odd.parquet", "--json"))
    assert found["gaps"] == {"x": 1, "y": 2, "colour": 1}
    assert (found["unseen"], found["empty"]) == ({"colour": 1}, 1)
    assert read("odd.parquet")["id"] == [0, 1, 2]
    assert read("odd.parquet")["source"][1] == "abstained"
    assert "such as 'violet'" in place("apply", "m.beltrami", "odd.csv")


def test_a_point_parts_thousands_where_it_did_in_the_fit(shell: Shell) -> None:
    rows = "".join(f'r{i},"{i + 1}.000,5",{i % 2 * 9}.5,{"ab"[i % 2] if i < 20 else ""}\n'
                   for i in range(40))  # fmt: skip
    Path("old.csv").write_text(f"id,price,x,kind\n{rows}")
    shell("label", "old.csv", "--label", "kind", "--save", "m.beltrami", "--method", "logistic")
    labeller = bt.load("m.beltrami")
    Path("new.csv").write_text("id,price,x\na,2.000,0.5\nb,3.000,9.5\n")
    table = read_table("new.csv", labeller.reading())
    faults = Faults("new.csv", ids=None, impute=False, is_new=True)
    assert labeller.recipe.make(table, faults)[0][:, 0].tolist() == [2000, 3000]


def test_ids_are_those_of_the_fit_or_of_the_column_that_is_named(place: Shell) -> None:
    new = pq.read_table("new.parquet").append_column("key", pa.array(range(60)))
    pq.write_table(new, "keyed.parquet")
    place("apply", "m.beltrami", "keyed.parquet", "-o", "o.parquet")
    assert read("o.parquet")["id"][0] == "r500"
    place("apply", "m.beltrami", "keyed.parquet", "-o", "o.parquet", "--id", "key")
    assert read("o.parquet")["id"][:2] == [0, 1]
    assert "no column 'kez'" in place.refused("apply", "m.beltrami", "keyed.parquet", "--id", "kez")


def test_a_folder_is_answered_file_by_file_and_taken_up_where_it_was_cut(place: Shell) -> None:
    new = pq.read_table("new.parquet")
    Path("in").mkdir()
    for part in range(3):
        pq.write_table(new.slice(20 * part, 20), f"in/{part}.parquet")
    whole = bt.load("m.beltrami").apply(new)
    first = json.loads(place("apply", "m.beltrami", "in", "-o", "out", "--json"))
    assert [Path(one).name for one in first["written"]] == [f"{i}.parquet" for i in range(3)]
    assert pa.concat_tables([pq.read_table(one) for one in first["written"]]).equals(whole)
    before = Path("out/0.parquet").stat().st_mtime_ns
    Path("out/1.parquet").unlink()
    again = json.loads(place("apply", "m.beltrami", "in", "-o", "out", "--json"))
    assert again["counts"] == first["counts"]
    assert Path("out/0.parquet").stat().st_mtime_ns == before
    assert Path("out/1.parquet").exists()


def test_partitions_of_csv_get_the_answers_of_one_file(place: Shell) -> None:
    new = pq.read_table("new.parquet")
    Path("in").mkdir()
    for part in range(2):
        arrow_csv.write_csv(new.slice(30 * part, 30), f"in/{part}.csv")
    place("apply", "m.beltrami", "in/*.csv", "-o", "out", "--form", "csv")
    place("apply", "m.beltrami", "new.csv", "-o", "whole.csv")
    parts = [pa.Table.from_pydict(read(f"out/{part}.csv")) for part in range(2)]
    assert pa.concat_tables(parts).to_pydict() == read("whole.csv")
    again = json.loads(
        place("apply", "m.beltrami", "in/*.csv", "-o", "out", "--form", "csv", "--json")
    )
    assert again["counts"]["rows"] == 60


def test_rows_without_ids_are_numbered_through_all_partitions(place: Shell) -> None:
    new = pq.read_table("new.parquet").drop_columns(["id", "kind"])
    Path("in").mkdir()
    for part in range(2):
        pq.write_table(new.slice(30 * part, 30), f"in/{part}.parquet")
    place("apply", "m.beltrami", "in", "-o", "out")
    assert read("out/1.parquet")["id"] == list(range(30, 60))


def test_a_broken_partition_is_named_and_the_exit_code_is_one(place: Shell) -> None:
    Path("in").mkdir()
    pq.write_table(pq.read_table("new.parquet"), "in/good.parquet")
    Path("in/bad.parquet").write_bytes(b"PAR1 nothing PAR1")
    said = place("apply", "m.beltrami", "in", "-o", "out", code=1)
    assert "failed: bad.parquet" in said
    assert [one.name for one in Path("out").glob("*.parquet")] == ["good.parquet"]


def test_a_file_without_rows_gives_a_file_without_answers(place: Shell) -> None:
    pq.write_table(pq.read_table("new.parquet").slice(0, 0), "none.parquet")
    place("apply", "m.beltrami", "none.parquet", "-o", "o.parquet")
    none = pq.read_table("o.parquet")
    place("apply", "m.beltrami", "new.parquet", "-o", "o.parquet")
    assert none.num_rows == 0
    assert none.schema.equals(pq.read_table("o.parquet").schema, check_metadata=False)


def test_places_are_checked_before_any_work(place: Shell) -> None:
    arrow_csv.write_csv(rows_of(30), "old.csv")
    Path("data.beltrami").write_bytes(b"SQLite format 3\0" + bytes(100))
    base = ("label", "old.csv", "--label", "kind")
    assert "no labeller, so it is not written over" in place.refused(
        *base, "--save", "data.beltrami"
    )
    assert "is the input" in place.refused(*base, "--save", "old.csv")
    assert "is the input" in place.refused(*base, "--save", "o.csv", "-o", "o.csv")
    assert "is a folder" in place.refused(*base, "--save", ".")
    assert "is the input" in place.refused("apply", "m.beltrami", "new.csv", "-o", "new.csv")
    assert not Path("old.labelled.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("apply", "p.beltrami", "new.csv"), "a project of the studio and no kept labeller"),
        (("apply", "new.csv", "new.csv"), "cannot be used as a kept labeller"),
        (("apply", "nothing.beltrami", "new.csv"), "no file on this machine"),
        (("apply", "new.csv", "m.beltrami"), "The labeller comes first"),
        (("studio", "m.beltrami", "--no-browser"), "holds a labeller and no project"),
        (("label", "m.beltrami"), "holds a labeller and no project"),
        (("export", "m.beltrami", "--to", "csv"), "holds a labeller and no project"),
        (("suggest", "m.beltrami"), "A labeller answers rows: beltrami apply"),
        (("label", "new.csv", "--project", "m.beltrami"), "holds a labeller and no project"),
        (("apply", "points.beltrami", "new.csv"), "learned from an array"),
        (("apply", "m.beltrami", "few.csv"), r"lacks 1 of 3 column(s)"),
    ],
)
def test_what_is_something_else_is_refused_with_a_word(arguments, words, place: Shell) -> None:
    Path("p.beltrami").write_bytes(b"SQLite format 3\0" + bytes(100))
    Path("few.csv").write_text("x,colour\n1,red\n")
    points = np.random.default_rng(0).normal(size=(40, 2))
    labels = np.where(np.arange(40) % 4 == 0, points[:, 0] > 0, -1)
    bt.ManifoldClassifier("logistic").fit(points, labels).save("points.beltrami")
    before = {one.name for one in place.folder.iterdir()}
    assert words in place.refused(*arguments)
    assert {one.name for one in place.folder.iterdir()} == before


def test_damage_anywhere_in_the_file_is_refused_and_nothing_written(
    place: Shell, kept: bytes
) -> None:
    Path("cut.beltrami").write_bytes(kept[: len(kept) // 2])
    assert "cut short" in place.refused("apply", "cut.beltrami", "new.csv")
    flipped = bytearray(kept)
    flipped[-2000] ^= 1
    Path("flip.beltrami").write_bytes(bytes(flipped))
    assert "checksum is wrong" in place.refused("apply", "flip.beltrami", "new.csv")
    ours, another = f"kept labeller {VERSION}", f"kept labeller {VERSION + 1}"
    other = kept.replace(ours.encode(), another.encode(), 1)
    Path("other.beltrami").write_bytes(other)
    assert f"of form {VERSION + 1}, and this beltrami reads form {VERSION}" in place.refused(
        "apply", "other.beltrami", "new.csv"
    )
    assert not list(Path().glob("new.applied*"))


def test_a_labeller_is_kept_of_partitions_too(place: Shell) -> None:
    Path("in").mkdir()
    pq.write_table(rows_of(60).drop_columns(["colour"]), "in/0.parquet")
    place("label", "in", "--label", "kind", "--method", "logistic", "--save", "parts.beltrami")
    found = json.loads(place("apply", "parts.beltrami", "new.csv", "-o", "o.csv", "--json"))
    assert found["counts"]["rows"] == arrow_csv.read_csv("new.csv").num_rows
    assert found["counts"]["labelled"] > 0


def test_a_labeller_is_kept_of_a_project_too(shell: Shell, project: Path) -> None:
    shell("label", "--project", str(project), "--save", "kept.beltrami", "--method", "logistic")
    found = json.loads(shell("apply", "kept.beltrami", "data.csv", "-o", "o.csv", "--json"))
    assert found["counts"]["rows"] == 40
    assert found["checked"]["labels"] == 12  # those in the file; people's own are in the project
    assert "is there already and is no labeller" in shell.refused(
        "label", "data.csv", "--label", "label", "--save", str(project)
    )
