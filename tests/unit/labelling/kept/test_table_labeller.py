"""A kept labeller takes tables as they come, and answers as the learner that it was taken from."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.front_door.kept.labeller import KeptLabeller
from beltrami.labelling.kept.answers import COLUMNS, Tally
from beltrami.labelling.kept.applied import Applied
from beltrami.labelling.kept.keeping import load_table_labeller
from beltrami.labelling.kept.table_labeller import ROWS, TableLabeller, blocks_of
from beltrami.tables import read_table

pytestmark = pytest.mark.usefixtures("few_trees")


def frame_of(n: int, seed: int = 0, share: float = 0.2, **classes: Any) -> pd.DataFrame:
    """Return two groups of rows with numbers, a gap now and then, a colour and a text."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(2, size=n)
    names = classes.get("names", ("ant", "bee"))
    return pd.DataFrame(
        {
            "x": 6.0 * kinds + rng.normal(size=n),
            "y": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "colour": [("red", "blue")[k] if rng.random() < 0.95 else None for k in kinds],
            "kind": np.array([names[k] if rng.random() < share else None for k in kinds], object),
        },
        index=[f"row {seed}-{i}" for i in range(n)],
    )


@pytest.fixture(scope="module")
def found() -> bt.Labelling:
    return bt.label(frame_of(120), "kind", n_questions=0, method="regularized", risk=0.2)


@pytest.fixture(scope="module")
def kept(found: bt.Labelling, tmp_path_factory) -> TableLabeller:
    return load_table_labeller(found.save(tmp_path_factory.mktemp("kept") / "m.beltrami"))


def test_the_answers_are_those_of_the_learner_to_the_last_bit(found, kept) -> None:
    new = frame_of(50, seed=1)
    table = read_table(new)
    points, _ = kept.recipe.make(table, _faults())
    expected = found.learner.predict_proba(points)
    assert kept.predict_proba(new).tobytes() == expected.tobytes()
    assert kept.predict(new).tolist() == found.learner.predict(points).tolist()
    assert kept.classes_.tolist() == ["ant", "bee"]
    verdict = kept.judge(new)
    answers = kept.apply(new.drop(columns="kind"))
    assert (answers["source"] == "propagated").tolist() == verdict.accepted.tolist()
    rest = np.round(verdict.confidence, 6)
    assert answers["confidence"].tolist() == rest.tolist()


def _faults() -> Any:
    from beltrami.tables.features.faults import Faults

    return Faults("new", ids=None, impute=False, is_new=True)


def test_the_rows_of_the_fit_are_features_of_the_same_bits(found, kept) -> None:
    points, is_empty = kept.recipe.make(found.intake.table, _faults())
    assert points.tobytes() == found.intake.points.tobytes()
    assert not is_empty.any()


def test_the_same_kind_of_table_leaves_that_came(kept) -> None:
    new = frame_of(20, seed=1)
    ours = kept.apply(new)
    assert list(ours.columns) == list(COLUMNS)
    assert ours.index.equals(new.index)
    assert ours["id"].tolist() == new.index.tolist()
    plain = new.reset_index(drop=True)
    assert kept.apply(plain)["id"].tolist() == list(range(20))
    theirs = kept.apply(pa.Table.from_pandas(plain))
    assert isinstance(theirs, pa.Table)
    assert theirs["guess"].to_pylist() == ours["guess"].tolist()
    lists = kept.apply({name: plain[name].tolist() for name in plain})
    assert lists["guess"] == ours["guess"].tolist()
    pl = pytest.importorskip("polars")
    other = kept.apply(pl.from_arrow(pa.Table.from_pandas(plain)))
    assert isinstance(other, pl.DataFrame)
    assert other["guess"].to_list() == ours["guess"].tolist()


@pytest.mark.parametrize("names", [("ant", "bee"), (3, 7), (False, True)])
def test_types_do_not_depend_on_the_rows(names, tmp_path: Path) -> None:
    old = frame_of(100, names=names)
    labelling = bt.label(old, "kind", n_questions=0, method="logistic")
    labeller = load_table_labeller(labelling.save(tmp_path / "m"))
    new = frame_of(40, seed=1, share=0, names=names).drop(columns="kind")
    types = labeller.apply(new).dtypes
    assert labeller.apply(new.iloc[:0]).dtypes.equals(types)
    assert labeller.apply(new.iloc[:2]).dtypes.equals(types)
    assert set(labeller.apply(new)["guess"]) == set(names)


def test_labels_are_compared_by_what_they_say_and_not_by_their_type(tmp_path: Path) -> None:
    old = frame_of(100, names=(1, 2))
    labeller = load_table_labeller(
        bt.label(old, "kind", n_questions=0, method="logistic").save(tmp_path / "m")
    )
    new = frame_of(30, seed=1, share=1.0, names=(1, 2))
    as_numbers = labeller.apply(new)
    assert as_numbers["source"].eq("human").all()
    floats = labeller.apply(new.assign(kind=new["kind"].astype(float)))
    assert floats["label"].tolist() == as_numbers["label"].tolist()
    texts = labeller.apply(new.assign(kind=new["kind"].astype(str)))
    assert texts["label"].tolist() == [str(one) for one in as_numbers["label"]]
    assert texts["margin"].tolist() == as_numbers["margin"].tolist()


def test_it_is_saved_again_with_the_same_bytes_and_travels_by_pickle(kept, tmp_path) -> None:
    first = kept.save(tmp_path / "one").read_bytes()
    again = bt.load(tmp_path / "one")
    assert again.save(tmp_path / "two").read_bytes() == first
    new = frame_of(20, seed=1)
    assert pickle.loads(pickle.dumps(kept)).apply(new).equals(again.apply(new))


def test_a_dask_frame_is_answered_partition_by_partition(kept) -> None:
    dd = pytest.importorskip("dask.dataframe")
    new = frame_of(60, seed=1, share=0).drop(columns="kind").reset_index(drop=True)
    frame = dd.from_pandas(new, npartitions=3)
    guessed = frame.map_partitions(kept.apply)
    assert list(guessed.columns) == list(COLUMNS)
    named = frame.map_partitions(kept.apply, meta=kept.apply(new.iloc[:0]))
    for one in (guessed, named):
        answers = one.compute(scheduler="synchronous")
        assert answers["guess"].tolist() == kept.apply(new)["guess"].tolist()


def test_blocks_hold_a_fixed_number_of_rows() -> None:
    table = read_table({"x": np.arange(2 * ROWS + 3)})
    assert [(start, rows.n_rows) for start, rows in blocks_of(table, ROWS)] == [
        (0, ROWS),
        (ROWS, ROWS),
        (2 * ROWS, 3),
    ]
    matrix = read_table(np.zeros((5, 2)))
    assert [rows.n_rows for _, rows in blocks_of(matrix, 2)] == [2, 2, 1]


def test_of_rows_that_hold_nothing_no_answer_is_accepted_however_they_are_asked(kept) -> None:
    new = frame_of(20, seed=1).drop(columns="kind").astype({"colour": "string"})
    new.loc[new.index[:2], ["x", "y", "colour"]] = None
    verdict = kept.judge(new)
    assert not verdict.accepted[:2].any()
    assert verdict.accepted[2:].any()
    accepted = kept.apply(new)["source"] == "propagated"
    assert accepted.tolist() == verdict.accepted.tolist()


@pytest.mark.parametrize("minus_one", [-1, -1.0, "-1", " -1 "])
def test_minus_one_is_no_label_where_the_labeller_has_no_such_class(minus_one, kept) -> None:
    new = frame_of(20, seed=1, share=0)
    cells = [minus_one] * 18 + ([None, None] if isinstance(minus_one, str) else [minus_one] * 2)
    answers = kept.answer(read_table(new.assign(kind=cells)))
    plain = kept.answer(read_table(new))
    assert answers.table.equals(plain.table)
    applied = Applied(kept).plus(answers)
    assert applied.n_marked == 20 - 2 * isinstance(minus_one, str)
    assert f"{applied.n_marked} rows labelled -1, which is no class" in "\n".join(applied.lines())
    assert applied.facts()["marked"] == applied.n_marked


def test_minus_one_stays_the_class_that_it_was(tmp_path: Path) -> None:
    old = frame_of(100, names=(-1, 1))
    found = bt.label(old, "kind", n_questions=0, method="logistic", unlabeled="")
    labeller = load_table_labeller(found.save(tmp_path / "m"))
    new = frame_of(20, seed=1, share=1.0, names=(-1, 1))
    assert labeller.apply(new)["label"].tolist() == new["kind"].tolist()


def test_a_class_that_is_a_slip_is_said_with_what_may_be_meant(kept) -> None:
    new = frame_of(20, seed=1, share=0).assign(kind=[" Bee ", "asp"] * 10)
    (line,) = (one for one in Applied(kept).plus(kept.answer(read_table(new))).lines()
               if "does not know" in one)  # fmt: skip
    assert line.startswith("20 rows labelled with a class that the labeller does not know")
    assert "' Bee ' (is 'bee' meant?)" in line


def test_matrices_are_answered_by_their_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + 8])
    labels = pa.table({"id": [0, 1, 60, 61], "label": ["a", "a", "b", "b"]})
    found = bt.label(rows, labels=labels, n_questions=0, method="poisson")
    labeller = load_table_labeller(found.save(tmp_path / "m"))
    answers = labeller.apply(rows[[5, 70]] + 0.01)
    assert answers["guess"].to_pylist() == ["a", "b"]
    np.save(tmp_path / "new.npy", rows[[5, 70]] + 0.01)
    assert labeller.apply(tmp_path / "new.npy").equals(answers)


def test_tallies_of_parts_are_those_of_the_whole(kept) -> None:
    answers = kept.apply(pa.Table.from_pandas(frame_of(60, seed=1), preserve_index=False))
    parts = [Tally.of(answers.slice(start, 25)) for start in (0, 25, 50)]
    whole = parts[0].plus(parts[1]).plus(parts[2])
    expected = Tally.of(answers)
    assert whole.confidence == pytest.approx(expected.confidence)
    assert (whole.sources, whole.labels, whole.guesses) == (
        expected.sources, expected.labels, expected.guesses,
    )  # fmt: skip
    counts = Applied(kept, whole).counts
    assert counts["rows"] == 60
    assert counts["given"] == whole.n_checked + whole.n_strange


def test_no_drift_is_seen_in_few_rows_or_none(kept) -> None:
    nothing = Applied(kept)
    assert nothing.drift() == []
    assert nothing.counts["rows"] == 0
    assert "No row labelled" in nothing.sentence
    few = kept.apply(pa.Table.from_pandas(frame_of(2, seed=1, share=0), preserve_index=False))
    assert Applied(kept, Tally.of(few)).drift() == []


def test_a_labeller_of_points_takes_no_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 2))
    learner = bt.ManifoldClassifier("logistic").fit(
        points, np.where(np.arange(40) < 9, points[:, 0] > 0, -1)
    )
    path = learner.save(tmp_path / "points")
    assert isinstance(bt.load(path), KeptLabeller)
    with pytest.raises(InvalidInputError, match="learned from an array"):
        load_table_labeller(path)


def test_a_place_that_was_read_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    frame_of(40).to_csv(path)
    found = bt.label(path, "kind", n_questions=0, method="logistic")
    with pytest.raises(InvalidInputError, match="is the input"):
        found.save(path)
