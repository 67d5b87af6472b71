"""`studio`: a server in the background, for notebooks and scripts."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Self

from beltrami.core.store import remember
from beltrami.core.store.folder import usual_store
from beltrami.labelling.options import LearningOptions
from beltrami.project import Project, open_project
from beltrami.studio_server.access import Access
from beltrami.studio_server.application import make_app
from beltrami.studio_server.desk import Desk
from beltrami.studio_server.hub import Hub
from beltrami.studio_server.serving import ServerThread
from beltrami.tables import TableOptions


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
        The data, as in `label`, or a project file.
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
    embeddings : path, array or None, default=None
        A matrix with as many rows, to compare rows by.
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
        min_classes=0,
    )
    opened = open_project(source, options, None if project is None else Path(project), user=user)
    running = Studio.of(opened, user, LearningOptions(random_state=random_state), port)
    if open_browser:
        import webbrowser

        webbrowser.open(running.url)
    return running


class Studio:
    """A studio that runs in the background.

    Attributes
    ----------
    url : str
        The address of the page, with the token that lets one in.
    """

    def __init__(self, desk: Desk, server: ServerThread, url: str) -> None:
        self.url = url
        self._desk, self._server = desk, server

    @classmethod
    def of(cls, project: Project, user: str, options: LearningOptions, port: int = 0) -> Self:
        """Serve a project that is open."""
        hub, access = Hub(), Access.of((user,))
        desk = Desk(project, hub, (user,), options, remembering=remembering_usually)
        server = ServerThread(make_app(desk, hub, access), port=port)
        try:
            address = server.start()
        except BaseException:
            desk.close()
            raise
        return cls(desk, server, f"{address}/?token={access.token_of(user)}")

    @property
    def labels(self) -> dict[Any, str]:
        """The labels that people gave, by id."""
        ids, labels = self._desk.project.data.ids, self._desk.project.state.labels
        return {ids[row]: one.label for row, one in sorted(labels.items())}

    def stop(self) -> None:
        """End the studio; the labels stay in ``labels``, and in the project's file."""
        self._server.stop()
        self._desk.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        n = len(self._desk.project.state.labels)
        return f"<Studio of {self._desk.project.data.table.name}: {n} labels, {self.url}>"


def remembering_usually() -> AbstractContextManager[None]:
    """Return the context in which graphs and maps are kept in the user's store."""
    store = usual_store()
    return nullcontext() if store is None else remember(store)
