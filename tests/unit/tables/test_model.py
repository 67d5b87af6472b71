import numpy as np
import pyarrow as pa
import pytest

from beltrami.core.errors import InvalidInputError
from beltrami.tables import Table

WORDS = ["a", None, "ccc", "", "é"]


def table(**columns: object) -> Table:
    return Table("t", pa.table(columns))


def test_fingerprint_is_fixed() -> None:
    found = table(a=pa.array(WORDS), b=pa.array([1, 2, None, 4, 5])).fingerprint()
    assert found == table(a=pa.array(WORDS), b=pa.array([1, 2, None, 4, 5])).fingerprint()
    assert len(found) == 64


def test_fingerprint_does_not_depend_on_chunks_or_slices() -> None:
    lists = [[1.0, 2.0], None, [], [3.0], [4.0]]
    whole = table(a=pa.array(WORDS), v=pa.array(lists))
    split = table(
        a=pa.chunked_array([WORDS[:2], WORDS[2:]]), v=pa.chunked_array([lists[:1], lists[1:]])
    )
    padded = table(a=pa.array(["z", *WORDS, "z"]), v=pa.array([[9.0], *lists, [8.0]]))
    sliced = Table("t", padded.columns.slice(1, 5))
    assert whole.fingerprint() == split.fingerprint() == sliced.fingerprint()


def test_fingerprint_sees_where_gaps_are_and_what_a_slice_holds() -> None:
    early, late = pa.array([1, None, 2]), pa.array([1, 2, None])
    assert table(a=early).fingerprint() != table(a=late).fingerprint()
    words = pa.array(["no", "yes", "maybe"], pa.large_string())
    rest = pa.array(["yes", "maybe"], pa.large_string())
    assert table(a=words[1:]).fingerprint() == table(a=rest).fingerprint()
    assert table(a=words[:2]).fingerprint() != table(a=rest).fingerprint()


def test_fingerprint_ignores_how_texts_are_held() -> None:
    prints = {
        table(a=pa.array(WORDS, kind)).fingerprint() for kind in (pa.string(), pa.large_string())
    }
    prints.add(table(a=pa.array(WORDS).dictionary_encode()).fingerprint())
    assert len(prints) == 1


def test_fingerprint_sees_every_change() -> None:
    base = {"a": pa.array(WORDS), "b": pa.array([1, 2, None, 4, 5])}
    changed = [
        base,
        {"a": base["a"], "c": base["b"]},
        {"a": pa.array(["a", "", "ccc", None, "é"]), "b": base["b"]},
        {"a": pa.array(["ac", None, "cc", "", "é"]), "b": base["b"]},
        {"a": base["a"], "b": pa.array([1, 2, 0, 4, 5])},
        {"a": base["a"], "b": pa.array([1.0, 2.0, None, 4.0, 5.0])},
    ]
    matrices = [np.eye(5), np.eye(5, dtype=np.float32), np.eye(5)[::-1], np.ones((5, 5))]
    prints = {table(**columns).fingerprint() for columns in changed}
    prints |= {Table("t", pa.table(base), matrix).fingerprint() for matrix in matrices}
    assert len(prints) == len(changed) + len(matrices)


def test_rows_of_matrix_and_columns_must_agree() -> None:
    with pytest.raises(InvalidInputError, match="has 5 rows and the matrix beside it 4"):
        Table("t", pa.table({"a": WORDS}), np.eye(4))
    assert Table("t", pa.table({}), np.eye(4)).n_rows == 4
    assert "4 rows, 0 columns, matrix (4, 4)" in repr(Table("t", pa.table({}), np.eye(4)))
