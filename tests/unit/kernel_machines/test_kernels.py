"""Kernels: scikit-learn's values, blocks that fit together, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist
from sklearn.gaussian_process.kernels import RBF
from sklearn.metrics.pairwise import (
    cosine_similarity,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)
from tests.support.names import case_name

from beltrami.core.errors import InvalidInputError
from beltrami.kernel_machines.gram import Gram, check_precomputed, check_psd
from beltrami.kernel_machines.kernels import (
    LinearKernel,
    PolynomialKernel,
    RbfKernel,
    resolve_kernel,
    tried_widths,
    typical_width,
)

RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(30, 4))
OTHERS = RNG.normal(size=(7, 4))
POINTS[3] = 0.0
ROWS, COLUMNS = np.array([5, 0, 9]), np.array([1, 2, 3, 28])

NAMED = {
    "linear": linear_kernel,
    "poly": lambda A, B: polynomial_kernel(A, B, degree=2, gamma=1.0, coef0=0.5),
    "rbf": lambda A, B: rbf_kernel(A, B, gamma=1 / (2 * 1.5**2)),
    "cosine": cosine_similarity,
}


def kernel_of(name):
    if name == "poly":
        return PolynomialKernel(2, coef0=0.5)
    return resolve_kernel(name, width=1.5)


def gram_of(kind):
    if kind == "precomputed":
        return Gram(kernel_of(kind), rbf_kernel(POINTS))
    return Gram(kernel_of(kind), POINTS)


every_name = pytest.mark.parametrize("name", NAMED)
every_kind = pytest.mark.parametrize(
    "kind", [*NAMED, "precomputed", RBF(1.5), rbf_kernel], ids=case_name
)


# --- values -----------------------------------------------------------------------------------


@every_name
@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_values_are_those_of_scikit_learn(name: str, container) -> None:
    found = kernel_of(name).between(container(POINTS), container(OTHERS))
    assert isinstance(found, np.ndarray)
    assert_allclose(found, NAMED[name](POINTS, OTHERS), atol=1e-13)


@every_name
@pytest.mark.parametrize("container", [np.asarray, csr_array])
def test_single_precision_stays_and_is_near_double(name: str, container) -> None:
    single = container(POINTS.astype(np.float32)), container(OTHERS.astype(np.float32))
    found = kernel_of(name).between(*single)
    assert found.dtype == np.float32
    assert_allclose(found, NAMED[name](POINTS, OTHERS), atol=1e-4, rtol=1e-4)


@every_name
def test_points_are_left_as_they_were(name: str) -> None:
    before = POINTS.copy(), OTHERS.copy()
    kernel_of(name).between(POINTS, OTHERS)
    assert_array_equal(POINTS, before[0])
    assert_array_equal(OTHERS, before[1])


@every_kind
def test_the_diagonal_is_that_of_the_matrix(kind) -> None:
    gram = gram_of(kind)
    assert_allclose(gram.diagonal(), np.diagonal(gram.whole()), atol=1e-13)


def test_the_diagonal_of_a_function_is_made_in_blocks() -> None:
    points, sizes = RNG.normal(size=(600, 2)), []

    def product(A, B):
        sizes.append(len(A))
        return A @ B.T

    found = resolve_kernel(product).diagonal(points)
    assert_allclose(found, (points**2).sum(axis=1))
    assert max(sizes) < 600


@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-8), (np.float32, 1e-5)])
def test_the_rbf_kernel_does_not_cancel_far_from_the_origin(dtype, tol: float) -> None:
    far = (POINTS + 1e4).astype(dtype)
    expected = np.exp(-(cdist(far, far) ** 2) / (2 * 1.5**2))
    assert_allclose(kernel_of("rbf").between(far, far[:]), expected, atol=tol)


def test_the_rbf_kernel_of_a_point_with_itself_is_one_to_the_last_bit() -> None:
    assert_array_equal(np.diagonal(gram_of("rbf").whole()), 1.0)


def test_a_zero_row_has_no_cosine() -> None:
    kernel = kernel_of("cosine")
    assert_array_equal(kernel.between(POINTS, OTHERS)[3], 0.0)
    assert kernel.diagonal(POINTS)[3] == 0.0


# --- blocks -----------------------------------------------------------------------------------


@every_kind
def test_the_whole_matrix_is_symmetric_to_rounding(kind) -> None:
    whole = gram_of(kind).whole()
    assert whole.dtype == np.float64
    assert_allclose(whole, whole.T, rtol=1e-14)


@every_kind
def test_blocks_are_parts_of_the_whole(kind) -> None:
    gram = gram_of(kind)
    block = gram.among(ROWS, COLUMNS)
    assert_allclose(block, gram.whole()[np.ix_(ROWS, COLUMNS)], atol=1e-13)
    assert_allclose(gram.at(gram.points[ROWS], COLUMNS), block, atol=1e-13)


def test_making_the_whole_leaves_a_precomputed_kernel_as_it_was() -> None:
    matrix = rbf_kernel(POINTS)
    matrix[0, 1] += 1e-9
    before = matrix.copy()
    Gram(kernel_of("precomputed"), matrix).whole()
    assert_array_equal(matrix, before)


def test_blocks_of_single_precision_are_double_where_asked() -> None:
    gram = Gram(kernel_of("rbf"), POINTS.astype(np.float32))
    assert gram.among(ROWS, COLUMNS).dtype == np.float32
    assert gram.among(ROWS, COLUMNS, is_double=True).dtype == np.float64


# --- the width --------------------------------------------------------------------------------


def test_the_kernel_is_one_over_e_at_the_median_distance() -> None:
    width = typical_width(POINTS)
    assert_allclose(np.exp(-(np.median(pdist(POINTS)) ** 2) / (2 * width**2)), np.exp(-1))


def test_the_width_goes_with_the_scale_of_the_points() -> None:
    assert_allclose(typical_width(100 * POINTS), 100 * typical_width(POINTS))


def test_the_width_of_many_points_is_that_of_a_sample_always_the_same() -> None:
    points = RNG.normal(size=(1500, 3))
    width = typical_width(points)
    assert width == typical_width(points)
    assert_allclose(width, np.median(pdist(points)) / np.sqrt(2), rtol=0.05)


def test_the_width_of_identical_points_is_one() -> None:
    assert typical_width(np.ones((5, 2))) == 1.0


def test_sparse_points_have_the_width_of_dense_ones() -> None:
    assert_allclose(typical_width(csr_array(POINTS)), typical_width(POINTS))


def test_in_many_dimensions_the_narrow_width_is_half_the_typical_one() -> None:
    cloud = np.random.default_rng(0).normal(size=(200, 50))
    typical = typical_width(cloud)
    assert tried_widths(cloud) == (typical / 2, typical, 2 * typical)


def test_on_a_thin_curve_the_narrow_width_is_that_of_ten_neighbours() -> None:
    curve = np.arange(500.0)[:, None]
    # Inside a row of points five lie on either side, so the tenth neighbour is five away.
    narrow, typical, _ = tried_widths(curve)
    assert narrow == 5.0
    assert typical == typical_width(curve)


def test_points_in_one_place_are_no_neighbours() -> None:
    curve = np.repeat(np.arange(100.0), 4)[:, None]
    rows = np.abs(curve - curve.T)
    tenth = [np.sort(row[row > 0])[9] for row in rows]
    assert tried_widths(curve)[0] == np.median(tenth)
    assert tried_widths(np.ones((5, 2))) == (0.5, 1.0, 2.0)


def test_two_points_have_widths_too() -> None:
    assert_allclose(tried_widths(np.array([[0.0], [2.0]])), np.array([0.5, 1.0, 2.0]) * 2**0.5)


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize("coef0", [0.0, 1.0, -1.0])
def test_a_polynomial_is_surely_a_kernel_only_without_a_negative_constant(coef0: float) -> None:
    kernel = PolynomialKernel(coef0=coef0)
    assert kernel.is_surely_psd == (coef0 >= 0)


@every_kind
def test_what_a_user_gives_is_not_surely_a_kernel(kind) -> None:
    is_named = isinstance(kind, str) and kind != "precomputed"
    assert kernel_of(kind).is_surely_psd == is_named


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("sigmoid", "kernel='sigmoid' is not known; choose one of 'linear'"),
        (None, "kernel=None is not known"),
        (RbfKernel, "kernel=<class .*RbfKernel'> is not known"),
        (RbfKernel(0.0), "width=0.0 must be a finite number above zero"),
        (RbfKernel(np.nan), "width=nan must be"),
        (RbfKernel("wide"), "width='wide' is not known; give a number or 'auto'"),
        (PolynomialKernel(0), "degree=0 must be at least 1"),
        (PolynomialKernel(1.5), "degree=1.5 must be an integer"),
        (PolynomialKernel(coef0=np.inf), "coef0=inf must be a finite number"),
        (PolynomialKernel(coef0="one"), "coef0='one' must be a finite number"),
    ],
)
def test_kernels_that_make_no_sense_are_refused(kernel, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        resolve_kernel(kernel)


def test_a_width_is_for_the_gaussian_kernel_alone() -> None:
    assert resolve_kernel("rbf").width == "auto"
    assert resolve_kernel("rbf", width=2.0).width == 2.0
    given = RbfKernel()
    assert resolve_kernel(given, width=2.0).width == 2.0
    assert given.width == "auto"
    assert isinstance(resolve_kernel("linear", width=2.0), LinearKernel)


def test_a_gaussian_kernel_without_a_width_has_no_values() -> None:
    with pytest.raises(InvalidInputError, match="width='auto' must be a finite number"):
        RbfKernel().between(POINTS, OTHERS)


def test_a_function_must_return_a_number_per_pair() -> None:
    with pytest.raises(InvalidInputError, match=r"shape \(30,\) for 30 and 7 points"):
        resolve_kernel(lambda A, B: A[:, 0]).between(POINTS, OTHERS)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_function_must_return_finite_numbers(bad: float) -> None:
    with pytest.raises(InvalidInputError, match="NaN or infinity for some pairs"):
        resolve_kernel(lambda A, B: np.full((len(A), len(B)), bad)).between(POINTS, OTHERS)


def test_a_precomputed_kernel_is_square() -> None:
    with pytest.raises(InvalidInputError, match=r"shape \(30, 4\) and fit needs a square one"):
        check_precomputed(POINTS)


def test_a_precomputed_kernel_is_dense() -> None:
    with pytest.raises(InvalidInputError, match="must be a dense array"):
        check_precomputed(csr_array(np.eye(3)))


def test_a_precomputed_kernel_is_symmetric_up_to_rounding() -> None:
    matrix = rbf_kernel(POINTS)
    matrix[0, 1] += 1e-9
    check_precomputed(matrix)
    matrix[0, 1] += 0.25
    with pytest.raises(InvalidInputError, match=r"differ by up to 0\.25 where the largest entry"):
        check_precomputed(matrix)


@pytest.mark.parametrize(
    "block", [np.eye(3), np.ones((3, 3)), np.zeros((3, 3)), POINTS @ POINTS.T], ids=repr
)
def test_semi_definite_blocks_pass(block) -> None:
    check_psd(block)


@pytest.mark.parametrize("block", [-np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]])], ids=repr)
def test_a_negative_eigenvalue_is_refused_with_its_size(block) -> None:
    with pytest.raises(InvalidInputError, match="on 2 of the points its eigenvalues run from -1"):
        check_psd(block)


@pytest.mark.parametrize("kernel", NAMED)
def test_sparse_points_may_differ_in_precision(kernel: str) -> None:
    made = resolve_kernel(kernel, width=1.5)
    expected = made.between(OTHERS, POINTS)
    singles = csr_array(OTHERS.astype(np.float32))
    assert_allclose(made.between(singles, csr_array(POINTS)), expected, atol=1e-5)
