"""Embeddings come from files, objects and columns, in the order of the rows or by ids."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beltrami.core.errors import BeltramiError, InvalidInputError
from beltrami.core.machine import memory
from beltrami.tables import Table, TableOptions, guess_roles, read_table
from beltrami.tables.reading.embeddings import vectors_of_rows

COLUMNS: dict[str, Any] = {"id": ["a", "b", "c"], "size": [1.0, 5.0, 2.0]}
VECTORS = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]], dtype=np.float32)


def beside(embeddings: Any, source: Any = COLUMNS, **options: Any) -> Table:
    return read_table(source, TableOptions(embeddings=embeddings, min_classes=0, **options))


def refusal(embeddings: Any, source: Any = COLUMNS, **options: Any) -> str:
    with pytest.raises(InvalidInputError) as caught:
        guess_roles(beside(embeddings, source, **options), TableOptions(min_classes=0, **options))
    return str(caught.value)


def write_vectors(path: Path, ids: Any = None, vectors: Any = VECTORS) -> Path:
    """Write vectors in the form that the name says, with ids where there are some."""
    lists = [list(map(float, row)) for row in vectors]
    if path.suffix == ".npy":
        np.save(path, vectors)
    elif path.suffix == ".npz":
        np.savez(path, vectors=vectors, **({} if ids is None else {"ids": np.array(ids)}))
    elif path.suffix == ".jsonl":
        keys = [{}] * len(lists) if ids is None else [{"id": one} for one in ids]
        rows = [key | {"vector": row} for key, row in zip(keys, lists, strict=True)]
        path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    else:
        columns = {} if ids is None else {"id": ids}
        values = pa.array(lists, pa.list_(pa.float32()))
        pq.write_table(pa.table(columns | {"embedding": values}), path)
    return path


@pytest.mark.parametrize("ending", ["npy", "npz", "parquet", "jsonl"])
def test_a_file_without_ids_has_the_rows_in_order(tmp_path: Path, ending: str) -> None:
    table = beside(write_vectors(tmp_path / f"v.{ending}"))
    assert np.array_equal(table.matrix, VECTORS)
    assert table.matrix_name == f"v.{ending}"
    assert table.names == ("id", "size")


@pytest.mark.parametrize("ending", ["npz", "parquet", "jsonl"])
def test_a_file_with_ids_is_matched_by_them_and_others_are_left_out(
    tmp_path: Path, ending: str
) -> None:
    more = np.vstack([VECTORS, [[9.0, 9.0]]]).astype(np.float32)
    path = write_vectors(tmp_path / f"v.{ending}", ["c", "a", "b", "z"], more)
    assert np.array_equal(beside(path).matrix, VECTORS[[1, 2, 0]])


def test_ids_are_found_under_the_name_that_the_table_has_or_by_what_they_are(
    tmp_path: Path,
) -> None:
    source = {"post": ["a", "b", "c"], "size": [1, 5, 2]}
    frame = pd.DataFrame({"Post": ["b", "c", "a"], "vector": list(VECTORS)})
    assert np.array_equal(beside(frame, source, id="post").matrix, VECTORS[[2, 0, 1]])
    by_content = pd.DataFrame({"key": ["b", "c", "a"], "vector": list(VECTORS)})
    assert np.array_equal(beside(by_content).matrix, VECTORS[[2, 0, 1]])
    strangers = pd.DataFrame({"name": ["x", "y", "z"], "vector": list(VECTORS)})
    assert np.array_equal(beside(strangers).matrix, VECTORS)


def test_without_ids_in_the_table_those_of_the_file_are_row_numbers(tmp_path: Path) -> None:
    path = write_vectors(tmp_path / "v.npz", [2, 0, 1])
    assert np.array_equal(beside(path, {"size": [1, 5, 2]}).matrix, VECTORS[[1, 2, 0]])
    assert "row numbers" in refusal(write_vectors(tmp_path / "w.npz", [3, 4, 5]), {"x": [1, 5, 2]})


def test_numbers_and_texts_that_are_written_alike_are_one_id(tmp_path: Path) -> None:
    path = write_vectors(tmp_path / "v.npz", ["8", "9", "7"])
    assert np.array_equal(beside(path, {"id": [7, 8, 9]}).matrix, VECTORS[[2, 0, 1]])


@given(order=st.permutations(range(6)), n_more=st.integers(0, 3), seed=st.integers(0, 99))
def test_whatever_the_order_of_the_file_a_row_gets_the_vector_of_its_id(
    order: list[int], n_more: int, seed: int
) -> None:
    vectors = np.random.default_rng(seed).normal(size=(6 + n_more, 2))
    side = {"ids": [f"r{i}" for i in (*order, *range(6, 6 + n_more))], "vector": list(vectors)}
    table = beside(side, {"id": [f"r{i}" for i in range(6)]})
    assert np.array_equal(table.matrix[list(order)], vectors[:6])


def test_a_file_in_order_is_mapped_and_one_with_ids_in_order_is_not_copied(tmp_path: Path) -> None:
    assert isinstance(beside(write_vectors(tmp_path / "v.npy")).matrix, np.memmap)
    table = beside({"id": ["a", "b", "c"], "vector": list(VECTORS)})
    assert table.matrix.base is None


def test_a_column_is_left_in_the_table_and_used_alone() -> None:
    source = COLUMNS | {"first": list(VECTORS), "second": list(VECTORS[:, ::-1])}
    options = TableOptions(embeddings="second", min_classes=0)
    table = read_table(source, options)
    roles = guess_roles(table, options)
    assert (table.matrix, roles.vectors, roles.uses_matrix) == (None, ("second",), False)
    assert roles.embeddings == "column 'second'"
    assert set(roles.ignored) == {"first", "size"}
    assert "rows are compared by the embeddings in column 'second' alone" in roles.lines()


def test_a_column_that_is_asked_for_is_neither_label_nor_id() -> None:
    source = {"label": list(VECTORS), "kind": ["x", "y", "x"]}
    options = TableOptions(label="kind", embeddings="label")
    assert guess_roles(read_table(source, options), options).vectors == ("label",)
    for role, match in (("label", "the label"), ("id", "the id"), ("ignore", "ignored")):
        asked = TableOptions(**{role: "v"}, embeddings="v", min_classes=0)
        with pytest.raises(InvalidInputError, match=match):
            guess_roles(read_table({"v": list(VECTORS)}, asked), asked)


@pytest.mark.parametrize(
    ("column", "holds"),
    [
        (["[0.1, 0.2]", "[0.3, 0.1]", "[1, 2]"], "it holds string"),
        ([1.0, 2.0, 3.0], "it holds double"),
        ([["a"], ["b"], ["c"]], "it holds list<item: string>"),
        ([None, None, None], "it holds nothing"),
    ],
    ids=["texts", "numbers", "lists of texts", "nothing"],
)
def test_a_column_without_vectors_is_refused_with_what_to_do(column: list[Any], holds: str) -> None:
    table = read_table(COLUMNS | {"v": column})
    with pytest.raises(InvalidInputError, match=r"numpy\.save") as caught:
        guess_roles(table, TableOptions(embeddings="v", min_classes=0))
    assert holds in str(caught.value)


def test_a_column_that_is_not_there_gets_the_nearest_name() -> None:
    assert "Did you mean 'vector'?" in refusal("vectr", COLUMNS | {"vector": list(VECTORS)})


def test_a_name_that_is_a_column_and_a_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = {"v.npy": list(VECTORS)}
    assert beside("v.npy", source).matrix is None
    write_vectors(tmp_path / "v.npy", vectors=VECTORS + 1)
    message = refusal("v.npy", source)
    assert "a column of dict and a file, too" in message
    assert "./v.npy" in message
    assert np.array_equal(beside("./v.npy", source).matrix, VECTORS + 1)
    assert np.array_equal(beside(Path("v.npy"), source).matrix, VECTORS + 1)


def test_files_of_other_kinds_and_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("a\n1\n")
    (tmp_path / "d.npy").mkdir()
    for name in ("v.csv", "d.npy", "nope.pt"):
        message = refusal(tmp_path / name)
        assert "no column of dict, and no file of a kind" in message
        assert ".npy, .npz, .parquet" in message
    assert "Did you mean 'd.npy'" in refusal(tmp_path / "e.npy")


def test_a_wrong_number_of_rows_is_refused_with_both_numbers(tmp_path: Path) -> None:
    message = refusal(write_vectors(tmp_path / "v.npy", vectors=VECTORS[:2]))
    assert "embeddings in v.npy have 2 rows and dict has 3" in message
    assert "ids=ids" in message


def test_ids_that_lack_a_row_or_occur_twice_are_refused(tmp_path: Path) -> None:
    lost = refusal(write_vectors(tmp_path / "v.npz", ["a", "b", "q"]))
    assert "1 of 3 rows of dict have no vector in v.npz" in lost
    assert "'c'" in lost
    twice = refusal(write_vectors(tmp_path / "v.npz", ["a", "b", "b"]))
    assert "1 id(s) occur more than once in v.npz: 'b'" in twice
    gap = refusal(write_vectors(tmp_path / "v.parquet", ["a", "b", None]))
    assert "1 of 3 ids in v.parquet are missing" in gap
    np.savez(tmp_path / "w.npz", vectors=VECTORS, ids=np.array(["a", "b"]))
    assert "one id for each row is due" in refusal(tmp_path / "w.npz")


def test_pickles_words_and_cubes_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "o.npy", np.array([[1, "a"]] * 3, dtype=object), allow_pickle=True)
    assert "pickled" in refusal(tmp_path / "o.npy")
    np.savez(tmp_path / "o.npz", vectors=VECTORS, ids=np.array(["a", "b", 3], dtype=object))
    assert "pickled" in refusal(tmp_path / "o.npz")
    np.save(tmp_path / "w.npy", np.array([["a"], ["b"], ["c"]]))
    assert "no numbers" in refusal(tmp_path / "w.npy")
    assert "reshape it to (3, 2)" in refusal(VECTORS.reshape(3, 2, 1))
    assert "complex" in refusal(VECTORS.astype(complex))


def test_a_side_table_must_hold_one_column_of_vectors() -> None:
    assert "no column of vectors" in refusal({"e0": [1.0, 2.0, 3.0], "e1": [1.0, 2.0, 4.0]})
    two = {"title": list(VECTORS), "body": list(VECTORS)}
    assert "2 columns of vectors" in refusal(two)
    named = {"title": list(VECTORS), "embedding": list(VECTORS + 1)}
    assert np.array_equal(beside(named).matrix, VECTORS + 1)


def test_ragged_lists_are_refused_with_their_row() -> None:
    message = refusal({"vector": [[1.0, 2.0], [1.0], [2.0, 3.0]]})
    assert "row 1 has 1 numbers, and the first list 2" in message


def test_memory_is_asked_for_before_it_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [write_vectors(tmp_path / f"v.{kind}", ["c", "b", "a"]) for kind in ("npz", "parquet")]
    monkeypatch.setattr(memory, "available_bytes", lambda: 10)
    for path in paths:
        with pytest.raises(BeltramiError, match="reading v"):
            beside(path)
    side = Table("v.npz", pa.table({"id": ["c", "b", "a"]}), VECTORS)
    with pytest.raises(BeltramiError, match="in the order of dict"):
        vectors_of_rows(side, read_table(COLUMNS), TableOptions())


@pytest.mark.parametrize("asked", ["features", "text", "categories", "numbers"])
def test_features_beside_embeddings_are_refused_and_not_ignored(asked: str) -> None:
    source = COLUMNS | {"body": ["one two three", "two three four", "three four five"]}
    name = "body" if asked == "text" else "size"
    options = TableOptions(embeddings=VECTORS, min_classes=0, **{asked: name})
    with pytest.raises(InvalidInputError, match="cannot stand beside the embeddings"):
        guess_roles(read_table(source, options), options)
