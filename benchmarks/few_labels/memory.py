"""Peak memory of one fit, in a process of its own, above what the process held before it.

The child makes the problem with all inputs of the method, runs the method on the toy, and then
counts how far its resident memory rises in one fit with five labels per class.
"""

import sys
import warnings

from benchmarks.common.draws import labelled_rows
from benchmarks.common.memory import added_mb
from benchmarks.common.processes import run_module


def peak_mb(problem_name: str, method_name: str) -> float:
    """Fit once in a child and return the megabytes it added at its peak."""
    return float(run_module("few_labels.memory", problem_name, method_name))


def _measure(problem_name: str, method_name: str) -> float:
    from benchmarks.few_labels.contest import warm_up  # noqa: PLC0415
    from benchmarks.few_labels.methods import methods  # noqa: PLC0415
    from benchmarks.few_labels.problems import problem  # noqa: PLC0415

    method = next(one for one in methods() if one.name == method_name)
    warm_up(problem("toy"), method)
    full = problem(problem_name)
    for name in method.inputs:
        getattr(full, name)
    labelled = labelled_rows(full.targets, 5, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return added_mb(lambda: method.fit(full, labelled))


if __name__ == "__main__":
    print(_measure(sys.argv[1], sys.argv[2]))
