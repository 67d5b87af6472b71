"""The rows that learn: partitions enter, representatives and a certificate of coverage leave."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tokenize import TokenError
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.errors import CorruptDataError, InvalidInputError
from beltrami.core.files import atomic_path
from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage
from beltrami.core.types import CsrMatrix, FloatMatrix, FloatVector
from beltrami.partitions.crews.passes import Passes
from beltrami.partitions.model import Coverage, Partition, Survey
from beltrami.partitions.reading.layout import Layout
from beltrami.partitions.representing.covering import (
    Candidates,
    CoverTask,
    Gaps,
    local_scales,
    thin,
)
from beltrami.partitions.representing.drawing import Drawn, DrawTask, settle_draw
from beltrami.partitions.representing.nearby import FACTOR, Standing
from beltrami.partitions.representing.yardstick import Yardstick
from beltrami.partitions.rows import key_limit
from beltrami.tables import TableOptions
from beltrami.tables.model import few_of

_CSR = ("data", "indices", "indptr")
_MOST_ROUNDS = 6
_MOST_OF_PARTITION = 512
"""Candidates that a partition sends in a round."""
_STRAYS = 200
"""Rows that nobody stands for, of which it is kept where they are: the worst."""


@dataclass(frozen=True, slots=True, eq=False)
class Strays:
    """Rows that no representative covers, the worst first.

    Attributes
    ----------
    parts, rows : ndarray of shape (s,)
        Where they are: the place of the partition, and their own in that one.
    ratios : ndarray of shape (s,)
        Distance to the nearest representative over what would be covered.
    """

    parts: NDArray[np.int64]
    rows: NDArray[np.int64]
    ratios: FloatVector

    @classmethod
    def of(cls, gaps: Sequence[Gaps | None]) -> "Strays":
        """Return the worst of what is not covered, the first of equal ones."""
        held = [(place, one, _worst(one.ratios)) for place, one in _held(gaps)]
        parts = np.concatenate([np.full(len(some), place) for place, _, some in held])
        rows = np.concatenate([one.rows[some] for _, one, some in held])
        ratios = np.concatenate([one.ratios[some] for _, one, some in held])
        worst = _worst(ratios)
        return cls(parts[worst], rows[worst], ratios[worst].astype(np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class Representatives:
    """Rows that stand for all.

    Attributes
    ----------
    points : ndarray of shape (m, d)
        Their features.
    labels : ndarray of shape (m,)
        Their labels, None where there is none.
    coverage : Coverage
        How well they stand for all rows.
    parts, rows : ndarray of shape (m,)
        Where each comes from: the place of its partition, and its own in that one.
    partitions : dict of str to int
        Names of all partitions, in order, and how many rows each has.
    layout : Layout
        How they are read.
    yardstick : Yardstick
        How far rows are apart.
    strays : Strays
        Rows that none of them stands for.
    witnesses : csr_array of shape (m, m) or None
        How many rows lie between two of them; None where all rows learn.
    masses : ndarray of shape (m,) or None
        How many rows each stands for, of those that were looked at.
    """

    points: FloatMatrix
    labels: NDArray[Any]
    coverage: Coverage
    parts: NDArray[np.int64]
    rows: NDArray[np.int64]
    partitions: dict[str, int]
    layout: Layout
    yardstick: Yardstick
    strays: Strays
    witnesses: CsrMatrix | None = None
    masses: NDArray[np.int64] | None = None

    @property
    def is_standard(self) -> bool:
        """Whether columns are put on one scale."""
        return self.yardstick.is_standard

    @property
    def offsets(self) -> NDArray[np.int64]:
        """What the first row of each partition is numbered through all of them."""
        return np.concatenate([[0], np.cumsum([*self.partitions.values()])]).astype(np.int64)[:-1]

    def read_as_then(self, layout: Layout, partitions: Sequence[Partition]) -> Layout:
        """Return how these partitions are read as when the rows were chosen, with labels beside.

        Raises where partitions of then are missing, by which labels beside may be those of others.
        """
        missing = sorted({*self.partitions} - {one.name for one in partitions})
        is_by_ids = layout.roles.id is not None and layout.record() == self.layout.record()
        if missing and layout.beside and not is_by_ids:
            raise InvalidInputError(
                f"{len(missing)} partition(s) could be read when the rows that learn were chosen, "
                f"and cannot be read now ({few_of(missing)}): without them it is open of which "
                "rows the labels beside are. Put them back, or label into a new folder."
            )
        return replace(self.layout, notes=layout.notes, beside=layout.beside)

    def write(self, path: Path, key: str) -> None:
        """Keep them beside the results, for a job that is taken up again."""
        classes = sorted({one for one in self.labels if one is not None}, key=str)
        code_of = {one: code for code, one in enumerate(classes)}
        codes = np.array([-1 if one is None else code_of[one] for one in self.labels], np.int64)
        facts = {
            "key": key,
            "classes": classes,
            "coverage": asdict(self.coverage),
            "partitions": self.partitions,
            "layout": self.layout.record(),
            "is_standard": self.is_standard,
        }
        arrays: dict[str, Any] = {
            "points": self.points,
            "codes": codes,
            "parts": self.parts,
            "rows": self.rows,
            "center": self.yardstick.center,
            "stretch": self.yardstick.stretch,
            "stray_parts": self.strays.parts,
            "stray_rows": self.strays.rows,
            "stray_ratios": self.strays.ratios,
            "facts": np.array(json.dumps(facts)),
        }
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays, **self._testimony())

    def _testimony(self) -> dict[str, Any]:
        """Return what rows say of them as arrays; nothing where they were not asked."""
        if self.witnesses is None or self.masses is None:
            return {}
        held = {name: getattr(self.witnesses, name) for name in _CSR}
        return held | {"masses": self.masses}

    @classmethod
    def read(cls, path: Path, key: str) -> "Representatives | None":
        """Return those of the same job that were kept; None where there are none."""
        if not path.is_file():
            return None
        try:
            # The file is opened here, because NumPy leaves it open where what is in it is broken.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
                facts = json.loads(str(held["facts"]))
                if facts["key"] != key:
                    return None
                points, codes, parts, rows = (held[name] for name in _ARRAYS)
                yardstick = Yardstick(held["center"], held["stretch"], facts["is_standard"])
                strays = Strays(*(held[f"stray_{name}"] for name in ("parts", "rows", "ratios")))
                layout = Layout.of_record(facts["layout"], points.dtype)
                witnesses = masses = None
                if "masses" in held.files:
                    masses, shape = held["masses"], (len(points), len(points))
                    witnesses = csr_array(tuple(held[name] for name in _CSR), shape=shape)
                labels = np.array([*facts["classes"], None], dtype=object)[codes]
                coverage = Coverage(**facts["coverage"])
        except _BROKEN as error:
            told = f"{error}; where it is removed, labelling again chooses the same rows anew"
            raise CorruptDataError(path=str(path), reason=told) from error
        return cls(
            points,
            labels,
            coverage,
            parts,
            rows,
            facts["partitions"],
            layout,
            yardstick,
            strays,
            witnesses,
            masses,
        )


_ARRAYS = ("points", "codes", "parts", "rows")
_BROKEN = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    RuntimeError,
    TokenError,
    BadZipFile,
    zlib.error,
)
"""What NumPy, zipfile and json raise on a file that is cut off or spoiled."""


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """How representatives are chosen.

    Attributes
    ----------
    layout : Layout
        How partitions are read.
    survey : Survey
        What is known of all rows.
    options : TableOptions
        For the labels.
    seed : int
        Of the draw.
    most : int
        Representatives, at most.
    share : float
        Of rows that are to be covered.
    """

    layout: Layout
    survey: Survey
    options: TableOptions
    seed: int
    most: int
    share: float

    def choose(self, partitions: Sequence[Partition], passes: Passes) -> Representatives:
        """Draw a sample, and add uncovered rows until the share is covered or no room is left.

        Room that is left is filled by further rows of the sample: the more learn, the better, and
        what was covered stays so.
        """
        drawn, spare = self._draw(partitions, passes)
        yardstick = Yardstick.of(self.survey.moments, drawn.points, self.layout)
        enter_stage(Stage.COVER)
        chosen = [drawn]
        places = yardstick.place(drawn.points)
        scales = local_scales(places)
        gaps: list[Gaps | None] = [None] * len(partitions)
        n, rounds = len(drawn.points), 0
        while True:
            gaps = self._look(partitions, passes, gaps, yardstick, places, scales, self.most - n)
            counted = [one for _, one in _held(gaps)]
            n_open = sum(len(one.rows) for one in counted)
            n_rows = sum(one.n_rows for one in counted)
            is_enough = n_open <= (1.0 - self.share) * n_rows
            if is_enough or n >= self.most or rounds == _MOST_ROUNDS:
                break
            found = Candidates.joined([one.candidates for one in counted])
            places = yardstick.place(found.points)
            taken = np.sort(thin(places, found, self.most - n))
            rounds += 1
            n += len(taken)
            whence = [np.full(len(one.candidates.rows), k) for k, one in _held(gaps)]
            chosen.append(_added(found.take(taken), np.concatenate(whence)[taken], self.layout))
            places, scales = places[taken], found.scales[taken]
        spare = spare.take(~_is_among(spare, Drawn.joined(chosen)))
        chosen.append(spare.take(slice(0, self.most - n)))
        all_of_them = Drawn.joined(chosen)
        n = len(all_of_them.rows)
        largest = FACTOR * max(one.largest for one in counted)
        coverage = Coverage(1.0 - n_open / max(n_rows, 1), largest, n_rows, n, rounds)
        return Representatives(
            all_of_them.points,
            all_of_them.labels,
            coverage,
            all_of_them.parts,
            all_of_them.rows,
            dict(zip((one.name for one in partitions), self.survey.n_rows, strict=True)),
            self.layout,
            yardstick,
            Strays.of(gaps),
        )

    def _draw(self, partitions: Sequence[Partition], passes: Passes) -> tuple[Drawn, Drawn]:
        """Return the labelled rows and the sample by partitions and rows, and spare ones by keys.

        Half of the room is left to rows that nobody covers.
        """
        total, n_given = self.survey.total, self.survey.n_given
        room = max(self.most - n_given, 2)
        limit = int(key_limit(total if total <= self.most else room, total))
        task = DrawTask(self.layout, self.options, self.survey.moments.mean, self.seed, limit)
        enter_stage(Stage.DRAW)
        found = passes.over(Stage.DRAW, task, partitions, n_rows=self.survey.n_rows)
        parts = [replace(one, parts=np.full(len(one.rows), place)) for place, one in _held(found)]
        drawn = Drawn.joined(parts)
        return settle_draw(drawn, total if total <= self.most else room // 2)

    def _look(
        self,
        partitions: Sequence[Partition],
        passes: Passes,
        gaps: list[Gaps | None],
        yardstick: Yardstick,
        places: Any,
        scales: Any,
        room: int,
    ) -> list[Gaps | None]:
        """Return what is not covered of each partition, given more representatives."""
        each = min(_MOST_OF_PARTITION, max(16, 4 * room // len(partitions)))
        fill = self.survey.moments.mean
        task = CoverTask(self.layout, fill, yardstick, Standing.of(places, scales), each)
        is_first = all(one is None for one in gaps)
        failed = {one.name for one in passes.failures}
        ahead = [
            place
            for place, one in enumerate(gaps)
            if partitions[place].name not in failed
            and (is_first or (one is not None and len(one.rows) > 0))
        ]
        results = passes.over(
            Stage.COVER,
            task,
            [partitions[place] for place in ahead],
            [gaps[place] for place in ahead],
            [self.survey.n_rows[place] for place in ahead],
            is_rest=not is_first,
        )
        looked = list(gaps)
        for place, result in zip(ahead, results, strict=True):
            looked[place] = result
        return looked


def _worst(ratios: NDArray[Any]) -> NDArray[np.intp]:
    return np.argsort(-ratios, kind="stable")[:_STRAYS]


def _held(found: Sequence[Any]) -> list[tuple[int, Any]]:
    """Return what was found, with the places of its partitions."""
    return [(place, one) for place, one in enumerate(found) if one is not None]


def _is_among(some: Drawn, others: Drawn) -> NDArray[np.bool_]:
    """Say which rows are among others: one of the sample may have been added as uncovered."""
    width = 1 + max(int(one.rows.max(initial=0)) for one in (some, others))
    return np.isin(some.parts * width + some.rows, others.parts * width + others.rows)


def _added(taken: Candidates, parts: NDArray[Any], layout: Layout) -> Drawn:
    """Return uncovered rows as representatives; they have no label and no key."""
    n = len(taken.rows)
    points = taken.points.astype(layout.dtype)
    return Drawn(taken.rows, np.zeros(n, np.uint64), points, np.full(n, None, object), parts)
