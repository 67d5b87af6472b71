"""What became of new rows: tallies of answers enter, a summary and signs of drift leave."""

from collections import Counter
from dataclasses import dataclass, field
from math import sqrt

from beltrami.front_door.report import percent
from beltrami.labelling.kept.answers import (
    Answers,
    Tally,
    counts_by_source,
    filled_together,
    spelled,
    unseen_together,
)
from beltrami.labelling.kept.table_labeller import TableLabeller
from beltrami.report.sentences import count_rows
from beltrami.tables.features.faults import Filled, filled_lines

_DEVIATIONS = 4.0
"""Standard deviations of chance, beside which a share that has changed is called drift."""

_LEAST_CHANGE = 0.05
"""Of the share of a class."""

_LEAST_UNLIKE = 0.02
"""Of rows that may be unlike the kept ones beyond the usual share before it is called drift."""

_SHOWN = 3


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """What became of the rows that a labeller was applied to.

    Attributes
    ----------
    labeller : TableLabeller
        What answered.
    tally : Tally
        Rows by what became of them.
    filled : dict of str to Filled
        Cells that held nothing.
    unseen : dict of str to tuple of int and str
        Cells with a category that was never seen, by column, and one of them.
    n_empty : int
        Rows of which nothing is known.
    n_marked : int
        Rows whose label is -1, which is no class of the labeller and counts as none.
    """

    labeller: TableLabeller
    tally: Tally = field(default_factory=Tally)
    filled: dict[str, Filled] = field(default_factory=dict)
    unseen: dict[str, tuple[int, str]] = field(default_factory=dict)
    n_empty: int = 0
    n_marked: int = 0

    def plus(self, answers: Answers) -> "Applied":
        """Return the counts with those of more answers."""
        tally = Tally.of(answers.table)
        noted = answers.filled, answers.unseen, answers.n_empty, answers.n_marked
        return self.with_others(Applied(self.labeller, tally, *noted))

    def with_others(self, other: "Applied") -> "Applied":
        """Return the counts with those of other rows."""
        return Applied(
            self.labeller,
            self.tally.plus(other.tally),
            filled_together(self.filled, other.filled),
            unseen_together(self.unseen, other.unseen),
            self.n_empty + other.n_empty,
            self.n_marked + other.n_marked,
        )

    @property
    def counts(self) -> dict[str, int]:
        """Count of rows: all, by source, and those unlike what was learned from."""
        return counts_by_source(self.tally.sources) | {"unlike": self.tally.n_unlike}

    @property
    def expected_accuracy(self) -> float:
        """Mean confidence in the labels that we gave; NaN where we gave none."""
        n = self.counts["labelled"]
        return self.tally.confidence / n if n else float("nan")

    @property
    def shares(self) -> dict[str, tuple[float, float]]:
        """Share of each class among the answers now, and among those of the fit."""
        total = self.tally.guesses.total()
        classes = [spelled(one) for one in self.labeller.classes_.tolist()]
        kept = dict(zip(classes, self.labeller.labeller.shares.tolist(), strict=True))
        names = [*classes, *sorted(set(self.tally.guesses) - set(classes))]
        now = self.tally.guesses
        return {
            name: (now[name] / total if total else float("nan"), kept.get(name, 0.0))
            for name in names
        }

    @property
    def sentence(self) -> str:
        """What became of the rows, in a few sentences."""
        counts = self.counts
        done = count_rows(counts["labelled"]) if counts["labelled"] else "No row"
        left = counts["abstained"] + counts["unreached"]
        told = [f"{done} labelled by what was learned, {left:,} left to you."]
        if counts["given"]:
            kept = count_rows(counts["given"])
            told.append(f"{kept} had a label already, which {_stay(counts['given'])}.")
        if counts["labelled"]:
            told.append(
                f"We expect {percent(self.expected_accuracy)} of the labels to be right; that is "
                "our estimate, not a measurement, and holds for rows like those of the fit."
            )
        return " ".join(told)

    def lines(self) -> list[str]:
        """Return the summary, signs of drift with a mark before them."""
        lines = [self.sentence]
        lines += self._left_lines()
        lines += [f"! {line}" for line in self.drift()]
        lines += self._checked_lines()
        total = self.counts["rows"]
        whole = {
            name: Filled(one.n_cells, total, one.filled_with) for name, one in self.filled.items()
        }
        lines += filled_lines(whole)
        unseen = [
            f"{name!r}: {count_rows(n)} of a category that the labeller never saw, such as {cell!r}"
            for name, (n, cell) in self.unseen.items()
        ]
        more = len(unseen) - _SHOWN
        return lines + unseen[:_SHOWN] + [f"and {more} more such columns"] * (more > 0)

    def drift(self) -> list[str]:
        """Return what is not as it was when the labeller learned, with numbers."""
        return [*self._unlike_drift(), *self._share_drift()]

    def _left_lines(self) -> list[str]:
        counts = self.counts
        lines = []
        if counts["unlike"]:
            lines.append(
                f"{count_rows(counts['unlike'])} unlike what the labeller saw, left to you unless "
                f"they had a label ({_share(counts['unlike'], counts['rows'])}; "
                f"{self.labeller.usual:.1%} of the rows that it learned from lie as far apart)"
            )
        if counts["unreached"]:
            lines.append(f"{count_rows(counts['unreached'])} that no label reaches")
        if self.n_empty:
            lines.append(f"{count_rows(self.n_empty)} of which nothing is known, left to you")
        return lines

    def _unlike_drift(self) -> list[str]:
        n, n_unlike, usual = self.counts["rows"], self.tally.n_unlike, self.labeller.usual
        if not n:
            return []
        bound = usual + _LEAST_UNLIKE + _DEVIATIONS * sqrt(max(usual, 1 / n) / n)
        if n_unlike / n <= bound:
            return []
        return [
            f"the rows have changed: {_share(n_unlike, n)} are unlike what the labeller saw, and "
            f"{usual:.1%} were among its own. Label some of them, and label anew"
        ]

    def _share_drift(self) -> list[str]:
        total = self.tally.guesses.total()
        changed = []
        for name, (now, then) in self.shares.items():
            chance = sqrt(max(then * (1 - then), 1 / max(total, 1)) / max(total, 1))
            if abs(now - then) > _LEAST_CHANGE + _DEVIATIONS * chance:
                changed.append((abs(now - then), f"{name!r} {now:.0%} now, {then:.0%} then"))
        if not changed:
            return []
        shown = [words for _, words in sorted(changed, reverse=True)][:_SHOWN]
        more = f", and {len(changed) - _SHOWN} more" if len(changed) > _SHOWN else ""
        return [
            f"shares of classes among the answers have changed: {'; '.join(shown)}{more}. Check "
            "some answers before you use them"
        ]

    def _checked_lines(self) -> list[str]:
        tally, lines = self.tally, []
        if tally.n_checked:
            right = tally.n_checked - tally.n_other
            lines.append(
                f"measured on {tally.n_checked:,} labels in the data: the labeller agrees with "
                f"{right:,} of them ({right / tally.n_checked:.1%}); all stay as they are"
            )
        if tally.n_strange:
            lines.append(
                f"{count_rows(tally.n_strange)} labelled with a class that the labeller does not "
                f"know{self._strange_class()}; label anew to learn it"
            )
        if self.n_marked:
            lines.append(
                f"{count_rows(self.n_marked)} labelled -1, which is no class of the labeller: this "
                "counts as no label"
            )
        return lines

    def _strange_class(self) -> str:
        """Return a class that people gave and the labeller does not know, and what may be meant."""
        known = {spelled(one) for one in self.labeller.classes_.tolist()}
        alike = {one.strip().casefold(): one for one in known}
        strange = sorted(set(self.tally.labels) - known)
        slips = [name for name in strange if name.strip().casefold() in alike]
        if slips:
            return f", such as {slips[0]!r} (is {alike[slips[0].strip().casefold()]!r} meant?)"
        return f", such as {strange[0]!r}" if strange else ""

    def facts(self) -> dict[str, object]:
        """Return the same for programs."""
        tally = self.tally
        return {
            "sentence": self.sentence,
            "counts": self.counts,
            "expected_accuracy": self.expected_accuracy,
            "unlike_usually": self.labeller.usual,
            "shares": {
                name: {"now": now, "fit": then} for name, (now, then) in self.shares.items()
            },
            "checked": {
                "labels": tally.n_checked,
                "disagree": tally.n_other,
                "of_unknown_classes": tally.n_strange,
            },
            "drift": self.drift(),
            "empty": self.n_empty,
            "marked": self.n_marked,
            "gaps": {name: one.n_cells for name, one in self.filled.items()},
            "unseen": {name: n for name, (n, _) in self.unseen.items()},
            "labels": dict(sorted(Counter(tally.labels).items())),
        }


def _share(count: int, total: int) -> str:
    return f"{count / total:.1%}" if total else "0%"


def _stay(count: int) -> str:
    return "stays" if count == 1 else "stay"
