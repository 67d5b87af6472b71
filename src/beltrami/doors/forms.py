"""The forms in which labels leave and enter, by name; to add one is a module and a line here."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import require_no_input
from beltrami.doors import argilla, cleanlab, hugging_face, label_studio, plain
from beltrami.doors.answers import Clues, Reading, as_text
from beltrami.doors.files import LINES, read_json_items, require_own_folder
from beltrami.doors.outcome import Outcome
from beltrami.project import Project
from beltrami.tables.writing import written_files


@dataclass(frozen=True, slots=True)
class Form:
    """A form of files.

    Attributes
    ----------
    name : str
        As on the command line.
    endings : tuple of str
        How names of such files end, the usual one first; none for a folder.
    write : callable
        Writes an `Outcome` to a path.
    read : callable
        Reads a path by `Clues`.
    beside : callable
        The files that are written for a path.
    """

    name: str
    endings: tuple[str, ...]
    write: Callable[[Outcome, Path], None]
    read: Callable[[Path, Clues], Reading]
    beside: Callable[[Path], tuple[Path, ...]]

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder of files."""
        return not self.endings

    def check(self, target: Path, inputs: tuple[object, ...]) -> None:
        """Raise where a result would go to a wrong place, or over something that was read."""
        name = target.name.lower()
        if self.endings and not any(name.endswith(one) and name != one for one in self.endings):
            raise InvalidInputError(
                f"the name {target.name!r} must end in {' or '.join(self.endings)} for "
                f"--to {self.name}."
            )
        files = self.beside(target)
        for place in (target, *files):
            require_no_input(place, inputs)
        if self.is_folder:
            require_own_folder(target, [one.relative_to(target).as_posix() for one in files])


def _table(name: str, *endings: str) -> Form:
    return Form(name, endings, plain.write_plain, plain.read_plain, written_files)


def _folder(
    name: str,
    write: Callable[[Outcome, Path], None],
    read: Callable[[Path, Clues], Reading],
    files: tuple[str, ...],
) -> Form:
    return Form(name, (), write, read, lambda target: tuple(target / one for one in files))


FORMS = {
    one.name: one
    for one in (
        _table("csv", ".csv", ".tsv", ".csv.gz", ".tsv.gz"),
        _table("parquet", ".parquet", ".arrow", ".feather"),
        _table("jsonl", ".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"),
        Form(
            "label-studio",
            (".json",),
            label_studio.write_tasks,
            label_studio.read_tasks,
            lambda target: (target, label_studio.config_place(target)),
        ),
        Form(
            "argilla",
            (".json", *LINES),
            argilla.write_records,
            argilla.read_records,
            lambda target: (target,),
        ),
        _folder(
            "datasets", hugging_face.write_dataset, hugging_face.read_dataset, hugging_face.FILES
        ),
        _folder("cleanlab", cleanlab.write_arrays, cleanlab.read_arrays, cleanlab.FILES),
    )
}
"""All forms, by name."""


def find_form(name: str) -> Form:
    """Return the form of some name, or say which there are."""
    if name not in FORMS:
        raise InvalidInputError(f"there is no form {name!r}; there are {', '.join(FORMS)}.")
    return FORMS[name]


def read_answers(
    path: Path,
    project: Project,
    form: str | None = None,
    *,
    id_column: str | None = None,
    label_column: str | None = None,
) -> Reading:
    """Read what a file says of the rows of a project; its form is looked for where none is said."""
    if not path.exists():
        raise InvalidInputError(f"there is no file {str(path)!r}.")
    data = project.data
    clues = Clues(
        frozenset(as_text(one) for one in data.ids.tolist()),
        data.roles.id,
        data.roles.label,
        id_column,
        label_column,
    )
    return find_form(form or guess_form(path)).read(path, clues)


def guess_form(path: Path) -> str:
    """Return the form of a file by its name and the first thing in it."""
    if path.is_dir():
        return "cleanlab" if (path / cleanlab.LABELS).exists() else "datasets"
    name = path.name.lower().removesuffix(".gz")
    if not name.endswith((".json", *LINES)):
        return "csv"
    items = read_json_items(path)
    first = items[0] if items else None
    if label_studio.is_task(first):
        return "label-studio"
    if argilla.is_record(first):
        return "argilla"
    if name.endswith(LINES):
        return "jsonl"
    raise InvalidInputError(
        f"{path.name} holds neither tasks of Label Studio nor records of Argilla. Export it there "
        "as JSON (not JSON-MIN), or name a csv, parquet or jsonl file. Nothing was imported."
    )
