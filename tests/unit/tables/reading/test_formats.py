import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array

from beltrami.core.errors import BeltramiError, CorruptDataError, InvalidInputError
from beltrami.core.machine import memory
from beltrami.tables import Table, TableOptions, guess_roles, join_side_labels, read_table, row_ids

COLUMNS = {"id": ["a", "b", "c"], "x": [1.5, None, -2.0], "label": ["u", None, "v"]}


def write_arrow(table: pa.Table, path: Path, *, stream: bool = False) -> None:
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as sink, make(sink, table.schema) as writer:
        writer.write_table(table)


def test_all_files_of_one_table_read_alike(tmp_path: Path) -> None:
    table = pa.table(COLUMNS)
    pq.write_table(table, tmp_path / "t.parquet")
    write_arrow(table, tmp_path / "t.arrow")
    write_arrow(table, tmp_path / "s.arrow", stream=True)
    write_arrow(table, tmp_path / "t.feather")
    lines = "".join(json.dumps(row) + "\n" for row in table.to_pylist())
    (tmp_path / "t.jsonl").write_text(lines)
    (tmp_path / "t.ndjson.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "t.csv").write_text("id,x,label\na,1.5,u\nb,,\nc,-2.0,v\n")
    prints = set()
    for path in sorted(tmp_path.iterdir()):
        read = read_table(str(path))
        assert read.columns.to_pydict() == COLUMNS
        assert read.name == path.name
        prints.add(read.fingerprint())
    for source in (table, pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), COLUMNS):
        assert read_table(source).columns.to_pydict() == COLUMNS
        prints.add(read_table(source).fingerprint())
    assert len(prints) == 1


def test_lazy_frame_record_batch_and_table_are_taken() -> None:
    assert read_table(pl.LazyFrame(COLUMNS)).columns.to_pydict() == COLUMNS
    batch = pa.RecordBatch.from_pydict(COLUMNS)
    table = read_table(batch)
    assert table.columns.to_pydict() == COLUMNS
    assert read_table(table) is table


def test_categories_of_both_frames_work() -> None:
    values = ["u", None, "v"]
    for frame in (
        pd.DataFrame({"label": pd.Categorical(values), "x": [1.0, 2, 3]}),
        pl.DataFrame({"label": pl.Series(values, dtype=pl.Categorical), "x": [1.0, 2, 3]}),
        pl.DataFrame({"label": pl.Series(values, dtype=pl.Enum(["u", "v"])), "x": [1.0, 2, 3]}),
    ):
        assert read_table(frame).columns.to_pydict()["label"] == values


def test_index_of_a_pandas_frame_names_the_rows() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0], "label": ["a", "b"]}, index=["r", "s"])
    table = read_table(frame)
    assert row_ids(table, guess_roles(table)).tolist() == ["r", "s"]
    named = read_table(frame.rename_axis("customer"))
    assert guess_roles(named).id == "customer"
    deep = frame.set_index(pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert row_ids(read_table(deep), guess_roles(read_table(deep))).tolist() == ["a/1", "a/2"]
    assert read_table(frame.reset_index(drop=True)).names == ("x", "label")
    repeated = read_table(frame.set_axis(["r", "r"]))
    assert guess_roles(repeated).id is None


def test_pandas_names_that_are_no_texts_become_texts() -> None:
    assert read_table(pd.DataFrame(np.eye(2))).names == ("0", "1")
    deep = pd.DataFrame(np.eye(2), columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    assert read_table(deep).names == ("a/b", "a/c")
    with pytest.raises(InvalidInputError, match="more than once"):
        read_table(pd.DataFrame(np.eye(2), columns=["a", "a"]))


def test_matrix_stays_the_same_array_and_a_file_stays_on_disk(tmp_path: Path) -> None:
    matrix = np.arange(6, dtype=np.float32).reshape(3, 2)
    assert read_table(matrix).matrix is matrix
    np.save(tmp_path / "m.npy", matrix)
    read = read_table(tmp_path / "m.npy")
    assert isinstance(read.matrix, np.memmap)
    assert read.n_rows == 3
    assert read.names == ()
    assert read.matrix.tolist() == matrix.tolist()


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (np.array([[1, "a"]], dtype=object), "pickled"),
        (np.array([[1j, 2]]), "complex"),
        (np.array([["a", "b"]]), "dtype <U1"),
        (np.arange(3.0), r"reshape it to \(3, 1\)"),
        (np.zeros((2, 3, 4)), r"reshape it to \(2, 12\)"),
        (np.zeros((0, 3)), "empty"),
    ],
)
def test_arrays_that_are_no_matrix_are_refused(
    array: np.ndarray, reason: str, tmp_path: Path
) -> None:
    np.save(tmp_path / "m.npy", array, allow_pickle=True)
    with pytest.raises(InvalidInputError, match=reason):
        read_table(tmp_path / "m.npy")


def test_npz_gives_the_matrix_and_its_vectors(tmp_path: Path) -> None:
    matrix = np.eye(3)
    path = tmp_path / "d.npz"
    np.savez(
        path,
        short=np.arange(2),
        X=matrix,
        other=np.eye(4),
        y=np.array([0, 1, -1]),
        ids=np.array(list("abc")),
        k=5,
    )
    table = read_table(path)
    assert table.columns.to_pydict() == {"y": [0, 1, -1], "ids": ["a", "b", "c"]}
    assert np.array_equal(table.matrix, matrix)
    np.savez_compressed(path, anything=matrix, y=[1, 2, 3], bytes=np.array([b"a", b"b", b"c"]))
    assert read_table(path).columns.to_pydict()["bytes"] == ["a", "b", "c"]
    np.savez(path, a=matrix, b=matrix)
    with pytest.raises(InvalidInputError, match=r"2 arrays with two axes.*a \(3, 3\)"):
        read_table(path)
    np.savez(path, X=matrix, y=np.array(["a", None, 1], dtype=object))
    with pytest.raises(InvalidInputError, match="pickled"):
        read_table(path)


def test_truncated_and_foreign_files_are_reported(tmp_path: Path) -> None:
    pq.write_table(pa.table(COLUMNS), tmp_path / "t.parquet")
    write_arrow(pa.table(COLUMNS), tmp_path / "t.arrow")
    np.save(tmp_path / "m.npy", np.eye(30))
    np.savez(tmp_path / "z.npz", X=np.eye(30))
    for path in sorted(tmp_path.iterdir()):
        content = path.read_bytes()
        for broken in (content[: len(content) // 2], content[:3], b"something else entirely"):
            path.write_bytes(broken)
            with pytest.raises(CorruptDataError, match=path.name):
                read_table(path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": 1}\n{"a": \n', "broken at line 2"),
        ('{"a": 1}\n\n[1, 2]\n', "line 3 of t.jsonl holds a list"),
        ('{"a": 1}\n"x"\n', "line 2 of t.jsonl holds a str"),
        ("{}\n{}\n", "without any key"),
        ("\n\n", "empty"),
        ('{"a": "n\xe9e"}\n', "byte 0xe9"),
    ],
)
def test_broken_json_lines_are_named(text: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidInputError, match=reason):
        read_table(tmp_path / "t.jsonl")


def test_json_columns_of_several_types_become_texts_and_are_known(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1, "b": [1, 2]}\n{"a": "x", "b": [0.5, 1], "c": 1}\n')
    table = read_table(tmp_path / "t.jsonl")
    assert table.columns.to_pydict()["a"] == ["1", "x"]
    assert table.columns.to_pydict()["c"] == [None, 1]
    roles = guess_roles(table, TableOptions(min_classes=0))
    assert "int, str" in roles.ignored["a"]
    assert roles.vectors == ("b",)


def test_missing_file_names_those_near_it(tmp_path: Path) -> None:
    (tmp_path / "customers.csv").write_text("a\n1\n")
    with pytest.raises(InvalidInputError, match=r"Did you mean 'customers\.csv'"):
        read_table(tmp_path / "custmers.csv")
    with pytest.raises(InvalidInputError, match=r"the folder holds 'customers\.csv'"):
        read_table(tmp_path / "zzzzzzzzz.parquet")
    with pytest.raises(InvalidInputError, match="no folder"):
        read_table(tmp_path / "nowhere" / "a.csv")


def test_names_that_the_system_refuses_are_reported() -> None:
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_table("x" * 5000 + ".csv")
    with pytest.raises(InvalidInputError):
        read_table("a\0b.csv")


def test_unknown_kinds_are_refused_with_a_list(tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_text("x")
    with pytest.raises(InvalidInputError, match=r"\.parquet.*\.csv"):
        read_table(tmp_path / "t.xlsx")
    for source in (5, None, [1, 2], csr_array(np.eye(2)), pd.Series([1, 2])):
        with pytest.raises(InvalidInputError, match="cannot be read as a table"):
            read_table(source)


def test_tables_without_rows_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "t.parquet")
    for source in (tmp_path / "t.parquet", pd.DataFrame({"a": []}), {}, {"a": []}):
        with pytest.raises(InvalidInputError, match="no rows"):
            read_table(source)
    (tmp_path / "t.parquet").write_bytes(b"")
    with pytest.raises(InvalidInputError, match="0 bytes"):
        read_table(tmp_path / "t.parquet")


def test_dict_of_unequal_or_odd_columns_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="differ in length"):
        read_table({"a": [1], "b": [1, 2]})
    with pytest.raises(InvalidInputError, match="no sequence"):
        read_table({"a": 1})


def test_matrix_in_a_dict_becomes_vectors() -> None:
    table = read_table({"v": np.eye(3), "label": list("aba")})
    assert guess_roles(table).vectors == ("v",)


def test_embeddings_stand_beside_the_columns(tmp_path: Path) -> None:
    np.save(tmp_path / "e.npy", np.eye(3, dtype=np.float32))
    table = read_table(COLUMNS, TableOptions(embeddings=tmp_path / "e.npy"))
    assert isinstance(table.matrix, np.memmap)
    assert guess_roles(table).uses_matrix
    np.save(tmp_path / "e.npy", np.eye(4))
    with pytest.raises(InvalidInputError, match="4 rows and dict has 3"):
        read_table(COLUMNS, TableOptions(embeddings=tmp_path / "e.npy"))


DATA: dict[str, Any] = {"id": [7, 8, 9], "x": [1.0, 2.0, 3.0]}


def joined(source: Any, **options: Any) -> Table:
    chosen = TableOptions(**options)
    return join_side_labels(read_table(source, chosen), chosen)


def test_side_labels_are_joined_on_the_id(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("ID,Label\n9,b\n7,a\n")
    assert joined(DATA, labels=tmp_path / "l.csv").columns.to_pydict()["label"] == [
        "a",
        None,
        "b",
    ]
    texts = {"id": ["8"], "label": [1]}
    assert joined(DATA, labels=texts).columns.to_pydict()["label"] == [None, 1, None]
    large = {"id": [123456789012, 8, 9], "x": [1.0, 2.0, 3.0]}
    floats = {"id": [123456789012.0], "label": [1]}
    assert joined(large, labels=floats).columns.to_pydict()["label"] == [1, None, None]


def test_side_labels_go_by_row_number_where_there_is_no_id() -> None:
    table = joined(np.eye(3), labels={"id": [2], "label": ["a"]})
    assert table.columns.to_pydict() == {"label": [None, None, "a"]}


def test_side_labels_go_by_the_column_named() -> None:
    data = {"id": [1, 2], "code": ["p", "q"]}
    table = joined(data, labels={"id": ["q"], "label": ["a"]}, id="code")
    assert table.columns.to_pydict()["label"] == [None, "a"]


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ({"id": [7, 1, 2], "label": [1, 1, 1]}, "2 of 3 ids in dict are not among.*'1', '2'"),
        ({"id": [7, 7], "label": [1, 2]}, "more than once in dict: '7'"),
        ({"id": [7, None], "label": [1, 2]}, "1 of 2 ids in dict are missing"),
        ({"id": [7]}, "open which they are: it has 'id'"),
        ({"other": [5], "label": [1]}, "1 of 1 ids in dict are not among"),
    ],
)
def test_side_labels_that_do_not_fit_are_refused(labels: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        joined(DATA, labels=labels)


@pytest.mark.parametrize("name", ["label", "kind"])
@pytest.mark.parametrize(
    ("own", "side", "wanted"),
    [
        (["a", None, None], {"id": [8, 9], "label": ["b", ""]}, ["a", "b", None]),
        (["a", " ", "c"], {"id": [7], "label": ["b"]}, ["b", None, "c"]),
        ([1, None, 3], {"id": [8], "label": [2]}, [1, 2, 3]),
        ([1, None, None], {"id": [8, 9], "label": ["2", None]}, [1, 2, None]),
        ([1, None, None], {"id": [8, 9], "label": ["two", None]}, ["1", "two", None]),
        ([1, None, None], {"id": [8, 9], "label": ["None", "2.0"]}, ["1", "None", "2.0"]),
        ([1.0, np.nan, None], {"id": [8], "label": ["2"]}, [1, 2, None]),
        ([True, None, None], {"id": [8], "label": ["False"]}, [True, False, None]),
        ([True, None, None], {"id": [8], "label": ["no"]}, ["True", "no", None]),
        ([None, None, None], {"id": [8], "label": [2]}, [None, 2, None]),
        (["a", None, "c"], {"id": [8], "label": [None]}, ["a", None, "c"]),
    ],
)
def test_side_labels_come_on_top_of_those_in_the_table(own, side, wanted, name) -> None:
    table = joined({**DATA, name: own}, labels=side, label=name)
    assert table.columns.to_pydict()[name] == wanted
    assert table.names == ("id", "x", name)
    assert joined({**DATA, "label": own}, labels=side).columns.to_pydict()["label"] == wanted


def test_side_labels_in_a_csv_are_texts_as_written(tmp_path: Path) -> None:
    words = ["None", "NA", "?"]
    side = "id,label\n" + "".join(f"{i},{w}\n" for i, w in zip((7, 8, 9), words, strict=True))
    (tmp_path / "side.csv").write_text(side)
    for own in ([None] * 3, ["a", "b", ""], [1, 2, None]):
        table = joined({**DATA, "label": own}, labels=tmp_path / "side.csv")
        assert table.columns.to_pydict()["label"] == words
    (tmp_path / "side.csv").write_text("id,label\n9.0,u\n7.0,v\n")  # as pandas writes them
    found = joined(DATA, labels=tmp_path / "side.csv").columns.to_pydict()["label"]
    assert found == ["v", None, "u"]
    (tmp_path / "data.csv").write_text("id,x\n1.50,1\n1.5,2\nNA,3\n")
    (tmp_path / "side.csv").write_text("id,label\nNA,u\n1.50,v\n")
    table = joined(tmp_path / "data.csv", labels=tmp_path / "side.csv")
    assert table.columns.to_pydict()["label"] == ["v", None, "u"]


def test_side_labels_want_a_column_that_is_there() -> None:
    with pytest.raises(InvalidInputError, match="'kid'"):
        joined({**DATA, "kind": [1, 2, 3]}, labels={"id": [7], "label": [1]}, label="kid")
    assert joined(DATA, labels={"id": [7], "label": [1]}, label="label").names[-1] == "label"


def test_large_parquet_and_npz_are_refused_with_numbers(tmp_path: Path, monkeypatch) -> None:
    pq.write_table(pa.table({"a": np.arange(1000.0)}), tmp_path / "t.parquet")
    np.savez(tmp_path / "z.npz", X=np.eye(30))
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n' * 100)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(BeltramiError, match="the budget is"):
            read_table(path)


def test_less_common_types_of_arrow_are_read() -> None:
    tensors = pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.float32(), [2]),
        pa.FixedSizeListArray.from_arrays(pa.array(np.arange(4, dtype=np.float32)), 2),
    )
    source = pa.table(
        {"v": tensors, "s": pa.array(["a", "b"], pa.string_view()), "h": np.ones(2, np.float16)}
    )
    table = read_table(source)
    assert guess_roles(table, TableOptions(min_classes=0)).vectors == ("v",)
    assert table.columns.to_pydict()["s"] == ["a", "b"]
    assert table.columns.schema.field("h").type == pa.float32()
    assert len(table.fingerprint()) == 64


def test_odd_columns_of_frames_are_read() -> None:
    frame = pd.DataFrame({"index": [1.5, 2.5], "c": [1j, 2j]}, index=["a", "b"])
    table = read_table(frame)
    assert table.names == ("index_", "index", "c")
    assert "complex" in guess_roles(table, TableOptions(min_classes=0)).ignored["c"]
    objects = pl.DataFrame({"o": pl.Series([object(), object()], dtype=pl.Object), "x": [1, 2]})
    assert "object" in guess_roles(read_table(objects), TableOptions(min_classes=0)).ignored["o"]
    gaps = read_table({"m": [1, "a", None, float("nan"), pd.NA]}).columns.to_pydict()["m"]
    assert gaps == ["1", "a", None, None, None]


def test_columns_of_a_dict_may_be_of_any_array_type() -> None:
    columns = {
        "big_endian": np.arange(2, dtype=">i4"),
        "texts": np.array(["u", "v"]),
        "range": range(2),
        "series": pl.Series([1, 2]),
    }
    assert read_table(columns).columns.to_pydict() == {
        "big_endian": [0, 1],
        "texts": ["u", "v"],
        "range": [0, 1],
        "series": [1, 2],
    }


def test_parquet_without_columns_and_strange_ids_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({}), tmp_path / "t.parquet")
    with pytest.raises(InvalidInputError, match="no columns"):
        read_table(tmp_path / "t.parquet")
    with pytest.raises(InvalidInputError, match="cannot be compared"):
        joined({"id": [[1], [2]]}, labels={"id": [1], "label": [1]}, id="id")


@pytest.mark.parametrize("names", ["file,kind", "kind,file", "id,kind", "path,label", "Path,Label"])
def test_side_tables_may_call_their_columns_otherwise(tmp_path, names):
    rows = ["a.png,cat", "b.png,dog"]
    if names.startswith("kind"):
        rows = [",".join(reversed(row.split(","))) for row in rows]
    (tmp_path / "side.csv").write_text("\n".join([names, *rows, ""]), encoding="utf-8")
    data = {"path": ["a.png", "b.png", "c.png"], "x": [1.0, 2.0, 3.0]}
    table = joined(data, labels=tmp_path / "side.csv")
    assert table.columns.column("label").to_pylist() == ["cat", "dog", None]


def test_side_tables_whose_columns_do_not_tell_say_what_to_do(tmp_path):
    (tmp_path / "side.csv").write_text("one,two\na.png,cat\nz.png,dog\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="Call them 'id' and 'label' in its first line"):
        joined({"path": ["a.png", "b.png"], "x": [1, 2]}, labels=tmp_path / "side.csv")


@pytest.mark.parametrize(
    "given",
    [("TRUE", "true", "FALSE"), ("1.0", "1", "2"), ("1e3", "1000", "2e3"), ("+1", "1", "-2"),
     ("10:00", "10:00:00", "11:00"), ("2020-01-01 10:00", "x", "y"), ("1.10", "1.1", "1.2")],
)  # fmt: skip
@pytest.mark.parametrize("name", ["label", "verdict", "answer"])
def test_labels_of_a_side_file_are_texts_whatever_their_column_is_called(tmp_path, given, name):
    rows = "".join(f"r{i},{one}\n" for i, one in enumerate(given))
    (tmp_path / "side.csv").write_text(f"id,{name}\n{rows}", encoding="utf-8")
    data = {"id": ["r0", "r1", "r2"], "x": [1.0, 2.0, 3.0]}
    table = joined(data, labels=tmp_path / "side.csv")
    assert table.columns.column("label").to_pylist() == list(given)


def test_an_answered_sheet_of_an_audit_gives_labels_and_a_column_of_labels_goes_first(tmp_path):
    data = {"id": ["r0", "r1", "r2"], "post": ["x", "y", "z"], "label": ["cat", None, None]}
    sheet = tmp_path / "audit.csv"
    sheet.write_text("id,answer,post\nr1,dog,y\nr2,,z\n", encoding="utf-8")
    assert joined(data, labels=sheet).columns.column("label").to_pylist() == ["cat", "dog", None]
    sheet.write_text("id,answer,label\nr1,dog,cow\nr2,,hen\n", encoding="utf-8")
    assert joined(data, labels=sheet).columns.column("label").to_pylist() == ["cat", "cow", "hen"]
    sheet.write_text("name,answer,post\nr1,dog,y\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match="it is open which they are"):
        joined(data, labels=sheet)


def test_a_marker_in_a_side_file_takes_no_label_away(tmp_path):
    (tmp_path / "side.csv").write_text("id,label\nr0,?\nr1,dog\n", encoding="utf-8")
    data = {"id": ["r0", "r1", "r2"], "x": [1.0, 2.0, 3.0], "label": ["cat", None, None]}
    table = joined(data, labels=tmp_path / "side.csv", unlabeled="?")
    assert table.columns.column("label").to_pylist() == ["cat", "dog", None]
