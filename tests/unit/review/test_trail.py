"""Rounds of an audit: exact together, whatever stops them; blanks, corrections, new labels."""

import itertools
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import hypergeom

from beltrami.core.errors import InvalidInputError
from beltrami.review.audit import certify, error_at
from beltrami.review.trail import Trail, digest_rows

certify_once = cache(certify)


def labels(n, wrong=()):
    return {row: "wrong" if row in set(wrong) else "right" for row in range(n)}


def answered(trail, accepted, n=None, seed=0, blanks=()):
    """Draw a round and answer it; the truth is always "right"."""
    trail = trail.draw(accepted, n, seed)
    rows = trail.rounds[-1].rows
    return trail.answer([None if row in set(blanks) else "right" for row in rows])


def test_all_looks_together_take_no_more_than_the_error():
    errors = [error_at(k, 0.95) for k in range(1, 2000)]
    assert sum(errors) <= 0.05
    assert_allclose(sum(errors), 0.05, atol=1e-5)
    assert error_at(None, 0.95) == pytest.approx(0.05)


@pytest.mark.parametrize(("pool", "size", "rounds"), [(30, 5, 4), (60, 12, 3), (45, 9, 5)])
def test_every_bound_of_every_round_holds_at_once_with_the_stated_confidence(pool, size, rounds):
    for n_wrong in range(pool + 1):
        truth = 1 - n_wrong / pool
        # Chance of each number of wrong ones so far, of the paths on which no bound was false.
        alive = {0: 1.0}
        for k in range(1, rounds + 1):
            n = min(k * size, pool)
            before = min((k - 1) * size, pool)
            step: dict[int, float] = {}
            for x, chance in alive.items():
                counts = range(n - before + 1)
                chances = hypergeom.pmf(counts, pool - before, n_wrong - x, n - before)
                for more, p in zip(counts, chances, strict=True):
                    if p > 0 and certify_once(n, x + more, pool, look=k).lower <= truth + 1e-12:
                        step[x + more] = step.get(x + more, 0.0) + chance * float(p)
            alive = step
        assert sum(alive.values()) >= 0.95 - 1e-9, n_wrong


def test_the_first_round_alone_is_a_certificate_at_the_first_look():
    accepted = labels(500, wrong=range(20))
    trail = answered(Trail(), accepted, 65)
    n_wrong = trail.rounds[0].n_wrong
    assert trail.certificate(accepted) == certify(65, n_wrong, 500, look=1)


def test_further_rounds_draw_rows_that_no_audit_has_seen():
    accepted = labels(100)
    trail = Trail()
    for _ in range(4):
        trail = answered(trail, accepted, seed=0, n=None if trail.rounds else 25)
    assert sorted(itertools.chain(*(one.rows for one in trail.rounds))) == list(range(100))
    assert trail.certificate(accepted).lower == 1.0
    with pytest.raises(InvalidInputError, match="all 100 accepted labels were looked at"):
        trail.draw(accepted)


def test_a_further_round_has_the_size_of_the_first():
    trail = answered(Trail(), labels(100), 10)
    with pytest.raises(InvalidInputError, match="the first round of this audit has 10 rows"):
        trail.draw(labels(100), 11)
    assert len(trail.draw(labels(100)).rounds[1].rows) == 10


def test_a_round_without_answers_blocks_the_next_and_counts_as_blank_when_given_up():
    trail = Trail().draw(labels(100), 10, 0)
    with pytest.raises(InvalidInputError, match="no answers yet"):
        trail.draw(labels(100), 10, 0)
    with pytest.raises(InvalidInputError, match="no audit of these labels with answers"):
        trail.certificate(labels(100))
    assert trail.give_up().certificate(labels(100)).n_blank == 10


def test_blanks_count_as_wrong_and_are_named():
    accepted = labels(500)
    full = answered(Trail(), accepted, 60)
    rows = full.rounds[0].rows
    found = answered(Trail(), accepted, 60, blanks=rows[:28]).certificate(accepted)
    assert (found.n_checked, found.n_wrong, found.n_blank) == (60, 0, 28)
    assert found.lower == certify(60, 28, 500, look=1).lower < 0.45
    assert found.lower_judged == certify(32, 0, look=1).lower > 0.9
    assert "28 left blank, which count as wrong" in found.sentence
    assert "on rows that you can judge" in found.sentence


def test_blanks_may_be_filled_in_and_answers_may_not_change():
    accepted = labels(500)
    trail = Trail().draw(accepted, 20, 0)
    once = trail.answer([None] * 3 + ["right"] * 17)
    assert once.answer(["right"] * 20).certificate(accepted).n_blank == 0
    with pytest.raises(InvalidInputError, match=r"1 answer\(s\) differ from those given before"):
        once.answer([None] * 3 + ["other"] + ["right"] * 16)
    with pytest.raises(InvalidInputError, match=r"1 answer\(s\) differ"):
        once.answer([None] * 4 + ["right"] * 16)


def test_corrections_do_not_raise_the_bound_of_rows_that_nobody_looked_at():
    accepted = labels(300, wrong=range(0, 300, 4))
    trail = answered(Trail(), accepted, 60, seed=1)
    before = trail.certificate(accepted)
    corrected = accepted | dict.fromkeys(trail.seen, "right")
    after = trail.certificate(corrected)
    n_wrong = before.n_wrong
    # The rows that were looked at are right now, and no other is known to be better than before.
    assert_allclose(300 * after.lower, 300 * before.lower + n_wrong)
    given = {row: label for row, label in corrected.items() if row not in trail.seen}
    without = trail.certificate(given)
    assert without.n_accepted == 240
    assert_allclose(240 * without.lower, 300 * before.lower - (60 - n_wrong))


def test_rounds_go_on_counting_after_corrections():
    accepted = labels(300, wrong=range(0, 300, 10))
    trail = answered(Trail(), accepted, 60, seed=1)
    corrected = accepted | dict.fromkeys(trail.seen, "right")
    trail = answered(trail, corrected, seed=1)
    assert {one.pool for one in trail.rounds} == {1}
    assert trail.certificate(corrected).n_checked == 120


def test_labels_learned_anew_begin_a_new_pool_and_go_on_counting_looks():
    accepted = labels(300)
    trail = answered(Trail(), accepted, 60, seed=1)
    fresh = accepted | dict.fromkeys(range(300), "right")
    changed = next(row for row in range(300) if row not in trail.seen)
    fresh[changed] = "other"
    with pytest.raises(InvalidInputError, match="changed since the last draw"):
        trail.certificate(fresh)
    trail = answered(trail, fresh, 40, seed=1)
    assert [one.pool for one in trail.rounds] == [1, 2]
    assert trail.rounds[1].n_pool == 240
    found = trail.certificate(fresh)
    n_wrong = trail.rounds[1].n_wrong
    pool = certify(40, n_wrong, 240, look=2)
    assert_allclose(300 * found.lower, 240 * pool.lower + 60)
    assert (found.look, found.n_accepted) == (2, 300)


def test_what_a_pool_proved_is_of_its_labels_whatever_became_of_them():
    accepted = labels(300, wrong=range(5))
    trail = answered(Trail(), accepted, 60, seed=1)
    assert trail.pool_certificate() == trail.certificate(accepted)
    other = dict.fromkeys(accepted, "other")
    trail = answered(trail, other, 40, seed=1)
    assert trail.pool_certificate() == certify(40, 40, 240, look=2)
    for unfinished in (Trail(), trail.draw(other)):
        with pytest.raises(InvalidInputError, match="no answers yet"):
            unfinished.pool_certificate()


def test_the_number_of_further_rounds_is_the_fewest_that_prove_it():
    accepted = labels(5000)
    trail = answered(Trail(), accepted, 60, seed=0)
    count = trail.further_rounds(accepted, 0.97)
    for k in range(1, count + 1):
        trail = answered(trail, accepted, seed=k)
        assert (trail.certificate(accepted).lower >= 0.97) == (k == count)
    wrong = labels(200, wrong=range(100))
    assert answered(Trail(), wrong, 60).further_rounds(wrong, 0.9) is None


def test_a_digest_tells_labels_apart_and_not_their_order():
    rows = {"1": "a", "2": "b"}
    assert digest_rows(rows) == digest_rows(dict(reversed(rows.items())))
    assert digest_rows(rows) != digest_rows({"1": "a", "2": "B"})
    assert digest_rows({"1": "2"}) != digest_rows({1: "2"})


def test_draws_are_uniform():
    counts = np.zeros(12)
    for seed in range(3000):
        counts[list(Trail().draw(labels(12), 3, seed).rounds[0].rows)] += 1
    assert_allclose(counts, 750, rtol=0.12)


def test_filling_in_blanks_is_a_further_look_at_the_rows_that_can_be_judged():
    accepted = labels(500)
    trail = Trail().draw(accepted, 40, 0).answer([None] * 10 + ["right"] * 30)
    first = trail.certificate(accepted)
    again = trail.answer([None] * 5 + ["right"] * 35)
    assert again.answer([None] * 5 + ["right"] * 35) == again  # nothing new was seen
    found = again.certificate(accepted)
    assert first.lower_judged == certify(30, 0, look=1).lower
    assert found.lower_judged == certify(35, 0, look=2).lower
    assert found.lower == certify(40, 0, 500, n_blank=5, look=1).lower


def test_an_open_round_of_new_labels_lets_no_old_round_vouch_for_them():
    accepted = labels(300)
    trail = answered(Trail(), accepted, 65)
    fresh = {row: label if row in trail.seen else "other" for row, label in accepted.items()}
    with pytest.raises(InvalidInputError, match="changed since the last draw"):
        trail.draw(fresh, 65, 0).certificate(fresh)
