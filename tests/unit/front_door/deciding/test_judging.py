"""Judging: who may judge, what stands where nobody may, and what guesses and wrong labels do."""

import numpy as np
import pytest

from beltrami.front_door.deciding.candidates import CLASS_CANDIDATES
from beltrami.front_door.deciding.judgement import Trial
from beltrami.front_door.deciding.judging import Bench, be_sure, judge_alone, judge_together
from beltrami.front_door.doubts import beaten
from beltrami.front_door.mixture.experience import load_experience
from beltrami.front_door.mixture.stacking import deal_labels
from beltrami.learners.model import Labeled

KNOWN = {one.name: one for one in CLASS_CANDIDATES}
N = 300


def problem(codes, truth, *, lead=4.0, noise=1.0, seed=0, names=("poisson", "logistic")):
    """Return trials that see the truth through noise, and the labels, which are the first rows."""
    rng = np.random.default_rng(seed)
    k = int(max(codes.max(), truth.max())) + 1
    trials = {}
    for name in names:
        answer = lead * np.eye(k)[truth] + noise * rng.normal(size=(N, k))
        trials[name] = Trial(KNOWN[name], answer, answer[: len(codes)])
    return trials, Labeled(np.arange(len(codes)), np.eye(k)[codes], np.ones(len(codes)))


@pytest.fixture
def truth():
    return np.random.default_rng(1).integers(0, 2, N)


def test_labels_of_one_class_alone_do_not_judge(truth):
    truth[:4] = [0, 0, 0, 1]
    trials, labeled = problem(truth[:4], truth)
    verdict = judge_together(trials, labeled, 20, method="auto")
    assert verdict.is_told.tolist() == [True, True, True, False]
    assert not verdict.can_promise
    bench = Bench.of(trials, labeled, 20, "auto", load_experience())
    prior = load_experience().believe(list(trials), bench.situation)
    np.testing.assert_allclose(list(verdict.mixture.weights.values()), prior)


def test_no_label_has_a_part_in_what_is_said_of_it(truth):
    trials, labeled = problem(truth[:30], truth, lead=1.0)
    bench = Bench.of(trials, labeled, 20, "auto", load_experience())
    said = bench.cross_fit(bench.mix(bench.judges)).probabilities
    seen = 0
    for aside in deal_labels(labeled.targets):
        others = bench.mix(np.setdiff1d(np.arange(30), aside))
        alone = others.listen({name: one[aside] for name, one in bench.logits.items()})
        np.testing.assert_allclose(said[aside], alone.probabilities)
        seen += len(aside)
    assert seen == 30


def test_guesses_have_one_chance_for_all_rows(truth):
    codes = np.random.default_rng(5).permutation(np.arange(40) % 2)
    trials, labeled = problem(codes, truth)
    verdict = judge_together(trials, labeled, 20, method="auto")
    found = verdict.mixture.answer({name: one.answer for name, one in trials.items()}).max(axis=1)
    assert np.ptp(found) < 1e-9
    told = verdict.held_out.argmax(axis=1) == codes
    accuracy = np.average(told, weights=verdict.importance)
    one_class = max(np.bincount(codes, weights=verdict.importance)) / len(codes)
    np.testing.assert_allclose(found[0], max((accuracy + one_class) / 2, 0.5), atol=1e-5)
    assert not any(verdict.mixture.confidence.slopes)


def test_wrong_labels_that_are_many_do_not_judge(truth):
    codes = truth[:60].copy()
    codes[:9] = 1 - codes[:9]
    trials, labeled = problem(codes, truth, lead=6.0)
    bench = Bench.of(trials, labeled, 20, "auto", load_experience())
    hearing = bench.hear({name: one.answer for name, one in trials.items()}, None)
    trusted = bench.without_wrong(hearing)
    assert set(bench.judges) - set(trusted.judges) == set(range(9))
    clean, _ = problem(truth[:60], truth, lead=6.0)
    right = Bench.of(clean, Labeled(np.arange(60), np.eye(2)[truth[:60]], np.ones(60)), 20, "auto",
                     load_experience())  # fmt: skip
    assert right.without_wrong(right.hear({n: t.answer for n, t in clean.items()}, None)) is right


def test_a_class_without_a_label_is_never_said(truth):
    trials, labeled = problem(truth[:20], truth)
    targets = np.pad(labeled.targets, ((0, 0), (0, 1)))
    for one in trials.values():
        one.answer = np.pad(one.answer, ((0, 0), (0, 1)), constant_values=9.0)
        one.held_out = one.answer[:20]
    verdict = judge_together(trials, Labeled(labeled.rows, targets, labeled.weights), 20,
                             method="auto")  # fmt: skip
    found = verdict.mixture.answer({name: one.answer for name, one in trials.items()})
    assert not found[:, 2].any()


def test_given_shares_are_those_of_the_answers_before_it_is_said_how_sure(truth):
    trials, labeled = problem(truth[:20], truth, lead=1.0)
    bench = Bench.of(trials, labeled, 20, "auto", load_experience())
    answers = {name: one.answer for name, one in trials.items()}
    hearing = bench.hear(answers, np.array([0.9, 0.1]))
    np.testing.assert_allclose(hearing.signs.probabilities.mean(axis=0), [0.9, 0.1], atol=1e-3)
    assert be_sure(bench, hearing).start < 10


def test_a_plain_method_that_held_out_labels_clearly_prefer_is_noted(truth):
    trials, labeled = problem(truth[:60], truth, lead=0.2, names=("poisson", "logistic"))
    sure = 6.0 * np.eye(2)[truth]
    trials["logistic"] = Trial(KNOWN["logistic"], sure, sure[:60])
    verdict = judge_together(trials, labeled, 20, method="poisson")
    judged = {name: judge_alone(one, verdict) for name, one in trials.items()}
    assert judged["logistic"].is_clearly_better
    assert not judged["poisson"].is_clearly_better
    told = beaten([*judged.values()], 0.4)
    assert told == (
        "A PLAIN METHOD DOES CLEARLY BETTER on held-out labels: logistic regression, labels alone, "
        "has 0.0% of them wrong, and what answers 40.0%. Take it alone, --method logistic "
        "(method='logistic'), or give columns that say more.",
    )


def test_a_plain_method_that_does_as_well_is_not(truth):
    trials, labeled = problem(truth[:60], truth, lead=6.0)
    verdict = judge_together(trials, labeled, 20, method="auto")
    judged = [judge_alone(one, verdict) for one in trials.values()]
    assert not any(one.is_clearly_better for one in judged)
    assert beaten(judged, 0.0) == ()
