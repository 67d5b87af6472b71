"""Error rates of two-class scores: at the break-even point, and at zero.

Scores and true classes enter; percentages leave. Section 4 of Belkin, Niyogi and Sindhwani (2004)
counts errors where precision equals recall.
"""

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import BoolVector, FloatVector


def breakeven_error(scores: FloatVector, positive: BoolVector) -> float:
    """Return the error rate at the precision-recall break-even point, in percent.

    With k positive points the k highest scores are called positive. Then as many points are
    wrongly called positive as are missed, so precision equals recall, and the rate is the same
    when the classes trade places. Where equal scores straddle the cut, the rate is the mean over
    all ways to break the tie, so the order of the rows does not matter.
    """
    count = int(positive.sum())
    if count in {0, len(positive)}:
        raise InvalidInputError(
            f"{count} of {len(positive)} points are positive, so precision and recall have no "
            "break-even point. Score points of both classes."
        )
    cut = np.partition(scores, len(scores) - count)[len(scores) - count]
    above, tied = scores > cut, scores == cut
    room = count - int(above.sum())
    share = room / int(tied.sum())
    wrong = int((above & ~positive).sum()) + share * int((tied & ~positive).sum())
    return 100 * 2 * wrong / len(positive)


def plain_error(scores: FloatVector, positive: BoolVector) -> float:
    """Return the share of points whose score has the wrong sign, in percent."""
    return 100 * float(np.mean((scores > 0) != positive))
