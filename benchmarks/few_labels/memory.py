"""Peak memory of one fit, in a process of its own, above what the process held before it.

The child makes the problem with all inputs of the method, runs the method on the toy, and then
counts how far its resident memory rises in one fit with five labels per class.
"""

import gc
import subprocess
import sys
import warnings
from pathlib import Path

from benchmarks.peers.memory import _peak as peak_now
from benchmarks.peers.memory import _restart as restart

_ROOT = Path(__file__).resolve().parents[2]


def peak_mb(problem_name: str, method_name: str) -> float:
    """Fit once in a child and return the megabytes it added at its peak."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.few_labels.memory"]
    command += [problem_name, method_name]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the memory of {method_name!r} was not measured: {done.stderr[-500:]}")
    return float(done.stdout.splitlines()[-1])


def _child(problem_name: str, method_name: str) -> float:
    from benchmarks.few_labels.contest import warm_up  # noqa: PLC0415 - the parent needs it not
    from benchmarks.few_labels.methods import methods  # noqa: PLC0415
    from benchmarks.few_labels.problems import labelled_rows, problem  # noqa: PLC0415

    method = next(one for one in methods() if one.name == method_name)
    warm_up(problem("toy"), method)
    full = problem(problem_name)
    for name in method.inputs:
        getattr(full, name)
    labelled = labelled_rows(full.targets, 5, 0)
    gc.collect()
    before = restart()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = method.fit(full, labelled)
    peak = peak_now()
    del predicted
    return max(0.0, (peak - before) / 1e6)


if __name__ == "__main__":
    print(_child(sys.argv[1], sys.argv[2]))
