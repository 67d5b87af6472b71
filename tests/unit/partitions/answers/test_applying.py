"""Tables of any size are answered alike, whatever holds them, and what was cut is taken up."""

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.labelling.kept.keeping import load_table_labeller
from beltrami.labelling.kept.table_labeller import TableLabeller
from beltrami.partitions.answers.applying import apply_to_parts, apply_to_table
from beltrami.partitions.manifest import FOLDER, Manifest
from beltrami.partitions.reading import sources

pytestmark = pytest.mark.usefixtures("few_trees")


def frame_of(n: int, seed: int = 0, share: float = 0.25, names: Any = ("ant", "NA")) -> Any:
    """Return rows of two groups with ids of numbers, and a category of halves."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(2, size=n)
    labels = [names[k] if rng.random() < share else None for k in kinds]
    return pd.DataFrame(
        {
            "id": np.arange(n) + 1000 * seed,
            "x": 6.0 * kinds + rng.normal(size=n),
            "level": (kinds + 1) * 0.5,
            "kind": pd.array(labels, "Int64" if isinstance(names[0], int) else "string"),
        }
    )


def _labeller(folder: Path, names: Any) -> TableLabeller:
    table = pa.Table.from_pandas(frame_of(100, names=names), preserve_index=False)
    found = bt.label(table, "kind", categories=["level"], id="id", n_questions=0, method="logistic")
    return load_table_labeller(found.save(folder / "m"))


@pytest.fixture(scope="module")
def words(tmp_path_factory) -> TableLabeller:
    return _labeller(tmp_path_factory.mktemp("words"), ("ant", "NA"))


@pytest.fixture(scope="module")
def numbers(tmp_path_factory) -> TableLabeller:
    return _labeller(tmp_path_factory.mktemp("numbers"), (1, 2))


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()


def whole(labeller: TableLabeller, source: str, target: str = "o.parquet") -> Any:
    return apply_to_table(labeller, source, Path(target), labeller.reading(), {})


def parts(labeller: TableLabeller, out: str = "out", **options: Any) -> Any:
    return apply_to_parts(labeller, "in", Path(out), facts={}, n_jobs=1, **options)


@pytest.mark.parametrize("share", [0.2, 0.0])
def test_a_csv_file_gets_the_same_bytes_alone_in_batches_and_in_a_folder(
    share, numbers, monkeypatch
) -> None:
    frame_of(40, seed=1, share=share, names=(1, 2)).to_csv("in/new.csv", index=False)
    alone = whole(numbers, "in/new.csv")
    first = pq.read_table("o.parquet")
    in_folder = parts(numbers)
    assert pq.read_table("out/new.parquet").equals(first)
    monkeypatch.setattr(sources, "_SHARE_OF_FREE", 0)
    in_batches = whole(numbers, "in/new.csv", "b.parquet")
    assert pq.read_table("b.parquet").equals(first)
    assert first.schema.field("id").type == pa.int64()
    assert alone.unseen == in_folder.applied.unseen == in_batches.unseen == {}
    assert alone.facts() == in_batches.facts()


def test_ids_and_labels_of_a_csv_are_texts_where_one_cell_is_no_whole_number(numbers) -> None:
    new = frame_of(40, seed=1, names=(1, 2)).astype({"id": "string", "kind": "string"})
    new.loc[30, "id"], new.loc[31, "kind"] = "007", "wasp"
    new.loc[32, "id"] = None
    new.to_csv("in/new.csv", index=False)
    whole(numbers, "in/new.csv")
    parts(numbers)
    first = pq.read_table("o.parquet")
    assert pq.read_table("out/new.parquet").equals(first)
    assert first["id"].to_pylist()[29:33] == ["1029", "007", "1031", None]
    assert first["label"][31].as_py() == "wasp"


def test_types_of_answers_are_the_same_in_all_partitions(numbers) -> None:
    plain = frame_of(20, seed=1, names=(1, 2))
    plain.drop(columns="kind").to_parquet("in/a.parquet")
    plain.astype({"kind": "string", "id": "string"}).to_parquet("in/b.parquet")
    plain.astype({"id": "int32"}).to_parquet("in/c.parquet")
    parts(numbers)
    schemas = [pq.read_schema(f"out/{one}.parquet") for one in "abc"]
    assert all(one.equals(schemas[0], check_metadata=False) for one in schemas)
    assert schemas[0].field("label").type == schemas[0].field("id").type == pa.string()


def test_what_was_killed_before_the_first_record_is_taken_up(words, monkeypatch) -> None:
    for part in range(3):
        frame_of(20, seed=part).to_parquet(f"in/{part}.parquet")

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Manifest, "note", die)
        with pytest.raises(KeyboardInterrupt):
            parts(words)
    assert list(Path("out").glob("*.parquet"))
    assert len(parts(words).written) == 3


def test_where_nothing_could_be_answered_the_folder_stays_free(words) -> None:
    frame_of(20).drop(columns="x").to_parquet("in/a.parquet")
    with pytest.raises(InvalidInputError, match="none of 1"):
        parts(words)
    assert not Path("out").exists()
    frame_of(20).to_parquet("in/a.parquet")
    assert len(parts(words).written) == 1


def _spoil(path: str) -> None:
    content = bytearray(Path(path).read_bytes())
    content[4:60] = bytes(56)
    Path(path).write_bytes(content)


def test_a_partition_of_spoiled_data_is_named_each_time_with_the_true_reason(words) -> None:
    for part in range(2):
        frame_of(20, seed=part).to_parquet(f"in/{part}.parquet")
    _spoil("in/1.parquet")
    for _ in range(2):
        found = parts(words)
        assert [one.name for one in found.written] == ["0.parquet"]
        (failure,) = found.failures
        assert failure.name == "1.parquet"
        assert "cannot be read" in failure.reason
        assert "cannot be written" not in failure.reason


def test_a_full_disk_ends_the_work_and_is_no_fault_of_partitions(words, monkeypatch) -> None:
    for part in range(3):
        frame_of(20, seed=part).to_parquet(f"in/{part}.parquet")
    real = pq.ParquetWriter.write_table
    calls: list[int] = []

    def fill(self: Any, *args: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(self, *args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(pq.ParquetWriter, "write_table", fill)
        with pytest.raises(InvalidInputError, match="is full"):
            parts(words)
    again = parts(words)
    assert (len(again.written), again.failures) == (3, ())


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_result_that_was_damaged_since_is_made_again(form, words) -> None:
    for part in range(2):
        frame_of(20, seed=part).to_parquet(f"in/{part}.parquet")
    expected = parts(words, form=form).applied.counts
    target = Path(f"out/1.{form}")
    sound = target.read_bytes()
    target.write_bytes(b"\xff" * len(sound))
    assert parts(words, form=form).applied.counts == expected
    assert target.read_bytes() == sound


def test_partitions_without_rows_are_taken_up_as_csv(words) -> None:
    frame_of(20).to_parquet("in/a.parquet")
    frame_of(20).iloc[:0].to_parquet("in/b.parquet")
    first = parts(words, form="csv").applied.counts
    assert parts(words, form="csv").applied.counts == first


def test_classes_that_are_called_as_gaps_are_counted_when_taken_up(tmp_path) -> None:
    labeller = _labeller(tmp_path, ("NA", "two\nlines"))
    frame_of(40, seed=1, names=("NA", "two\nlines")).to_parquet("in/a.parquet")
    first = parts(labeller, form="csv").applied
    again = parts(labeller, form="csv").applied
    assert again.tally.labels == first.tally.labels
    assert again.tally.guesses == first.tally.guesses
    assert again.drift() == first.drift()
    assert set(first.tally.labels) == {"NA", "two\nlines"}


def test_rows_left_because_they_are_unlike_the_old_ones_stand_in_the_record(words) -> None:
    frame = frame_of(20).assign(x=900.0)
    frame.to_parquet("in/a.parquet")
    applied = parts(words).applied
    n_open = int(frame.kind.isna().sum())
    assert (applied.counts["unlike"], applied.counts["given"]) == (20, 20 - n_open)
    assert n_open < 20
    assert f'"unlike": {n_open}' in Path("out", FOLDER, "manifest.json").read_text()


def test_quoted_cells_of_a_csv_are_what_they_say(words) -> None:
    new = pa.Table.from_pandas(frame_of(20, seed=1), preserve_index=False)
    arrow_csv.write_csv(new, "in/new.csv")
    whole(words, "in/new.csv")
    parts(words)
    assert pq.read_table("out/new.parquet").equals(pq.read_table("o.parquet"))


def test_vectors_that_the_labeller_would_not_look_at_are_refused(words) -> None:
    frame_of(20).to_parquet("in/new.parquet")
    np.save("vectors.npy", np.zeros((20, 7)))
    options = words.reading(embeddings="vectors.npy")
    with pytest.raises(InvalidInputError, match=r"compares rows by columns: .*Leave them out"):
        apply_to_table(words, "in/new.parquet", Path("o.parquet"), options, {})
