"""Features of the rows: a table and its roles enter, one matrix leaves, checked for gaps.

Numbers are kept as given unless categories stand beside them.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.sparse import csr_array, hstack

from beltrami.core.errors import InvalidInputError
from beltrami.core.memory import require_memory
from beltrami.core.types import BoolVector, CsrMatrix, FloatMatrix, Points
from beltrami.tables.columns.roles import Roles
from beltrami.tables.features.blocks import (
    category_block,
    gap_block,
    matrix_block,
    number_block,
    vector_block,
)
from beltrami.tables.features.faults import Faults
from beltrami.tables.model import Table, decode_categories

_MANY_ROWS = 1000
_LIKE_SPREAD = 10.0
_NO_WORDS = "(no words)"


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


def feature_matrix(table: Table, roles: Roles, *, impute: bool = False) -> Features:
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
    - Texts become TF-IDF weights (logarithmic counts, rows of unit length) under the angle. Texts
      together with numbers: both parts have rows of unit length, so each counts half.
    """
    ids = None if roles.id is None else decode_categories(table.columns.column(roles.id))
    faults = Faults(table.name, ids=ids, impute=impute)
    if roles.uses_matrix and table.matrix is not None:
        points = matrix_block(table.matrix, faults)
        names = tuple(f"x{i}" for i in range(points.shape[1]))
        return Features(points, names, "euclidean", has_units=False, notes=faults.notes())
    make = _text_features if roles.text else _dense_features
    features = make(table, roles, faults)
    count = len((*roles.text, *roles.numeric, *roles.categorical, *roles.vectors))
    is_empty = faults.find_empty(table.n_rows, count)
    notes = (*features.notes, *faults.notes())
    return replace(features, notes=notes, is_empty=is_empty if is_empty.any() else None)


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
        if gaps and not (roles.categorical or roles.vectors or _has_units(numbers, roles.numeric)):
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
    has_units = len(parts) == 1 and bool(roles.numeric) and _has_units(points, roles.numeric)
    return Features(points, tuple(names), "euclidean", has_units, tuple(notes))


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


def _has_units(points: FloatMatrix, names: tuple[str, ...]) -> bool:
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


def _text_features(table: Table, roles: Roles, faults: Faults) -> Features:
    texts = _texts(table, roles.text, faults)
    words, names, n_empty = _tf_idf(texts, table.name)
    notes = [f"texts are {words.shape[1]} TF-IDF weights of words"]
    if n_empty:
        notes.append(f"{n_empty} row(s) hold no known word and are alike to each other only")
    if not (roles.numeric or roles.categorical or roles.vectors):
        return Features(words, names, "angle", has_units=False, notes=tuple(notes))
    others = _dense_features(table, roles, faults)
    block = np.array(others.points, dtype=np.float64)
    _standardize(block)
    lengths = np.linalg.norm(block, axis=1, keepdims=True)
    np.divide(block, lengths, out=block, where=lengths > 0)
    points: CsrMatrix = csr_array(hstack([words, csr_array(block)], format="csr"), dtype=np.float32)
    notes.append(f"{block.shape[1]} other columns are standardised and count as much as the texts")
    all_names = (*names, *others.names)
    return Features(points, all_names, "angle", has_units=False, notes=tuple(notes))


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


def _tf_idf(texts: list[str], name: str) -> tuple[CsrMatrix, tuple[str, ...], int]:
    """Return rows of unit length, the words, and how many texts hold none of them."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    min_count = 2 if len(texts) >= _MANY_ROWS else 1
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=min_count, dtype=np.float32)
    require_memory(
        8.0 * sum(map(len, texts)), what=f"the words of {name}", instead="Use fewer rows."
    )
    try:
        weights = vectorizer.fit_transform(texts)
    except ValueError as error:  # an empty vocabulary
        raise InvalidInputError(
            f"the texts of {name} hold no word of two letters or more that could be compared "
            f"({error})."
        ) from error
    words = tuple(str(word) for word in vectorizer.get_feature_names_out())
    empty = np.flatnonzero(np.diff(weights.indptr) == 0)
    if not empty.size:
        return csr_array(weights), words, 0
    # A row of zeros has no angle to anything; a column of its own gives it one.
    ones = np.ones(empty.size, dtype=np.float32)
    marks = csr_array((ones, (empty, np.zeros_like(empty))), shape=(len(texts), 1))
    return csr_array(hstack([weights, marks], format="csr")), (*words, _NO_WORDS), int(empty.size)
