"""A recipe: what was learned of a table's columns, and makes features of that table and of others.

There is one path: a table's own features are what its recipe makes of it.
"""

import difflib
import os
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack, issparse

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, Points
from beltrami.tables.columns.kinds import is_binary
from beltrami.tables.columns.roles import Roles
from beltrami.tables.features.blocks import zero_rows
from beltrami.tables.features.faults import Faults
from beltrami.tables.features.parts import CategoryPart, MatrixPart, NumberPart, VectorPart
from beltrami.tables.features.scales import column_scales, standardize
from beltrami.tables.features.texts import ModelPart, WordPart
from beltrami.tables.model import Table, decode_categories, few_of


@dataclass(frozen=True, slots=True, eq=False)
class OtherScales:
    """How columns beside texts are put on one scale: rows of unit length after it.

    Attributes
    ----------
    centers, spreads : ndarray of shape (d,)
        What is taken off each column, and divided by.
    """

    centers: FloatVector
    spreads: FloatVector


@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """How the rows of a table become points; the same for rows that come later.

    Attributes
    ----------
    matrix : MatrixPart or None
        The rows of the table's matrix, which are used alone.
    vectors : tuple of VectorPart
        Columns of lists.
    numbers : NumberPart or None
        Columns of numbers.
    categories : CategoryPart or None
        Columns of categories.
    texts : WordPart, ModelPart or None
        Columns of texts.
    beside : OtherScales or None
        Of the other columns, where texts stand beside them.
    impute : bool
        Whether gaps in a matrix or in vectors are filled, and so no fault.
    zeros : str
        What vectors of zeros are called, of which nothing is known; "" where zeros are numbers.
    """

    matrix: MatrixPart | None = None
    vectors: tuple[VectorPart, ...] = ()
    numbers: NumberPart | None = None
    categories: CategoryPart | None = None
    texts: WordPart | ModelPart | None = None
    beside: OtherScales | None = None
    impute: bool = False
    zeros: str = ""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a table must have."""
        parts = (self.texts, self.numbers, self.categories)
        named = [name for part in parts if part is not None for name in part.columns]
        return (*named, *(one.name for one in self.vectors))

    @property
    def width(self) -> int:
        """Number of the columns of the points."""
        parts = (self.matrix, self.texts, self.numbers, self.categories, *self.vectors)
        return sum(len(part.names) for part in parts if part is not None)

    @property
    def has_commas(self) -> bool:
        """Whether numbers in texts have a comma before decimals, so that a point parts groups."""
        return self.numbers is not None and any(one[0] == "," for one in self.numbers.styles)

    @property
    def metric(self) -> Literal["euclidean", "angle"]:
        """The distance that suits the points."""
        return "angle" if isinstance(self.texts, WordPart) else "euclidean"

    def found_in(self, text_model: str | os.PathLike[str] | None) -> "Recipe":
        """Return the recipe with its model of texts in some folder; raise where it has none."""
        if isinstance(self.texts, ModelPart):
            return replace(self, texts=self.texts.found_in(text_model))
        if text_model is not None:
            raise InvalidInputError(
                f"text_model={os.fspath(text_model)!r} is for texts, and the labeller learned from "
                "no model of texts. Leave it out."
            )
        return self

    def require_use_of(self, embeddings: Any) -> None:
        """Raise where vectors beside the data are named that rows would not be compared by."""
        if embeddings is not None and self.matrix is None:
            raise InvalidInputError(
                f"embeddings={str(embeddings)!r} are vectors beside the data, and the labeller "
                f"compares rows by columns: {few_of(self.columns)}. Leave them out."
            )

    def make(self, table: Table, faults: Faults) -> tuple[Points, BoolVector]:
        """Return a table's rows as points, (n, d), and which of them hold nothing, (n,)."""
        if self.matrix is not None:
            points: Points = self.matrix.make(_matrix_of(table, faults), faults)
        else:
            require_columns(table, self.columns)
            points = self._make(table, faults)
        return points, find_empty(self, points, table.n_rows, faults)

    def _make(self, table: Table, faults: Faults) -> Points:
        words: Points | None = None
        if self.texts is not None:
            cells = joined_texts(table, self.texts.columns, faults)
            words = self.texts.make(cells, table.name)
        blocks: list[FloatMatrix] = [one.make(table, faults) for one in self.vectors]
        if self.numbers is not None:
            blocks += self.numbers.make(table, faults)
        if self.categories is not None:
            blocks.append(self.categories.make(table, faults))
        others = beside_each_other(blocks) if blocks else None
        if words is None:
            assert others is not None
            return others
        points = words if others is None else self.with_others(words, others)
        return _with_directions(points, self.texts, faults)

    def with_others(self, words: Points, others: FloatMatrix) -> Points:
        """Return texts and other columns side by side, each with rows of unit length."""
        assert self.beside is not None
        block = np.array(others, dtype=np.float64)
        standardize(block, self.beside.centers, self.beside.spreads)
        lengths = np.linalg.norm(block, axis=1, keepdims=True)
        np.divide(block, lengths, out=block, where=lengths > 0)
        if isinstance(words, np.ndarray):
            return beside_each_other([words, block.astype(words.dtype)])
        return csr_array(hstack([words, csr_array(block)], format="csr"), dtype=np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """A recipe that was learned, and what it makes of the table that it was learned from.

    Attributes
    ----------
    recipe : Recipe
        The recipe.
    points : ndarray or csr_array of shape (n, d)
        The rows.
    names : tuple of str
        What each of the d columns is.
    notes : tuple of str
        What was done.
    """

    recipe: Recipe
    points: Points
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def learn_recipe(
    table: Table, roles: Roles, faults: Faults, text_model: str | os.PathLike[str] | None
) -> Learned:
    """Learn from a table how its columns become features."""
    if roles.uses_matrix and table.matrix is not None:
        part, points = MatrixPart.learn(table.matrix, faults)
        zeros = table.matrix_name or ""
        return Learned(Recipe(matrix=part, impute=faults.impute, zeros=zeros), points, part.names)
    if roles.text:
        return _learn_texts(table, roles, faults, text_model)
    found = _learn_others(table, roles, faults)
    if found is None:
        raise InvalidInputError(_no_feature(table, roles))
    alone = len(roles.numeric) + len(roles.categorical) + len(roles.vectors) == len(roles.vectors)
    is_one = alone and len(roles.vectors) == 1
    zeros = f"column {roles.vectors[0]!r}" if is_one else ""
    return replace(found, recipe=replace(found.recipe, zeros=zeros))


def find_empty(recipe: Recipe, points: Points, n_rows: int, faults: Faults) -> BoolVector:
    """Return which rows hold nothing, (n,): gaps in all columns, or a vector of zeros."""
    n_columns = len(recipe.columns)
    is_empty = np.asarray(faults.find_empty(n_rows, n_columns))
    if recipe.zeros:
        is_zero = zero_rows(np.asarray(points))
        faults.note_zeros(is_zero, recipe.zeros)
        is_empty |= is_zero
    return is_empty


def require_columns(table: Table, names: Collection[str]) -> None:
    """Raise where a table lacks columns, with the nearest that it has."""
    lacking = [name for name in names if name not in table.names]
    if not lacking:
        return
    lower = {column.lower(): column for column in table.names if column not in names}
    near = difflib.get_close_matches(lacking[0].lower(), list(lower), n=1, cutoff=0.5)
    hint = f" Is {lower[near[0]]!r} meant? Rename it." if near else ""
    raise InvalidInputError(
        f"{table.name} lacks {len(lacking)} of {len(names)} column(s) that the labeller compares "
        f"rows by: {few_of(lacking)}.{hint} It has {few_of(table.names, 20) or 'no named columns'}."
    )


def joined_texts(table: Table, names: tuple[str, ...], faults: Faults) -> list[str]:
    """Return the texts of each row in one, and note those that are blank."""
    import pyarrow as pa
    import pyarrow.compute as pc

    joined = None
    for name in names:
        column = decode_categories(table.columns.column(name))
        if pa.types.is_nested(column.type) or is_binary(column.type):
            raise InvalidInputError(
                f"column {name!r} of {table.name} holds {column.type}, and texts are due. Write it "
                "as it was when the labeller learned."
            )
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            column = column.cast(pa.string())
        filled = pc.fill_null(column, "").to_pylist()
        gaps = np.fromiter((not cell.strip() for cell in filled), dtype=bool, count=len(filled))
        faults.note_filled(gaps, name, filled_with="they are texts without words")
        joined = (
            filled if joined is None else [f"{a}\n{b}" for a, b in zip(joined, filled, strict=True)]
        )
    return joined or []


def beside_each_other(parts: list[FloatMatrix]) -> FloatMatrix:
    """Return blocks of one number of rows as one matrix."""
    if len(parts) == 1:
        return parts[0]
    dtype = np.result_type(*parts)
    shape = (len(parts[0]), sum(part.shape[1] for part in parts))
    require_memory(
        shape[0] * shape[1] * dtype.itemsize,
        what="the feature matrix",
        instead="Use fewer columns.",
    )
    joined: FloatMatrix = np.concatenate(parts, axis=1)
    return joined


def _learn_others(table: Table, roles: Roles, faults: Faults) -> Learned | None:
    """Learn from all columns but texts; None where there are none."""
    blocks: list[FloatMatrix] = []
    vectors: list[VectorPart] = []
    names: list[str] = []
    notes: list[str] = []
    numbers = categories = None
    for name in roles.vectors:
        vector, rows = VectorPart.learn(table, name, faults)
        vectors.append(vector)
        blocks.append(rows)
        names += vector.names
    if roles.numeric:
        numbers, made = NumberPart.learn(
            table,
            roles.numeric,
            roles.styles,
            faults,
            is_beside=bool(roles.categorical or roles.vectors),
        )
        blocks += made
        names += numbers.names
        notes += [numbers.note] * bool(numbers.note)
    if roles.categorical:
        categories, block = CategoryPart.learn(table, roles.categorical, faults)
        blocks.append(block)
        names += categories.names
        notes.append(f"categories are {block.shape[1]} columns of 0 and 1")
    if not blocks:
        return None
    recipe = Recipe(
        vectors=tuple(vectors), numbers=numbers, categories=categories, impute=faults.impute
    )
    return Learned(recipe, beside_each_other(blocks), tuple(names), tuple(notes))


def _learn_texts(
    table: Table, roles: Roles, faults: Faults, text_model: str | os.PathLike[str] | None
) -> Learned:
    """Learn from texts, and from the columns beside them."""
    cells = joined_texts(table, roles.text, faults)
    part: WordPart | ModelPart
    words: Points
    if text_model is not None:
        part = ModelPart.learn(roles.text, Path(text_model))
        words, notes = part.make(cells, table.name), [part.note]
    else:
        part, words, n_wordless = WordPart.learn(cells, roles.text, table.name)
        notes = [f"texts are {words.shape[1]} TF-IDF weights of words"]
        if n_wordless:
            notes.append(f"{n_wordless} row(s) hold no known word and are alike to each other only")
    others = _learn_others(table, roles, faults)
    if others is None:
        zeros = "the texts' model" if text_model is not None else ""
        recipe = Recipe(texts=part, impute=faults.impute, zeros=zeros)
        return Learned(recipe, words, part.names, tuple(notes))
    block = np.array(others.points, dtype=np.float64)
    recipe = replace(others.recipe, texts=part, beside=OtherScales(*column_scales(block)))
    points = recipe.with_others(words, block)
    notes.append(f"{block.shape[1]} other columns are standardised and count as much as the texts")
    return Learned(recipe, points, (*part.names, *others.names), tuple(notes))


def _no_feature(table: Table, roles: Roles) -> str:
    reasons = [f"{name} ({reason})" for name, reason in list(roles.ignored.items())[:8]]
    why = f" Left out: {'; '.join(reasons)}." if reasons else ""
    return (
        f"no column of {table.name} can be used as a feature.{why} Name the columns to use, or "
        "give embeddings."
    )


def _matrix_of(table: Table, faults: Faults) -> NDArray[Any]:
    if table.matrix is None:
        raise InvalidInputError(
            f"{faults.name} has columns, and the labeller compares rows by vectors that stand "
            "beside the data or are all of it. Name their file: --embeddings FILE (embeddings=)."
        )
    return table.matrix


def _with_directions(points: Points, texts: Any, faults: Faults) -> Points:
    """Return sparse rows of which none is zero, which would have no angle to anything.

    A text of which no word is known takes the commonest word, and is left to the person.
    """
    if not issparse(points) or not faults.is_new:
        return points
    sparse: Any = points
    is_zero = np.diff(sparse.indptr) == 0
    if not is_zero.any():
        return points
    faults.leave(is_zero)
    faults.say(
        f"{np.count_nonzero(is_zero)} row(s) hold no word that the labeller knows: they are left "
        "to you"
    )
    rows = np.flatnonzero(is_zero)
    common = np.full(rows.size, int(texts.rarity.argmin()))
    ones = np.ones(rows.size, dtype=sparse.dtype)
    return csr_array(sparse + csr_array((ones, (rows, common)), shape=sparse.shape))
