"""Whoever writes a project may be killed at any moment: what was said to be saved is there."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def kill_writers(folder, n_kills, seed):
    told = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.support.killed_writers",
            str(folder),
            str(n_kills),
            str(seed),
        ],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(told.stdout)


@pytest.mark.parametrize(
    ("n_kills", "seed"),
    [(10, 7), pytest.param(200, 100, marks=pytest.mark.slow)],
    ids=["10", "200"],
)
def test_killed_writers_lose_nothing_that_they_said_was_saved(tmp_path, n_kills, seed):
    found = kill_writers(tmp_path, n_kills, seed)
    assert found["faults"] == []
    assert found["said"] > 3 * n_kills
    assert found["kills"] == n_kills
