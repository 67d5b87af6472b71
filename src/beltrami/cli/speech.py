"""How commands print: stdout carries results, stderr what a person reads on the way.

Whatever is in a text, none of it commands the terminal.
"""

import json
import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from beltrami.core.spelling import spell_out

if TYPE_CHECKING:
    from beltrami.core.telling.progress import ProgressEvent


def say(text: str, *, err: bool = False) -> None:
    """Print a line, with control characters in names and messages written as their codes."""
    typer.echo(spell_out(text), err=err)


@dataclass(frozen=True, slots=True)
class Voice:
    """How much is said, and in what form."""

    as_json: bool = False
    is_quiet: bool = False
    is_verbose: bool = False

    def tell(self, lines: list[str]) -> None:
        """Say what happens on the way, to a person."""
        if not self.is_quiet:
            for line in lines:
                say(line, err=True)

    def detail(self, lines: list[str]) -> None:
        """Say it only when asked for more."""
        if self.is_verbose:
            self.tell(lines)

    def result(
        self, lines: list[str], facts: dict[str, Any], *, findings: Sequence[str] = ()
    ) -> None:
        """Say the result, as lines or as JSON.

        Findings, which are all that a command is asked for, come first, and a quiet one says them.
        """
        if self.as_json:
            plain = _plain(facts)
            say(json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False))
            return
        for line in [*findings, *([] if self.is_quiet else lines)]:
            say(line)

    @contextmanager
    def work(self, *stages: str) -> Iterator[None]:
        """Say how far a job of these stages is, and what the library warns of.

        On a terminal one line is rewritten from the first moment on; elsewhere each stage is a line
        once it is over. A quiet command shows neither. Warnings of the library's become lines, each
        once; those of others are hidden.
        """
        import warnings

        from beltrami.core.errors import BeltramiWarning
        from beltrami.core.telling.progress import job, listen
        from beltrami.core.telling.progress_line import is_rewritable

        with ExitStack() as stack:
            if self.is_quiet:
                stack.enter_context(listen(lambda _: None))
            elif not is_rewritable(sys.stderr):
                stack.enter_context(listen(_StageLines()))
            caught = stack.enter_context(warnings.catch_warnings(record=True))
            warnings.simplefilter("always")
            try:
                with job(*stages, patience=0.0):
                    yield
            finally:
                ours = (one.message for one in caught if issubclass(one.category, BeltramiWarning))
                self.tell([f"warning: {text}" for text in dict.fromkeys(map(str, ours))])


class _StageLines:
    """A listener that says of each stage what it took, once it is over."""

    def __init__(self) -> None:
        self._last: ProgressEvent | None = None
        self._began = 0.0

    def __call__(self, event: "ProgressEvent") -> None:
        last = self._last
        if last is not None and (event.is_over or event.stage != last.stage):
            took = event.elapsed_s - self._began
            say(f"[{last.stage}/{last.n_stages}] {last.title}: {took:.1f} s", err=True)
            self._began = event.elapsed_s
        self._last = event


def _plain(value: Any) -> Any:
    """Return what JSON can hold: it knows neither NaN nor infinity."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)
