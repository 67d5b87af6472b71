"""Whatever is handed in, the room answers with a result or with an error of ours."""

import datetime as dt
import decimal
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beltrami.core.errors import BeltramiError
from beltrami.core.store import Parcel
from beltrami.tables import (
    Features,
    Table,
    TableOptions,
    feature_matrix,
    guess_roles,
    label_column,
    read_table,
    row_ids,
    write_table,
)
from beltrami.tables.features.faults import Faults
from beltrami.tables.features.packing import pack_recipe, unpack_recipe

CALM = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=60,
    deadline=None,
)
words = st.text(st.characters(exclude_categories=("Cs",)), max_size=6)
names = st.sampled_from(["label", "id", "x", "y", "index", "text", "v", "", " ", "a,b", 'q"', "ü"])
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.integers(),
    st.floats(),
    words,
    st.sampled_from(["", "NA", "?", "-1", "007", "1.5", "red blue green cars", "é"]),
    st.dates(dt.date(1, 1, 1)),
    st.decimals(allow_nan=False, allow_infinity=False, places=2, min_value=-99, max_value=99),
    st.binary(max_size=3),
    st.lists(st.floats(width=32), max_size=2),
)


def column(n: int) -> st.SearchStrategy[list[Any]]:
    of_one_kind = st.sampled_from(
        [
            st.integers(-1, 2),
            st.floats(),
            st.sampled_from(["a", "b", "", None]),
            st.booleans(),
            words,
            st.lists(st.floats(-5, 5), min_size=2, max_size=2),
            st.none(),
            st.sampled_from([0.0, 1.0, None, float("nan"), 1e300]),
            scalars,
        ]
    )
    return of_one_kind.flatmap(lambda kind: st.lists(kind, min_size=n, max_size=n))


tables = st.integers(0, 8).flatmap(lambda n: st.dictionaries(names, column(n), max_size=4))
options = st.fixed_dictionaries(
    {},
    optional={
        "label": names,
        "id": names,
        "features": st.lists(names, max_size=2),
        "text": names,
        "categories": names,
        "numbers": st.lists(names, max_size=2),
        "ignore": st.lists(names, max_size=2),
        "min_classes": st.sampled_from([0, 2]),
    },
)


def follow(source: Any, chosen: dict[str, Any], impute: bool, out: Path) -> None:
    """Go the whole way from a source to a file, and check what may be relied on."""
    try:
        table = read_table(source)
        assert len(table.fingerprint()) == 64
        roles = guess_roles(table, TableOptions(**chosen))
        assert roles.lines()
        named = [*roles.numeric, *roles.categorical, *roles.text, *roles.vectors, *roles.ignored]
        own = [name for name in (roles.id, roles.label) if name is not None]
        assert sorted(set(named + own)) == sorted(table.names)
        ids = row_ids(table, roles)
        found = feature_matrix(table, roles, impute=impute)
        assert str(found)
        dense = found.points if isinstance(found.points, np.ndarray) else found.points.toarray()
        assert dense.shape == (table.n_rows, len(found.names))
        assert np.isfinite(dense).all()
        require_same_again(table, found)
        labels = label_column(table, roles).values
        assert len(set(labels.tolist()) - {None}) >= 2
        write_table(out, {"id": ids, "label": labels}, {"k": "v"})
        assert read_table(out).n_rows == table.n_rows
    except BeltramiError as error:
        if not str(error):
            pytest.fail("an error without a message")


def require_same_again(table: Table, found: Features) -> None:
    """Check that the recipe, taken apart and put together, makes the same bits row by row."""
    parcel = Parcel({}, {})
    pack_recipe(parcel, found.recipe)
    parcel = Parcel(parcel.arrays, json.loads(json.dumps(parcel.facts)))
    recipe = unpack_recipe(parcel)
    for start, count in ((0, table.n_rows), (table.n_rows - 1, 1)):
        matrix = None if table.matrix is None else table.matrix[start : start + count]
        rows = replace(table, columns=table.columns.slice(start, count), matrix=matrix)
        faults = Faults(table.name, ids=None, impute=recipe.impute, is_new=True)
        points, is_empty = recipe.make(rows, faults)
        assert abs(points - found.points[start : start + count]).max() == 0
        assert found.is_empty is None or is_empty.tolist() == list(
            found.is_empty[start : start + count]
        )


@CALM
@given(
    columns=tables,
    chosen=options,
    impute=st.booleans(),
    out=st.sampled_from(["o.parquet", "o.csv", "o.jsonl"]),
)
def test_any_dict(columns, chosen, impute, out, tmp_path: Path) -> None:
    follow(columns, chosen, impute, tmp_path / out)


@CALM
@given(columns=tables, chosen=options, impute=st.booleans(), is_pandas=st.booleans())
def test_any_data_frame(columns, chosen, impute, is_pandas, tmp_path: Path) -> None:
    try:
        if is_pandas:
            frame: Any = pd.DataFrame(
                {name: pd.Series(v, dtype=object) for name, v in columns.items()}
            )
            frame = frame.infer_objects()
        else:
            frame = pl.DataFrame(columns, strict=False)
    except (
        ValueError,
        TypeError,
        OverflowError,
        pl.exceptions.PolarsError,
        decimal.DecimalException,
    ):
        return  # their refusal, not ours
    follow(frame, chosen, impute, tmp_path / "o.parquet")


@CALM
@given(columns=tables, chosen=options, impute=st.booleans())
def test_any_json_lines(columns, chosen, impute, tmp_path: Path) -> None:
    rows = zip(*columns.values(), strict=True)
    lines = [json.dumps(dict(zip(columns, row, strict=True)), default=str) for row in rows]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    follow(tmp_path / "t.jsonl", chosen, impute, tmp_path / "o.csv")


pieces = st.sampled_from(
    [
        "label",
        "id",
        "x",
        "1",
        "-1",
        "2.5",
        "007",
        "NA",
        "",
        '"',
        "a b c d",
        "é",
        "1e400",
        "\0",
        "x y",
    ]
)
csv_texts = st.lists(
    st.tuples(pieces, st.sampled_from([",", ",", ",", ";", "\n", "\n", "\r\n", "\t", '","'])),
    max_size=40,
).map(lambda pairs: "".join(piece + mark for piece, mark in pairs).encode())
rows_of_three = st.lists(st.tuples(pieces, pieces, pieces), max_size=8).map(
    lambda rows: "".join(",".join(row) + "\n" for row in [("id", "x", "label"), *rows]).encode()
)


@CALM
@given(
    content=st.one_of(csv_texts, rows_of_three, st.binary(max_size=60)),
    chosen=options,
    impute=st.booleans(),
)
def test_any_csv(content, chosen, impute, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    follow(tmp_path / "t.csv", chosen, impute, tmp_path / "o.tsv")


@pytest.mark.parametrize(
    "ending", ["parquet", "arrow", "feather", "jsonl", "npy", "npz", "csv.gz", "tsv", "jsonl.gz"]
)
@CALM
@given(content=st.binary(max_size=60), cut=st.integers(0, 5000))
def test_any_bytes_under_any_name(ending, content, cut, tmp_path: Path) -> None:
    path = tmp_path / f"t.{ending}"
    if ending in ("npy", "npz"):
        np.savez(path, X=np.eye(3)) if ending == "npz" else np.save(path, np.eye(3))
    else:
        write_table(path, {"id": np.arange(9), "label": np.array(list("abcabcabc"))}, {})
    whole = path.read_bytes()
    place = cut % len(whole)
    path.write_bytes(whole[:place] + content + whole[place + len(content) :])
    follow(path, {}, False, tmp_path / "o.csv")
