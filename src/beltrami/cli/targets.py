"""Where results go: checked before any work is done, so that an hour is not spent for nothing."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import longest_name, longest_path, require_no_input, written_place
from beltrami.core.spelling import is_utf8

if TYPE_CHECKING:
    from beltrami.doors import Form

PAGES = (".html", ".htm")


def table_target(source: str | Path, out: Path | None, word: str, inputs: Iterable[object]) -> Path:
    """Return where a table goes: as asked, or NAME.WORD.csv in the present folder."""
    from beltrami.tables import table_ending

    target = _require_file_name(_default_path(source, word, ".csv") if out is None else out)
    table_ending(target)
    return _require_writable_table(target, (source, *inputs))


def answer_target(
    source: str | Path, out: Path | None, word: str, inputs: Iterable[object], column: str
) -> Path:
    """Return where a table to be filled in goes; one that was filled in is not written over."""
    from beltrami.core.errors import BeltramiError
    from beltrami.tables.reading.verbatim import read_texts

    target = table_target(source, out, word, inputs)
    try:
        there = read_texts(target) if target.exists() else {}
    except BeltramiError as error:
        raise InvalidInputError(
            f"{str(target)!r} exists and cannot be read, so answers in it could be lost. Choose "
            f"another name with --out, or remove the file. ({error})"
        ) from error
    n_answers = sum(bool(one.strip()) for one in there.get(column, ()))
    if n_answers:
        raise InvalidInputError(
            f"{str(target)!r} holds {n_answers} answer(s) that would be lost. Choose another name "
            "with --out, or remove the file."
        )
    return target


def page_target(source: str | Path, out: Path | None, inputs: Iterable[object]) -> Path:
    """Return where a page goes: as asked, or NAME.report.html; as in `table_target`."""
    target = _require_file_name(_default_path(source, "report", ".html") if out is None else out)
    if target.suffix.lower() not in PAGES:
        raise InvalidInputError(
            f"the report {target.name!r} is a page; its name must end in {' or '.join(PAGES)}."
        )
    return _require_writable(target, (source, *inputs))


def map_target(source: str | Path, out: Path | None, inputs: Iterable[object]) -> Path:
    """Return where a map goes, a picture or a table; as in `table_target`."""
    from beltrami.report.pictures.figures import PICTURES
    from beltrami.tables import table_ending

    target = _require_file_name(_default_path(source, "map", ".png") if out is None else out)
    if target.suffix.lower() in PICTURES:
        return _require_writable(target, (source, *inputs))
    try:
        table_ending(target)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"{error} A picture ends in one of {', '.join(PICTURES)}."
        ) from error
    return _require_writable_table(target, (source, *inputs))


def door_target(source: Path, out: Path | None, form: "Form", inputs: Iterable[object]) -> Path:
    """Return where a result goes in the form of another tool, a file or a folder."""
    word = "labelled" if form.name in {"csv", "parquet", "jsonl"} else form.name
    usual = _default_path(source, word, "" if form.is_folder else form.endings[0])
    target = usual if out is None else out
    if not form.is_folder:
        _require_file_name(target)
    form.check(target, (source, *inputs))
    for path in form.beside(target):
        _require_writable(path, (source, *inputs))
    return target


def model_target(out: Path, inputs: Iterable[object]) -> Path:
    """Return where a labeller is kept; what lies there and is none is never written over."""
    from beltrami.front_door.kept.file import is_labeller

    target = _require_writable(_require_file_name(out), inputs)
    if target.exists() and not is_labeller(target):
        raise InvalidInputError(
            f"{str(target)!r} is there already and is no labeller, so it is not written over; a "
            "project of the studio ends in .beltrami, too. Name another file with --save."
        )
    return target


def usual_folder(source: str, word: str) -> Path:
    """Return where results of partitions go unless said: NAME.WORD, without signs of a pattern."""
    path = Path(source)
    stem = path.name if path.is_dir() else "".join(c for c in path.stem if c not in "*?[]")
    return Path(f"{stem or 'data'}.{word}")


def folder_target(out: Path) -> Path:
    """Return a folder that results can be written to, whether it is there already or not."""
    _require_writable(out / "file", ())
    return out


def _default_path(source: str | Path, word: str, ending: str) -> Path:
    path = Path(source)
    stem = path.name
    if not path.is_dir():
        stem = Path(stem.removesuffix(".gz")).stem
    return Path(f"{stem or 'data'}.{word}{ending}")


def _require_file_name(target: Path) -> Path:
    _require_short(target)
    if target.is_dir():
        raise InvalidInputError(f"{str(target)!r} is a folder; name a file in it.")
    return target


def _require_short(target: Path) -> None:
    """Raise where a name is longer than the file system takes."""
    folder = _nearest_folder(target.parent)
    most = longest_name(folder)
    for name in target.parts:
        size = len(os.fsencode(name))
        if size > most:
            raise InvalidInputError(
                f"{str(target)!r} cannot be written: the name {name[:40]!r}... has {size} bytes, "
                f"and names here may have {most}. Choose a shorter one with --out."
            )
    size, most = len(os.fsencode(target)), longest_path(folder)
    if size > most:
        raise InvalidInputError(
            f"the path {str(target)[:40]!r}... has {size} bytes, and paths here may have {most}. "
            "Choose a shorter one with --out."
        )


def _require_writable_table(target: Path, inputs: tuple[object, ...]) -> Path:
    """Return a target that can be written, as can the file of facts beside it."""
    from beltrami.tables.writing import written_files

    for path in written_files(target):
        _require_writable(path, inputs)
    return target


def _require_writable(target: Path, inputs: Iterable[object]) -> Path:
    _require_short(target)
    if not is_utf8(str(target)):
        raise InvalidInputError(f"{str(target)!r} is not in UTF-8. Choose another name with --out.")
    require_no_input(target, inputs)
    folder = _nearest_folder(written_place(target).parent)
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


def _nearest_folder(folder: Path) -> Path:
    """Return the nearest folder above that is there already."""
    while folder != folder.parent:
        with suppress(OSError):  # a name too long to be looked for
            if folder.exists():
                break
        folder = folder.parent
    return folder
