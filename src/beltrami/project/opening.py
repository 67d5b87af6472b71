"""A project is opened: data and options enter, a `Project` that is up to date leaves."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.project.errors import ProjectError
from beltrami.project.file import Contents, ProjectFile, read_project
from beltrami.project.inputs import Input, recognise, translate
from beltrami.project.options import found_beside, merge_options, read_options, whole_path
from beltrami.project.project import Project
from beltrami.project.reading import read_data
from beltrami.project.record.chronicle import Chronicle
from beltrami.project.record.events import Event, InputSeen, RolesChanged, check_person
from beltrami.tables import TableOptions, read_table
from beltrami.tables.options import DEFAULTS

ENDING = ".beltrami"
"""How names of projects end."""


@dataclass(frozen=True, slots=True, eq=False)
class _Past:
    """What a project knew when it was opened.

    Attributes
    ----------
    events : list of Event
        As they were saved.
    inputs : list of Input
        Contents of the data that were seen.
    last : InputSeen or None
        Which of them was there last, and where; None for a new project.
    options : TableOptions or None
        How the data were read.
    """

    events: list[Event]
    inputs: list[Input]
    last: InputSeen | None
    options: TableOptions | None

    @classmethod
    def of(cls, contents: Contents | None, folder: Path) -> "_Past":
        """Return what a file in some folder holds."""
        if contents is None:
            return cls([], [], None, None)
        bodies = [event.body for event in contents.events]
        seen = [body for body in bodies if isinstance(body, InputSeen)]
        said = [body for body in bodies if isinstance(body, RolesChanged)]
        inputs = [Input.read(one) for one in contents.inputs]
        is_whole = [one.number for one in inputs] == list(range(1, len(inputs) + 1))
        if not (seen and said and is_whole and 1 <= seen[-1].input <= len(inputs)):
            raise InvalidInputError("it does not say which data it is about.")
        return cls(contents.events, inputs, seen[-1], read_options(said[-1].options, folder))


def open_project(
    source: Any,
    options: TableOptions = DEFAULTS,
    project: Path | str | None = None,
    user: str = "you",
    *,
    read_only: bool = False,
) -> Project:
    """Open the project of some data, or make one.

    Parameters
    ----------
    source : path, table or None
        The data, or a project, whose data are then looked for where they were; None looks for
        those of `project`.
    options : TableOptions, default=DEFAULTS
        How the table is to be read. What is said wins over what the project knows and is saved;
        what is left out is as it was. At least `min_classes` classes must have a label.
    project : path or None, default=None
        The file of the project; None means that beside the data, ``data.beltrami`` for
        ``data.csv``.
    user : str, default="you"
        Who opens it.
    read_only : bool, default=False
        Whether nothing is written; then another process may write the project at the same time.

    Returns
    -------
    Project
        To be closed.
    """
    check_person(user)
    path, source = _places(source, project)
    file = None if read_only else ProjectFile.open(path, user)
    try:
        contents = read_project(path) if file is None else file.contents
        place = path.resolve()
        with _as_damage(place):
            past = _Past.of(contents, place.parent)
        source = _data_of(place, source, past, is_named=project is not None)
        return _catch_up(place, file, past, source, options, user)
    except BaseException:
        if file is not None:
            file.close()
        raise


def project_place(source: Any, project: Path | str | None = None) -> Path:
    """Return the file that `open_project` opens."""
    return _places(source, project)[0].resolve()


def project_beside(source: Path | str) -> Path:
    """Return where the project of some data is, where nothing else is said."""
    data = whole_path(source)
    stem = data.name if data.is_dir() else Path(data.name.removesuffix(".gz")).stem
    return data.with_name(f"{stem}{ENDING}")


def data_of(project: Path | str) -> Path:
    """Return where the data of a project are."""
    path = Path(project)
    place = path.resolve()
    with _as_damage(place):
        past = _Past.of(read_project(path), place.parent)
    return Path(_data_of(place, None, past, is_named=True))


def _places(source: Any, project: Path | str | None) -> tuple[Path, Any]:
    """Return the file of the project, and the data; None for those that it knows of."""
    is_path = isinstance(source, str | os.PathLike)
    if project is None and is_path and Path(source).suffix == ENDING:
        return Path(source), None
    if is_path and not Path(source).exists():
        read_table(source)  # says what is wrong with it
    source = whole_path(source) if is_path else source
    if project is not None:
        return Path(project), source
    if not is_path:
        raise InvalidInputError(
            "a table in memory has no place beside it: say where its project is to be (project=)."
        )
    return project_beside(source), source


@contextmanager
def _as_damage(path: Path) -> Iterator[None]:
    """Say that a project is damaged where what it holds makes no sense."""
    try:
        yield
    except InvalidInputError as error:
        raise ProjectError(
            f"the project {str(path)!r} is damaged ({error}) Nothing was changed. Put back a copy."
        ) from error


def _data_of(path: Path, source: Any, past: _Past, *, is_named: bool) -> Any:
    """Return the data that are to be read, or raise where they are not those of the project."""
    if past.last is None:
        if source is None:
            raise ProjectError(f"there is no project {str(path)!r} yet: name its data.")
        return source
    known = past.last.source
    if source is not None:
        if known is not None and not is_named and not _is_same_place(source, known, path):
            raise ProjectError(
                f"{path.name} is the project of {known}, and not of {Path(source).name}. Name "
                "another file for this one with --project."
            )
        return source
    if known is None:
        raise ProjectError(f"{path.name} is about a table in memory: open it with that table.")
    place = found_beside(known, path.parent)
    if not place.exists():
        raise ProjectError(
            f"the data of {path.name} are not at {str(place)!r} any more. Put them back; or name "
            "both, the data where they are now and --project."
        )
    return place


def _is_same_place(source: Any, known: str | None, path: Path) -> bool:
    if not isinstance(source, str | os.PathLike) or known is None:
        return known is None and not isinstance(source, str | os.PathLike)
    return Path(source).resolve() == found_beside(known, path.parent).resolve()


def _catch_up(
    path: Path,
    file: ProjectFile | None,
    past: _Past,
    source: Any,
    options: TableOptions,
    user: str,
) -> Project:
    """Read the data and bring the project up to what they and the options say."""
    last = past.last
    if past.options is not None:
        options = merge_options(options, past.options)
    data = read_data(source, options)
    known = None if last is None else past.inputs[last.input - 1]
    is_elsewhere = last is not None and not _is_same_place(source, last.source, path)
    found = recognise(data.seen, past.inputs, known, is_elsewhere=is_elsewhere)
    inputs = [*past.inputs, *[found.input] * found.is_new]
    with _as_damage(path):
        chronicle = Chronicle(translate(past.events, inputs, found.input))
    opened = Project(path, file, chronicle, source, inputs)
    lines = opened.take_over(data, found, user)
    opened.words += [_greeting(opened, is_new=last is None), *lines]
    _require_classes(opened, options.min_classes)
    return opened


def _greeting(opened: Project, *, is_new: bool) -> str:
    if is_new:
        return f"a new project: {opened.path}"
    state, name = opened.state, opened.path.name
    names = {given.label for given in state.labels.values()}
    return f"project {name}: {len(state.labels):,} label(s) of {len(names)} class(es)"


def _require_classes(opened: Project, least: int) -> None:
    names = {given.label for given in opened.state.labels.values()}
    if len(names) < least:
        raise InvalidInputError(
            f"{opened.path.name} has labels of {len(names)} class(es), and {least} are needed to "
            "tell them apart. Label a few rows of each: beltrami studio."
        )
