"""What makes answers doubtful, in sentences, the worst first."""

from collections.abc import Iterator, Sequence

import numpy as np

from beltrami.core.types import BoolVector, FloatVector, IndexVector
from beltrami.front_door.deciding.candidates import OUT_OF_TIME
from beltrami.front_door.deciding.judgement import Judged, JudgedValues
from beltrami.front_door.deciding.judging import FEWEST_TESTED
from beltrami.front_door.report import percent
from beltrami.review.guessing import BesideGuessing
from beltrami.review.issues import LabelIssues

_EVEN = 0.5
_ENOUGH = 3  # hidden labels of a class, none of them answered right, that are no chance
_FEWEST = 10
_DRAWS = 1000
_LEVEL = 0.01

_SOME, _A_PART, _MOST = 0.02, 0.1, 0.4
"""Shares of the rows unlike any label from which these are spoken of, are a part of the data, and
most of it."""


LAST_JUDGED = "the methods were last judged by"
"""How the sentence begins that tells those who call `update` of `settle`."""

WERE_ASKED_FOR = "labels were asked for, not drawn at random"
"""What a learner says that chose questions itself; another one of the same labels knows nothing."""


def out_of_time(members: Sequence[Judged] | Sequence[JudgedValues]) -> tuple[str, ...]:
    """Say which candidates were left out because the time was spent."""
    late = [one for one in members if one.note.startswith(OUT_OF_TIME)]
    if not late:
        return ()
    names = ", ".join(one.title for one in late)
    return (
        f"{len(late)} of {len(members)} methods were left out for time ({names}): "
        f"{late[0].note.removeprefix('not tried: ')} before they were begun. The others answer "
        "alone, and another machine may choose otherwise; a larger time_budget (--budget) tries "
        "all.",
    )


def beaten(members: Sequence[Judged], error: float) -> tuple[str, ...]:
    """Say which method on the labelled rows alone is clearly better than what answers, if any is.

    - `error`: share of held-out labels that what answers has wrong.
    """
    better = [one for one in members if one.is_clearly_better]
    if not better:
        return ()
    best = min(better, key=lambda one: one.error)
    return (
        f"A PLAIN METHOD DOES CLEARLY BETTER on held-out labels: {best.title}, has "
        f"{best.error:.1%} of them wrong, and what answers {error:.1%}. Take it alone, --method "
        f"{best.name} (method={best.name!r}), or give columns that say more.",
    )


def judged_before(n_judged: int, n_labels: int, *, are_same: bool) -> tuple[str, ...]:
    """Say that labels came, went or changed since the candidates were judged."""
    if are_same and n_judged == n_labels:
        return ()
    return (
        f"{LAST_JUDGED} {n_judged} labels, and there are {n_labels} now, some "
        "of them new or changed: what is said of held-out labels is of then. settle() judges anew.",
    )


def none_accepted(
    confidence: FloatVector,
    accepted: BoolVector,
    given: IndexVector,
    risk: float | None,
    *,
    can_promise: bool,
) -> tuple[str, ...]:
    """Say why no label is accepted beside those given, at the rows `given`, where risk is why."""
    others = np.ones(len(accepted), dtype=bool)
    others[given] = False
    if risk is None or not others.any() or accepted[others].any():
        return ()
    if not can_promise:
        return (
            f"no label is accepted beside those given: risk={risk:g} is a promise, and these "
            "labels cannot carry one: fewer than six could be hidden to test answers by, or these "
            "were answered little better than by one class for all, or many rows are of classes "
            "without a label. The guesses are there; label more rows of each class.",
        )
    return (
        f"no label is accepted beside those given: risk={risk:g} asks for {1 - risk:.1%} right, "
        f"and the surest row has {confidence[others].max():.1%}. The guesses are there; label more "
        "rows, or allow a larger risk (--risk).",
    )


def sizes_denied(
    names: tuple[str, ...],
    sizes: FloatVector | None,
    counts: FloatVector,
    truths: IndexVector,
    guesses: IndexVector,
) -> tuple[str, ...]:
    """Say so where labels speak against class sizes that were given.

    - `sizes`, `counts`: (k,), given shares and labels of each class.
    - `truths`, `guesses`: (m,), classes of held-out labels, and what was said of them.
    """
    if sizes is None:
        return ()
    sentences = []
    bare = np.flatnonzero((counts == 0) & (sizes > 0))
    if len(bare):
        sentences.append(
            f"priors give {percent(float(sizes[bare].sum()))} of the rows to classes without a "
            f"label ({_some([names[code] for code in bare])}): rows of these are all answered "
            "wrong. Label some of them."
        )
    asked = np.bincount(truths, minlength=len(names))
    right = np.bincount(truths[truths == guesses], minlength=len(names))
    missed = np.flatnonzero((asked >= _ENOUGH) & (right == 0))
    sentences += [
        "PRIORS CONTRADICT THE LABELS: with the class sizes that were given, none of "
        f"{asked[code]} hidden labels of {names[code]!r} was answered right. Look at the sizes "
        "again, or leave priors out."
        for code in missed
    ]
    if not sentences and _differ(counts, sizes, 1.0):
        sentences.append(
            "labels are shared among classes otherwise than priors say; that is as it should be "
            "only if you chose which rows to label by their class."
        )
    return tuple(sentences)


def doubts(
    counts: FloatVector,
    shares: FloatVector,
    names: tuple[str, ...],
    accuracy: float,
    beside: BesideGuessing,
    *,
    n_asked: int = 0,
    issues: LabelIssues | None = None,
    island: IndexVector,
    unlike: BoolVector,
    has_risk: bool = False,
) -> tuple[str, ...]:
    """Say what makes the answers and their confidence doubtful, the worst first.

    - `counts`, `shares`: (k,), labels of each class, and the share of the rows it seems to have.
    - `n_asked`: labels that were asked for, because they would teach most.
    - `issues`: labels that others say are wrong.
    - `island`, `unlike`: (n,), the island of each row, -1 for none; whether it is like no label.
    """
    sentences = [*_guesswork(names, accuracy, beside, has_risk=has_risk)]
    sentences += _strangers(unlike, island)
    if issues is not None and issues.are_many:
        sentences.append(
            f"{len(issues)} OF {len(issues.chances)} LABELS CONTRADICT THEIR NEIGHBOURS: they are "
            "more likely wrong than right, and the methods were judged without them. "
            "label_issues() (beltrami check) lists them; look at them again."
        )
    single = [name for name, count in zip(names, counts, strict=True) if count == 1]
    if single:
        sentences.append(
            f"{len(single)} class(es) have a single label ({_some(single)}): nothing can "
            "be checked there; label a second row of each."
        )
    if _differ(counts, shares, accuracy):
        most = int(np.abs(counts / counts.sum() - shares).argmax())
        sentences.append(
            "labels and answers disagree about how large the classes are, most about "
            f"{names[most]!r}: {percent(counts[most] / counts.sum())} of the labels, "
            f"{percent(shares[most])} of the answers. Confidence holds only if labels were drawn "
            "at random within each class; an audit needs no such assumption."
        )
    if n_asked:
        sentences.append(
            f"{n_asked:,} of the {int(counts.sum()):,} {WERE_ASKED_FOR}: held-out labels then "
            "speak for hard rows more than for all. An audit, which draws its own rows, needs no "
            "such assumption."
        )
    n_islands = int(island.max(initial=-1)) + 1
    if n_islands:
        sentences.append(
            f"{int((island >= 0).sum()):,} rows in {n_islands} island(s) of the data have no label "
            "among them: their answers are carried over a gap and are not accepted. Label a row in "
            "each."
        )
    return tuple(sentences)


def _guesswork(
    names: tuple[str, ...], accuracy: float, beside: BesideGuessing, *, has_risk: bool
) -> Iterator[str]:
    """Say so where answers are little more than guesses."""
    if beside.n_held_out and beside.n_usual == beside.n_held_out:
        yield (
            f"ONLY LABELS OF {names[beside.usual]!r} COULD BE TESTED, {beside.n_held_out} of them: "
            "nothing is known of how right the answers for other classes are. Label a second row "
            "of each."
        )
    elif beside.n_held_out >= FEWEST_TESTED and not beside.is_better:
        yield (
            f"ANSWERS MAY BE GUESSES: {beside.n_right} of {beside.n_held_out} held-out labels "
            f"were answered right, and {beside.n_usual} would be by always saying "
            f"{names[beside.usual]!r}. Either the columns do not tell the classes apart, or labels "
            "are too few to show it; label more rows of every class, or give other columns."
        )
    elif accuracy < _EVEN:
        todo = "Label" if has_risk else "Set a risk to have the unsure rows left to you, or label"
        yield (
            f"MOST ANSWERS ARE WRONG by our own estimate: {percent(accuracy)} right. {todo} more "
            "rows."
        )


def _strangers(unlike: BoolVector, island: IndexVector) -> Iterator[str]:
    """Say so where many rows are like no label; islands are spoken of elsewhere."""
    away = unlike & (island < 0)
    share = float(away.mean()) if len(away) else 0.0
    if share >= _MOST:
        yield (
            f"LABELS COME FROM ONE PART of the data: {percent(share)} of the rows are like none "
            "of them, and answers there are guesses, which no risk accepts. Label some of these "
            "rows (query, or beltrami suggest, names them)."
        )
    elif share >= _A_PART:
        yield (
            f"A PART OF THE DATA IS UNLIKE ANY LABEL: {int(away.sum()):,} rows ({percent(share)}). "
            "It may be a class that has no label yet; answers there are guesses, which no risk "
            "accepts. Label some of these rows."
        )
    elif share >= _SOME:
        yield (
            f"{int(away.sum()):,} rows ({percent(share)}) are like none of the labels; no risk "
            "accepts them. Label one or two of them."
        )


def _some(names: Sequence[str], most: int = 5) -> str:
    """Return the first names, and how many more there are."""
    rest = [f"and {len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *rest])


def _differ(counts: FloatVector, shares: FloatVector, accuracy: float) -> bool:
    r"""Say whether label counts are unlikely for a random sample of rows, at a level of 1 %.

    The rows' true shares are unknown: as many rows as are answered wrongly may lie elsewhere. So
    the shares are moved towards those of the labels as far as that allows, and Pearson's statistic
    is compared with that of samples drawn from them. Equally many labels of every class were
    shared out by hand, so there is nothing to test.
    """
    total = int(counts.sum())
    if total < _FEWEST or len(counts) < 2 or counts.max() == counts.min():
        return False
    labelled, believed = counts / total, shares / shares.sum()
    distance = float(np.abs(labelled - believed).sum() / 2)
    leeway = 1.0 - min(max(accuracy, 0.0), 1.0)
    if distance <= leeway:
        return False
    true = believed + (labelled - believed) * (leeway / distance)
    true = np.maximum(true, 1e-9)
    true /= true.sum()
    drawn = np.random.default_rng(0).multinomial(total, true, size=_DRAWS)
    expected = total * true
    statistics = ((drawn - expected) ** 2 / expected).sum(axis=1)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float((np.count_nonzero(statistics >= statistic) + 1) / (_DRAWS + 1)) < _LEVEL


def value_doubts(n_held_out: int, r2: float, n_unreached: int) -> tuple[str, ...]:
    """Say what makes values doubtful.

    - `n_unreached`: rows that share no component of the graph with a value.
    """
    sentences = []
    if not n_held_out:
        sentences.append("too few values to hold any out: nothing was judged. Give at least four.")
    elif r2 <= 0:
        sentences.append(
            "held-out values are told no better than by their mean: what is asked for does not "
            "show in these columns, or values are too few."
        )
    if n_unreached:
        sentences.append(
            f"{n_unreached:,} rows share no component of the graph with a value and get none. Give "
            "a value in each component, or join more neighbours."
        )
    return tuple(sentences)
