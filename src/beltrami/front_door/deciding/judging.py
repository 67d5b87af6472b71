"""Judging: labels that were held out, and experience, decide how far candidates are believed.

What candidates say of all rows and of held-out labels enters; a mixture that says how sure it is,
and what it makes of labels that had no part in it, leave.
"""

from dataclasses import dataclass, replace

import numpy as np

from beltrami.core.types import BoolVector, FloatMatrix, FloatVector, IndexVector
from beltrami.front_door.deciding.judgement import Judged, Trial, can_judge, importance_of
from beltrami.front_door.mixture.confidence import Confidence, Evidence, Signs
from beltrami.front_door.mixture.experience import Experience, Situation, load_experience
from beltrami.front_door.mixture.model import Mixture
from beltrami.front_door.mixture.shares import estimate_odds, match_odds, unseen_share
from beltrami.front_door.mixture.stacking import deal_labels, fit_mixture
from beltrami.learners.diagnosis import FEWEST_NET_ERRORS, is_clear
from beltrami.learners.model import Labeled
from beltrami.review.guessing import BesideGuessing, beside_guessing
from beltrami.review.issues import find_label_issues

_TWO = 2  # classes that labels must be of to judge

FEWEST_TESTED = 20
"""Held-out labels from which answers no better than one class for all are called guesses."""

_FEWEST_TO_PROMISE = 6
"""Labels that were held out from which rows are accepted under a risk: with four, two of each of
two classes, nobody can know how right answers are (decision 0033)."""

_LUCK = 0.15
"""Chance of as many right answers by one class for all, up to which rows are accepted."""

_MOST_UNSEEN = 0.25
"""Share of rows of classes that no label names up to which rows are accepted under a risk."""

_ROWS = 20_000
"""Rows by which class sizes and agreement are told."""


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """What was decided, and by what.

    Attributes
    ----------
    mixture : Mixture
        How candidates answer together.
    sample : Labeled
        The labels that were held out, or would have been.
    is_told : ndarray of shape (m,)
        Whether others could tell: the class has another label.
    can_promise : bool
        Whether labels support a promise.
    held_out : ndarray of shape (m, k)
        Probabilities of the labels, each by a mixture that did not see it either.
    importance : ndarray of shape (m,)
        How much each counts.
    """

    mixture: Mixture
    sample: Labeled
    is_told: BoolVector
    can_promise: bool
    held_out: FloatMatrix
    importance: FloatVector


@dataclass(frozen=True, slots=True, eq=False)
class Hearing:
    """What candidates say together, before it is decided how sure to be.

    Attributes
    ----------
    mixture : Mixture
        Without a confidence.
    signs : Signs
        Of rows spread over all.
    held_out : Signs
        Of the labels, each by a mixture that did not see it either.
    importance : ndarray of shape (m,)
        How much each label counts.
    evidence : Evidence
        What the whole set says of how right answers are.
    """

    mixture: Mixture
    signs: Signs
    held_out: Signs
    importance: FloatVector
    evidence: Evidence


def judge_together(
    fitted: dict[str, Trial],
    labeled: Labeled,
    n_columns: int,
    *,
    method: str,
    shares: FloatVector | None = None,
) -> Verdict:
    """Decide how candidates answer together, and how sure to be.

    - `method`: "auto", or the one that answers alone.
    - `shares`: (k,), class sizes where they were given.
    """
    bench = Bench.of(fitted, labeled, n_columns, method, load_experience(), shares)
    answers = {name: one.answer for name, one in fitted.items()}
    hearing = bench.hear(answers, shares)
    trusted = bench.without_wrong(hearing)
    if trusted is not bench:
        bench, hearing = trusted, trusted.hear(answers, shares)
    mixture = replace(hearing.mixture, confidence=be_sure(bench, hearing))
    return Verdict(
        mixture,
        bench.sample,
        bench.is_told,
        supports_promise(bench, hearing),
        mixture.conclude(hearing.held_out),
        hearing.importance,
    )


def be_sure(bench: "Bench", hearing: Hearing) -> Confidence:
    """Return how sure to be: by experience, or one chance for all where answers are guesses.

    Where held-out labels, twenty or more, were answered no better than by one class for all,
    nothing tells one row from another. The chance is then half way between what answers and that
    one class had right: what answers had more, or less, may be luck.
    """
    if not are_guesses(bench, hearing):
        return Confidence.of(bench.experience.confidence, hearing.evidence)
    counts = hearing.importance[bench.judges]
    one_class = float((counts @ bench.sample.targets[bench.judges]).max() / counts.sum())
    return Confidence.even((hearing.evidence.accuracy + one_class) / 2)


def are_guesses(bench: "Bench", hearing: Hearing) -> bool:
    """Say whether held-out labels, many enough, were answered no better than by one class."""
    return len(bench.judges) >= FEWEST_TESTED and not _beside(bench, hearing).is_better


def supports_promise(bench: "Bench", hearing: Hearing) -> bool:
    """Say whether rows may be accepted under a risk.

    Labels were tested, and answered better than by one class for all as far as so few can show,
    and few rows are of classes that no label names. On sets that were left out, rows accepted
    without that were 10 to 46 % wrong at 5 %.
    """
    beside = _beside(bench, hearing)
    is_tested = len(bench.judges) >= _FEWEST_TO_PROMISE and beside.chance <= _LUCK
    is_named = bench.situation.unseen <= _MOST_UNSEEN
    return is_tested and is_named and not are_guesses(bench, hearing)


def _beside(bench: "Bench", hearing: Hearing) -> BesideGuessing:
    """Compare held-out answers with one class for all."""
    said = hearing.held_out.probabilities[bench.judges].argmax(axis=1)
    return beside_guessing(bench.sample.targets[bench.judges].argmax(axis=1), said)


@dataclass(frozen=True, slots=True, eq=False)
class Bench:
    """Candidates and the labels that judge them.

    Attributes
    ----------
    logits : dict of str to ndarray of shape (m, k)
        Of labels held out.
    sample : Labeled
        These labels.
    is_told : ndarray of shape (m,)
        Whether others could tell.
    judges : ndarray of int
        Places of the labels that may judge: none where all that others could tell are of one class,
        since whoever says that class is right about all of them.
    situation : Situation
        Labels, classes, columns.
    method : str
        "auto", or the one that answers alone.
    experience : Experience
        What other sets taught.
    """

    logits: dict[str, FloatMatrix]
    sample: Labeled
    is_told: BoolVector
    judges: IndexVector
    situation: Situation
    method: str
    experience: Experience

    @classmethod
    def of(
        cls,
        fitted: dict[str, Trial],
        labeled: Labeled,
        n_columns: int,
        method: str,
        experience: Experience,
        shares: FloatVector | None = None,
    ) -> "Bench":
        """Seat candidates, and the labels that may judge them; `shares` are sizes where given."""
        sample = labeled.sample()
        is_told = can_judge(sample)
        are_several = np.count_nonzero(sample.targets[is_told].any(axis=0)) >= _TWO
        judges = np.flatnonzero(is_told) if are_several else np.zeros(0, dtype=np.intp)
        counts = labeled.targets.sum(axis=0)
        unnamed = 0.0 if shares is None else float(shares[counts == 0].sum())
        counts = counts[counts > 0]
        unseen = max(unseen_share(counts), unnamed)
        situation = Situation(len(labeled.rows), len(counts), n_columns, unseen)
        logits = {name: np.asarray(one.held_out) for name, one in fitted.items()}
        return cls(logits, sample, is_told, judges, situation, method, experience)

    def hear(self, answers: dict[str, FloatMatrix], shares: FloatVector | None) -> Hearing:
        """Return what candidates say together.

        - `answers`: of each, the logits of all rows, (n, k); `shares`: class sizes, where given.
        """
        some = _spread_rows(len(next(iter(answers.values()))))
        few = {name: one[some] for name, one in answers.items()}
        mixture = self.mix(self.judges)
        mixture = replace(mixture, odds=_class_odds(mixture, few, self.sample, shares))
        signs, held_out = mixture.listen(few), self.cross_fit(mixture)
        importance = importance_of(self.sample, signs.probabilities)
        evidence = self._weigh(signs, held_out, importance)
        return Hearing(mixture, signs, held_out, importance, evidence)

    def without_wrong(self, hearing: Hearing) -> "Bench":
        """Return the same without judges that are more likely wrong than right, if these are many.

        A fifth of wrong labels makes answers that are all right look a fifth wrong.
        """
        judges, targets = self.judges, self.sample.targets
        if not len(judges):
            return self
        said = hearing.held_out.probabilities[judges]
        issues = find_label_issues(judges, targets[judges].argmax(axis=1), said)
        rest = np.setdiff1d(judges, issues.rows)
        if not issues.are_many or np.count_nonzero(targets[rest].any(axis=0)) < _TWO:
            return self
        return replace(self, judges=rest)

    def mix(self, places: IndexVector) -> Mixture:
        """Return the mixture by experience and some of the labels."""
        experience, names = self.experience, list(self.logits)
        typical = {name: experience.temper(name, self.situation) for name in names}
        if self.method == "auto":
            prior = experience.believe(names, self.situation)
        else:
            prior = np.array([float(name == self.method) for name in names])
        weights, temperatures = fit_mixture(
            {name: one[places] for name, one in self.logits.items()},
            self.sample.targets[places],
            _relative(self.sample.weights[places]),
            prior,
            typical,
        )
        known = np.asarray(self.sample.targets.any(axis=0), dtype=np.float64)
        return Mixture(weights, temperatures, known)

    def cross_fit(self, mixture: Mixture) -> Signs:
        """Return what is said of each label by a mixture of all candidates that did not see it."""
        m, k = self.sample.targets.shape
        found = Signs(np.zeros((m, k)), np.zeros(m), np.zeros(m))
        seen = np.zeros(m, dtype=bool)
        for aside in deal_labels(self.sample.targets[self.judges]):
            places = self.judges[aside]
            others = replace(self.mix(np.delete(self.judges, aside)), odds=mixture.odds)
            self._listen(others, places, found)
            seen[places] = True
        self._listen(mixture, np.flatnonzero(~seen), found)
        return found

    def _listen(self, mixture: Mixture, places: IndexVector, found: Signs) -> None:
        """Fill in what a mixture says of some of the labels."""
        signs = mixture.listen({name: one[places] for name, one in self.logits.items()})
        found.probabilities[places] = signs.probabilities
        found.agreement[places], found.spread[places] = signs.agreement, signs.spread

    def _weigh(self, signs: Signs, held_out: Signs, importance: FloatVector) -> Evidence:
        """Return what agreement and held-out labels say of how right answers are."""
        places, accuracy, promised = self.judges, 0.0, 0.0
        if len(places):
            said, counts = held_out.probabilities[places], importance[places]
            is_right = said.argmax(axis=1) == self.sample.targets[places].argmax(axis=1)
            accuracy = float(np.average(is_right, weights=counts))
            promised = float(np.average(said.max(axis=1), weights=counts))
        agreement = float(signs.agreement.mean()) if len(signs.agreement) else 1.0
        return Evidence(self.situation, len(places), accuracy, promised, agreement)


def judge_alone(trial: Trial, verdict: Verdict) -> Judged:
    """Return the evidence on one candidate.

    All errors are counted as that of the answer is: by the classes' shares of the rows.
    """
    candidate, error, spread = trial.candidate, float("nan"), float("nan")
    told, mixture, is_better = verdict.is_told, verdict.mixture, False
    if not trial.note and told.any():
        truths, counts = verdict.sample.targets[told].argmax(axis=1), verdict.importance[told]
        wrong = trial.held_out[told].argmax(axis=1) != truths
        error = float(np.average(wrong, weights=counts))
        spread = float(np.sqrt(error * (1 - error) / len(wrong)))
        more = (verdict.held_out[told].argmax(axis=1) != truths) * counts - wrong * counts
        is_better = candidate.is_baseline and is_clear(more, FEWEST_NET_ERRORS)
    return Judged(
        candidate.name,
        candidate.title,
        candidate.is_baseline,
        error,
        spread,
        mixture.temperatures.get(candidate.name, float("nan")),
        mixture.weights.get(candidate.name, 0.0),
        trial.seconds,
        trial.note,
        is_better,
    )


def _class_odds(
    mixture: Mixture,
    answers: dict[str, FloatMatrix],
    labeled: Labeled,
    shares: FloatVector | None,
) -> FloatVector:
    """Return what the probabilities of classes are multiplied by; zero for one without a label."""
    known = mixture.odds > 0
    said = mixture.listen(answers).probabilities[:, known]
    odds = np.zeros(len(known))
    if shares is None:
        odds[known] = estimate_odds(said, labeled.targets.sum(axis=0)[known])
    else:
        odds[known] = match_odds(said, shares[known] / shares[known].sum())
    return odds


def _spread_rows(n: int) -> IndexVector:
    """Return up to 20,000 of n rows, spread evenly."""
    return np.unique(np.linspace(0, max(n - 1, 0), min(n, _ROWS)).astype(np.intp))


def _relative(weights: FloatVector) -> FloatVector:
    """Scale weights such that they sum to their number."""
    return weights / weights.mean() if len(weights) else weights
