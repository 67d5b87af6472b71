"""The command line of a contest, and the folders that it reads and writes."""

import argparse
from pathlib import Path

from beltrami.core.machine.threads import usable_cpus

BENCHMARKS = Path(__file__).resolve().parents[1]
RESULTS, CACHE = BENCHMARKS / "results", BENCHMARKS / ".cache"


def contest_parser(module: str, about: str | None) -> argparse.ArgumentParser:
    """Return a parser that has ``--out`` already."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{module}", description=about)
    parser.add_argument("--out", type=Path, help="where the JSON file and the page go")
    return parser


def add_threads(parser: argparse.ArgumentParser, default: int | None = None) -> None:
    """Add ``--threads``, by default as many as there are cores."""
    count = default or usable_cpus()
    parser.add_argument("--threads", type=int, default=count, help="for every side")


def results_folder(out: Path | None, *, toy: bool) -> Path:
    """Return where results go: toys stay out of the published ones."""
    return out or (CACHE / "toy" if toy else RESULTS)
