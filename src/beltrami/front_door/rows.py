"""Row numbers with what is said of them, as `update` takes them."""

from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import IndexVector


def checked_rows(indices: Any, labels: Any, n_rows: int) -> tuple[IndexVector, list[Any]]:
    """Return row numbers and one label for each, or say what is wrong with them.

    Returns shape `rows` (m,).
    """
    rows = np.atleast_1d(np.asarray(indices))
    rows = rows if rows.size else rows.astype(np.intp)
    values = [labels] if np.ndim(indices) == 0 else list(labels)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or len(rows) != len(values):
        raise InvalidInputError(
            f"update needs row numbers and as many labels; it got {len(rows)} of kind "
            f"{rows.dtype} and {len(values)}."
        )
    if len(rows) and (rows.min() < 0 or rows.max() >= n_rows):
        raise InvalidInputError(
            f"row numbers go from 0 to {n_rows - 1}; got {rows.min()} to {rows.max()}."
        )
    return rows.astype(np.intp), values
