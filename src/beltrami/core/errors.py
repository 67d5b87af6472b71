"""Errors and warnings, each with what happened, how much, why it matters and what to do.

Classes raised in more than one place take the facts and build the sentence, so that a message
cannot lose its numbers.
"""


class BeltramiError(Exception):
    """Base of every error that Beltrami raises on purpose.

    Examples
    --------
    >>> from beltrami import BeltramiError, KnnGraph
    >>> try:
    ...     KnnGraph(n_neighbors=0).build([[0.0], [1.0]])
    ... except BeltramiError as error:
    ...     print(error)
    n_neighbors=0 must be at least 1.
    """


class BeltramiWarning(UserWarning):
    """Base of every warning, so that all of them can be filtered by one name.

    Examples
    --------
    >>> import warnings
    >>> from beltrami import BeltramiWarning, KnnGraph
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", BeltramiWarning)
    ...     KnnGraph(1).build([[0.0], [1.0], [5.0], [6.0]])  # would say that it built a bridge
    Graph(4 nodes, 3 edges, 1 component, 1 bridge; exact)
    """


class InvalidInputError(BeltramiError, ValueError):
    """The data or a parameter cannot be used as given."""


class NotNumericError(BeltramiError, TypeError, ValueError):
    """Numbers were due and something else came."""


class DatasetUnavailableError(BeltramiError, FileNotFoundError):
    """A named data set is neither in the data folder nor at a public source that answered."""


class CorruptDataError(BeltramiError, OSError):
    """A data file is there and cannot be read."""

    def __init__(self, *, path: str, reason: str) -> None:
        super().__init__(
            f"the data file {path!r} cannot be read ({reason}). It is probably truncated or not "
            "the file that its name says; replace it with a fresh copy. Nothing was changed."
        )


class DisconnectedGraphError(BeltramiError, ValueError):
    """A graph that had to be connected is not."""

    def __init__(self, *, n_components: int, smallest: int, recipe: str) -> None:
        super().__init__(
            f"the graph built by {recipe} falls into {n_components} components, the smallest with "
            f"{smallest} point(s); nothing can flow between them. Raise n_neighbors or the radius, "
            "or pass connect='mst' to add the shortest bridges, or connect='keep' to go on."
        )


class MemoryBudgetError(BeltramiError, MemoryError):
    """A step would take more memory than it may."""

    def __init__(
        self, *, what: str, needed_bytes: float, budget_bytes: float, instead: str
    ) -> None:
        super().__init__(
            f"{what} would take {needed_bytes / 2**30:.2f} GiB and the budget is "
            f"{budget_bytes / 2**30:.2f} GiB, so nothing was allocated. {instead}"
        )


class DeviceUnavailableError(BeltramiError, RuntimeError):
    """A device was asked for that is not there."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(
            f"the device 'cuda' was asked for and cannot be used: {reason}. Nothing was computed. "
            "Choose 'auto', which takes the processor where there is no device, or 'cpu'."
        )


class SolverError(BeltramiError, RuntimeError):
    """A solver could not produce a trustworthy answer."""


class AmbiguousLabelsWarning(BeltramiWarning):
    """A value among the labels may be a class or mark rows without a label."""


class ConnectedByBridgesWarning(BeltramiWarning):
    """The graph was in pieces and bridges were added."""


class DeviceMemoryWarning(BeltramiWarning):
    """The memory of a device did not suffice, and the processor took over."""


class DisconnectedGraphWarning(BeltramiWarning):
    """The graph is in pieces, and the result treats each on its own."""


class RecallWarning(BeltramiWarning):
    """Approximate neighbour search missed more true neighbours than it should."""


class ConvergenceWarning(BeltramiWarning):
    """A solver stopped before it reached the tolerance asked for."""


class GraphDoesNotHelpWarning(BeltramiWarning):
    """A plain supervised learner does better on held-out labels than the graph does."""


class DegenerateDataWarning(BeltramiWarning):
    """The data have a property, such as many identical points, that makes the result doubtful."""


class FewerRegionsWarning(BeltramiWarning):
    """Labels were too few for the number of regions asked for."""


class FormulaCellsWarning(BeltramiWarning):
    """A written table holds text that a spreadsheet would run as formulas."""


class OtherDataWarning(BeltramiWarning):
    """Rows are shown from data that may not be those that were labelled."""


class RenamedColumnsWarning(BeltramiWarning):
    """A written table calls columns of the user's otherwise, because their names are ours."""


class StoreWarning(BeltramiWarning):
    """Something stored cannot be used, or cannot be stored; it is computed all the same."""


class TooFewLabelsWarning(BeltramiWarning):
    """Labels are too few for what was asked; what can be done is done."""
