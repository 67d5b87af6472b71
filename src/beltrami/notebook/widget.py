"""`LabelWidget`: the map in a cell of a notebook; a thin class of traits around a `Session`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import traitlets
from anywidget import AnyWidget

from beltrami.core.errors import BeltramiError, InvalidInputError
from beltrami.labelling.options import LearningOptions
from beltrami.labelling.result import Labelling
from beltrami.notebook.front import script, styles
from beltrami.notebook.session import Session
from beltrami.tables import TableOptions


class _Rows(traitlets.List[int]):
    """Positions of rows, each once: a list, or what NumPy and pandas have in its place."""

    def validate(self, obj: Any, value: Any) -> list[int]:
        """Return them as whole numbers of Python, in order, or say what is wrong with them."""
        listed = value.tolist() if hasattr(value, "tolist") else list(value)
        n_rows = obj.n_rows
        for row in listed:
            if not isinstance(row, int) or isinstance(row, bool) or not 0 <= row < n_rows:
                raise traitlets.TraitError(
                    f"{row!r} is no row: rows are counted from 0 to {n_rows - 1:,}."
                )
        return sorted(set(listed))


class LabelWidget(AnyWidget):
    """A map of a table to label on, in Jupyter Lab, marimo and other notebooks.

    All rows lie on a map; the row under the pointer shows what it holds. Click a row or draw around
    several, choose a class, and the whole map answers. A label of several rows at once counts a
    quarter of one that was looked at.

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
        Where labels are kept; None means beside the file, and for data in memory a file that ends
        with the kernel.
    user : str, default="me"
        Who labels.
    height : int, default=420
        Of the map, in pixels.
    random_state : int, default=0
        Seeds what is drawn.

    Attributes
    ----------
    labels : dict
        The labels that people gave, by id; it can be observed, and not be set.
    selection : list of int
        Positions of the rows that are selected, to be read, set and observed.

    Examples
    --------
    >>> import beltrami as bt
    >>> moons = bt.two_moons(200, random_state=0)
    >>> widget = bt.LabelWidget({"x": moons.points[:, 0], "y": moons.points[:, 1]})
    >>> widget.selection = [3, 5]
    >>> widget.labels, widget.selection
    ({}, [3, 5])
    >>> widget.close()
    """

    _esm = script()
    _css = styles()

    labels = traitlets.Dict(read_only=True)
    selection = _Rows().tag(sync=True)
    height = traitlets.Int(420, min=120).tag(sync=True)
    _places = traitlets.Bytes().tag(sync=True)
    _answers = traitlets.Bytes().tag(sync=True)
    _facts = traitlets.Dict().tag(sync=True)
    _drawn = traitlets.Int().tag(sync=True)  # a page's word on which answers it shows

    def __init__(
        self,
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
        height: int = 420,
        random_state: int = 0,
    ) -> None:
        table = TableOptions(
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
        options = LearningOptions(random_state=random_state)
        self._session = Session.open(source, table, options, project=project, user=user)
        self._session.when_over = self._show
        super().__init__(height=height, _places=self._session.places)
        self._show()
        self.on_msg(self._hear)

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return self._session.n_rows

    def settle(self) -> None:
        """Judge anew which learners answer, by all labels; a label alone does not wait for that."""
        self._session.settle()
        self._show()

    def result(self) -> Labelling:
        """Return every row labelled, as `label` would from the labels that were given.

        Returns
        -------
        Labelling
            With ``frame``, ``write(path)`` and ``report(path)``.

        Raises
        ------
        InvalidInputError
            When fewer than two classes have a label.
        """
        found = self._session.result()
        self._show()
        return found

    def undo(self) -> bool:
        """Take back what was done last, as often as there is something.

        Returns
        -------
        bool
            Whether there was something.
        """
        try:
            return self._session.undo()
        finally:
            self._show()

    def close(self) -> None:
        """End it and let the project go; ``labels`` stays as it is."""
        if hasattr(self, "_session"):  # it was opened
            self._session.close()
        super().close()

    def __repr__(self) -> str:
        n = len(self.labels)
        return f"<LabelWidget of {self._facts['source']}: {self.n_rows:,} rows, {n:,} labels>"

    def _show(self) -> None:
        """Hand all that a page shows to the traits; what has not changed is not sent."""
        session = self._session
        with self.hold_sync():
            self._answers, self._facts = session.answers, session.facts
        self.set_trait("labels", session.labels)

    def _hear(self, _: Any, content: Any, __: Any) -> None:
        """Do what a page asks for, and say that it was done."""
        asked = content if isinstance(content, dict) else {}
        answer: dict[str, Any] = {"to": asked.get("number")}
        try:
            answer |= self._do(asked)
        except BeltramiError as error:
            answer["error"] = str(error)
        except Exception as error:  # a fault of ours: the page says so, and the kernel's log how
            answer["error"] = f"this failed in the kernel ({type(error).__name__}: {error})."
            raise
        finally:
            self.send(answer)

    def _do(self, asked: dict[str, Any]) -> dict[str, Any]:
        what = asked.get("do")
        if what == "label":
            return self._label(asked.get("rows", ()), asked.get("label", ...))
        if what == "undo":
            return {"undone": self.undo()}
        if what == "row":
            return {"item": self._session.item(asked.get("row", -1))}
        raise InvalidInputError(f"a page asked for {what!r}, which this kernel does not know.")

    def _label(self, rows: Sequence[int], label: Any) -> dict[str, Any]:
        try:
            self._session.label(rows, label)
        finally:
            self._show()
        return {}
