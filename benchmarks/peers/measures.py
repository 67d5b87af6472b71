"""How far two answers lie apart, and how far one lies from the truth."""

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse
from sklearn.metrics import adjusted_rand_score

from benchmarks.peers.contest import Answer, Problem

_SAMPLE = 200  # rows on which neighbours are checked in float64


# Nearest neighbours: answers are (distances,), each row ascending, itself not counted.


def recall_gap(problem: Problem, ours: Answer, theirs: Answer) -> float:  # noqa: ARG001
    """Return the share of one side's neighbours farther than the other's last: 1 - recall.

    The larger of both directions; equal distances count as found, whoever they belong to.
    """
    mine, other = ours.arrays[0], theirs.arrays[0]
    slack = 1e-4 * float(np.median(mine))
    return max(_beyond(mine, other[:, -1] + slack), _beyond(other, mine[:, -1] + slack))


def missed_neighbors(problem: Problem, answer: Answer) -> float:
    """Return the share of true neighbours missed, by brute force in float64 on 200 rows."""
    distances = answer.arrays[0]
    rows = np.random.default_rng(0).choice(problem.size, min(_SAMPLE, problem.size), replace=False)
    truth = _true_distances(problem["points"], rows)
    truth[np.arange(len(rows)), rows] = np.inf
    k = distances.shape[1]
    farthest = np.partition(truth, k - 1, axis=1)[:, k - 1]
    return _beyond(distances[rows], farthest + 1e-4 * float(np.median(distances)))


def _beyond(distances: np.ndarray, last: np.ndarray) -> float:
    return float((distances > last[:, None]).mean())


def _true_distances(points: np.ndarray, rows: np.ndarray) -> np.ndarray:
    if issparse(points):  # angles
        lengths = np.sqrt(points.multiply(points).sum(axis=1))
        unit = csr_array(diags_array(1 / lengths) @ points)
        return np.arccos(np.clip((unit[rows] @ unit.T).toarray(), -1, 1))
    wide = points.astype(np.float64)
    squares = np.einsum("ij,ij->i", wide, wide)
    gaps = squares[rows, None] + squares - 2 * wide[rows] @ wide.T
    return np.sqrt(np.maximum(gaps, 0.0))


# Eigenvectors: answers are (values, vectors) of the symmetric problem, ascending.


def eigenvalue_gap(problem: Problem, ours: Answer, theirs: Answer) -> float:  # noqa: ARG001
    """Return the largest difference of eigenvalues, relative to the largest of them."""
    mine, other = ours.arrays[0], theirs.arrays[0]
    return float(np.abs(mine - other).max() / other.max())


def largest_residual(problem: Problem, answer: Answer, kind: str = "normalized") -> float:
    """Return the largest norm of A v - lambda v over unit vectors v."""
    values, vectors = answer.arrays
    weights, worst = problem["graph"].weights, 0.0
    degrees = weights.sum(axis=1)
    root = 1 / np.sqrt(degrees) if kind == "normalized" else np.ones(len(degrees))
    for start in range(0, len(values), 50):
        block = vectors[:, start : start + 50]
        block = block / np.linalg.norm(block, axis=0)
        scaled = root[:, None] * block
        image = root[:, None] * (degrees[:, None] * scaled - weights @ scaled)
        gaps = np.linalg.norm(image - block * values[start : start + 50], axis=0)
        worst = max(worst, float(gaps.max()))
    return worst


def same_residual(problem: Problem, theirs: Answer, kind: str = "normalized") -> dict[str, float]:
    """Return the tolerance that asks ours for the residual that the peer reached."""
    return {"tol": largest_residual(problem, theirs, kind) / float(theirs.arrays[0].max())}


# Linear systems: answers are (X,).


def energy_gap(problem: Problem, ours: Answer, theirs: Answer) -> float:
    """Return the larger of the two relative errors in the energy norm."""
    return max(_energy_error(problem, ours), _energy_error(problem, theirs))


def _energy_error(problem: Problem, answer: Answer) -> float:
    """Return the relative error in the energy norm, the worst of the columns."""
    matrix, truth = problem["matrix"], problem["reference"]
    gap = answer.arrays[0] - truth
    lost = np.einsum("ij,ij->j", gap, matrix @ gap)
    whole = np.einsum("ij,ij->j", truth, matrix @ truth)
    return float(np.sqrt(np.maximum(lost, 0.0) / whole).max())


def energy_errors(problem: Problem, ours: Answer, theirs: Answer) -> str:
    """Return both errors in the energy norm, for the note."""
    mine, other = (_energy_error(problem, side) for side in (ours, theirs))
    return f"energy error {mine:.1e} / {other:.1e}"


def relative_residual(problem: Problem, answer: Answer) -> float:
    """Return the largest |A x - b| / |b| of the columns."""
    gaps = np.linalg.norm(problem["matrix"] @ answer.arrays[0] - problem["right"], axis=0)
    return float((gaps / np.linalg.norm(problem["right"], axis=0)).max())


# Clusters: answers are (labels,).


def cut_gap(problem: Problem, ours: Answer, theirs: Answer) -> float:
    """Return by how much the worse normalised cut exceeds the better."""
    cuts = [_normalised_cut(problem["graph"].weights, side.arrays[0]) for side in (ours, theirs)]
    return max(cuts) / min(cuts) - 1 if min(cuts) > 0 else float(max(cuts) > 0)


def disagreement(problem: Problem, answer: Answer) -> float:
    """Return 1 - the adjusted Rand index against the classes."""
    return 1 - float(adjusted_rand_score(problem["targets"], answer.arrays[0]))


def _normalised_cut(weights: csr_array, labels: np.ndarray) -> float:
    members = np.eye(int(labels.max()) + 1)[labels]
    inside = np.einsum("ij,ij->j", members, weights @ members)
    volumes = weights.sum(axis=1) @ members
    return float((1 - inside / np.maximum(volumes, 1e-300)).sum())
