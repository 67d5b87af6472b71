"""Features of the rows: a table and its roles enter, one matrix leaves, checked for gaps.

Numbers are kept as given unless categories stand beside them.
"""

import os
import re
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.sparse import csr_array, hstack, issparse

from beltrami.core.errors import InvalidInputError
from beltrami.core.memory import require_memory
from beltrami.core.types import BoolVector, FloatMatrix, Points
from beltrami.tables.columns.roles import Roles
from beltrami.tables.features.blocks import (
    category_block,
    gap_block,
    matrix_block,
    number_block,
    vector_block,
    zero_rows,
)
from beltrami.tables.features.faults import Faults
from beltrami.tables.features.texts import text_block
from beltrami.tables.model import Table, decode_categories

_LIKE_SPREAD = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """The rows as points.

    Attributes
    ----------
    points : ndarray or csr_array of shape (n, d)
        float32 or float64, all finite, with squares that do not overflow.
    names : tuple of str
        What each of the d columns is.
    metric : {"euclidean", "angle"}
        The distance that suits them.
    has_units : bool
        Whether the columns may be of different units, so that a learner should standardise them.
    notes : tuple of str
        What was done on the way.
    is_empty : ndarray of shape (n,) or None
        Whether a row holds nothing in any column; None for no row.
    """

    points: Points
    names: tuple[str, ...]
    metric: Literal["euclidean", "angle"]
    has_units: bool
    notes: tuple[str, ...] = ()
    is_empty: BoolVector | None = None

    def __str__(self) -> str:
        n, d = self.points.shape
        kind = "" if isinstance(self.points, np.ndarray) else "sparse "
        return f"features: {n} rows x {d} {kind}{self.points.dtype} columns, {self.metric} distance"


def feature_matrix(
    table: Table,
    roles: Roles,
    *,
    impute: bool = False,
    text_model: str | os.PathLike[str] | None = None,
) -> Features:
    """Turn the columns that are features into one matrix.

    - The matrix of the table, vectors and numbers are kept as given: float32 stays float32, and so
      do integers of at most 16 bits; other numbers become float64. A mapped float matrix stays on
      disk.
    - Beside categories, numbers are standardised, and each category becomes a column of 0 and 1:
      two rows that differ in a category are then as far apart, on average, as two that differ in a
      number, with a squared distance of 2.
    - A missing number becomes the median of its column, and a column of 0 and 1 beside it marks it;
      missing categories are a category of their own, missing texts are texts without words.
    - What is not finite in a matrix or in vectors is an error, or the median of its column where
      `impute` asks for it.
    - Of a vector of zeros nothing is known: the row is as empty as one of gaps.
    - Texts become TF-IDF weights (logarithmic counts, rows of unit length) under the angle, or
      vectors of unit length by the model in a folder, `text_model`. Texts together with numbers:
      both parts have rows of unit length, so each counts half.
    """
    if text_model is not None and not roles.text:
        raise InvalidInputError(
            f"text_model={os.fspath(text_model)!r} is for texts, and no column of texts is used in "
            f"{table.name}. Name it: --text COLUMN (text=[...]); or leave the model out."
        )
    ids = None if roles.id is None else decode_categories(table.columns.column(roles.id))
    faults = Faults(table.matrix_name or table.name, ids=ids, impute=impute)
    if roles.uses_matrix and table.matrix is not None:
        points = matrix_block(table.matrix, faults)
        names = tuple(f"x{i}" for i in range(points.shape[1]))
        is_empty = np.zeros(len(points), dtype=bool)
        if table.matrix_name is not None:
            is_empty = _zero_vectors(points, table.matrix_name, faults)
        features = Features(points, names, "euclidean", has_units=False)
    else:
        features = (
            _text_features(table, roles, faults, text_model)
            if roles.text
            else _dense_features(table, roles, faults)
        )
        used = (*roles.text, *roles.numeric, *roles.categorical, *roles.vectors)
        is_empty = faults.find_empty(table.n_rows, len(used))
        if len(used) == len(roles.vectors) == 1:
            is_empty |= _zero_vectors(features.points, f"column {used[0]!r}", faults)
        elif text_model is not None and used == roles.text:
            is_empty |= _zero_vectors(features.points, "the texts' model", faults)
    notes = (*features.notes, *faults.notes())
    return replace(features, notes=notes, is_empty=is_empty if is_empty.any() else None)


def _zero_vectors(points: Points, name: str, faults: Faults) -> BoolVector:
    is_zero = zero_rows(np.asarray(points))
    faults.note_zeros(is_zero, name)
    return is_zero


def _dense_features(table: Table, roles: Roles, faults: Faults) -> Features:
    parts: list[FloatMatrix] = []
    names: list[str] = []
    notes: list[str] = []
    if roles.vectors:
        for name in roles.vectors:
            block = vector_block(table, name, faults)
            parts.append(block)
            names += [f"{name}[{i}]" for i in range(block.shape[1])]
    if roles.numeric:
        numbers, gaps = number_block(table, roles.numeric, roles.styles, faults)
        parts.append(numbers)
        names += roles.numeric
        if gaps and not (roles.categorical or roles.vectors or has_units(numbers, roles.numeric)):
            notes.append(f"numbers are divided by their common spread, {_unify(numbers):.6g}")
        elif gaps or roles.categorical or roles.vectors:
            _standardize(numbers)
            notes.append("numeric columns are standardised beside the others")
        if gaps:
            block, marks = gap_block(gaps)
            parts.append(block)
            names += marks
    if roles.categorical:
        block, categories = category_block(table, roles.categorical, faults)
        parts.append(block)
        names += categories
        notes.append(f"categories are {block.shape[1]} columns of 0 and 1")
    if not parts:
        raise InvalidInputError(_no_feature(table, roles))
    points = parts[0] if len(parts) == 1 else _beside(parts)
    is_mixed = len(parts) == 1 and bool(roles.numeric) and has_units(points, roles.numeric)
    return Features(points, tuple(names), "euclidean", is_mixed, tuple(notes))


def _no_feature(table: Table, roles: Roles) -> str:
    reasons = [f"{name} ({reason})" for name, reason in list(roles.ignored.items())[:8]]
    why = f" Left out: {'; '.join(reasons)}." if reasons else ""
    return (
        f"no column of {table.name} can be used as a feature.{why} Name the columns to use, or "
        "give embeddings."
    )


def _beside(parts: list[FloatMatrix]) -> FloatMatrix:
    dtype = np.result_type(*parts)
    shape = (len(parts[0]), sum(part.shape[1] for part in parts))
    require_memory(
        shape[0] * shape[1] * dtype.itemsize,
        what="the feature matrix",
        instead="Use fewer columns.",
    )
    joined: FloatMatrix = np.concatenate(parts, axis=1)
    return joined


def _standardize(block: FloatMatrix) -> None:
    """Give every column mean 0 and variance 1 in place; a constant one becomes 0."""
    for position in range(block.shape[1]):
        column = block[:, position]
        mean = column.mean(dtype=np.float64)
        spread = column.std(dtype=np.float64)
        block[:, position] = (column - mean) / (spread if spread > 0 else 1.0)


def _unify(block: FloatMatrix) -> float:
    """Divide by the mean spread of the columns in place, so that they keep their proportions."""
    spread = float(np.sqrt(block.var(axis=0, dtype=np.float64).mean())) or 1.0
    block /= spread
    return spread


def has_units(points: FloatMatrix, names: tuple[str, ...]) -> bool:
    """Say whether columns may have different units; numbered ones of like spread do not."""
    if len(names) < 2:
        return False
    stems = {re.sub(r"\d+$", "", name) for name in names}
    if len(stems) > 1 or not all(name[-1:].isdigit() for name in names):
        return True
    sample = points[:: max(len(points) // 10_000, 1)]
    spreads = sample.std(axis=0, dtype=np.float64)
    spreads = spreads[spreads > 0]
    return bool(spreads.size and spreads.max() > _LIKE_SPREAD * np.median(spreads))


def _text_features(
    table: Table, roles: Roles, faults: Faults, text_model: str | os.PathLike[str] | None
) -> Features:
    texts = _texts(table, roles.text, faults)
    words, names, note = text_block(texts, table.name, text_model)
    metric: Literal["euclidean", "angle"] = "angle" if issparse(words) else "euclidean"
    if not (roles.numeric or roles.categorical or roles.vectors):
        return Features(words, names, metric, has_units=False, notes=note)
    others = _dense_features(table, roles, faults)
    block = np.array(others.points, dtype=np.float64)
    _standardize(block)
    lengths = np.linalg.norm(block, axis=1, keepdims=True)
    np.divide(block, lengths, out=block, where=lengths > 0)
    points: Points
    if isinstance(words, np.ndarray):
        points = _beside([words, block.astype(words.dtype)])
    else:
        points = csr_array(hstack([words, csr_array(block)], format="csr"), dtype=np.float32)
    count = f"{block.shape[1]} other columns are standardised and count as much as the texts"
    all_names = (*names, *others.names)
    return Features(points, all_names, metric, has_units=False, notes=(*note, count))


def _texts(table: Table, names: tuple[str, ...], faults: Faults) -> list[str]:
    import pyarrow.compute as pc

    joined = None
    for name in names:
        column = decode_categories(table.columns.column(name))
        filled = pc.fill_null(column, "").to_pylist()
        gaps = np.fromiter((not cell.strip() for cell in filled), dtype=bool, count=len(filled))
        faults.note_filled(gaps, name, filled_with="they are texts without words")
        joined = (
            filled if joined is None else [f"{a}\n{b}" for a, b in zip(joined, filled, strict=True)]
        )
    return joined or []
