"""``python -m benchmarks.constrained``: k-means with bounds on sizes, alone and beside a peer."""

import argparse
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.common.command import add_threads, contest_parser, results_folder
from benchmarks.common.facts import circumstances, package_version, warn_if_busy
from benchmarks.common.pages import table, write_results
from benchmarks.common.threads import set_threads

STEM = "constrained"
ALONE, SIZES = 100_000, (500, 2000, 5000)
FIT_S, FORCED = 2.0, 20_000
_NAMES = {False: "points", True: "rows of order 1/sqrt(n)"}


def main(arguments: list[str] | None = None) -> None:
    """Measure ours alone, then both sides in turn; the files are written after each."""
    asked = _arguments(arguments)
    set_threads(asked.threads)  # before any of the libraries that read it is loaded
    from benchmarks.constrained import sides  # noqa: PLC0415

    warn_if_busy()
    folder = results_folder(asked.out, toy=asked.toy)
    alone = sides.alone(2000 if asked.toy else ALONE, rounds=asked.rounds)
    record: dict[str, Any] = {
        "circumstances": circumstances(),
        "peer": package_version("k-means-constrained"),
        "alone": alone,
        "marks": marks(alone),
        "beside": [],
    }
    for n in (200, 400) if asked.toy else SIZES:
        for scaled in (False, True):
            if sides.has_peer():
                row = sides.beside(n, rounds=asked.rounds, scaled=scaled)
                record["beside"].append(row)
                print(f"n = {n}, {_NAMES[scaled]}: {' | '.join(_cells(row))}", flush=True)
        write_results(folder, STEM, record, render(record))
    if not sides.has_peer():
        print("the peer is skipped: k-means-constrained is not installed")
    print(render(record))


def marks(alone: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what was asked, what was found, and whether it holds."""
    seconds = median(alone["seconds"]["fit"])
    return [
        {
            "about": "points that the bounds force away from the nearest centre",
            "asked": f"at least {FORCED}",
            "found": f"{alone['forced']}",
            "met": alone["forced"] >= FORCED,
        },
        {
            "about": "seconds of a whole fit with the default parameters",
            "asked": f"below {FIT_S:g}",
            "found": f"{seconds:.2f}",
            "met": seconds < FIT_S,
        },
        {
            "about": "points of the smallest cluster",
            "asked": f"at least {alone['least']}",
            "found": f"{alone['smallest']}",
            "met": alone["smallest"] >= alone["least"],
        },
    ]


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""

    facts, alone = record["circumstances"], record["alone"]
    lines = [
        [name, f"{1e3 * median(times):.1f}", str(alone["moves"].get(name, ""))]
        for name, times in alone["seconds"].items()
    ]
    header = (
        "n", "rows", "ours s", "peer s", "times faster [quartiles]", "sum of squares, ours / peer",
        "ours lower in", "ours from where the peer stopped / peer",
    )  # fmt: skip
    return (
        "# k-means with bounds on the sizes of clusters\n\n"
        f"{facts['cpu']}, {facts['cores']} cores, {facts['threads']} threads for every side; "
        f"Python {facts['python']}, NumPy {facts['versions']['numpy']}, "
        f"numba {facts['versions']['numba']}, k-means-constrained {record['peer']}; "
        f"{facts['date']} at commit {facts['commit']}. Eight overlapping clouds, of 40 to 1 % of "
        "the points, in 8 columns, 8 clusters, each with at least 95 % of an equal share. Medians "
        "over rounds; compilation is not timed.\n\n"
        f"## Ours alone, {alone['n']} points\n\n"
        "The first assignment is to the centres of k-means without bounds; the others are in a "
        "later round, once from the nearest centres and once from the prices of the round before. "
        "A fit by default compares ten starts on a sample of 5000 points and runs the best on "
        "all.\n\n"
        + table(("step", "ms", "moves"), lines)
        + "\n"
        + table(
            ("about", "asked", "found", "met"),
            [
                [one["about"], one["asked"], one["found"], "yes" if one["met"] else "MISSED"]
                for one in record["marks"]
            ],
        )
        + "\n## Beside k-means-constrained\n\n"
        "Both sides start from the same centres, new ones in every round, and take turns; the same "
        "tolerance and most rounds. The peer assigns by distances that are not squared, times 1000 "
        "and rounded to integers: rows of order 1/sqrt(n), as eigenvectors have them, leave it few "
        "levels. The sum of squares is taken from the labels of both in the same way; below 1 ours "
        "is lower. From the same start the two may end in different local minima, either lower; "
        "from where the peer stopped, ours can only go down, and where it does the peer's end was "
        "no minimum.\n\n"
        + table(
            header,
            [[str(row["n"]), _NAMES[row["scaled"]], *_cells(row)] for row in record["beside"]],
        )
    )


def _cells(row: Mapping[str, Any]) -> Sequence[str]:
    import numpy as np  # noqa: PLC0415

    seconds, sums = row["seconds"], row["sums"]
    ratios = np.divide(seconds["peer"], seconds["ours"])
    low, high = np.percentile(ratios, [25, 75])
    lower = np.less(sums["ours"], sums["peer"])
    return (
        f"{median(seconds['ours']):.4f}",
        f"{median(seconds['peer']):.4f}",
        f"{row['time ratio']:.1f} [{low:.1f}, {high:.1f}]",
        f"{row['sum ratio']:.5f}",
        f"{lower.sum()} of {len(lower)}",
        f"{min(row['handed over']):.5f} to {max(row['handed over']):.5f}",
    )


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = contest_parser("constrained", __doc__)
    parser.add_argument("--toy", action="store_true", help="small problems")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, each with every side")
    add_threads(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
