"""How long new labels take on a fitted model: milliseconds of ``fit_labels`` beside a full fit."""

import time
import warnings
from typing import Any

import numpy as np

from beltrami_papers.preparation import keep_labels
from benchmarks.common.draws import labelled_rows
from benchmarks.few_labels.contest import percent_right
from benchmarks.few_labels.problems import FewLabels

NAME = "ours: fit_labels latency"
NEEDS = "EigenfunctionClassifier"
PER_CLASS = 10
CALLS = 20


def measure(problem: FewLabels, n_eigenvectors: int = 200) -> dict[str, Any]:
    """Fit once, then give the model other labels `CALLS` times, after one call to warm up.

    Each call has 10 labels per class of its own, and its clock stops when the classes of all
    points have been read.
    """
    import beltrami  # noqa: PLC0415 - as late as the methods

    draws = [labelled_rows(problem.targets, PER_CLASS, draw) for draw in range(CALLS + 1)]
    settings = {"n_eigenvectors": n_eigenvectors, "gamma": "auto"}
    model = getattr(beltrami, NEEDS)(**settings, graph=problem.graph)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model.fit(problem.points, keep_labels(problem.targets, draws[0]))
        full_s = time.perf_counter() - start
        milliseconds, accuracies = [], []
        for labelled in draws:
            labels = keep_labels(problem.targets, labelled)
            start = time.perf_counter()
            predicted = np.asarray(model.fit_labels(labels).transduction_)
            milliseconds.append(1e3 * (time.perf_counter() - start))
            accuracies.append(percent_right(problem, labelled, predicted))
    return {
        "problem": problem.name,
        "n": problem.size,
        "model": f"{NEEDS}(n_eigenvectors={n_eigenvectors}, gamma='auto')",
        "labels": len(draws[0]),
        "full_fit_s": full_s,
        "fit_labels_ms": milliseconds[1:],  # the first was the warm-up
        "accuracy": accuracies[1:],
    }
