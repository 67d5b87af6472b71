"""The thesis's tables 3.1, 3.2 and 3.3, as printed: error rates in percent.

Nothing enters; plain data leave. Section 3.8 of Belkin (2003).
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table of error rates: a row per number of labelled points.

    Attributes
    ----------
    source : str
        Where it is printed.
    n_points : int
        Size of the set it was measured on.
    eigenvectors : tuple of int
        Numbers of eigenvectors, the columns.
    errors : mapping of int to tuple of float
        For each number of labelled points the errors of the first columns, in percent; the
        thesis leaves the others empty.
    neighbors : mapping of int to float
        The column "best k-NN".
    """

    source: str
    n_points: int
    eigenvectors: tuple[int, ...]
    errors: Mapping[int, tuple[float, ...]]
    neighbors: Mapping[int, float]

    def error(self, labelled: int, eigenvectors: int) -> float | None:
        """Return a cell, None where the table has none."""
        row = self.errors.get(labelled, ())
        return dict(zip(self.eigenvectors, row, strict=False)).get(eigenvectors)


TABLE_3_1 = PublishedTable(
    source="Belkin (2003), Table 3.1",
    n_points=60000,
    eigenvectors=(5, 10, 20, 50, 100, 200, 500, 1000),
    errors={
        20: (53.7, 35.8),
        50: (48.3, 24.7, 12.9),
        100: (48.6, 22.0, 6.4, 14.4),
        500: (49.1, 22.7, 5.6, 3.6, 3.5, 7.0),
        1000: (51.0, 24.1, 5.5, 3.4, 3.2, 3.4, 8.1),
        5000: (47.5, 25.0, 5.6, 3.4, 3.1, 2.9, 2.7, 2.7),
        20000: (47.7, 24.8, 5.4, 3.3, 3.1, 2.9, 2.7, 2.4),
        50000: (47.3, 24.7, 5.5, 3.4, 3.1, 3.0, 2.7, 2.4),
    },
    neighbors={
        20: 53.4,
        50: 37.6,
        100: 28.1,
        500: 15.1,
        1000: 10.8,
        5000: 6.0,
        20000: 3.6,
        50000: 2.3,
    },
)

TABLE_3_2 = PublishedTable(
    source="Belkin (2003), Table 3.2",
    n_points=19935,
    eigenvectors=(5, 10, 20, 50, 100, 200, 500, 1000, 2000),
    errors={
        50: (83.4, 77.3, 72.1),
        100: (81.7, 74.3, 66.6, 60.2),
        500: (83.1, 75.8, 65.5, 46.4, 40.1, 42.4),
        1000: (84.6, 77.6, 67.1, 47.0, 37.7, 36.0, 42.3),
        5000: (85.2, 79.7, 72.9, 49.3, 36.7, 32.3, 28.5, 28.1, 30.4),
        10000: (83.8, 79.8, 73.8, 49.8, 36.9, 31.9, 27.9, 25.9, 25.1),
        18000: (82.9, 79.8, 73.8, 50.1, 36.9, 31.9, 27.5, 25.5, 23.1),
    },
    neighbors={
        50: 75.6,
        100: 69.6,
        500: 54.9,
        1000: 48.4,
        5000: 34.4,
        10000: 27.7,
        18000: 23.1,
    },
)

TABLE_3_3 = PublishedTable(
    source="Belkin (2003), Table 3.3",
    n_points=13168,
    eigenvectors=(5, 10, 20, 50, 100, 200, 500, 1000),
    errors={
        20: (28.5, 23.7),
        50: (24.9, 15.0, 19.9),
        100: (22.7, 13.0, 13.3, 18.8),
        500: (22.7, 12.3, 11.6, 10.3, 10.7, 13.4),
        1000: (22.4, 12.2, 11.3, 9.9, 9.7, 10.3, 14.5),
        5000: (21.8, 12.2, 11.3, 9.6, 9.2, 9.1, 8.9, 9.3),
        10000: (22.3, 12.2, 11.1, 9.4, 9.2, 8.9, 8.4, 8.5),
    },
    neighbors={
        20: 28.7,
        50: 21.2,
        100: 18.2,
        500: 12.7,
        1000: 11.5,
        5000: 9.7,
        10000: 9.0,
    },
)
