"""Processes forked after a fit, each try in a process of its own that is given up in time."""

import subprocess
import sys

_TRY = """
import multiprocessing, sys, threading
import numpy as np
from beltrami import ManifoldClassifier, load_dataset

flowers = load_dataset("iris")
y = np.where(np.arange(150) % 10 == 0, flowers.targets, -1)

def fitted(n_jobs=None):
    return ManifoldClassifier("poisson", random_state=0, n_jobs=n_jobs).fit(flowers.points, y)

def answers(n_jobs=None):
    learner = fitted(n_jobs)
    return learner.predict(flowers.points + 0.01), learner.label_distributions_

def answers_in_a_thread(n_jobs=None):
    found = []
    worker = threading.Thread(target=lambda: found.extend(answers(n_jobs)))
    worker.start()
    worker.join()
    return tuple(found)

def answers_of_a_grandchild(n_jobs=None):
    return asked(answers, n_jobs)

def asked(question, n_jobs=None):
    # A worker of a Pool may not fork: this is the same, by hand.
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=lambda: theirs.send(question(n_jobs)))
    process.start()
    assert ours.poll(60), "no answer"
    found = ours.recv()
    process.join()
    return found
"""

_EXPECTED = "expected = answers()\n"


def _run(lines: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _TRY + lines],
        check=False,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr


def test_processes_forked_after_a_fit_answer_as_their_parent_does() -> None:
    _run(
        _EXPECTED + "for question in (answers, answers_in_a_thread, answers_of_a_grandchild):\n"
        "    for found in (asked(question), asked(question, 2), answers()):\n"
        "        assert (found[0] == expected[0]).all(), question\n"
        "        assert np.allclose(found[1], expected[1], atol=1e-6), question\n"
    )


def test_a_pool_of_forked_workers_fits_after_a_fit() -> None:
    _run(
        _EXPECTED + "with multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "    for found in pool.map_async(answers, [None, 2, 1]).get(timeout=60):\n"
        "        assert (found[0] == expected[0]).all()\n"
    )


def test_a_fork_while_another_thread_has_limits_leaves_none_behind() -> None:
    _run(
        "fitted()\n"
        "from threadpoolctl import threadpool_info, threadpool_limits\n"
        "from beltrami.core.machine.threads import serial_blas\n"
        "blas = lambda *_: [one['num_threads'] for one in threadpool_info()"
        " if one['user_api'] == 'blas']\n"
        "threadpool_limits(3)\n"
        "with serial_blas():\n"
        "    assert set(blas()) == {1}\n"
        "    assert set(asked(blas)) == {3}\n"
    )
