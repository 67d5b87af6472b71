"""What a text claims of a figure, beside what was measured; and the record and page of a figure.

Claims and numbers enter; a `Reproduction` leaves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure

from beltrami_papers.cells import page, table_lines
from beltrami_papers.model import Reproduction, StageClock, circumstances

THESIS = "Belkin (2003)"


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the text and whether our run bears it out.

    Attributes
    ----------
    statement : str
        What the text says of its figure, in short.
    finding : str
        What we measured.
    holds : bool
        Whether the finding bears out the statement.
    """

    statement: str
    finding: str
    holds: bool

    def entry(self) -> dict[str, Any]:
        """Return an entry of a record."""
        return {"claim": self.statement, "found": self.finding, "holds": bool(self.holds)}


@dataclass(frozen=True, slots=True)
class Setting:
    """What was run, for the record of a figure.

    Attributes
    ----------
    name : str
        Of the reproduction.
    source : str
        Text and figure.
    data : str
        What the points are.
    n : int or str
        How many.
    settings : mapping of str to str
        Of the method.
    seeds : str
        Of all draws.
    remarks : sequence of str
        What a reader of the numbers must know.
    """

    name: str
    source: str
    data: str
    n: int | str
    settings: Mapping[str, str]
    seeds: str
    remarks: Sequence[str]


def reproduction_of(
    setting: Setting,
    figure: Figure,
    clock: StageClock,
    *,
    claims: Sequence[Claim],
    numbers: Mapping[str, Any],
    body: Sequence[str],
) -> Reproduction:
    """Return figure, record and page; the claims come first on the page."""
    record = {
        "name": setting.name,
        "source": setting.source,
        "data": setting.data,
        "n": setting.n,
        "settings": dict(setting.settings),
        "seeds": setting.seeds,
        "remarks": list(setting.remarks),
        "seconds": clock.rounded_seconds(),
        **circumstances(),
        "claims": [claim.entry() for claim in claims],
        **numbers,
    }
    lines = [*claim_lines(claims), *body]
    return Reproduction(figure, record, page(f"{setting.name}: {setting.source}", record, lines))


def holds_or_not(is_held: bool) -> str:
    """Return a verdict in words."""
    return "holds" if is_held else "does not hold"


def claim_lines(claims: Sequence[Claim]) -> list[str]:
    """Return the table of claims."""
    if not claims:
        return []
    rows = [[one.statement, one.finding, "yes" if one.holds else "**no**"] for one in claims]
    return [*table_lines(["the text says", "we find", "holds"], rows, words=(0, 1, 2)), ""]
