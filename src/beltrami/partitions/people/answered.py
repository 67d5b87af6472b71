"""Labelled partitions opened again: a folder of results enters, its rows leave as tables.

Representatives learn as they did in the job, and people see rows with all columns of their own.
"""

import ast
import os
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import atomic_path, read_json
from beltrami.core.machine.threads import resolve_jobs
from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage
from beltrami.core.types import IndexVector
from beltrami.front_door.kept.labeller import KeptLabeller
from beltrami.labelling.intake import Intake
from beltrami.labelling.kept.table_labeller import TableLabeller
from beltrami.labelling.options import LearningOptions
from beltrami.partitions.answers.keeping import labeller_of, recipe_of
from beltrami.partitions.crews.crew import ThreadCrew
from beltrami.partitions.crews.opening import crew_of
from beltrami.partitions.crews.passes import Passes
from beltrami.partitions.manifest import FOLDER
from beltrami.partitions.model import Partition, is_written_as_text
from beltrami.partitions.people.fetching import fetch_rows
from beltrami.partitions.reading.files import FilePartition
from beltrami.partitions.reading.locating import find_ids, find_numbers
from beltrami.partitions.reading.sources import found_again
from beltrami.partitions.representing.representatives import Representatives
from beltrami.tables import Features, GivenLabels, Roles, Table, TableOptions

_KEY = b"beltrami.key"
_ID_NAMES = ("id", "row_id", "beltrami_id")
"""What a column of row numbers is called: the first that is not the column of labels."""


def is_results(path: Path) -> bool:
    """Say whether a path is a folder that `beltrami label` wrote for partitions."""
    return (path / FOLDER / "manifest.json").is_file()


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """A folder of labelled partitions, and the rows that stand for all of them.

    Attributes
    ----------
    out : Path
        The folder.
    key : str
        Of the job.
    chosen : Representatives
        The rows that learned.
    partitions : tuple of Partition
        Where the rows come from, in the order in which these count them.
    fingerprints : dict of str to str
        What each partition was when it was labelled.
    learning : LearningOptions
        How they learned.
    command : str
        What labels the same rows again, but for where the results go.
    reading : TableOptions
        How their cells were read.
    client : object
        Who holds the rows of a frame, as `label_partitions` was told; files are read by this
        process.
    """

    out: Path
    key: str
    chosen: Representatives
    partitions: tuple[Partition, ...]
    fingerprints: dict[str, str]
    learning: LearningOptions
    command: str
    reading: TableOptions
    client: Any = None

    @classmethod
    def open(
        cls,
        out: Path,
        partitions: Sequence[Partition] = (),
        n_jobs: int | None = None,
        client: Any = None,
    ) -> "Answered":
        """Open a folder of results; partitions that are no files must be handed over."""
        enter_stage(Stage.FETCH)
        beside = out / FOLDER
        record = read_json(beside / "manifest.json")
        try:
            key, prints, again = record["key"], dict(record["inputs"]), dict(record["again"])
            learning = LearningOptions(**again["learning"], n_questions=0, n_jobs=n_jobs)
            command = _command(record, beside)
            said = record["options"]
            unlabeled, impute = ast.literal_eval(said["unlabeled"]), said["impute"] == "True"
            reading = TableOptions(unlabeled=unlabeled, impute=impute)
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"{str(out)!r} was labelled by another version, which did not keep what it takes "
                f"to look at its rows again ({error!r}). Label into a new folder."
            ) from error
        chosen = Representatives.read(beside / "representatives.npz", key)
        if chosen is None:
            raise InvalidInputError(
                f"{str(out)!r} has no representatives yet: the job was cut short before any were "
                "chosen. Label again with the same command, which goes on."
            )
        names = chosen.partitions
        known = {one.name: one for one in partitions}
        if not partitions and again["place"] is None:
            raise InvalidInputError(
                f"the rows of {str(out)!r} came from a dask DataFrame and are not to be found "
                "from a folder. Ask what `label_partitions` returned, in Python."
            )
        if not partitions:
            known = {one.name: one for one in found_again(again["place"], names, beside)}
        rows_of = tuple(known[name] for name in names)
        return cls(out, key, chosen, rows_of, prints, learning, command, reading, client)

    @contextmanager
    def passes(self) -> Iterator[Passes]:
        """Yield what passes over partitions: threads of this process, or who holds a frame."""
        n_threads = resolve_jobs(self.learning.n_jobs)
        is_here = isinstance(self.partitions[0], FilePartition) or self.client == "local"
        with crew_of(ThreadCrew(n_threads) if is_here else self.client, n_threads) as crew:
            yield Passes(crew)

    def over(self, *pass_: Any) -> list[Any]:
        """Return what a pass found in every partition, or raise with the first that failed."""
        with self.passes() as passes:
            found = passes.over(*pass_)
        if passes.failures:
            raise InvalidInputError(
                f"{len(passes.failures)} partition(s) of {str(self.out)!r} cannot be read. "
                f"{passes.failures[0]}."
            )
        return found

    @property
    def id_column(self) -> str:
        """What the column of ids is called among the representatives."""
        role = self.chosen.layout.roles.id
        taken = {self.chosen.layout.roles.label}
        return role if role is not None else next(one for one in _ID_NAMES if one not in taken)

    def require_as_labelled(self, said: set[str], label: str | None, seed: Any) -> None:
        """Refuse to read or learn otherwise than in the job; its own column of labels may be said.

        - `said`: names of the options on the table by which somebody says something.
        """
        odd = said - {"label"} if label == self.roles.label else set(said)
        odd |= {"seed"} if seed not in {0, self.learning.random_state} else set()
        if odd:
            named = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(odd))
            raise InvalidInputError(
                f"how the rows of {str(self.out)!r} are read and learn stands in the folder, as it "
                f"was said when they were labelled. Leave out {named}, or label into a new folder."
            )

    def words(self) -> str:
        """Say what the representatives stand for."""
        coverage = self.chosen.coverage
        return (
            f"these are {coverage.n_representatives:,} of {coverage.n_rows:,} rows: the "
            f"representatives from which the rows of {str(self.out)!r} were labelled"
        )

    def fetch(self, parts: IndexVector, rows: IndexVector) -> Table:
        """Return some rows with all their own columns; their ids as in the results come first."""
        layout, name = self.chosen.layout, self.id_column
        named = {one: layout.types[one] for one in self._agreed()}
        with self.passes() as passes:
            found = fetch_rows(
                self.partitions, self.fingerprints, parts, rows, named, passes
            ).columns
        if layout.roles.id is None:
            if name in found.column_names:
                found = found.rename_columns(
                    [f"data_{one}" if one == name else one for one in found.column_names]
                )
            found = found.add_column(0, name, [self.chosen.offsets[parts] + rows])
        else:
            others = [one for one in found.column_names if one != name]
            found = found.select([name, *others])
        return Table("representatives", found)

    def find(self, ids: Sequence[str]) -> tuple[IndexVector, IndexVector]:
        """Return partition and row of ids as results have them, -1 where no row has one."""
        import pyarrow as pa

        chosen, role = self.chosen, self.chosen.layout.roles.id
        if role is None:
            return find_numbers([*chosen.partitions.values()], ids)
        wanted, kind = pa.array(ids, pa.large_string()), chosen.layout.types[role]
        return find_ids(Stage.FETCH, self.partitions, role, kind, wanted, self.over)

    def _agreed(self) -> list[str]:
        """Return the columns that are read in the same way from all partitions."""
        layout = self.chosen.layout
        read = layout.widths if is_written_as_text(self.partitions[0]) else ()
        names = [layout.roles.id, layout.roles.label, *read]
        return [one for one in names if one is not None]

    def table(self) -> Table:
        """Return the representatives with all their own columns, and keep them beside the results.

        The column of labels holds those from which they learned.
        """
        import pyarrow.parquet as pq

        path = self.path
        if path.is_file() and (pq.read_schema(path).metadata or {}).get(_KEY) == self.key.encode():
            return Table(path.name, pq.read_table(path).replace_schema_metadata())
        chosen = self.chosen
        table = replace(self.fetch(chosen.parts, chosen.rows), name=path.name)
        table = _with_labels(table, chosen.layout.roles.label, chosen.labels)
        with atomic_path(path) as temporary:
            pq.write_table(table.columns.replace_schema_metadata({_KEY: self.key}), temporary)
        return table

    @property
    def path(self) -> Path:
        """The file of the representatives."""
        return self.out / FOLDER / "representatives.parquet"

    @property
    def roles(self) -> Roles:
        """What the columns of the representatives are for."""
        return replace(self.chosen.layout.roles, id=self.id_column, ignored={})

    def table_options(self) -> TableOptions:
        """Return the options by which the file of the representatives is read as in the job.

        They have settled at the means of the rows they stand for, and are compared by these, which
        lie beside the file as embeddings; people see the columns of their own rows.
        """
        path = self.path.with_name("compared.npy")
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            np.save(file, self.chosen.points)
        roles = self.roles
        return TableOptions(
            label=roles.label, id=roles.id, embeddings=path, unlabeled="", min_classes=0
        )

    def table_labeller(self, labeller: KeptLabeller) -> TableLabeller:
        """Return what answers other tables from what was learned here."""
        layout, fill = self.chosen.layout, self.chosen.yardstick.center
        facts = {"data": self.out.name, "command": self.command}
        return labeller_of(labeller, layout, fill, self.reading, facts)

    def intake(self) -> Intake:
        """Return the representatives as they learned, with the columns that people know."""
        chosen, table = self.chosen, self.table()
        labels: NDArray[Any] = chosen.labels
        ids = np.empty(table.n_rows, dtype=object)
        ids[:] = table.columns.column(self.id_column).to_pylist()
        names = tuple(
            name if width == 1 else f"{name}[{place}]"
            for name, width in chosen.layout.widths.items()
            for place in range(width)
        )
        features = Features(
            chosen.points,
            names,
            "euclidean",
            has_units=chosen.is_standard,
            notes=(),
            is_empty=None,
            recipe=recipe_of(chosen.layout, chosen.yardstick.center),
        )
        given = GivenLabels(labels, n_empty=int((labels == np.array(None)).sum()))
        return Intake(table, self.roles, features, ids, given)


def _command(record: dict[str, Any], beside: Path) -> str:
    """Return the command that labels the partitions again, as far as they are files."""
    place, said = record["again"]["place"], record["options"]
    if place is None:
        return "beltrami label DATA"
    root = Path(os.path.relpath(os.path.normpath(beside.resolve() / place["root"])))
    words = ["beltrami", "label", str(root / (place["below"] or ""))]
    learning = record["again"]["learning"]
    options = {name: said[name] for name in ("label", "id", "features", "ignore")}
    options["representatives"] = said["representatives"]
    options["method"] = learning["method"] if learning["method"] != "auto" else ""
    options["risk"] = str(learning["risk"])
    options["seed"] = str(learning["random_state"] or "")
    for name, value in options.items():
        words += [f"--{name}", value] if value not in {"None", ""} else []
    unlabeled = ast.literal_eval(said["unlabeled"])
    words += [] if unlabeled is None else ["--unlabeled", str(unlabeled)]
    words += ["--impute"] if said["impute"] == "True" else []
    return shlex.join(words)


def _with_labels(table: Table, name: str | None, labels: NDArray[Any]) -> Table:
    """Return the table with these labels in the column of that name."""
    import pyarrow as pa

    column = pa.array(labels.tolist())
    if name in table.names:
        place = table.names.index(name)
        return replace(table, columns=table.columns.set_column(place, name, column))
    return replace(table, columns=table.columns.append_column(str(name), column))
