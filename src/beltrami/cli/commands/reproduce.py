"""``beltrami reproduce``: tables and figures of the papers, made by the library."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from beltrami.cli.speech import say
from beltrami.cli.targets import folder_target

if TYPE_CHECKING:
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
) -> None:
    """Reproduce tables and figures of the source texts.

    Each gives NAME.json and NAME.md, figures NAME.png too; 'all' adds an index and one table of
    every published number beside ours. What an earlier run has made is skipped, and a long table
    that was stopped goes on where it was. 'all' takes about an hour on two cores, --quick two
    minutes.

    Example: beltrami reproduce thesis-3.1 --out results
    """
    from beltrami.core.errors import InvalidInputError
    from beltrami.core.threads import resolve_jobs
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
        outcome = run_one(name, out, quick=quick, again=again)
        _tell_end(outcome)
        _compare([name], out, against)
        return
    names = [one for one, entry in REPRODUCTIONS.items() if entry.in_all]
    with _Board(len(names)) as board:
        ended = run_many(names, out, board, quick=quick, again=again, jobs=resolve_jobs(jobs))
    for path in write_book(out):
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
    """Shows what runs and how far it is: bars on a terminal, lines elsewhere."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._bars: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import Progress

            self._bars = Progress(console=Console(stderr=True), transient=True)
            self._bars.start()
            self._tasks["all"] = self._bars.add_task("reproductions", total=self._total)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def __call__(self, news: "Running | Outcome") -> None:
        from beltrami_papers import Running

        if not isinstance(news, Running):
            self._end(news)
        elif self._bars is None:
            if news.event is None:
                say(f"{news.name:24} begins", err=True)
        elif news.event is None:
            self._tasks[news.name] = self._bars.add_task(news.name, total=None)
        else:
            step = f"{news.name}: {news.event.step}"
            self._bars.update(
                self._tasks[news.name],
                description=step,
                total=news.event.total,
                completed=news.event.done,
            )

    def _end(self, outcome: "Outcome") -> None:
        if self._bars is not None:
            task = self._tasks.pop(outcome.name, None)
            if task is not None:
                self._bars.remove_task(task)
            self._bars.advance(self._tasks["all"])
        _tell_end(outcome)
