"""What complete rounds of audits prove of the labels of now; nothing while a round is open."""

from dataclasses import dataclass

from beltrami.review.audit import Certificate
from beltrami.review.outlook import Outlook, outlook
from beltrami.review.trail import Accepted, Trail

STALE = (
    "labels or classes have changed since the rows were drawn, so the answers prove nothing of the "
    "labels as they are now. Draw a new round"
)
"""Why earlier answers prove nothing."""

USUAL_TARGET = 0.95
"""What is to be proved where no risk was chosen."""


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """What the answers of complete rounds prove.

    Attributes
    ----------
    certificate : Certificate
        Of the labels as they are now.
    target : float
        What was to be proved.
    outlook : Outlook
        Whether it is, or what more would.
    """

    certificate: Certificate
    target: float
    outlook: Outlook


def is_stale(trail: Trail, accepted: Accepted) -> bool:
    """Say whether rounds were drawn, and none of them from these labels."""
    return bool(trail.rounds) and not trail.continues(accepted)


def usual_target(risk: float | None) -> float:
    """Return what is to be proved of labels that a risk accepted: what it promised."""
    return USUAL_TARGET if risk is None else 1 - risk


def prove(trail: Trail, accepted: Accepted, risk: float | None) -> Proof | None:
    """Return what rounds that are not stale prove; None while one is open, or where there is none.

    - `risk`: by which labels were accepted; one minus it is to be proved, or 95 % for None.
    """
    if not trail.rounds or trail.open_round is not None:
        return None
    certificate = trail.certificate(accepted)
    target = usual_target(risk)
    return Proof(certificate, target, outlook(trail, accepted, certificate, target))
