"""The ``beltrami`` command: runs the application, and ends in one line whatever happens.

Nothing heavy is imported before `main` has begun, so that Ctrl-C is understood from the start.
"""

import gc
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

INTERRUPTED = 130
"""Exit code after Ctrl-C, that of the shell and of typer."""

TERMINATED = 143
"""Exit code after SIGTERM, that of the shell."""

_COLLECTED_AFTER = 100_000
"""New objects after which cycles are looked for: what is loaded stays, and to go through it again
and again takes a tenth of a short command."""

_PATIENCE = 0.02
"""Seconds until a signal that was swallowed, or came while the compiler was at work, is sent again:
the callback has returned by then."""

_COMPILER = f"{os.sep}llvmlite{os.sep}"
"""In the paths of the compiler's code."""

_ENDS = {INTERRUPTED: "interrupted", TERMINATED: "terminated"}


class _InterruptionError(KeyboardInterrupt):
    """Ctrl-C; a process that has seen the plain one may end by the signal, without a code."""


def start() -> None:
    """Run the command line as a process of its own.

    One that was stopped ends at once: compiled loops may still run in other threads, and taking the
    interpreter down around them could crash after all was tidied up and said.
    """
    try:
        main()
    except SystemExit as stop:
        if not isinstance(stop.code, int) or stop.code not in _ENDS:
            raise
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # a pipe that nobody reads any more
                stream.flush()
        os._exit(stop.code)


def main() -> None:
    """Run the command line.

    Our own errors become one message on stderr and exit code 1; Ctrl-C and SIGTERM one line and
    exit codes 130 and 143, with what was begun taken away.
    """
    with _catch_stops() as heard:
        try:
            _run()
        except SystemExit as stop:
            _end(heard, stop)
            raise
        except BaseException as error:
            # A library may have turned the interruption into an error of its own.
            _end(heard, error)
            if not _explain(error):
                raise
            sys.exit(1)
        finally:
            gc.freeze()  # the process ends: to go through all its objects once more takes long


def _run() -> None:
    gc.set_threshold(_COLLECTED_AFTER)
    if hasattr(sys.stdout, "reconfigure"):
        # A terminal that cannot show a class name shows its code instead.
        sys.stdout.reconfigure(errors="backslashreplace")
    from beltrami.cli.application import app

    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        app()


@contextmanager
def _catch_stops() -> Iterator[list[int]]:
    """Turn signals to stop into exceptions, so that files are tidied up; list their exit codes."""
    heard: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        if _is_compiling(frame):
            _send_again(number)
            return
        heard.append(INTERRUPTED)
        raise _InterruptionError

    def terminate(number: int, frame: FrameType | None) -> None:
        if _is_compiling(frame):
            _send_again(number)
            return
        heard.append(TERMINATED)
        raise SystemExit(TERMINATED)

    def repeat(unraisable: Any) -> None:
        """Send a signal again whose exception was swallowed, as by a callback of a library."""
        if isinstance(unraisable.exc_value, _InterruptionError | SystemExit):
            is_interrupted = isinstance(unraisable.exc_value, _InterruptionError)
            _send_again(signal.SIGINT if is_interrupted else signal.SIGTERM)
        else:
            show_unraisable(unraisable)

    show_unraisable, sys.unraisablehook = sys.unraisablehook, repeat
    before = {}
    try:
        for number, handler in ((signal.SIGINT, interrupt), (signal.SIGTERM, terminate)):
            if signal.getsignal(number) not in {signal.SIG_IGN, None}:  # nohup and the like
                before[number] = signal.signal(number, handler)
        yield heard
    finally:
        sys.unraisablehook = show_unraisable
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _is_compiling(frame: FrameType | None) -> bool:
    """Say whether the compiler is at work: an exception in one of its callbacks may crash it."""
    while frame is not None:
        if _COMPILER in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


def _send_again(number: int) -> None:
    """Send a signal to this thread again in a moment."""
    threading.Timer(_PATIENCE, signal.pthread_kill, (threading.get_ident(), number)).start()


def _end(heard: list[int], error: BaseException) -> None:
    """Say that the run was stopped and exit, if that is what happened and not how it ends."""
    if isinstance(error, SystemExit) and not error.code:
        return
    code_of_error = (
        INTERRUPTED if isinstance(error, KeyboardInterrupt) else getattr(error, "code", None)
    )
    code = heard[-1] if heard else code_of_error
    if code in _ENDS:
        print(f"beltrami: {_ENDS[code]}; nothing is left half written.", file=sys.stderr)
        sys.exit(code)


def _explain(error: BaseException) -> bool:
    """Say in one line what went wrong; False for what nobody has foreseen."""
    from beltrami.cli.speech import say
    from beltrami.core.errors import BeltramiError

    if isinstance(error, BeltramiError):
        say(f"beltrami: {error}", err=True)
    elif isinstance(error, OSError):
        # Such as a full disk or a folder that may not be written to: nothing was left half written.
        place = f" ({error.filename})" if error.filename else ""
        say(f"beltrami: {error.strerror or error}{place}; nothing is left half written.", err=True)
    elif isinstance(error, MemoryError):
        say(
            "beltrami: out of memory; nothing was written. Use fewer rows or columns, or a machine "
            "with more memory.",
            err=True,
        )
    else:
        return False
    return True


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print a warning of the library's as one line; those of others are for developers."""
    from beltrami.cli.speech import say
    from beltrami.core.errors import BeltramiWarning

    if issubclass(category, BeltramiWarning):
        say(f"warning: {message}", err=True)


if __name__ == "__main__":
    start()
