"""``beltrami reproduce``: tables and figures of the papers, made by the library."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from beltrami.cli import options as o
from beltrami.cli.speech import Voice, say
from beltrami.cli.targets import folder_target

if TYPE_CHECKING:
    from beltrami.core.telling.progress_event import ProgressEvent
    from beltrami_papers import Outcome, Running


def reproduce(
    name: Annotated[str, typer.Argument(help="Which table or figure; 'all', or 'list'.")] = "all",
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("beltrami-figures"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Run at a small size, to see that they run.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Make also what is there from an earlier run.")
    ] = False,
    against: Annotated[
        Path | None, typer.Option(help="Folder of an earlier run to compare all numbers with.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="How many run beside each other; one a processor.")
    ] = None,
    quiet: o.Quiet = False,
) -> None:
    """Reproduce tables and figures of the source texts.

    Each gives NAME.json and NAME.md, figures NAME.png too; 'all' adds an index and one table of
    every published number beside ours. What an earlier run has made is skipped, and a long table
    that was stopped goes on where it was. 'all' takes about two hours on two cores, --quick two
    minutes.

    Example: beltrami reproduce thesis-3.1 --out results
    """
    from beltrami.core.errors import InvalidInputError
    from beltrami.core.machine.threads import resolve_jobs
    from beltrami_papers import REPRODUCTIONS, run_many, run_one, write_book

    if name == "list":
        for one, entry in REPRODUCTIONS.items():
            say(f"{one:24} {entry.shows} ({entry.source})".replace("**", ""))
        return
    if name != "all" and name not in REPRODUCTIONS:
        listed = ", ".join(["all", "list", *REPRODUCTIONS])
        raise InvalidInputError(f"there is no reproduction {name!r}; choose one of {listed}.")
    if against is not None and not against.is_dir():
        raise InvalidInputError(f"--against {str(against)!r} is not a folder.")
    folder_target(out)
    if name != "all":
        with Voice(is_quiet=quiet).work(name):
            outcome = run_one(name, out, quick=quick, again=again)
        if not quiet or outcome.state == "failed":
            _tell_end(outcome)
        _compare([name], out, against)
        return
    names = [one for one, entry in REPRODUCTIONS.items() if entry.in_all]
    with _Board(len(names), is_quiet=quiet) as board:
        ended = run_many(names, out, board, quick=quick, again=again, jobs=resolve_jobs(jobs))
    for path in write_book(out):
        if not quiet:
            say(f"{'all':24} {path}")
    _compare(names, out, against)
    if any(outcome.state == "failed" for outcome in ended):
        raise typer.Exit(1)


def _compare(names: Sequence[str], folder: Path, against: Path | None) -> None:
    """Say how well a run agrees with an earlier one; exit 1 where it does not."""
    if against is None:
        return
    from beltrami_papers import compare_runs
    from beltrami_papers.comparison import TOLERANCE

    agree = True
    for name in names:
        comparison = compare_runs(name, folder, against)
        if comparison is None:
            say(f"{name:24} not in both folders")
            continue
        agree = agree and comparison.holds()
        place = f" at {comparison.place}" if comparison.largest else ""
        verdict = "agrees" if comparison.holds() else "DIFFERS"
        say(
            f"{name:24} {verdict}: {comparison.n_numbers} numbers, largest difference "
            f"{comparison.largest:.2g}{place} (tolerance {TOLERANCE:g})"
        )
    if not agree:
        raise typer.Exit(1)


def _tell_end(outcome: "Outcome") -> None:
    """Print files to stdout, and what happened to stderr."""
    for path in outcome.files:
        say(f"{outcome.name:24} {path}")
    ends = {
        "made": f"made in {outcome.seconds:.0f} s",
        "known": "there from an earlier run; --again makes it anew",
        "left out": f"left out: {outcome.message}",
        "failed": f"FAILED: {outcome.message}",
    }
    say(f"{outcome.name:24} {ends[outcome.state]}", err=True)


class _Board:
    """Shows what runs and how far it is: one line on a terminal, lines elsewhere, or nothing."""

    def __init__(self, total: int, *, is_quiet: bool) -> None:
        self._total, self._n_ended, self._is_quiet = total, 0, is_quiet
        self._running: dict[str, str] = {}
        self._started = time.monotonic()
        self._line: Any = None

    def __enter__(self) -> Self:
        from beltrami.core.telling.progress_line import ProgressLine, is_rewritable

        if not self._is_quiet and is_rewritable(sys.stderr):
            self._line = ProgressLine(self._look, 0.0)
            self._line.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        if self._line is not None:
            self._line.__exit__()

    def _look(self) -> "ProgressEvent":
        from beltrami.core.telling.progress_event import ProgressEvent

        elapsed = time.monotonic() - self._started
        step = ", ".join(self._running.values()) or "beginning"
        share = self._n_ended / self._total
        return ProgressEvent(
            1, 1, "reproductions", share, elapsed, None, step, self._n_ended, self._total
        )

    def __call__(self, news: "Running | Outcome") -> None:
        from beltrami_papers import Running

        if not isinstance(news, Running):
            self._running.pop(news.name, None)
            self._n_ended += 1
            if not self._is_quiet or news.state == "failed":
                _tell_end(news)
            return
        step = "" if news.event is None else f" ({news.event.step})"
        self._running = self._running | {news.name: f"{news.name}{step}"}
        if self._line is None and news.event is None and not self._is_quiet:
            say(f"{news.name:24} begins", err=True)
