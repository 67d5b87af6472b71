"""Features of the rows: a table and its roles enter, one matrix leaves, checked for gaps.

Numbers are kept as given unless categories stand beside them.
"""

import os
from dataclasses import dataclass
from typing import Literal

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, Points
from beltrami.tables.columns.roles import Roles
from beltrami.tables.features.faults import Faults
from beltrami.tables.features.recipe import Recipe, find_empty, learn_recipe
from beltrami.tables.features.scales import has_units
from beltrami.tables.model import Table, decode_categories


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
    recipe : Recipe
        What makes the points, of these rows and of others.
    """

    points: Points
    names: tuple[str, ...]
    metric: Literal["euclidean", "angle"]
    has_units: bool
    notes: tuple[str, ...]
    is_empty: BoolVector | None
    recipe: Recipe

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
    found = learn_recipe(table, roles, faults, text_model)
    recipe, points = found.recipe, found.points
    is_empty = find_empty(recipe, points, table.n_rows, faults)
    # Numbers alone, without marks of gaps, are as they came; so their units count.
    is_plain = recipe.columns == roles.numeric and found.names == roles.numeric
    is_mixed = is_plain and isinstance(points, np.ndarray) and has_units(points, roles.numeric)
    return Features(
        points,
        found.names,
        recipe.metric,
        is_mixed,
        (*found.notes, *faults.notes()),
        is_empty if is_empty.any() else None,
        recipe,
    )
