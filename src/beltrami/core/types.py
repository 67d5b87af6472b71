"""Names for the arrays that travel between layers.

Nothing enters or leaves here: the aliases say what an array holds, once, for every signature.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

FloatVector: TypeAlias = NDArray[np.floating[Any]]
"""One number per point."""

FloatMatrix: TypeAlias = NDArray[np.floating[Any]]
"""One row per point."""

IndexVector: TypeAlias = NDArray[np.signedinteger[Any]]
"""Row numbers."""

IndexMatrix: TypeAlias = NDArray[np.signedinteger[Any]]
"""Row numbers, one row per point."""

BoolVector: TypeAlias = NDArray[np.bool_]
"""One yes or no per point."""

CsrMatrix: TypeAlias = csr_array[Any]
"""A sparse matrix in compressed rows."""

Points: TypeAlias = FloatMatrix | CsrMatrix
"""The data: one row per point, dense or sparse."""

Seed: TypeAlias = int | np.random.Generator | np.random.RandomState | None
"""What scikit-learn calls ``random_state``."""
