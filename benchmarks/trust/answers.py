"""What every candidate says, of rows and of labels held out: worked out once, kept in the cache.

``python -m benchmarks.trust.answers``: for each set, number of labels, way to draw and draw, the
logits of up to 1500 rows without a label and of the labels held out in folds, by each candidate of
the front door. Fits and rules are then compared on these in seconds (``benchmarks.trust.fit``).
"""

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.command import CACHE
from benchmarks.trust.sets import KINDS, PER_CLASS, TrustSet, load_set, set_names

FOLDER = CACHE / "trust"
NAMES = (
    "poisson", "logistic", "forest", "neighbors", "regularized", "eigenfunctions", "laplacian_rls",
    "laplacian_svc",
)  # fmt: skip
"""Candidates that are asked."""
ONCE = ("laplacian_svc",)
"""Those that are not tried by default: only a temperature is learned of them, from one draw."""


@dataclass(frozen=True, eq=False)
class Cell:
    """One draw of labels of one set.

    Attributes
    ----------
    set_name, kind : str
        The set, and how labels were drawn.
    per_class, draw, n_rows, n_columns, n_classes : int
        Labels per class, the number of the draw, sizes.
    given, truth : ndarray of shape (l,), of shape (r,)
        Classes of the labels and of the rows.
    answers, held_out : dict of str to ndarray of shape (r, k), of shape (l, k)
        Logits, by candidate.
    shares : ndarray of shape (k,)
        True class shares.
    """

    set_name: str
    kind: str
    per_class: int
    draw: int
    n_rows: int
    n_columns: int
    n_classes: int
    given: np.ndarray
    truth: np.ndarray
    answers: dict[str, np.ndarray]
    held_out: dict[str, np.ndarray]
    shares: np.ndarray

    @property
    def is_table(self) -> bool:
        """Whether the set is an ordinary table."""
        return self.set_name.startswith("table ")


def work_out(name: str, data: Path, draws: int) -> tuple[str, float]:
    """Ask all candidates of one set, unless that was done before; return the seconds."""
    place = FOLDER / f"{name.replace(' ', '_')}.npz"
    if place.exists():
        return name, 0.0
    warnings.simplefilter("ignore")
    started = time.perf_counter()
    one = load_set(name, data)
    arrays = {
        "meta": np.array([len(one.targets), one.n_classes, one.points.shape[1]]),
        "truth_shares": np.bincount(one.targets) / len(one.targets),
    }
    for per_class in filter(one.can_draw, PER_CLASS):
        for kind in KINDS:
            for draw in range(draws):
                arrays |= _ask(one, per_class, kind, draw)
    FOLDER.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(place, **arrays)
    return name, time.perf_counter() - started


_VIEWS: dict[str, tuple[Any, Any]] = {}


def _ask(one: TrustSet, per_class: int, kind: str, draw: int) -> dict[str, np.ndarray]:
    """Return the logits of one draw, in the numbers of half precision."""
    from beltrami.front_door.deciding.candidates import CLASS_CANDIDATES  # noqa: PLC0415
    from beltrami.front_door.deciding.committee import ClassCommittee  # noqa: PLC0415
    from beltrami.front_door.prepare import build_view  # noqa: PLC0415
    from beltrami.learners.model import Labeled  # noqa: PLC0415

    if one.name not in _VIEWS:
        view = build_view(
            one.points, random_state=0, n_jobs=None, n_classes=one.n_classes, **one.view_options
        )
        candidates = {c.name: c for c in CLASS_CANDIDATES if c.name in NAMES}
        members = {name: c.make() for name, c in candidates.items()}
        _VIEWS.clear()
        few = {name: c for name, c in candidates.items() if name not in ONCE}
        committees = [ClassCommittee("auto", some, members) for some in (candidates, few)]
        _VIEWS[one.name] = view, committees
    view, committees = _VIEWS[one.name]
    committee = committees[draw > 0]
    rows = one.draw(per_class, kind, draw)
    targets = np.eye(one.n_classes)[one.targets[rows]]
    trials = committee.try_all(view, Labeled(rows, targets, np.ones(len(rows))), None)
    pick = one.judged(rows, per_class, draw)
    key = f"{per_class}|{kind}|{draw}"
    arrays = {f"{key}|y": one.targets[rows], f"{key}|truth": one.targets[pick]}
    for name, trial in trials.items():
        if not trial.note:
            arrays[f"{key}|{name}|rows"] = np.asarray(trial.answer[pick]).astype(np.float16)
            arrays[f"{key}|{name}|labels"] = np.asarray(trial.held_out).astype(np.float16)
    return arrays


def cells() -> Iterator[Cell]:
    """Yield every draw that was worked out."""
    for place in sorted(FOLDER.glob("*.npz")):
        with np.load(place) as stored:
            found = {key: stored[key] for key in stored.files}
        name = place.stem.replace("table_", "table ")
        n_rows, n_classes, n_columns = map(int, found["meta"])
        for key in sorted({"|".join(one.split("|")[:3]) for one in found if one.count("|") > 2}):
            per_class, kind, draw = key.split("|")
            parts = [one.split("|") for one in found if one.startswith(f"{key}|")]
            asked = [p[3] for p in parts if len(p) == 5 and p[4] == "rows" and p[3] in NAMES]
            logits = {
                end: {one: found[f"{key}|{one}|{end}"].astype(np.float64) for one in asked}
                for end in ("rows", "labels")
            }
            yield Cell(
                name, kind, int(per_class), int(draw), n_rows, n_columns, n_classes,
                found[f"{key}|y"], found[f"{key}|truth"], logits["rows"],
                {one: np.nan_to_num(each) for one, each in logits["labels"].items()},
                found["truth_shares"],
            )  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    """Work out what is missing, two sets at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--sets", nargs="*", default=[], help="parts of names; all by default")
    asked = parser.parse_args(arguments)
    os.environ |= {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    data = Path(os.environ["BELTRAMI_DATA"])
    names = [one for one in set_names(data) if not asked.sets or any(s in one for s in asked.sets)]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(work_out, name, data, asked.draws) for name in names]
        for job in as_completed(jobs):
            name, seconds = job.result()
            print(f"{name}: {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
