"""What a person should look at again: a learner and the labels enter, doubts leave.

Pure functions of what they are given. Finding reads the learner, and so belongs into its thread;
what is still open is asked of the project whenever a page asks.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from beltrami.core.types import BoolVector, IndexVector
from beltrami.front_door.report import percent
from beltrami.graph.model import Neighbors
from beltrami.project.record.state import State
from beltrami.review.issues import LabelIssues
from beltrami.review.support import Supporters, supporters_of
from beltrami.review.twins import find_twins
from beltrami.tables.columns.slips import near_names, same_names

TITLES = {
    "label": "Labels that look wrong",
    "twins": "Nearly equal rows, different labels",
    "spelling": "Classes that may be one",
    "island": "Islands without a label",
    "unlike": "Rows unlike any label",
    "between": "Rows between two classes",
}
"""Kinds of doubts, those first that are worth a person's time most, and what they are called."""

_EVEN = 0.5
"""Chance of being wrong above which a label is called so."""

_NARROW = 0.2
"""Difference of the two largest probabilities below which a row lies between two classes."""

_MOST_BETWEEN, _MOST_GROUPS, _SHOWN = 200, 100, 6
_HEARD = 100
"""Labelled rows that are asked what they say of a row; the strongest."""


@dataclass(frozen=True, slots=True, eq=False)
class Doubt:
    """Something that a person should look at again.

    Attributes
    ----------
    kind : {"label", "twins", "spelling", "island", "unlike", "between"}
        What it is about.
    rows : ndarray of shape (m,)
        The rows it is about; none where it is about names of classes.
    value : str
        What stands there, and would be kept.
    given, suggested : str or None
        The label or name that stands there, and what it may have to be.
    score : float
        How doubtful, from 0 to 1.
    words : str
        Why.
    shown : tuple of int
        Rows to be looked at, the first one first.
    asked : tuple of int
        Rows that an answer labels.
    names : tuple of str
        Of twins: the classes that they were given.
    """

    kind: str
    rows: IndexVector
    value: str
    given: str | None
    suggested: str | None
    score: float
    words: str
    shown: tuple[int, ...]
    asked: tuple[int, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """All that was found of a learner at one moment.

    Attributes
    ----------
    doubts : tuple of Doubt
        The worst of each kind first.
    notes : dict of str to str
        By kind: why there is nothing, or how much more there is.
    """

    doubts: tuple[Doubt, ...] = ()
    notes: dict[str, str] | None = None


def find_doubts(learner: Any, labels: dict[int, str]) -> Findings:
    """Return what is doubtful in the answers of a learner and the labels it was given, by row."""
    names = tuple(map(str, learner.classes_))
    is_open = np.ones(learner.graph_.n_nodes, dtype=bool)
    is_open[list(labels)] = False
    issues = learner.label_issues()
    is_near = is_open & learner.reached_ & (learner.island_ < 0) & ~learner.unlike_
    between, n_between = _between(learner.label_distributions_, is_near, names)
    islands = _groups("island", learner.island_, is_open, learner)
    unlike = _groups("unlike", _parts_of(learner, is_open), is_open, learner)
    twins = _twins(learner.graph_.neighbors, labels)
    doubts = [*_label_doubts(issues), *twins, *islands, *unlike, *between]
    notes = {"label": issues.reason}
    if n_between > len(between):
        notes["between"] = f"the {len(between)} closest of {n_between:,} rows"
    return Findings(tuple(doubts), notes)


def spelling_doubts(state: State) -> list[Doubt]:
    """Return classes of a project that differ by case, by spaces or by a letter."""
    counts = dict.fromkeys(state.class_names, 0)
    rows: dict[str, list[int]] = {name: [] for name in counts}
    for row, given in list(state.labels.items()):
        counts[given.label] = counts.get(given.label, 0) + 1
        rows.setdefault(given.label, []).append(row)
    doubts = []
    for group in same_names(counts):
        *rarer, usual = sorted(group, key=lambda name: (counts[name], name))
        why = "They differ only by case, by spaces or by the way a number is written"
        doubts += [_spelling_doubt(rare, usual, counts, rows, why) for rare in rarer]
    for rare, usual in near_names(counts):
        doubts.append(_spelling_doubt(rare, usual, counts, rows, "They are one letter apart"))
    return doubts


def open_doubts(doubts: Iterable[Doubt], state: State) -> list[Doubt]:
    """Return the doubts that the labels of now still give rise to, and that nobody has kept."""
    return [one for one in doubts if _stands(one, state) and not _is_kept(one, state)]


def title_of(kind: str, doubts: Sequence[Doubt]) -> str:
    """Return what the open doubts of a kind are called together."""
    if kind == "label" and doubts and all(one.score <= _EVEN for one in doubts):
        return "Labels the others answer otherwise"
    return TITLES[kind]


def hear_others(
    learner: Any, labels: dict[int, str], doubts: Sequence[Doubt]
) -> dict[int, Supporters]:
    """Return which labelled rows say something of each row in doubt, by row."""
    rows = [one.asked[0] for one in doubts if one.kind in ("label", "twins", "between")]
    found = supporters_of(learner.graph_, list(labels), rows, top=_HEARD)
    return {one.row: one for one in found}


def votes(found: Supporters, labels: dict[int, str], besides: Iterable[int]) -> dict[str, float]:
    """Return the share that labelled rows give to each class, the largest first."""
    hidden, counted = set(besides), dict[str, float]()
    for row, share in zip(found.rows.tolist(), found.shares.tolist(), strict=True):
        if row in labels and row not in hidden:
            counted[labels[row]] = counted.get(labels[row], 0.0) + share
    return dict(sorted(counted.items(), key=lambda one: -one[1]))


def _label_doubts(issues: LabelIssues) -> Iterator[Doubt]:
    """Return the labels that look wrong, then those that others only say otherwise of."""
    for found, is_sure in ((issues, True), (issues.denied, False)):
        if found is None:
            continue
        entries = zip(found.rows, found.given, found.suggested, found.scores, strict=True)
        for row, given, suggested, score in entries:
            end = (
                f"and the given label is wrong with a chance of {percent(min(score, 0.99))}."
                if is_sure
                else "but that is no clear sign: they may be wrong."
            )
            words = f"It was called “{given}”. The other labels say “{suggested}”, {end}"
            here = (int(row),)
            yield Doubt(
                "label",
                np.array(here),
                str(given),
                str(given),
                str(suggested),
                float(score) if is_sure else min(float(score), _EVEN),
                words,
                here,
                here,
            )


def _between(
    chances: Any, is_candidate: BoolVector, names: tuple[str, ...]
) -> tuple[list[Doubt], int]:
    """Return the rows whose two likeliest classes are nearly even, the closest first; how many."""
    rows = np.flatnonzero(is_candidate)
    if len(names) < 2 or not len(rows):
        return [], 0
    order = np.argpartition(chances[rows], -2, axis=1)[:, -2:]
    pair = np.take_along_axis(chances[rows], order, axis=1)
    margins = np.abs(pair[:, 1] - pair[:, 0])
    close = np.flatnonzero(margins < _NARROW)
    close = close[np.argsort(margins[close], kind="stable")]
    doubts = []
    for place in close[:_MOST_BETWEEN].tolist():
        second, first = order[place][np.argsort(pair[place], kind="stable")]
        row, margin = int(rows[place]), float(margins[place])
        words = (
            f"“{names[first]}” and “{names[second]}” are nearly even here, {percent(margin)} apart."
        )
        doubts.append(
            Doubt(
                "between", rows[[place]], "", None, names[first], 1 - margin, words, (row,), (row,)
            )
        )
    return doubts, len(close)


def _parts_of(learner: Any, is_open: BoolVector) -> IndexVector:
    """Return the part of the data of each row that is unlike any label, largest first, else -1."""
    rows = np.flatnonzero(learner.unlike_ & is_open & (learner.island_ < 0))
    part = np.full(len(is_open), -1, dtype=np.intp)
    if len(rows):
        found = connected_components(learner.graph_.weights[rows][:, rows], directed=False)[1]
        rank = np.argsort(np.argsort(-np.bincount(found), kind="stable"), kind="stable")
        part[rows] = rank[found]
    return part


def _groups(kind: str, number: IndexVector, is_open: BoolVector, learner: Any) -> Iterator[Doubt]:
    """Return one doubt for each group of rows; the row with most neighbours is asked about."""
    degrees = learner.graph_.degrees
    rows = np.flatnonzero((number >= 0) & (number < _MOST_GROUPS) & is_open)
    rows = rows[np.lexsort((rows, number[rows]))]
    for group in np.split(rows, np.flatnonzero(np.diff(number[rows])) + 1):
        if not len(group):
            continue
        centre = int(group[degrees[group].argmax()])
        others = group[np.linspace(0, len(group) - 1, min(len(group), _SHOWN)).astype(np.intp)]
        shown = tuple(dict.fromkeys([centre, *others.tolist()]))[:_SHOWN]
        guess = str(learner.transduction_[centre]) if learner.reached_[centre] else None
        score = 1 - float(learner.confidence_[centre]) if guess is not None else 1.0
        yield Doubt(
            kind, group, "", None, guess, score, _words_of(kind, len(group)), shown, (centre,)
        )


def _words_of(kind: str, size: int) -> str:
    count = "1 row" if size == 1 else f"{size:,} rows"
    if kind == "island":
        return (
            f"{count} that lie apart from every label: what is said of them is carried over a gap. "
            "The first row's label will stand for them."
        )
    return (
        f"{count} that resemble no label: perhaps a class that has none yet. Say what the first "
        "one is."
    )


def _twins(neighbors: Neighbors | None, labels: dict[int, str]) -> Iterator[Doubt]:
    if neighbors is None:
        return
    rows = np.array(sorted(labels), dtype=np.intp)
    codes = np.unique([labels[row] for row in rows.tolist()], return_inverse=True)[1]
    for group in find_twins(neighbors, rows, codes):
        listed = tuple(group.tolist())
        called = [labels[row] for row in listed]
        words = (
            f"{len(group)} rows are equal or nearly so and are called "
            f"{', '.join(f'“{name}”' for name in sorted(set(called)))}."
        )
        value = _twin_value(called)
        shown, names = listed[:_SHOWN], tuple(sorted(set(called)))
        yield Doubt("twins", group, value, value, None, 1.0, words, shown, listed, names)


def _twin_value(labels: Iterable[str]) -> str:
    return " | ".join(sorted(set(labels)))[:2000]


def _spelling_doubt(
    rare: str, usual: str, counts: dict[str, int], rows: dict[str, list[int]], why: str
) -> Doubt:
    words = (
        f"{why}: “{rare}” has {counts[rare]:,} label(s), “{usual}” has {counts[usual]:,}. If they "
        f"are one class, “{rare}” becomes “{usual}”."
    )
    shown = tuple(rows[rare][:3])
    nothing = np.zeros(0, dtype=np.intp)
    value = " | ".join(sorted((rare, usual)))
    return Doubt("spelling", nothing, value, rare, usual, 1.0, words, shown, ())


def _stands(doubt: Doubt, state: State) -> bool:
    """Say whether what a doubt speaks of is still so."""
    if doubt.kind == "spelling":
        return {doubt.given, doubt.suggested} <= set(state.class_names)
    labels = [state.labels.get(row) for row in doubt.asked]
    if doubt.kind == "label":
        return labels[0] is not None and labels[0].label == doubt.given
    if doubt.kind == "twins":
        return _twin_value(one.label for one in labels if one is not None) == doubt.value
    return labels[0] is None and doubt.asked[0] not in state.unsure


def _is_kept(doubt: Doubt, state: State) -> bool:
    """Say whether somebody has looked at a doubt; of a group, at more than half of its rows."""
    kept = state.kept.get((doubt.kind, doubt.value))
    if kept is None:
        return False
    n_kept = sum(row in kept for row in doubt.rows.tolist())
    share = 0.5 if doubt.kind in ("island", "unlike") else 1.0
    return n_kept >= share * len(doubt.rows)
