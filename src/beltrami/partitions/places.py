"""Where results of partitions may go: never among the inputs, each under a name of its own."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.partitions.answers.answering import written_name
from beltrami.partitions.model import Partition
from beltrami.partitions.reading.sources import folder_of


def require_apart(source: Any, out: Path) -> None:
    """Refuse to write among the inputs."""
    if not isinstance(source, str | os.PathLike):
        return
    path = Path(source)
    folder = folder_of(path)
    if out.resolve() == folder.resolve():
        raise InvalidInputError(
            f"{str(out)!r} is the folder of the input, which is never changed. Name another."
        )
    if (path.is_dir() or "**" in path.parts) and out.resolve().is_relative_to(folder.resolve()):
        raise InvalidInputError(
            f"{str(out)!r} lies in the folder of the input, where results would be taken for "
            "partitions. Name one beside it."
        )


def require_own_names(partitions: Sequence[Partition], form: str) -> None:
    """Refuse partitions whose results would have one name."""
    names = Counter(written_name(one.name, form) for one in partitions)
    twice = sorted(name for name, n in names.items() if n > 1)
    if twice:
        raise InvalidInputError(
            f"{len(twice)} result(s) would have the name of another, such as {twice[0]!r}. Rename "
            "partitions that differ in their ending only."
        )
