import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, random_array
from sklearn.decomposition import PCA

from beltrami.core.errors import InvalidInputError
from beltrami.data import principal_components, projection


def sample(n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    scales = 2.0 ** -np.arange(d)
    return np.asarray(rng.standard_normal((n, d)) * scales @ rng.standard_normal((d, d)) + 5.0)


@pytest.mark.parametrize("shape", [(60, 9), (9, 20)])
def test_components_are_those_of_a_singular_value_decomposition(shape: tuple[int, int]) -> None:
    points = sample(*shape)
    ours = principal_components(points, 4)
    peer = PCA(4, svd_solver="full").fit_transform(points)
    assert_allclose(np.abs(ours), np.abs(peer), atol=1e-9)
    assert (np.diff((ours**2).sum(axis=0)) <= 0).all()


@pytest.mark.parametrize("shape", [(60, 9), (9, 20)])
def test_uncentred_components_reproduce_inner_products(shape: tuple[int, int]) -> None:
    points = sample(*shape)
    ours = principal_components(points, 9, center=False)
    assert_allclose(ours @ ours.T, points @ points.T, rtol=1e-9)


@pytest.mark.parametrize("shape", [(60, 9), (9, 20)])
@pytest.mark.parametrize("center", [True, False])
def test_sparse_and_dense_points_give_the_same(shape: tuple[int, int], center: bool) -> None:
    sparse = csr_array(random_array(shape, density=0.4, rng=np.random.default_rng(1)))
    ours = principal_components(sparse, 4, center=center)
    assert_allclose(ours, principal_components(sparse.toarray(), 4, center=center), atol=1e-10)


@pytest.mark.parametrize("shape", [(60, 9), (9, 20)])
def test_sign_does_not_depend_on_the_sign_of_the_solver(
    shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    points = sample(*shape)
    first = principal_components(points, 3)
    solve = projection.eigh

    def flipped(*args: object, **options: object) -> tuple[np.ndarray, np.ndarray]:
        values, vectors = solve(*args, **options)  # type: ignore[call-overload]
        return values, -vectors

    monkeypatch.setattr(projection, "eigh", flipped)
    assert_allclose(principal_components(points, 3), first, atol=1e-12)


def test_blocks_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    points = sample(50, 6)
    whole = principal_components(points, 3)
    monkeypatch.setattr(projection, "_BLOCK_ENTRIES", 42)
    assert_allclose(principal_components(points, 3), whole, atol=1e-10)


def test_single_precision_stays_single_and_sums_in_double() -> None:
    points = (sample(400, 6) + 1e4).astype(np.float32)
    ours = principal_components(points, 3)
    assert ours.dtype == np.float32
    double = principal_components(points.astype(np.float64), 3)
    assert_allclose(ours, double, atol=1e-3)


def test_more_components_than_there_are_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"n_components=100 .* at most 6"):
        principal_components(sample(50, 6))
    with pytest.raises(InvalidInputError, match="n_components"):
        principal_components(sample(50, 6), 0)
