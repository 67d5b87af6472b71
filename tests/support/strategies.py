"""Random graphs, signals and points for the property tests."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from beltrami.graph.model import Graph

_WEIGHTS = st.floats(min_value=1e-3, max_value=1e3, allow_subnormal=False)
_VALUES = st.floats(min_value=-10, max_value=10, allow_subnormal=False)


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 12) -> Graph:
    """Any graph: sparse or full, in pieces or not, isolated nodes included."""
    n = draw(st.integers(2, max_nodes))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=len(pairs)))
    weights = np.zeros((n, n))
    for i, j in chosen:
        weights[i, j] = weights[j, i] = draw(_WEIGHTS)
    return Graph.from_matrix(weights)


def signals(n: int) -> st.SearchStrategy[NDArray[np.float64]]:
    """One moderate number per node."""
    return hnp.arrays(np.float64, n, elements=_VALUES)


@st.composite
def lattice_points(draw: st.DrawFn, max_points: int = 24) -> NDArray[np.float64]:
    """Points with small integer coordinates: many ties and many duplicates."""
    n = draw(st.integers(3, max_points))
    d = draw(st.sampled_from([1, 2, 9]))
    return draw(hnp.arrays(np.float64, (n, d), elements=st.integers(0, 2)))


def permutations(n: int) -> st.SearchStrategy[NDArray[Any]]:
    """An order of n things."""
    return st.permutations(range(n)).map(np.array)
