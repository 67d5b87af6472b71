"""What a certificate has proved of a target, and what more would: in words, and as a number."""

from dataclasses import dataclass

from beltrami.review.audit import Certificate, floor_percent
from beltrami.review.trail import Accepted, Trail


@dataclass(frozen=True, slots=True)
class Outlook:
    """Whether a target is proved, or how far it is.

    Attributes
    ----------
    words : str
        For a person to read.
    n_answers : int or None
        Further answers that would prove it if all are right: 0 where it is proved, None where no
        number of them could.
    """

    words: str
    n_answers: int | None


def outlook(trail: Trail, accepted: Accepted, proof: Certificate, target: float) -> Outlook:
    """Say whether a target is proved, and how many further right answers would prove it.

    - `proof`: the certificate that the trail gives of the labels as they are now.
    """
    goal = f"{100 * target:.12g} %"
    if proof.lower >= target:
        return Outlook(f"{goal} is proved.", 0)
    count = trail.further_rounds(accepted, target, confidence=proof.confidence)
    short = f"{goal} is not proved ({floor_percent(proof.lower)} % is)."
    if count is None:
        return Outlook(
            f"{short} No number of further answers could prove it of these labels: correct or "
            "label more rows, label anew, and draw a new round.",
            None,
        )
    last = trail.rounds[-1].pool
    size = len(next(one.rows for one in trail.rounds if one.pool == last))
    n_answers = min(count * size, len(accepted.keys() - trail.seen.keys()))
    rounds = "one more round" if count == 1 else f"{count} more rounds"
    return Outlook(
        f"{short} {n_answers} further answers ({rounds}), if all are right, would prove it.",
        n_answers,
    )
