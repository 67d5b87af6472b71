"""Every published number beside ours: one table over all reproductions, and why some are off.

A folder of records enters; rows, and a page made of them, leave.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beltrami.core.files import read_json
from beltrami_papers.cells import table_lines
from beltrami_papers.evidence import claim_evidence, evidence_for
from beltrami_papers.findings import Claim
from beltrami_papers.registry import REPRODUCTIONS

MISS = 1.0
"""A number of ours that is further than this from the published one, either way, is a miss."""

DRAWN_ANEW = frozenset({"thesis-3.1", "thesis-3.2", "thesis-3.3"})
"""Where our labels are other draws than the published ones; elsewhere the splits are the same."""


@dataclass(frozen=True, slots=True)
class Aim:
    """A published number and ours.

    Attributes
    ----------
    name : str
        Of the reproduction.
    cell : mapping
        The entry of its record.
    where : str
        The cell in words.
    ours, published : float
        The two numbers, percent.
    """

    name: str
    cell: Mapping[str, Any]
    where: str
    ours: float
    published: float

    @property
    def difference(self) -> float:
        """Our number minus the published one."""
        return self.ours - self.published

    @property
    def is_missed(self) -> bool:
        """Whether the two are further apart than `MISS`."""
        return abs(self.difference) > MISS

    @property
    def is_remembered(self) -> bool:
        """Whether the published number is quoted from memory, without a second source."""
        return self.cell.get("standing") == "quoted from memory"

    @property
    def noise(self) -> float | None:
        """Two standard errors of the difference of two such means, where labels were drawn anew."""
        if self.name not in DRAWN_ANEW:
            return None
        std, draws = self.cell.get("std"), self.cell.get("draws")
        return 2 * math.sqrt(2) * std / math.sqrt(draws) if std and draws else None

    @property
    def evidence(self) -> str:
        """What is known of a miss; empty for a hit."""
        if not self.is_missed:
            return ""
        if self.noise is not None and abs(self.difference) <= self.noise:
            return (
                f"chance: our draws deviate by {self.cell['std']:.1f}, so that two means over "
                f"{self.cell['draws']} differ by up to {self.noise:.1f} one time in twenty"
            )
        return evidence_for(self.name, self.cell)


def records_in(folder: Path) -> dict[str, dict[str, Any]]:
    """Read the records of a folder.

    By name, in the order of the registry; those that are not there are left out.
    """
    paths = {name: folder / f"{name}.json" for name in REPRODUCTIONS}
    return {name: read_json(path) for name, path in paths.items() if path.exists()}


def aims_of(name: str, record: Mapping[str, Any]) -> Iterator[Aim]:
    """Go through the published numbers of a record.

    Cells of variants, which are evidence, have none.
    """
    for group in ("errors", "neighbors"):
        for cell in record.get(group, ()):
            if "published" in cell and "variant" not in cell:
                ours = cell["mean"] if "mean" in cell else cell["pairs"]
                kind = "best k-NN" if group == "neighbors" else ""
                yield Aim(name, cell, _words(cell, kind), ours, cell["published"])


def _words(cell: Mapping[str, Any], kind: str) -> str:
    named = [f"{cell[key]}" for key in ("data", "method") if key in cell]
    counts = {"labels": "l", "labelled": "l", "eigenvectors": "p"}
    named += [f"{letter} = {cell[key]}" for key, letter in counts.items() if key in cell]
    return ", ".join([kind, *named] if kind else named)


def claims_of(name: str, record: Mapping[str, Any]) -> Iterator[Claim]:
    """Go through what a record was asked to show where no number is printed.

    - `record`: its ``claims`` are a text's, its ``mark`` or ``marks`` our own.
    """
    for claim in record.get("claims", ()):
        yield Claim(claim["claim"], claim["found"], bool(claim["holds"]))
    for mark in [record["mark"]] if "mark" in record else record.get("marks", []):
        if "held" in mark:
            held = bool(mark["held"])
            yield Claim(mark["asked"], "" if held else claim_evidence(name), held)


def summary_text(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page: counts by source, claims, and every number."""
    aims = {name: list(aims_of(name, record)) for name, record in records.items()}
    aims = {name: group for name, group in aims.items() if group}
    lines = [
        "# Every published number, and ours",
        "",
        "Errors in percent. A miss is a number of ours that is more than "
        f"{MISS:g} point from the published one, to either side; each has a sentence of evidence. "
        "Nothing was tuned towards these numbers. † is a number that we quote from memory, as no "
        "second source could be opened. Made by `beltrami reproduce all`.",
        "",
        *_count_lines(aims),
        "",
        "## What is claimed or asked where no number is printed",
        "",
        *_claim_lines(records),
    ]
    for name, group in aims.items():
        lines += ["", f"## {name}: {REPRODUCTIONS[name].source}", ""]
        lines += [f"[The page]({name}.md) has settings, deviations and figures.", ""]
        lines += _aim_lines(group)
    return "\n".join(lines) + "\n"


def _count_lines(aims: Mapping[str, Sequence[Aim]]) -> list[str]:
    rows = []
    for name, group in aims.items():
        gaps = [aim.difference for aim in group]
        missed = [aim for aim in group if aim.is_missed]
        by_chance = sum(aim.evidence.startswith("chance") for aim in missed)
        rows.append(
            [
                f"[{name}]({name}.md)",
                str(len(group)),
                str(len(group) - len(missed)),
                str(len(missed)),
                str(by_chance),
                f"{sum(gaps) / len(gaps):+.2f}",
                f"{max(gaps, key=abs):+.1f}",
            ]
        )
    header = ["", "numbers", "within a point", "missed", "of these by chance"]
    return table_lines([*header, "mean difference", "largest"], rows, words=(0,))


def _claim_lines(records: Mapping[str, Mapping[str, Any]]) -> list[str]:
    rows = [
        [f"[{name}]({name}.md)", claim.statement, "yes" if claim.holds else "**no**", claim.finding]
        for name, record in records.items()
        for claim in claims_of(name, record)
    ]
    return table_lines(["", "claim", "holds", "we find"], rows, words=(0, 1, 2, 3))


def _aim_lines(aims: Sequence[Aim]) -> list[str]:
    rows = [
        [
            aim.where,
            f"{aim.published:g}{'†' if aim.is_remembered else ''}",
            f"{aim.ours:.2f}",
            f"**{aim.difference:+.2f}**" if aim.is_missed else f"{aim.difference:+.2f}",
            aim.evidence,
        ]
        for aim in aims
    ]
    header = ["cell", "published", "ours", "difference", "evidence"]
    return table_lines(header, rows, words=(0, 4))
