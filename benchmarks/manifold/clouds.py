"""Points of the large runs: MNIST on its principal components, and curved sheets of any number."""

from dataclasses import dataclass

import numpy as np

from beltrami import load_dataset
from beltrami_papers.preparation import keep_labels
from benchmarks.common.cache import from_cache
from benchmarks.common.facts import SEED
from benchmarks.peers.problems import N_MNIST

N_COMPONENTS = 100
N_LABELS = 1000
N_CLASSES, N_DIMENSIONS, NOISE = 10, 20, 0.6
"""Of the sheets; the noise makes them overlap."""

N_TEST = 10_000
_TOY_TRAIN, _TOY_LABELS = 600, 100


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points to learn from, of which `rows` are labelled, and new ones to test on."""

    name: str
    points: np.ndarray
    targets: np.ndarray
    rows: np.ndarray
    new_points: np.ndarray
    new_targets: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """The classes of the labelled rows, and -1 elsewhere."""
        return keep_labels(self.targets, self.rows)

    def part(self, size: int) -> "Cloud":
        """Return the labelled rows and random others, `size` in all."""
        rng = np.random.default_rng((SEED, size))
        others = np.setdiff1d(np.arange(len(self.targets)), self.rows)
        chosen = rng.choice(others, size - len(self.rows), replace=False)
        order = np.concatenate([self.rows, chosen])
        rows = np.arange(len(self.rows))
        return Cloud(
            f"{self.name}, {size} of its rows",
            self.points[order],
            self.targets[order],
            rows,
            self.new_points,
            self.new_targets,
        )


def mnist(*, toy: bool = False) -> Cloud:
    """Return the training images with 1000 random labels, and the test images.

    The components are those of the training images. The toy is scikit-learn's digits as they are.
    """
    if toy:
        digits = load_dataset("digits")
        points, targets = digits.points.astype(np.float32), digits.targets
        return _split("digits", points, targets, _TOY_TRAIN, _TOY_LABELS)
    stored = from_cache("manifold-mnist-pca100", N_MNIST, _project_mnist)
    return _split("MNIST", stored["points"], stored["targets"], N_MNIST, N_LABELS)


def sheets(n: int, *, toy: bool = False) -> Cloud:
    """Return n points on ten noisy curved sheets in 20 dimensions, one class each, and new ones.

    A sheet is a random sine in each coordinate of two parameters, shifted at random.
    """
    n_test = n // 10 if toy else N_TEST
    rng = np.random.default_rng(SEED)
    slopes = rng.normal(0.0, 0.5, (N_CLASSES, 2, N_DIMENSIONS))
    phases = rng.uniform(0.0, 1.0, (N_CLASSES, N_DIMENSIONS))
    centres = rng.normal(0.0, 0.3, (N_CLASSES, N_DIMENSIONS))
    targets = rng.integers(N_CLASSES, size=n + n_test)
    points = np.empty((n + n_test, N_DIMENSIONS), dtype=np.float32)
    for one in range(N_CLASSES):
        rows = np.flatnonzero(targets == one)
        turns = rng.uniform(0.0, 1.0, (len(rows), 2)) @ slopes[one] + phases[one]
        noise = rng.normal(0.0, NOISE, (len(rows), N_DIMENSIONS))
        points[rows] = np.sin(2 * np.pi * turns) + centres[one] + noise
    labels = _TOY_LABELS if toy else N_LABELS
    return _split("sheets", points, targets, n, labels)


def _split(name: str, points: np.ndarray, targets: np.ndarray, n: int, labels: int) -> Cloud:
    rows = np.random.default_rng(SEED).choice(n, labels, replace=False)
    targets = np.asarray(targets)
    return Cloud(name, points[:n], targets[:n], rows, points[n:], targets[n:])


def _project_mnist() -> dict[str, np.ndarray]:
    digits = load_dataset("mnist")
    pixels = np.asarray(digits.points, dtype=np.float32)
    train = pixels[:N_MNIST].astype(np.float64)
    mean = train.mean(axis=0)
    _, directions = np.linalg.eigh(np.cov(train.T))
    directions = directions[:, ::-1][:, :N_COMPONENTS]
    points = (pixels - mean.astype(np.float32)) @ directions.astype(np.float32)
    return {"points": points, "targets": np.asarray(digits.targets)}
