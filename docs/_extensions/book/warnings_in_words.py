"""Warnings as a reader wants them: what and why, without the path of a file."""

import warnings
from typing import Any


def show_in_words(*_: Any) -> None:
    """Show warnings from now on as one line, the name of their class first."""
    warnings.formatwarning = _in_words


def _in_words(message: Any, category: type[Warning], *_: Any, **__: Any) -> str:
    return f"{category.__name__}: {message}\n"
