"""What may stand for the kernel of many points: landmarks, or explicit features.

A kernel, some rows and a seed enter; a feature map leaves. To add a way: write a subclass of
`KernelApproximation` here and put its name into `_APPROXIMATIONS` below.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import IndexVector, Seed
from beltrami.core.validation import check_count, is_auto
from beltrami.kernel_machines.features import FeatureMap, check_explicit, explicit_features
from beltrami.kernel_machines.gram import Gram
from beltrami.kernel_machines.kernels import Kernel
from beltrami.kernel_machines.landmarks import NystromFeatures

_TOL = 1e-6
"""A landmark is dropped when less than this share of the largest k(x, x) is new in it."""

_TYPICAL_SIZE, _LARGEST_SIZE = 2000, 5000


class KernelApproximation(ABC, BaseEstimator):
    """A way to let m features stand for the kernel."""

    method: ClassVar[str]
    n_eigenfunctions: int

    @property
    @abstractmethod
    def _size(self) -> tuple[str, Any]:
        """Name and value of the parameter that says how many features there are."""

    @abstractmethod
    def feature_map(self, gram: Gram, rows: IndexVector, seed: Seed) -> FeatureMap:
        """Return features of a kernel, as many as there are rows drawn for them."""

    def check_parameters(self, kernel: Kernel) -> None:
        """Raise where a parameter makes no sense, or the kernel has no such features."""
        del kernel
        name, size = self._size
        if not is_auto(size, name=name):
            check_count(size, name=name, minimum=2)
        check_count(self.n_eigenfunctions, name="n_eigenfunctions", minimum=0)

    def size(self, n_labels: int) -> int:
        """Return the number of landmarks or features for a fit with that many labels."""
        size = self._size[1]
        if size == "auto":
            return min(max(_TYPICAL_SIZE, 2 * n_labels), _LARGEST_SIZE)
        return int(size)


class NystromApproximation(KernelApproximation):
    """Some of the points, landmarks, stand for all, through the kernel's similarities to them.

    For ``approximation=`` of the Laplacian machines; serves every kernel. With m landmarks and n
    points a fit takes O(n m^2) time and O(n + m^2) memory. ``approximation="nystrom"`` stands for
    it with these defaults.

    Parameters
    ----------
    n_landmarks : int or "auto", default="auto"
        Landmarks, the labelled rows first among them; "auto" is 2000, or twice the labels up to
        5000. `fit_labels` keeps those of the fit.
    n_eigenfunctions : int, default=0
        Eigenfunctions of the graph added to the features, as if the kernel had them: landmarks
        alone cannot follow the data's shape. They need a graph that is a recipe, which can carry
        them to new points. ``approximation="auto"`` adds 100 where it takes landmarks, ``gamma_i``
        is "auto" too and the graph is a recipe.

    See Also
    --------
    FeatureApproximation : Explicit features in place of landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import LaplacianSVC, NystromApproximation, two_moons
    >>> moons = two_moons(300, random_state=0)
    >>> y = np.where(np.arange(300) % 30 == 0, moons.targets, -1)
    >>> fewer = NystromApproximation(60, n_eigenfunctions=10)
    >>> learner = LaplacianSVC(approximation=fewer, random_state=0).fit(moons.points, y)
    >>> learner.approximation_.n_features <= 70
    True
    """

    method = "nystrom"

    def __init__(self, n_landmarks: int | str = "auto", *, n_eigenfunctions: int = 0) -> None:
        self.n_landmarks = n_landmarks
        self.n_eigenfunctions = n_eigenfunctions

    @property
    def _size(self) -> tuple[str, Any]:
        return "n_landmarks", self.n_landmarks

    def feature_map(self, gram: Gram, rows: IndexVector, seed: Seed) -> NystromFeatures:
        """Return the features of landmarks; those that say nothing new are dropped.

        Parameters
        ----------
        gram : Gram
            The kernel and the points.
        rows : ndarray of shape (m,)
            The landmarks.
        seed : int, Generator, RandomState or None
            Not used.

        Returns
        -------
        NystromFeatures
            The map.
        """
        del seed
        return NystromFeatures.of(gram, rows, tol=_TOL)


class FeatureApproximation(KernelApproximation):
    """Features with a formula stand for the kernel: random waves, or the coordinates.

    For ``approximation=`` of the Laplacian machines. The "rbf" kernel gets random waves
    [RahimiRecht07]_, "linear" and "cosine" the coordinates themselves, which are exact; other
    kernels have no such features. ``approximation="features"`` stands for it with these defaults.

    Parameters
    ----------
    n_features : int or "auto", default="auto"
        Random features of the "rbf" kernel, at most as many as points; "auto" is 2000, or twice
        the labels up to 5000.
    n_eigenfunctions : int, default=0
        Eigenfunctions of the graph added to the features, as in `NystromApproximation`.

    See Also
    --------
    NystromApproximation : Landmarks, for every kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami import FeatureApproximation, LaplacianRLSClassifier, two_moons
    >>> moons = two_moons(300, random_state=0)
    >>> y = np.where(np.arange(300) % 30 == 0, moons.targets, -1)
    >>> waves = FeatureApproximation(100)
    >>> learner = LaplacianRLSClassifier(approximation=waves, random_state=0)
    >>> learner.fit(moons.points, y).approximation_.n_features
    100
    """

    method = "features"

    def __init__(self, n_features: int | str = "auto", *, n_eigenfunctions: int = 0) -> None:
        self.n_features = n_features
        self.n_eigenfunctions = n_eigenfunctions

    @property
    def _size(self) -> tuple[str, Any]:
        return "n_features", self.n_features

    def check_parameters(self, kernel: Kernel) -> None:
        """Raise where a parameter makes no sense, or the kernel has no such features.

        Parameters
        ----------
        kernel : Kernel
            The kernel to be approximated.
        """
        super().check_parameters(kernel)
        check_explicit(kernel)

    def feature_map(self, gram: Gram, rows: IndexVector, seed: Seed) -> FeatureMap:
        """Return explicit features of the kernel.

        Parameters
        ----------
        gram : Gram
            The kernel and the points.
        rows : ndarray of shape (m,)
            Only their number counts: so many random features are drawn.
        seed : int, Generator, RandomState or None
            Draws the random features.

        Returns
        -------
        FeatureMap
            The map.
        """
        return explicit_features(gram.kernel, gram.points, n_features=len(rows), seed=seed)


_APPROXIMATIONS: dict[str, Callable[[], KernelApproximation | None]] = {
    "none": lambda: None,
    "nystrom": NystromApproximation,
    "features": FeatureApproximation,
}
"""What the texts of ``approximation=`` stand for, besides "auto"."""


def resolve_approximation(approximation: Any) -> KernelApproximation | None:
    """Return what stands for the kernel, None where the fit is exact."""
    if isinstance(approximation, str) and approximation in _APPROXIMATIONS:
        return _APPROXIMATIONS[approximation]()
    if isinstance(approximation, KernelApproximation):
        return approximation
    listed = ", ".join(map(repr, ("auto", *_APPROXIMATIONS)))
    raise InvalidInputError(
        f"approximation={approximation!r} is not known; choose one of {listed}, "
        "NystromApproximation(...) or FeatureApproximation(...)."
    )
