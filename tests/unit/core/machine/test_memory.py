import subprocess
import sys
from pathlib import Path

import pytest

from beltrami.core.errors import MemoryBudgetError
from beltrami.core.machine import memory
from beltrami.core.machine.memory import available_bytes, budget_bytes, require_memory


def test_the_budget_is_a_quarter_of_what_is_available(monkeypatch: pytest.MonkeyPatch) -> None:
    assert available_bytes() > 2**20
    monkeypatch.setattr(memory, "available_bytes", lambda: 4000)
    assert budget_bytes() == 1000


def test_a_step_within_the_budget_passes_and_one_byte_more_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 4 * 2**30)
    require_memory(2**30, what="the matrix", instead="Go sparse.")
    with pytest.raises(MemoryBudgetError, match=r"the matrix would take 1\.00 GiB.*Go sparse\."):
        require_memory(2**30 + 1, what="the matrix", instead="Go sparse.")
    require_memory(4 * 2**30, what="the matrix", instead="Go sparse.", share=1.0)
    with pytest.raises(MemoryBudgetError, match=r"the budget is 4\.00 GiB"):
        require_memory(4 * 2**30 + 1, what="the matrix", instead="Go sparse.", share=1.0)


def _fake_group(folder: Path, limit: str) -> None:
    (folder / "memory.max").write_text(limit)
    (folder / "memory.current").write_text("700")
    (folder / "memory.stat").write_text("anon 300\nfile 400\ninactive_file 250\n")


def test_a_control_group_limits_less_its_use_but_not_less_its_idle_file_pages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "_GROUP", tmp_path)
    assert memory._cgroup_available() is None
    _fake_group(tmp_path, "1000\n")
    assert memory._cgroup_available() == 1000 - 700 + 250
    _fake_group(tmp_path, "max\n")
    assert memory._cgroup_available() is None


def test_the_smaller_of_kernel_and_group_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_meminfo_available", lambda: 500)
    monkeypatch.setattr(memory, "_cgroup_available", lambda: 300)
    assert available_bytes() == 300
    monkeypatch.setattr(memory, "_cgroup_available", lambda: None)
    assert available_bytes() == 500


def test_free_pages_are_the_last_resort(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_meminfo_available", lambda: None)
    monkeypatch.setattr(memory, "_cgroup_available", lambda: None)
    assert available_bytes() > 0


_LIMITED = """
import resource, sys
import numpy as np
from beltrami import PoissonClassifier, solve
from beltrami.core.machine.memory import available_bytes
from beltrami.graph.families import path

solve(path(3), [1.0, 0.0, -1.0])  # loads what a solve needs
with open("/proc/self/statm") as file:
    taken = int(file.read().split()[0]) * resource.getpagesize()
limit = taken + int(sys.argv[1]) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
"""


def _run_limited(megabytes: int, lines: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _LIMITED + lines, str(megabytes)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is counted on Linux")
@pytest.mark.parametrize(
    "megabytes", [5, 90, *(pytest.param(n, marks=pytest.mark.slow) for n in (30, 40, 64))]
)
def test_a_solve_under_a_limit_of_address_space_ends_at_once_with_a_sentence(
    megabytes: int,
) -> None:
    done = _run_limited(megabytes, "solve(path(400), np.eye(400)[:, :1] - 1 / 400)")
    assert done.returncode == 1
    assert "MemoryBudgetError: the sparse factorisation of 400 rows" in done.stderr
    assert "ulimit -v" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is counted on Linux")
def test_a_fit_under_a_limit_of_address_space_ends_before_its_work() -> None:
    fit = "PoissonClassifier().fit(np.random.default_rng(0).normal(size=(60, 2)), [0, 1] * 30)"
    done = _run_limited(150, fit)
    assert done.returncode == 1
    assert "MemoryBudgetError: a fit" in done.stderr
    assert "ulimit -v" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is counted on Linux")
def test_a_limit_of_address_space_counts_less_what_is_taken() -> None:
    done = _run_limited(300, "print(available_bytes() // 2**20)")
    assert 100 < int(done.stdout) <= 300
