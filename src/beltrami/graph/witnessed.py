"""A graph of points that stand for many rows, weighed by the rows that lie between two of them.

Where a few points stand for all rows, their distances no longer say how densely the rows lie
between them. The rows say it themselves: each one bears witness that the points nearest to it
belong together, as in topology-representing networks [Martinetz94]_.
"""

from typing import Any

from scipy.sparse import csr_array

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import CsrMatrix, Seed
from beltrami.graph.distinct import DistinctKnnGraph
from beltrami.graph.model import Graph


class WitnessedKnnGraph(DistinctKnnGraph):
    """A graph of neighbours whose edges weigh more the more rows lie between their ends.

    An edge weighs what `DistinctKnnGraph` gives it, in units of the mean of all, plus one for each
    row that lies between its ends. So neighbours decide where rows are few, and rows where they
    are many. New points are tied as ever.

    Parameters
    ----------
    witnesses : csr_array of shape (n, n)
        How many rows lie between two points: symmetric, with an empty diagonal.
    n_neighbors, metric, weights, search, symmetry, connect, random_state, n_jobs
        As in `KnnGraph`.
    """

    def __init__(
        self,
        witnesses: CsrMatrix,
        n_neighbors: int = 10,
        *,
        metric: Any = "euclidean",
        weights: Any = "self_tuning",
        search: str = "auto",
        symmetry: str = "union",
        connect: str = "mst",
        random_state: Seed = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            n_neighbors,
            metric=metric,
            weights=weights,
            search=search,
            symmetry=symmetry,
            connect=connect,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.witnesses = witnesses

    def build(self, X: Any) -> Graph:
        """Make the graph of `X`, and add the witnesses.

        Parameters
        ----------
        X : array-like of shape (n, d)
            One row per point, in the order of the witnesses.

        Returns
        -------
        Graph
            Symmetric, with the lists of neighbours.
        """
        plain = super().build(X)
        if self.witnesses.shape != plain.weights.shape:
            raise InvalidInputError(
                f"there are witnesses of {self.witnesses.shape[0]} points, and X has "
                f"{plain.n_nodes} rows. Count them among the same points."
            )
        unit = float(plain.weights.data.mean()) if plain.weights.nnz else 1.0
        weights: CsrMatrix = csr_array(plain.weights / unit + self.witnesses)
        weights.sort_indices()
        return Graph(weights, plain.neighbors, plain.certificate)
