"""Audits round by round: draws and answers are kept, and all of them make one certificate.

Accepted rows with their labels, and answers, enter; rounds of rows that no audit has seen, and what
the answers so far prove, leave.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import Seed
from beltrami.core.validation import check_count
from beltrami.review.audit import Certificate, certify, draw_audit

Accepted: TypeAlias = Mapping[Any, Any]
"""Rows that were accepted, each with its label."""

ROUND_SIZE = 65
"""Rows of a round when nothing is said: with 63 and none wrong, 95 % are proved."""


@dataclass(frozen=True, slots=True)
class Round:
    """Rows that were drawn together, and what came back.

    Attributes
    ----------
    pool : int
        Which pool they were drawn from, from 1: a new one begins when labels that nobody looked at
        change.
    n_pool : int
        Rows of the pool when its first round was drawn.
    rows : tuple
        The rows, in random order.
    said : tuple
        Their labels when they were drawn.
    rest : str
        Digest of the accepted rows that no audit has seen after this draw, with their labels.
    answers : tuple or None
        What a person says, None for a blank; None for all as long as nothing came back.
    n_given : int
        How often answers were given: once, and again whenever blanks were filled in.
    """

    pool: int
    n_pool: int
    rows: tuple[Any, ...]
    said: tuple[Any, ...]
    rest: str
    answers: tuple[Any, ...] | None = None
    n_given: int = 0

    @property
    def n_wrong(self) -> int:
        """How many answers differ from the label."""
        pairs = zip(self.said, self.answers or (), strict=False)
        return sum(answer is not None and bool(answer != said) for said, answer in pairs)

    @property
    def n_blank(self) -> int:
        """How many rows have no answer."""
        return len(self.rows) if self.answers is None else self.answers.count(None)


@dataclass(frozen=True, slots=True)
class Trail:
    """All rounds of the audits of one table, in order; a step returns a new trail."""

    rounds: tuple[Round, ...] = ()

    @property
    def open_round(self) -> Round | None:
        """The last round, if its answers did not come back yet."""
        last = self.rounds[-1] if self.rounds else None
        return last if last is not None and last.answers is None else None

    @property
    def answered(self) -> "Trail":
        """The same without a round whose answers did not come back."""
        return Trail(tuple(one for one in self.rounds if one.answers is not None))

    @property
    def seen(self) -> dict[Any, Any]:
        """Every row that was drawn, with its answer."""
        return {
            row: answer
            for one in self.rounds
            for row, answer in zip(one.rows, one.answers or (None,) * len(one.rows), strict=True)
        }

    def continues(self, accepted: Accepted) -> bool:
        """Say whether no label has changed of the rows that nobody looked at."""
        return bool(self.rounds) and self.rounds[-1].rest == digest_rows(self._rest(accepted))

    def give_up(self) -> "Trail":
        """Close the open round, if there is one: its rows count as blank."""
        one = self.open_round
        return self if one is None else self.answer((None,) * len(one.rows))

    def draw(
        self,
        accepted: Accepted,
        n: int | None = None,
        random_state: Seed = None,
        n_elsewhere: int = 0,
    ) -> "Trail":
        """Add a round of rows that no audit has seen.

        - `n`: rows of the round; None means 65, or as many as the first round of this pool has.
        - `n_elsewhere`: accepted rows beside these, where these were drawn from all with equal
          chance: what is drawn from them is drawn from all.
        """
        if self.open_round is not None:
            raise InvalidInputError("the last round has no answers yet; give them first.")
        rest = self._rest(accepted)
        if not rest:
            raise InvalidInputError(
                f"all {len(accepted):,} accepted labels were looked at already: there is none left "
                "to draw."
                if accepted
                else "there is no accepted label to be checked."
            )
        is_old = self.continues(accepted)
        pool, n_pool = self._pool if is_old else (self._pool[0] + 1, len(rest) + n_elsewhere)
        size = check_count(self._round_size(n) if is_old else n or ROUND_SIZE, name="n")
        rows = list(rest)
        places = draw_audit(range(len(rows)), size, random_state)
        drawn = tuple(rows[place] for place in places.tolist())
        said = tuple(rest.pop(row) for row in drawn)
        return Trail((*self.rounds, Round(pool, n_pool, drawn, said, digest_rows(rest))))

    def answer(self, answers: Sequence[Any], *, place: int = -1) -> "Trail":
        """Give a round its answers; blanks may be filled in later, answers do not change.

        - `answers`: one for each row of the round in its order, None for a blank.
        """
        one = self.rounds[place]
        old = one.answers or (None,) * len(one.rows)
        changed = [
            row
            for row, before, now in zip(one.rows, old, answers, strict=True)
            if before is not None and (now is None or bool(before != now))
        ]
        if changed:
            raise InvalidInputError(
                f"{len(changed)} answer(s) differ from those given before for the same round, such "
                f"as that for row {changed[0]!r}. A certificate was seen by then, and answers that "
                "are looked at again are those that disagreed. Give the answers as they were, with "
                "blanks filled in if you like, or draw a further round."
            )
        rounds = list(self.rounds)
        if tuple(answers) != one.answers:
            rounds[place] = replace(one, answers=tuple(answers), n_given=one.n_given + 1)
        return Trail(tuple(rounds))

    def certificate(self, accepted: Accepted, *, confidence: float = 0.95) -> Certificate:
        """Return what the answers of all rounds prove of the labels as they are now.

        Rows that were looked at count as they are labelled now; the others by the bound of the
        rounds that were drawn from them, at the error of this look.

        - `confidence`: of the bound, with all others that were ever given.
        """
        answered = self.answered
        is_of_these = bool(answered.rounds) and answered._pool == self._pool
        if not is_of_these or not self.continues(accepted):
            raise InvalidInputError(
                "no audit of these labels has answers: labels that nobody looked at changed since "
                "the last draw. Draw a round from them as they are now."
                if answered.rounds
                else "there is no audit of these labels with answers."
            )
        return answered._tally(accepted).certificate(confidence)

    def pool_certificate(self, *, confidence: float = 0.95) -> Certificate:
        """Return what the answers prove of the labels that the last pool was drawn from.

        These are the labels of then, whatever became of them since; all rounds have answers.
        """
        if not self.rounds or self.open_round is not None:
            raise InvalidInputError("the last round has no answers yet; give them first.")
        said = {
            row: label
            for one in self.rounds
            if one.pool == self._pool[0]
            for row, label in zip(one.rows, one.said, strict=True)
        }
        return self._tally(said).certificate(confidence)

    def further_rounds(
        self, accepted: Accepted, target: float, *, confidence: float = 0.95
    ) -> int | None:
        """Return how many further rounds, all right, would prove a target; None if none would.

        - `accepted`: labels as they are now, of which `certificate` can be had.
        """
        return self.answered._tally(accepted).rounds_until(
            target, self._round_size(None), confidence
        )

    def _tally(self, accepted: Accepted) -> "_Tally":
        rounds = [one for one in self.rounds if one.pool == self._pool[0]]
        seen = {row: answer for row, answer in self.seen.items() if row in accepted}
        return _Tally(
            n_pool=rounds[0].n_pool,
            n_drawn=sum(len(one.rows) for one in rounds),
            n_wrong=sum(one.n_wrong for one in rounds),
            n_blank=sum(one.n_blank for one in rounds),
            look=len(self.rounds),
            n_given=sum(one.n_given for one in self.rounds),
            n_known=len(seen),
            n_right=sum(
                answer is not None and bool(answer == accepted[row]) for row, answer in seen.items()
            ),
        )

    @property
    def _pool(self) -> tuple[int, int]:
        """Number and size of the last pool."""
        return (self.rounds[-1].pool, self.rounds[-1].n_pool) if self.rounds else (0, 0)

    def _round_size(self, n: int | None) -> int:
        size = next(len(one.rows) for one in self.rounds if one.pool == self._pool[0])
        if n is not None and n != size:
            raise InvalidInputError(
                f"n={n}, and the first round of this audit has {size} rows. Further rounds are as "
                "large: sizes chosen after a look at the answers would make the confidence "
                f"false. Ask for {size}, or leave it out."
            )
        return size

    def _rest(self, accepted: Accepted) -> dict[Any, Any]:
        seen = self.seen
        return {row: label for row, label in accepted.items() if row not in seen}


def answers_to_prove(n_accepted: int, target: float, *, confidence: float = 0.95) -> int | None:
    """Return how many answers of usual rounds, all right, prove a target; None if none would."""
    fresh = _Tally(n_accepted, 0, 0, 0, 0, 0, 0, 0)
    count = fresh.rounds_until(target, ROUND_SIZE, confidence)
    return None if count is None else min(count * ROUND_SIZE, n_accepted)


def digest_rows(rows: Accepted) -> str:
    """Return a digest of rows and labels, whatever their order."""
    digest = hashlib.sha256()
    for line in sorted(f"{row!r}\t{label!r}\n" for row, label in rows.items()):
        digest.update(line.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class _Tally:
    """Counts that a certificate rests on: of the last pool's rounds, and of all rows looked at."""

    n_pool: int
    n_drawn: int
    n_wrong: int
    n_blank: int
    look: int
    n_given: int
    n_known: int
    n_right: int

    def grow(self, count: int, size: int) -> "_Tally":
        """Return the counts after so many further rounds without a wrong answer."""
        more = min(count * size, self.n_pool - self.n_drawn)
        return replace(
            self,
            n_drawn=self.n_drawn + more,
            look=self.look + count,
            n_given=self.n_given + count,
            n_known=self.n_known + more,
            n_right=self.n_right + more,
        )

    def rounds_until(self, target: float, size: int, confidence: float) -> int | None:
        """Return how many rounds without a wrong answer prove a target; None if none would."""

        def proves(count: int) -> bool:
            return self.grow(count, size).certificate(confidence).lower >= target

        low, high = 1, -(-(self.n_pool - self.n_drawn) // size)
        if high < low or not proves(high):
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if proves(middle) else (middle + 1, high)
        return low

    def certificate(self, confidence: float) -> Certificate:
        """Return the bound for the labels as they are now.

        Of the R rows that nobody looked at, W at most are wrong: the bound on the pool less the
        wrong and blank ones that were drawn. Rows that were looked at count as they are now.
        """
        proved = certify(
            self.n_drawn,
            self.n_wrong,
            self.n_pool,
            n_blank=self.n_blank,
            look=self.look,
            look_judged=self.n_given,
            confidence=confidence,
        )
        n_bad = self.n_wrong + self.n_blank
        if self.n_known == self.n_drawn and self.n_right == self.n_drawn - n_bad:
            return proved
        n_accepted = self.n_pool - self.n_drawn + self.n_known
        if n_accepted == 0:
            return replace(proved, n_accepted=0, lower=0.0, upper=1.0, lower_judged=0.0)
        least = round(proved.lower * self.n_pool) - (self.n_drawn - n_bad) + self.n_right
        most = round(proved.upper * self.n_pool) - (self.n_drawn - self.n_wrong) + self.n_known
        lower = least / n_accepted
        return replace(
            proved,
            n_accepted=n_accepted,
            lower=lower,
            upper=min(most / n_accepted, 1.0),
            lower_judged=lower,
        )


def answers_in_order(answers: Any, rows: tuple[int, ...]) -> list[Any]:
    """Return one answer for each row that was drawn, None for a blank."""
    if isinstance(answers, Mapping):
        unknown = [row for row in answers if row not in set(rows)]
        if unknown:
            raise InvalidInputError(
                f"{len(unknown)} answer(s) are for rows that were not drawn, such as "
                f"{unknown[0]!r}; answers must be for the rows of the last audit."
            )
        return [answers.get(row) for row in rows]
    truths = list(answers)
    if len(truths) != len(rows):
        raise InvalidInputError(
            f"{len(rows)} rows were drawn and {len(truths)} answers came; give one for each, None "
            "for those you cannot tell."
        )
    return truths
