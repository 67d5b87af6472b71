"""Results: a JSON file that keeps every number, and a page of tables made from it."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from beltrami.core.files import write_text


def write_results(
    folder: Path, stem: str, record: Mapping[str, Any], page: str, *, indent: int | None = 1
) -> None:
    """Write the record and its page, each whole or not at all."""
    write_text(folder / f"{stem}.json", json.dumps(record, indent=indent) + "\n")
    write_text(folder / f"{stem}.md", page)


def load_record(folder: Path, stem: str, **empty: Any) -> dict[str, Any]:
    """Return the record written before, or an empty one."""
    place = folder / f"{stem}.json"
    if not place.exists():
        return {"circumstances": {}, **empty}
    return json.loads(place.read_text(encoding="utf-8"))


def table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    rule = ["---"] * len(header)
    return "".join(f"| {' | '.join(line)} |\n" for line in (header, rule, *lines))


def versions_line(facts: Mapping[str, Any]) -> str:
    """Return the versions of all packages on one line."""
    return ", ".join(f"{name} {number}" for name, number in facts["versions"].items())


def growth_exponent(seconds: Mapping[int, float]) -> float:
    """Return the slope of log seconds over log n, by least squares."""
    sizes = [math.log(n) for n in seconds]
    times = [math.log(each) for each in seconds.values()]
    middle, height = sum(sizes) / len(sizes), sum(times) / len(times)
    rise = sum((x - middle) * (t - height) for x, t in zip(sizes, times, strict=True))
    return rise / sum((x - middle) ** 2 for x in sizes)


def growth_in_words(seconds: Mapping[int, float]) -> str:
    """Return the exponent for a table; one size alone has none."""
    return f"{growth_exponent(seconds):.2f}" if len(seconds) > 1 else "-"
