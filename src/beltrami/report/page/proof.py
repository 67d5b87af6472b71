"""The page of a proof: what blind checks have shown of written labels, for who was not there.

A `ProofPage` of texts and counts enters; an HTML document that loads nothing leaves.
"""

from dataclasses import dataclass
from pathlib import Path

from beltrami.core.files import write_text
from beltrami.report.page.templates import fill


@dataclass(frozen=True, slots=True)
class CheckedRound:
    """Rows that were drawn together and looked at blindly, and what came of it.

    Attributes
    ----------
    n_rows, n_pool : int
        How many, and from how many accepted labels.
    n_wrong, n_blank : int
        Answers that differ from the label, and rows without an answer.
    """

    n_rows: int
    n_pool: int
    n_wrong: int
    n_blank: int


@dataclass(frozen=True, slots=True)
class WrongRow:
    """A row whose label is wrong by the person who looked at it.

    Attributes
    ----------
    id : str
        Of the row.
    said, answer : str
        Our label, and theirs.
    """

    id: str
    said: str
    answer: str


@dataclass(frozen=True, slots=True)
class ProofPage:
    """What the page of a proof shows.

    Attributes
    ----------
    title : str
        What was labelled.
    sentence, outlook : str
        What is proved, and whether that is enough or what is missing.
    rounds : tuple of CheckedRound
        In order; those without answers are left out.
    wrong : tuple of WrongRow
        Rows whose labels of now are wrong, as they were drawn.
    command : str
        What says the same again.
    facts : dict of str to str
        What was checked, so that nobody takes the proof for one of other labels.
    """

    title: str
    sentence: str
    outlook: str
    rounds: tuple[CheckedRound, ...]
    wrong: tuple[WrongRow, ...]
    command: str
    facts: dict[str, str]


def render_proof(page: ProofPage) -> str:
    """Return the page as one HTML document."""
    return fill("proof.html.jinja", page=page)


def save_proof(page: ProofPage, path: Path) -> Path:
    """Write the page to a file, whole or not at all."""
    write_text(path, render_proof(page))
    return path
