"""The cost of Mbed, term by term: the paper's formulas, finite differences, what must not matter.

Equations are those of [ZienQuinonero05], read in its text.
"""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.special import xlogy
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from beltrami.core.errors import InvalidInputError
from beltrami.embeddings.mbed import annealing
from beltrami.embeddings.mbed.annealing import PRINTED, Schedule, annealed_path
from beltrami.embeddings.mbed.model import Problem, Stage, Targets
from beltrami.embeddings.mbed.objective import MbedCost
from beltrami.embeddings.mbed.simplex import label_confidence, simplex_directions, soften
from beltrami.embeddings.mbed.stages import best_stage, criterion_of, radius_of, separation
from beltrami.embeddings.mbed.terms import (
    ClassTerms,
    balance_of,
    label_divergence,
    log_memberships,
    mean_entropy,
)
from beltrami.embeddings.neighborhoods.probabilities import StoredNeighborhood, row_probabilities
from beltrami.embeddings.repulsion.exact import ExactRepulsion
from beltrami.solvers.descent import conjugate_descent

EXACT = ExactRepulsion()
SHAPES = [(K, d) for K in (2, 3, 5) for d in (K - 1, K, K + 2)]
every_shape = pytest.mark.parametrize(("K", "d"), SHAPES)


def positions(n, d, *, width=0.7, seed=0):
    return width * np.random.default_rng(seed).standard_normal((n, d))


def shares(n, K, seed=1):
    """Distributions, the first of them certain."""
    found = np.random.default_rng(seed).dirichlet(np.ones(K), size=n)
    found[0] = np.eye(K)[-1]
    return found


def knowledge(n, K, seed=2):
    """Soft labels of some rows in no order, which count more or less."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(n)[: n // 2]
    return Targets(rows, shares(len(rows), K, seed), rng.uniform(0.2, 3, len(rows)))


def probabilities(n, seed=3, *, is_sparse=False):
    """P without any symmetry; of a sparse one, some pairs are missing."""
    rng = np.random.default_rng(seed)
    squares = rng.exponential(1.5, (n, n))
    if is_sparse:
        squares[rng.random((n, n)) < 0.4] = np.inf
        squares[np.arange(n), (np.arange(n) + 1) % n] = 0.3  # nobody is alone
    np.fill_diagonal(squares, np.inf)
    P = row_probabilities(squares)
    return csr_array(P) if is_sparse else P


def slopes(cost, Y, step=1e-5):
    """Central differences of a cost by every coordinate."""
    found = np.empty_like(Y)
    for place in np.ndindex(Y.shape):
        ahead, behind = Y.copy(), Y.copy()
        ahead[place] += step
        behind[place] -= step
        found[place] = (cost(ahead) - cost(behind)) / (2 * step)
    return found


def assert_is_gradient(objective, Y):
    gradient = objective(Y)[1]
    expected = slopes(lambda there: objective(there)[0], Y)
    assert np.abs(expected).max() > 1e-3  # the test must have something to see
    assert_allclose(gradient, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def at_positions(term, W, scale):
    """Turn a term of the logits into one of the positions."""

    def objective(Y):
        logs = log_memberships(Y, W, scale)
        value, by_logits = term(logs, np.exp(logs))
        return value, by_logits @ W / scale

    return objective


# --- gradients against finite differences -------------------------------------------------------


@every_shape
def test_the_mean_entropy_has_its_gradient(K, d):
    W = simplex_directions(K, d)
    assert_is_gradient(at_positions(mean_entropy, W, 0.4), positions(12, d))


@every_shape
@pytest.mark.parametrize("has_prior", [False, True])
def test_the_balance_has_its_gradient(K, d, has_prior):
    W, prior = simplex_directions(K, d), np.arange(1.0, K + 1) / np.arange(1, K + 1).sum()
    found = at_positions(lambda logs, m: balance_of(logs, m, prior if has_prior else None), W, 0.4)
    assert_is_gradient(found, positions(12, d) + 0.3 * W[0])


@every_shape
def test_the_label_divergence_has_its_gradient(K, d):
    """With weights, with soft labels, and with targets that do not sum to one, as printed."""
    W, known = simplex_directions(K, d), knowledge(12, K)
    for excess in (1.0, 1.3):
        targets = Targets(known.rows, known.distributions * excess, known.weights)

        def term(logs, memberships, targets=targets):
            value, some = label_divergence(logs, memberships, targets)
            every = np.zeros_like(logs)
            every[targets.rows] = some
            return value, every

        assert_is_gradient(at_positions(term, W, 0.4), positions(12, d))


@pytest.mark.parametrize("d", [1, 2, 3, 5, 7])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("weight", [1.0, 0.5])
def test_the_neighbour_cost_has_its_gradient(d, is_sparse, weight):
    P = StoredNeighborhood.of(probabilities(12, is_sparse=is_sparse))
    assert_is_gradient(MbedCost(P, EXACT, None, weight), positions(12, d))


@every_shape
@pytest.mark.parametrize("has_prior", [False, True])
def test_the_whole_cost_has_its_gradient(K, d, has_prior):
    terms = ClassTerms(
        simplex_directions(K, d),
        0.4,
        knowledge(12, K),
        margin_weight=7.0,
        balance_weight=5.0,
        label_weight=0.3,
        prior=shares(2, K)[1] if has_prior else None,
    )
    P = StoredNeighborhood.of(probabilities(12, is_sparse=has_prior))
    assert_is_gradient(terms, positions(12, d))
    assert_is_gradient(MbedCost(P, EXACT, terms), positions(12, d))


# --- the cost is what the paper says ------------------------------------------------------------


@every_shape
def test_the_terms_are_the_entropies_of_the_paper(K, d):
    """Eqs. 6, 12, 15, each written out; a prior makes the balance -KL (sec. 3.1)."""
    W, Y, known, pi = simplex_directions(K, d), positions(9, d), knowledge(9, K), shares(2, K)[1]
    m = np.exp(Y @ W.T / 0.4)
    m /= m.sum(axis=1, keepdims=True)
    mean = m.mean(axis=0)
    logs = log_memberships(Y, W, 0.4)
    assert_allclose(np.exp(logs), m, rtol=1e-12)
    entropy = -(m * np.log(m)).sum() / 9
    H, excess = -(mean * np.log(mean)).sum(), (mean * np.log(mean / pi)).sum()
    t, omega = known.distributions, known.weights
    D = (omega[:, None] * (xlogy(t, t) - t * np.log(m[known.rows]))).sum()
    assert mean_entropy(logs, m)[0] == pytest.approx(entropy)
    assert balance_of(logs, m, None)[0] == pytest.approx(H)
    assert balance_of(logs, m, pi)[0] == pytest.approx(-excess)
    assert label_divergence(logs, m, known)[0] == pytest.approx(D)
    assert ClassTerms(W, 0.4, known)(Y)[0] == pytest.approx(-H + entropy + D)
    with_prior = ClassTerms(W, 0.4, known, 2.0, 3.0, 5.0, pi)
    assert with_prior(Y)[0] == pytest.approx(3 * excess + 2 * entropy + 5 * D)


def test_a_uniform_prior_changes_the_cost_by_a_constant_only():
    """H(m) = log K - KL(m || 1/K)."""
    W, known = simplex_directions(4, 4), knowledge(9, 4)
    free, uniform = (ClassTerms(W, 0.4, known, prior=pi) for pi in (None, np.full(4, 0.25)))
    for seed in (0, 1):
        (cost, gradient), (other, turned) = (t(positions(9, 4, seed=seed)) for t in (free, uniform))
        assert other - cost == pytest.approx(np.log(4))
        assert_allclose(gradient, turned, atol=1e-14)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_the_neighbour_cost_is_the_divergence_written_out(is_sparse):
    """Eqs. 2 and 3, and eq. 4 with the factor 2 that it lacks."""
    P, Y = probabilities(12, is_sparse=is_sparse), positions(12, 3)
    p = P.toarray() if is_sparse else P
    Q = np.exp(-((Y[:, None] - Y[None]) ** 2).sum(axis=2))
    np.fill_diagonal(Q, 0)
    Q /= Q.sum(axis=1, keepdims=True)
    divergence = (xlogy(p, p) - xlogy(p, np.where(p > 0, Q, 1))).sum()
    eq4 = ((Y[:, None] - Y[None]) * (p - Q + p.T - Q.T)[:, :, None]).sum(axis=1)
    cost, gradient = MbedCost(StoredNeighborhood.of(P), EXACT)(Y)
    assert cost == pytest.approx(divergence)
    assert_allclose(gradient, 2 * eq4, atol=1e-12)
    half, as_printed = MbedCost(StoredNeighborhood.of(P), EXACT, None, 0.5)(Y)
    assert half == pytest.approx(divergence / 2)
    assert_allclose(as_printed, eq4, atol=1e-12)


@every_shape
def test_gradients_are_those_of_the_paper_for_many_classes(K, d):
    """Eqs. 16 to 19, row by row and class by class."""
    W, Y, scale, n = simplex_directions(K, d), positions(8, d), 0.6, 8
    known = knowledge(n, K)
    logs = log_memberships(Y, W, scale)
    m = np.exp(logs)
    mean = m.mean(axis=0)
    entropy_gradient = mean_entropy(logs, m)[1] @ W / scale
    balance_gradient = balance_of(logs, m, None)[1] @ W / scale
    label_gradient = label_divergence(logs, m, known)[1] @ W / scale
    for i in range(n):
        towards = sum(m[i, k] * W[k] for k in range(K))
        gamma = [m[i, k] * (W[k] @ Y[i]) for k in range(K)]
        eq17 = (towards * sum(gamma) - sum(gamma[k] * W[k] for k in range(K))) / scale**2
        assert_allclose(entropy_gradient[i], eq17 / n, atol=1e-13)
        eq18 = sum((towards - W[k]) * m[i, k] * np.log(mean[k]) for k in range(K)) / (scale * n)
        assert_allclose(balance_gradient[i], eq18, atol=1e-13)
        for k in range(K):
            eq16 = m[i, k] * (W[k] - towards) / scale
            one = slopes(lambda y, k=k: np.exp(log_memberships(y, W, scale))[0, k], Y[i : i + 1])
            assert_allclose(eq16, one[0], atol=1e-8)
    for place, i in enumerate(known.rows):
        t = known.distributions[place]
        eq19 = sum((m[i, k] - t[k]) * W[k] for k in range(K)) / scale
        assert_allclose(label_gradient[place], known.weights[place] * eq19, atol=1e-13)


# --- two classes: the paper's scalar formulas -----------------------------------------------------


def logistic(y, scale):
    return 1 / (1 + np.exp(-y / scale))  # eq. 5


class TestTwoClasses:
    """The first direction is the positive side of the first axis, and lambda halves."""

    scale = 0.8
    Y = positions(11, 2, seed=5) + np.array([0.2, 0])
    W = simplex_directions(2, 2)
    logs = log_memberships(Y, W, scale)
    m = logistic(Y[:, 0], scale / 2)
    n = 11

    def test_directions_are_the_two_sides_of_the_first_axis(self):
        assert_allclose(self.W, [[1, 0], [-1, 0]])

    def test_memberships_are_the_logistic_function_at_half_the_scale(self):
        assert_allclose(np.exp(self.logs), np.column_stack([self.m, 1 - self.m]), rtol=1e-13)

    def test_the_margin_is_eq_7_and_its_force_eq_9_without_the_stray_sum(self):
        half, m = self.scale / 2, self.m
        entropy, by_logits = mean_entropy(self.logs, np.exp(self.logs))
        A = (m * np.log(m) + (1 - m) * np.log(1 - m)).sum() / self.n
        assert entropy == pytest.approx(-A)
        eq9 = m * (1 - m) * self.Y[:, 0] / (self.n * half**2)
        gradient = by_logits @ self.W / self.scale
        assert_allclose(gradient[:, 0], -eq9, atol=1e-15)
        assert_array_equal(gradient[:, 1], 0)

    def test_the_margin_with_its_stray_sum_is_eq_9_as_printed(self):
        half, m = self.scale / 2, self.m
        summed = ClassTerms(
            self.W, self.scale, Targets.none(2), balance_weight=0, is_margin_summed=True
        )
        printed = (m * (1 - m) * self.Y[:, 0]).sum() / (self.n * half**2)
        assert abs(printed) > 0.01
        assert_allclose(summed(self.Y)[1], np.tile([-printed, 0], (self.n, 1)), atol=1e-14)

    def test_the_balance_is_eq_8_and_its_force_eq_10(self):
        half, m, mean = self.scale / 2, self.m, self.m.mean()
        balance, by_logits = balance_of(self.logs, np.exp(self.logs), None)
        assert balance == pytest.approx(-mean * np.log(mean) - (1 - mean) * np.log(1 - mean))
        eq10 = np.log((1 - mean) / mean) * m * (1 - m) / (self.n * half)
        assert_allclose((by_logits @ self.W / self.scale)[:, 0], eq10, atol=1e-15)

    def test_a_prior_of_one_half_is_eq_8_less_the_entropy_of_one_half(self):
        free, _ = balance_of(self.logs, np.exp(self.logs), None)
        held, _ = balance_of(self.logs, np.exp(self.logs), np.array([0.5, 0.5]))
        assert free - held == pytest.approx(np.log(2))

    def test_labels_are_eq_12_and_their_force_eq_13(self):
        half, t = self.scale / 2, np.array([0.9, 0.0, 1.0, 0.3])
        rows = np.array([7, 0, 3, 10])
        known = Targets(rows, np.column_stack([t, 1 - t]), np.ones(4))
        divergence, by_logits = label_divergence(self.logs, np.exp(self.logs), known)
        m = self.m[rows]
        H = -xlogy(t, t) - xlogy(1 - t, 1 - t)
        eq12 = (-H - t * np.log(m) - (1 - t) * np.log(1 - m)).sum()  # KL; the print has +H(T)
        assert divergence == pytest.approx(eq12)
        assert_allclose((by_logits @ self.W / self.scale)[:, 0], (m - t) / half, atol=1e-15)

    def test_the_criterion_grows_with_fishers(self):
        """Eq. 11 in one dimension; for equal classes J = Fisher / 2."""
        rng = np.random.default_rng(0)
        codes = np.repeat([0, 1], 40)
        for gap in (0.5, 1.0, 3.0):
            y = rng.standard_normal(80) + gap * codes
            one, two = y[:40], y[40:]
            fisher = (one.mean() - two.mean()) ** 2 / (one.var() + two.var())
            assert separation(y[:, None], codes, 2) == pytest.approx(fisher / 2, rel=1e-6)

    def test_unequal_classes_weigh_in_by_their_shares(self):
        """Between: p q gap^2; within: p var + q var."""
        y = np.random.default_rng(1).standard_normal(50)
        codes = np.repeat([0, 1], [10, 40])
        y[codes == 1] += 2
        one, two = y[:10], y[10:]
        between = 0.2 * 0.8 * (one.mean() - two.mean()) ** 2
        expected = between / (0.2 * one.var() + 0.8 * two.var())
        assert separation(y[:, None], codes, 2) == pytest.approx(expected, rel=1e-6)


# --- what must not matter -------------------------------------------------------------------------


def test_a_dense_and_a_sparse_matrix_of_the_same_neighbours_cost_the_same():
    P, Y = probabilities(15, is_sparse=True), positions(15, 4)
    (one, slope), (two, other) = (
        MbedCost(StoredNeighborhood.of(form), EXACT)(Y) for form in (P, P.toarray())
    )
    assert one == pytest.approx(two, rel=1e-12)
    assert_allclose(slope, other, atol=1e-12)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_turning_and_moving_the_map_leaves_the_neighbour_cost(is_sparse):
    cost = MbedCost(StoredNeighborhood.of(probabilities(15, is_sparse=is_sparse)), EXACT)
    Y = positions(15, 4)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((4, 4)))[0]
    value, gradient = cost(Y)
    for moved, expected in ((Y @ turn, gradient @ turn), (Y + 100.0, gradient), (-Y, -gradient)):
        assert cost(moved)[0] == pytest.approx(value, rel=1e-10)
        assert_allclose(cost(moved)[1], expected, atol=1e-10)
    assert cost(Y + 1e7)[0] == pytest.approx(value, abs=1e-5)  # nor do digits get lost
    assert abs(cost(1.1 * Y)[0] - value) > 1e-3  # scaling does matter


def test_moving_the_map_along_the_boundaries_leaves_the_whole_cost():
    """The last of K dimensions is orthogonal to all directions; another one is not."""
    W = simplex_directions(3, 3)
    terms = ClassTerms(W, 0.3, knowledge(15, 3))
    cost = MbedCost(StoredNeighborhood.of(probabilities(15)), EXACT, terms)
    Y = positions(15, 3)
    value, gradient = cost(Y)
    along, across = Y + 25 * np.eye(3)[2], Y + 0.1 * np.eye(3)[0]
    assert cost(along)[0] == pytest.approx(value, rel=1e-10)
    assert_allclose(cost(along)[1], gradient, atol=1e-9)
    assert abs(cost(across)[0] - value) > 1e-3


@every_shape
def test_exchanging_classes_exchanges_nothing_else(K, d):
    W, Y, known = simplex_directions(K, d), positions(9, d), knowledge(9, K)
    order = np.random.default_rng(4).permutation(K)
    mixed = Targets(known.rows, known.distributions[:, order], known.weights)
    cost, gradient = ClassTerms(W, 0.5, known)(Y)
    other, turned = ClassTerms(W[order], 0.5, mixed)(Y)
    assert other == pytest.approx(cost)
    assert_allclose(turned, gradient, atol=1e-13)


def test_labels_may_come_in_any_order():
    W, Y, known = simplex_directions(3, 3), positions(9, 3), knowledge(9, 3)
    back = np.arange(len(known.rows))[::-1]
    turned = Targets(known.rows[back], known.distributions[back], known.weights[back])
    _, gradient = ClassTerms(W, 0.5, known)(Y)
    assert_allclose(ClassTerms(W, 0.5, turned)(Y)[1], gradient, atol=1e-13)


def test_without_labels_and_with_flat_memberships_nothing_but_neighbours_is_left():
    """lambda -> infinity: the gradient is that of SNE."""
    P, Y = StoredNeighborhood.of(probabilities(12)), positions(12, 3)
    plain = MbedCost(P, EXACT)(Y)
    flat = ClassTerms(simplex_directions(3, 3), 1e8, Targets.none(3))
    cost, gradient = MbedCost(P, EXACT, flat)(Y)
    assert_allclose(gradient, plain[1], atol=1e-9)
    assert cost - plain[0] == pytest.approx(0, abs=1e-9)  # log K - log K


# --- the frame ------------------------------------------------------------------------------------


@pytest.mark.parametrize("K", [2, 3, 4, 5, 10, 20])
@pytest.mark.parametrize("more", [-1, 0, 2])
def test_directions_are_unit_vectors_at_equal_angles(K, more):
    W = simplex_directions(K, K + more)
    expected = np.full((K, K), -1 / (K - 1))
    np.fill_diagonal(expected, 1)
    assert_allclose(W @ W.T, expected, atol=1e-12)
    assert_allclose(W.sum(axis=0), 0, atol=1e-12)
    assert_array_equal(W[:, K - 1 :], 0)


def test_too_few_dimensions_are_refused():
    with pytest.raises(InvalidInputError, match=r"5 classes .* at least 4 dimensions.*=3"):
        simplex_directions(5, 3)


@pytest.mark.parametrize("K", [2, 3, 7])
@pytest.mark.parametrize("reach", [1.0, 2.0])
def test_the_confidence_is_the_membership_of_a_point_at_that_reach(K, reach):
    """Eq. 21, from a point placed there; and its limits."""
    W, r, scale = simplex_directions(K, K), 0.7, 0.9
    there = np.exp(log_memberships(reach * r * W[:1], W, scale))[0]
    tau = label_confidence(scale, r, K, reach)
    assert tau == pytest.approx(there[0], rel=1e-12)
    assert_allclose(soften(np.eye(K)[:1], tau)[0], there, rtol=1e-12)
    e = np.exp(reach * r / scale)
    assert tau == pytest.approx(e / ((K - 1) * np.exp(-reach * r / scale / (K - 1)) + e))
    assert label_confidence(1e12, r, K, reach) == pytest.approx(1 / K)
    assert label_confidence(1e-9, r, K, reach) == 1.0


@pytest.mark.parametrize("K", [2, 3, 6])
def test_softened_targets_sum_to_one_and_those_of_line_9_do_not(K):
    known, tau = shares(8, K), 0.8
    assert_allclose(soften(known, tau).sum(axis=1), 1, rtol=1e-13)
    assert_allclose(soften(known, 1.0), known, atol=1e-15)
    assert_allclose(soften(np.eye(K), 1 / K), 1 / K, rtol=1e-12)  # knows nothing, says nothing
    printed = soften(known, tau, is_share_printed=True)
    assert_allclose(printed, known * tau + (1 - known) * (1 - tau), atol=1e-15)
    assert_allclose(printed.sum(axis=1), tau + (K - 1) * (1 - tau), rtol=1e-13)
    if K > 2:
        assert (printed.sum(axis=1) > 1.1).all()
    else:
        assert_allclose(printed, soften(known, tau), atol=1e-15)


# --- the criterion --------------------------------------------------------------------------------


def scattered(K=3, d=4, n=60, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % K)
    noise = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    return noise + 2 * rng.standard_normal((K, d))[codes], codes


def test_the_criterion_is_the_trace_of_between_over_within():
    """MANOVA's sums of squares, point by point."""
    Y, codes = scattered()
    middle, H, E = Y.mean(axis=0), np.zeros((4, 4)), np.zeros((4, 4))
    for y, k in zip(Y, codes, strict=True):
        mean = Y[codes == k].mean(axis=0)
        E += np.outer(y - mean, y - mean)
        H += np.outer(mean - middle, mean - middle)
    expected = np.trace(H @ np.linalg.inv(E))
    assert separation(Y, codes, 3) == pytest.approx(expected, rel=1e-6)


def test_the_criterion_is_the_sum_of_the_discriminants_of_scikit_learn():
    """Fisher's ratios of the discriminant directions add up to the trace."""
    Y, codes = scattered(K=4, d=5, n=80)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(Y, codes)
    Z = lda.transform(Y)
    ratios = [separation(Z[:, [axis]], codes, 4) for axis in range(3)]
    assert separation(Y, codes, 4) == pytest.approx(sum(ratios), rel=1e-5)


def test_the_criterion_is_the_same_at_every_scale_and_in_every_frame():
    Y, codes = scattered()
    trace = separation(Y, codes, 3)
    mix = np.random.default_rng(1).standard_normal((4, 4))
    for same in (1e-6 * Y, 1e6 * Y, Y + 50.0, Y @ mix):
        assert separation(same, codes, 3) == pytest.approx(trace, rel=1e-5)


def test_an_empty_class_is_the_worst_and_coinciding_points_the_best():
    Y, codes = scattered()
    assert separation(Y, np.zeros(60, dtype=np.intp), 3) == -np.inf
    assert separation(Y, codes % 2, 3) == -np.inf
    assert separation(np.eye(3)[codes], codes, 3) == np.inf
    assert separation(np.ones((60, 2)), codes, 3) == -np.inf
    flat = np.column_stack([Y, np.zeros(60)])  # an axis without width does no harm
    assert separation(flat, codes, 3) == pytest.approx(separation(Y, codes, 3), rel=1e-5)


def test_a_point_counts_for_the_class_it_lies_farthest_along():
    W = simplex_directions(3, 3)
    Y = np.repeat(W, 20, axis=0) + 0.1 * positions(60, 3)
    assert criterion_of(Y, W) == pytest.approx(separation(Y, np.repeat(np.arange(3), 20), 3))
    assert criterion_of(np.abs(positions(60, 1)) + 1, simplex_directions(2, 1)) == -np.inf


def stage(number, criterion):
    return Stage(number, 1.0, 0.9, 0.0, criterion, 3, np.zeros((2, 2)))


def test_the_best_stage_has_the_largest_criterion_or_is_the_last():
    path = tuple(stage(2 + i, J) for i, J in enumerate((0.1, 3.0, -np.inf, 2.0)))
    assert best_stage(path).number == 3
    assert best_stage(tuple(stage(i, -np.inf) for i in (2, 3, 4))).number == 4


def test_the_radius_is_the_geometric_mean_of_the_deviations():
    Y = positions(2000, 3) * [1.0, 10.0, 0.1] + 5
    assert radius_of(Y) == pytest.approx(np.prod(Y.std(axis=0)) ** (1 / 3))
    Y[:, 1] = 3.0
    assert radius_of(Y) == 0.0


# --- extremes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e4, 1e8])
@pytest.mark.parametrize("has_prior", [False, True])
def test_far_points_are_safe(size, has_prior):
    """Memberships underflow, their logarithms do not."""
    K = 3
    W = simplex_directions(K, K)
    Y = size * np.vstack([W, -W, [[0, 0, 1]], np.zeros((1, 3))])
    known = Targets(np.arange(4), np.eye(K)[[1, 0, 2, 0]], np.ones(4))
    prior = np.array([0.2, 0.3, 0.5]) if has_prior else None
    cost, gradient = ClassTerms(W, 0.01, known, prior=prior)(Y)
    assert np.isfinite(cost)
    assert np.isfinite(gradient).all()
    logs = log_memberships(Y, W, 0.01)
    assert np.isfinite(logs).all()
    assert_allclose(np.exp(logs).sum(axis=1), 1, rtol=1e-12)
    assert_allclose(logs[0, 1], -1.5 * size / 0.01, rtol=1e-12)
    one = ClassTerms(W, 0.01, known, margin_weight=0, balance_weight=0)
    assert one(Y)[0] == pytest.approx(3 * 1.5 * size / 0.01 + np.log(2))  # three rows miss


def test_a_class_that_nobody_is_near_is_safe():
    W = simplex_directions(3, 3)
    cost, gradient = ClassTerms(W, 1e-3, Targets.none(3))(1e4 * np.repeat(W[:1], 5, axis=0))
    assert cost == pytest.approx(0, abs=1e-12)
    assert np.isfinite(gradient).all()


# --- the algorithm --------------------------------------------------------------------------------


def two_clouds(n=40):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3)) + 3 * (np.arange(n) % 2)[:, None]
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2) / 18
    np.fill_diagonal(squares, np.inf)
    return StoredNeighborhood.of(row_probabilities(squares)), np.arange(n) % 2


def problem(K=2, d=2, n_labels=6):
    P, truth = two_clouds()
    rows = np.arange(n_labels)
    return Problem(P, Targets(rows, np.eye(K)[truth[rows]], np.ones(n_labels)), K, d, None)


def path_of(task, seed=0, **options):
    given = {"n_steps": 100, "n_first_steps": 5, "reach": 2.0, "printed": (), "n_init": 1}
    return annealed_path(task, Schedule(**given | options), np.random.default_rng(seed))


def test_the_path_is_lines_6_to_8_of_the_algorithm():
    path = path_of(problem(), n_steps=480 + 5)
    assert [one.number for one in path] == list(range(2, 21))
    scales = np.array([one.scale for one in path])
    radius = scales[0] / 20
    assert_allclose(scales, 2 * radius * 10 / 100 ** (np.arange(19) / 18), rtol=1e-12)
    assert scales[-1] == pytest.approx(2 * radius / 10)
    tau = [label_confidence(scale, radius, 2, 2.0) for scale in scales]
    assert_allclose([one.confidence for one in path], tau)
    assert all(one.n_steps <= 26 for one in path)
    assert sum(one.n_steps for one in path) <= 480


def test_every_stage_ends_lower_than_it_began_and_says_where_it_stands():
    """Within a stage the cost never rises; what is reported is the cost at its end."""
    task = problem()
    path = path_of(task)
    W = simplex_directions(2, 2)
    for before, after in pairwise(path):
        blurred = soften(task.targets.distributions, after.confidence)
        known = Targets(task.targets.rows, blurred, task.targets.weights)
        cost = MbedCost(task.neighborhood, EXACT, ClassTerms(W, after.scale, known))
        assert cost(after.embedding)[0] == pytest.approx(after.cost, rel=1e-9)
        assert after.cost <= cost(before.embedding)[0] + 1e-12
        assert after.criterion == pytest.approx(criterion_of(after.embedding, W))


@pytest.mark.parametrize("name", PRINTED)
def test_every_slip_of_the_paper_can_be_had_back(name):
    """Line 9 is right for two classes, so three are taken."""
    task = problem(K=3, d=3)
    right, printed = path_of(task), path_of(task, printed=(name,))
    assert not np.allclose(right[-1].embedding, printed[-1].embedding, atol=1e-3)
    assert np.isfinite(printed[-1].embedding).all()


@pytest.mark.parametrize("is_printed", [False, True])
def test_both_starts_are_noise_of_the_size_of_lines_2_and_5(is_printed, monkeypatch):
    """Deviations 0.1 and 1e-3 r; as printed these are variances."""
    starts = []

    def told(cost, start, **options):
        starts.append(start)
        return conjugate_descent(cost, start, **options)

    monkeypatch.setattr(annealing, "conjugate_descent", told)
    path = path_of(problem(), printed=("start",) if is_printed else ())
    sizes = np.array([0.1, 1e-3 * path[0].scale / 20])
    expected = np.sqrt(sizes) if is_printed else sizes
    assert_allclose([start.std() for start in starts[:2]], expected, rtol=0.25)
    assert len(starts) == 20


def test_a_printed_gradient_halves_the_neighbours_against_the_classes():
    task = problem()
    path = path_of(task, printed=("gradient",))
    last, W = path[-1], simplex_directions(2, 2)
    blurred = soften(task.targets.distributions, last.confidence)
    known = Targets(task.targets.rows, blurred, task.targets.weights)
    half = MbedCost(task.neighborhood, EXACT, ClassTerms(W, last.scale, known), 0.5)
    assert half(last.embedding)[0] == pytest.approx(last.cost, rel=1e-9)


def test_the_prior_is_in_the_cost_of_every_stage():
    task = problem()
    held = Problem(task.neighborhood, task.targets, 2, 2, np.array([0.8, 0.2]))
    assert path_of(held)[-1].cost != pytest.approx(path_of(task)[-1].cost, rel=1e-3)


def test_of_several_starts_the_one_with_the_largest_criterion_is_kept():
    task, schedule = problem(n_labels=0), {"n_steps": 60}
    random = np.random.default_rng(7)
    given = {"n_first_steps": 5, "reach": 2.0, "printed": (), "n_init": 1} | schedule
    singles = [annealed_path(task, Schedule(**given), random) for _ in range(3)]
    criteria = [best_stage(path).criterion for path in singles]
    best = best_stage(path_of(task, seed=7, n_init=3, **schedule))
    assert best.criterion == pytest.approx(max(criteria))
    assert max(criteria) > min(criteria) + 1e-6


def test_more_reach_asks_labels_to_be_surer():
    near, far = (path_of(problem(), reach=reach) for reach in (1.0, 2.0))
    assert all(a.confidence < b.confidence for a, b in zip(near, far, strict=True))
