"""``python -m benchmarks.mbed.new_points``: where new rows land, beside a joint fit.

1000 rows are held out. A joint map of all rows is made; the held-out rows are then placed anew on
the others of that map, and their ten nearest among these compared with those they had. Beside it,
the same rows by a map that never saw them, whose neighbours are compared with the joint map's.
"""

import time
from collections.abc import Mapping
from typing import Any

from beltrami_papers.preparation import keep_labels
from benchmarks.common.command import contest_parser, results_folder
from benchmarks.common.facts import circumstances
from benchmarks.common.pages import table, write_results

STEM = "mbed_new_points"
SETS = ("digits", "uspst")
N_HELD, PER_CLASS, NEAREST = 1000, 5, 10


def main(arguments: list[str] | None = None) -> None:
    """Measure every set in both modes; the files are written at the end."""
    parser = contest_parser("mbed.new_points", __doc__)
    parser.add_argument("--toy", action="store_true", help="300 digits")
    asked = parser.parse_args(arguments)

    rows = []
    for name in SETS[:1] if asked.toy else SETS:
        for mode in ("practical", "paper"):
            rows.append(measure(name, mode, toy=asked.toy))
            print(rows[-1], flush=True)
    record = {"circumstances": circumstances(), "rows": rows}
    folder = results_folder(asked.out, toy=asked.toy)
    write_results(folder, STEM, record, render(record))


def measure(name: str, mode: str, *, toy: bool) -> dict[str, Any]:
    """Fit jointly and apart, and compare neighbours."""
    import numpy as np  # noqa: PLC0415
    from sklearn.base import clone  # noqa: PLC0415

    from beltrami import Mbed, load_dataset  # noqa: PLC0415
    from beltrami.embeddings.mbed.placement import TIE, place  # noqa: PLC0415

    data = load_dataset(name).number_classes()
    points, truth = np.asarray(data.points), np.asarray(data.targets)
    if toy:
        points, truth = points[:300], truth[:300]
    rng = np.random.default_rng(0)
    labelled = np.concatenate(
        [rng.choice(np.flatnonzero(truth == k), PER_CLASS, replace=False) for k in np.unique(truth)]
    )
    others = rng.permutation(np.setdiff1d(np.arange(len(truth)), labelled))
    held = others[: len(others) // 4 if toy else N_HELD]
    rest = np.setdiff1d(np.arange(len(truth)), held)
    y = keep_labels(truth, labelled)
    joint = Mbed(mode=mode, random_state=0).fit(points, y)
    apart = clone(joint).fit(points[rest], y[rest])
    apart.transform(points[held])  # compiles
    start = time.perf_counter()
    landed = apart.transform(points[held])
    seconds = time.perf_counter() - start
    on_joint = place(apart.affinity_.towards(points[held]), joint.embedding_[rest], tie=TIE)
    before = _nearest(joint.embedding_[rest], joint.embedding_[held])
    again = _overlap(before, _nearest(joint.embedding_[rest], on_joint))
    other = _overlap(before, _nearest(apart.embedding_, landed))
    of_rest = _overlap(
        _nearest(joint.embedding_[rest], joint.embedding_[rest]),
        _nearest(apart.embedding_, apart.embedding_),
    )
    return {
        "set": name,
        "mode": mode,
        "n": len(rest),
        "held": len(held),
        "seconds": seconds,
        "overlap_on_joint": again,
        "overlap_apart": other,
        "overlap_of_fits": of_rest,
        "wrong_new": 100 * float(np.mean(apart.predict(points[held]) != truth[held])),
        "wrong_joint": 100 * float(np.mean(joint.transduction_[held] != truth[held])),
    }


def _nearest(base: Any, queries: Any) -> Any:
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415

    return (
        NearestNeighbors(n_neighbors=NEAREST).fit(base).kneighbors(queries, return_distance=False)
    )


def _overlap(first: Any, second: Any) -> float:
    import numpy as np  # noqa: PLC0415

    shares = [len(set(a) & set(b)) / NEAREST for a, b in zip(first, second, strict=True)]
    return float(np.median(shares))


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""

    lines = [
        [
            row["set"], row["mode"], str(row["n"]), str(row["held"]), f"{row['seconds']:.2f}",
            f"{row['overlap_on_joint']:.2f}", f"{row['overlap_apart']:.2f}",
            f"{row['overlap_of_fits']:.2f}", f"{row['wrong_new']:.1f} / {row['wrong_joint']:.1f}",
        ]
        for row in record["rows"]
    ]  # fmt: skip
    header = [
        "set", "mode", "points", "new points", "seconds", "overlap, placed on the joint map",
        "overlap, map without them", "overlap of the two maps' own points",
        "% wrong, new / joint",
    ]  # fmt: skip
    facts = record["circumstances"]
    return (
        "# New points on a map of Mbed\n\n"
        f"{facts['cpu']}, {facts['cores']} cores; {facts['date']} at commit {facts['commit']}. "
        "Five labels per class. Overlap: median share of the ten nearest points of the map that a "
        "new row has in common with its position in a joint fit. Two fits are two maps; what their "
        "own points have in common is the most that the column before can be expected to show.\n\n"
        + table(header, lines)
    )


if __name__ == "__main__":
    main()
