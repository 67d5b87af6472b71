"""`studio`: a server in the background, for notebooks and scripts."""

import os
import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from beltrami.core.machine.memory import require_memory
from beltrami.core.store import remember_usually
from beltrami.front_door.classifier import ManifoldClassifier
from beltrami.labelling.intake import Intake
from beltrami.labelling.options import LearningOptions
from beltrami.partitions.people.answered import Answered, is_results
from beltrami.project.options import said_options
from beltrami.studio_server.application import make_app
from beltrami.studio_server.desk import Desk
from beltrami.studio_server.guard.access import Access
from beltrami.studio_server.keeping import Kept, keep_labels, labels_by_id
from beltrami.studio_server.part import Part
from beltrami.studio_server.serving import ServerThread
from beltrami.studio_server.wire.hub import Hub
from beltrami.tables import Table, TableOptions, read_table


def studio(
    source: Any,
    label: str | None = None,
    *,
    id: str | None = None,  # noqa: A002 - the word of the command line
    features: Sequence[str] | None = None,
    text: Sequence[str] | None = None,
    categories: Sequence[str] | None = None,
    numbers: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    embeddings: Any = None,
    text_model: Path | str | None = None,
    project: Path | str | None = None,
    user: str = "me",
    port: int = 0,
    open_browser: bool = False,
    random_state: int = 0,
) -> "Studio":
    """Open the studio on a table: a page on this machine on which people label.

    Parameters
    ----------
    source : path, DataFrame, Table, array or dict
        The data, as in `label`, a project file, or a folder that `label_partitions` wrote, of which
        the representatives are opened.
    label : str or None, default=None
        Column of the labels; None looks for one, and there may be none.
    id : str or None, default=None
        Column of the ids; None looks for one, else row numbers serve.
    features, text : sequence of str or None, default=None
        Columns to compare rows by, and those of them that hold texts; None guesses.
    categories, numbers : sequence of str or None, default=None
        Columns that are of that kind, whatever they look like.
    ignore : sequence of str, default=()
        Columns to leave out.
    embeddings : path, str, array, table or None, default=None
        Vectors to compare rows by, alone: a file, the name of a column of lists, or an object.
    text_model : path or None, default=None
        Folder of a static embedding model, by which texts become vectors; None weighs their words.
    project : path or None, default=None
        Where labels are kept; None means beside the file, and for data in memory a file that is
        removed when the studio stops (``labels`` stays).
    user : str, default="me"
        Who labels.
    port : int, default=0
        Of the address; 0 finds a free one.
    open_browser : bool, default=False
        Whether to open the page.
    random_state : int, default=0
        Seeds what is drawn.

    Returns
    -------
    Studio
        With ``url``, ``labels`` and ``stop()``.

    Examples
    --------
    >>> import beltrami as bt
    >>> moons = bt.two_moons(200, random_state=0)
    >>> with bt.studio({"x": moons.points[:, 0], "y": moons.points[:, 1]}) as page:
    ...     address, given = page.url, page.labels
    >>> address.startswith("http://127.0.0.1:"), given
    (True, {})
    """
    options = TableOptions(
        label=label,
        id=id,
        features=features or (),
        text=text or (),
        categories=categories or (),
        numbers=numbers or (),
        ignore=ignore,
        embeddings=embeddings,
        text_model=text_model,
        min_classes=0,
    )
    learning, about, make = LearningOptions(random_state=random_state), "", None
    if isinstance(source, str | os.PathLike) and is_results(Path(source)):
        folder = Answered.open(Path(source))
        folder.require_as_labelled(said_options(options), label, random_state)
        part = Part.of(folder, project)
        source, options, learning = part.source, part.table, part.learning
        project, about, make = part.project, part.about, part.make
    return Studio.open(
        source,
        options,
        learning,
        make=make,
        project=project,
        user=user,
        port=port,
        open_browser=open_browser,
        about=about,
    )


class Studio:
    """A studio that runs in the background; made by `studio`, or by a learner's `studio`.

    Parameters
    ----------
    desk : Desk
        Where people label.
    server : ServerThread
        What serves it.
    url : str
        The address of the page, with the token that lets one in.
    kept : Kept
        Where the labels are.

    Attributes
    ----------
    url : str
        The address of the page, with the token that lets one in.

    Examples
    --------
    >>> import beltrami as bt
    >>> moons = bt.two_moons(200, random_state=0)
    >>> page = bt.studio({"x": moons.points[:, 0], "y": moons.points[:, 1]})
    >>> page.labels
    {}
    >>> page.stop()
    """

    def __init__(self, desk: Desk, server: ServerThread, url: str, kept: Kept) -> None:
        self.url = url
        self._desk, self._server, self._kept = desk, server, kept
        self._values: dict[str, Any] = {}

    @classmethod
    def open(
        cls,
        source: Any,
        table: TableOptions,
        learning: LearningOptions,
        *,
        make: Callable[[Intake], ManifoldClassifier] | None = None,
        project: Path | str | None = None,
        user: str = "me",
        port: int = 0,
        open_browser: bool = False,
        about: str = "",
    ) -> Self:
        """Open a project and serve it; `make` returns the learner, where it is not the usual.

        - `about`: what people are told of the rows, where they are some of more.
        """
        kept = keep_labels(source, table, learning, project, user)
        hub, access, desk = Hub(), Access.of((user,)), None
        try:
            desk = Desk(
                kept.project,
                hub,
                (user,),
                learning,
                make=make,
                remembering=remember_usually,
                about=about,
            )
            server = ServerThread(make_app(desk, hub, access), port=port)
            url = f"{server.start()}/?token={access.token_of(user)}"
        except BaseException:
            if desk is not None:
                desk.close()
            kept.end()
            raise
        if open_browser:
            webbrowser.open(url)
        return cls(desk, server, url, kept)

    @classmethod
    def of_learner(
        cls, learner: ManifoldClassifier, given: dict[int, Any], frame: Any, **options: Any
    ) -> Self:
        """Serve the rows that a learner was fitted to, with the labels that it was given."""
        table, column = _table_of_learner(learner, given, frame)
        values = {str(label): label for label in given.values()}

        def make(_: Intake) -> ManifoldClassifier:
            like: ManifoldClassifier = clone(learner)
            priors = learner.priors
            if isinstance(priors, dict):
                priors = {str(label): share for label, share in priors.items()}
            return like.set_params(unlabeled=float("nan"), classes=None, priors=priors)

        learning = LearningOptions(risk=learner.risk, random_state=learner.random_state)
        opened = cls.open(
            table,
            TableOptions(label=column, unlabeled="", min_classes=0),
            learning,
            make=make,
            **options,
        )
        opened._values = values
        return opened

    @property
    def labels(self) -> dict[Any, Any]:
        """The labels that people gave, by id."""
        given = labels_by_id(self._desk.project)
        return {name: self._values.get(label, label) for name, label in given.items()}

    def stop(self) -> None:
        """End the studio; the labels stay in ``labels``, and in the project's file."""
        self._server.stop()
        self._desk.close()
        self._kept.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        n = len(self._desk.project.state.labels)
        return f"<Studio of {self._desk.project.data.table.name}: {n} labels, {self.url}>"


def _table_of_learner(
    learner: ManifoldClassifier, given: dict[int, Any], frame: Any
) -> tuple[Table, str]:
    """Return the rows of a learner as a table, and the column of its labels."""
    import pyarrow as pa

    points = learner.points_
    if issparse(points):
        size = float(points.shape[0]) * points.shape[1] * points.dtype.itemsize
        require_memory(
            size,
            what=f"the {points.shape[1]:,} columns of the points, written out",
            instead="Open the texts or the table that they come from by beltrami.studio.",
        )
        points = points.toarray()
    columns = pa.table({}) if frame is None else read_table(frame).columns
    column = next(
        name for name in ("label", "given label", "_label") if name not in columns.column_names
    )
    labels = [str(given[row]) if row in given else None for row in range(len(points))]
    cells = pa.array(labels, pa.string())
    filled = pa.table({column: cells}) if frame is None else columns.append_column(column, cells)
    return Table("rows of the fit", filled, np.asarray(points)), column
