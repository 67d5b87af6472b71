"""Where results go: checked before any work is done, so that an hour is not spent for nothing."""

import os
from collections.abc import Iterable
from pathlib import Path

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import require_no_input

PAGES = (".html", ".htm")


def table_target(source: str | Path, out: Path | None, word: str, inputs: Iterable[object]) -> Path:
    """Return where a table goes: as asked, or NAME.WORD.csv in the present folder.

    Parameters
    ----------
    source : str or Path
        The data, which lend their name.
    out : Path or None
        As asked.
    word : str
        Of the name, such as "labelled".
    inputs : iterable of path or None
        Other files that are read.

    Returns
    -------
    Path
        One that can be written, and none of the inputs.
    """
    from beltrami.data.tables import table_ending

    target = _no_folder(_named(source, word, ".csv") if out is None else out)
    table_ending(target)
    return _checked(target, (source, *inputs))


def answer_target(
    source: str | Path, out: Path | None, word: str, inputs: Iterable[object], column: str
) -> Path:
    """Return where a table to be filled in goes; one that was filled in is not written over.

    Parameters
    ----------
    source, out, word, inputs
        As in `table_target`.
    column : str
        Where answers are typed.

    Returns
    -------
    Path
        As in `table_target`.
    """
    from beltrami.core.errors import BeltramiError
    from beltrami.data.tables import read_table

    target = table_target(source, out, word, inputs)
    try:
        there = read_table(target) if target.exists() else None
    except BeltramiError:
        return target
    if there is None or column not in there.names:
        return target
    typed = there.columns.column(column).to_pylist()
    n_answers = sum(one is not None and str(one).strip() != "" for one in typed)
    if n_answers:
        raise InvalidInputError(
            f"{str(target)!r} holds {n_answers} answer(s) that would be lost. Choose another name "
            "with --out, or remove the file."
        )
    return target


def page_target(source: str | Path, out: Path | None, inputs: Iterable[object]) -> Path:
    """Return where a page goes: as asked, or NAME.report.html; as in `table_target`."""
    target = _no_folder(_named(source, "report", ".html") if out is None else out)
    if target.suffix.lower() not in PAGES:
        raise InvalidInputError(
            f"the report {target.name!r} is a page; its name must end in {' or '.join(PAGES)}."
        )
    return _checked(target, (source, *inputs))


def map_target(source: str | Path, out: Path | None, inputs: Iterable[object]) -> Path:
    """Return where a map goes, a picture or a table; as in `table_target`."""
    from beltrami.data.tables import table_ending
    from beltrami.report.figures import PICTURES

    target = _no_folder(_named(source, "map", ".png") if out is None else out)
    if target.suffix.lower() not in PICTURES:
        try:
            table_ending(target)
        except InvalidInputError as error:
            raise InvalidInputError(
                f"{error} A picture ends in one of {', '.join(PICTURES)}."
            ) from error
    return _checked(target, (source, *inputs))


def folder_target(out: Path) -> Path:
    """Return a folder that results can be written to, whether it is there already or not."""
    _checked(out / "file", ())
    return out


def _named(source: str | Path, word: str, ending: str) -> Path:
    path = Path(source)
    stem = path.name
    if not path.is_dir():
        stem = Path(stem.removesuffix(".gz")).stem
    return Path(f"{stem or 'data'}.{word}{ending}")


def _no_folder(target: Path) -> Path:
    if target.is_dir():
        raise InvalidInputError(f"{str(target)!r} is a folder; name a file in it.")
    return target


def _checked(target: Path, inputs: Iterable[object]) -> Path:
    require_no_input(target, inputs)
    folder = target.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise InvalidInputError(
            f"{str(target)!r} cannot be written: {str(folder)!r} is a file and no folder."
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidInputError(
            f"{str(target)!r} cannot be written: the folder {str(folder)!r} may not be written to. "
            "Choose another with --out."
        )
    return target
