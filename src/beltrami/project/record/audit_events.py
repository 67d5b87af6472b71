"""What happens in audits, and how much may be wrong: records that are never taken back."""

from dataclasses import dataclass
from typing import Any, ClassVar

from beltrami.front_door.acceptance import check_risk
from beltrami.project.record.checks import check_name, check_number, check_rows, is_text, require
from beltrami.review.trail import Round


@dataclass(frozen=True, slots=True)
class AuditDrawn:
    """Rows were drawn at random from the accepted ones, to be looked at blindly.

    Attributes
    ----------
    pool, n_pool, rows, said, rest : int, int, tuple of int, tuple of str and str
        As in `Round`; rows are positions.
    risk : float or None
        The risk by which labels were accepted.
    seed : int
        What the draw can be repeated by.
    input : int
        The input that the positions are of.
    """

    kind: ClassVar[str] = "audit_drawn"

    pool: int
    n_pool: int
    rows: tuple[int, ...]
    said: tuple[str, ...]
    rest: str
    risk: float | None
    seed: int
    input: int

    def __post_init__(self) -> None:
        check_rows(self.rows)
        require(bool(self.rows), "a round of an audit has no rows")
        check_number(self.pool, "audit's pool")
        is_size = type(self.n_pool) is int and self.n_pool >= len(self.rows)
        require(is_size, f"{len(self.rows)} rows were drawn from {self.n_pool!r}")
        said: Any = self.said
        is_list = isinstance(said, tuple) and len(said) == len(self.rows)
        require(is_list, "a round of an audit has one label for each row")
        for name in set(self.said):
            check_name(name, "class")
        require(is_text(self.rest), "the digest of the other rows is no text")
        check_risk(self.risk)
        require(type(self.seed) is int and self.seed >= 0, f"the seed is not {self.seed!r}")
        check_number(self.input, "input")

    @property
    def round(self) -> Round:
        """The round that begins so."""
        return Round(self.pool, self.n_pool, self.rows, self.said, self.rest)


@dataclass(frozen=True, slots=True)
class AuditAnswered:
    """Somebody said what a row of a round is; None where they cannot tell."""

    kind: ClassVar[str] = "audit_answered"

    round: int
    row: int
    answer: str | None
    input: int

    def __post_init__(self) -> None:
        check_number(self.round, "audit's round")
        check_rows((self.row,))
        if self.answer is not None:
            check_name(self.answer, "class")
        check_number(self.input, "input")


@dataclass(frozen=True, slots=True)
class RiskSet:
    """At most this share of the accepted labels may be expected to be wrong; None accepts all."""

    kind: ClassVar[str] = "risk"

    risk: float | None

    def __post_init__(self) -> None:
        check_risk(self.risk)
