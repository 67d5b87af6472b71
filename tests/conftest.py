"""Settings and fixtures that every test shares."""

import gc
import os
from collections.abc import Iterator
from pathlib import Path

# No test reads or writes what the user keeps; those of the store name folders of their own.
os.environ["BELTRAMI_CACHE"] = ""

# The workers of pytest-xdist share the processors: one thread each, said before numpy is loaded.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

from tests.support.command_line import Shell  # noqa: E402

# The first call of a compiled kernel takes seconds, so examples have no deadline.
settings.register_profile("beltrami", deadline=None, max_examples=25)
settings.load_profile("beltrami")

_BLOCK = 100


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run try more random tables than every run does."""
    parser.addoption("--fuzz", type=int, default=200, help="Random tables and audits to try.")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Hand ``seeds`` to fuzzing tests in blocks, which workers share."""
    if "seeds" in metafunc.fixturenames:
        number = int(metafunc.config.getoption("--fuzz"))
        starts = range(0, number, _BLOCK)
        blocks = [range(start, min(start + _BLOCK, number)) for start in starts]
        metafunc.parametrize("seeds", blocks, ids=[f"from {start}" for start in starts])


def pytest_configure() -> None:
    """Let compiled loops run on one thread; a test asks for more by ``n_jobs`` or a limit."""
    import beltrami.core.machine.compiled  # noqa: F401, I001 - chooses threads that sleep while they wait
    import numba

    numba.set_num_threads(1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse names that differ from process to process: workers must agree on them."""
    for item in items:
        if " at 0x" in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid} holds an address; give the parameter an id")


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over ten thousand tests, which it would look at every time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def n_fuzzed(request: pytest.FixtureRequest) -> int:
    """How many random cases a test tries that counts over all of them."""
    return int(request.config.getoption("--fuzz"))


@pytest.fixture(scope="module")
def few_trees() -> Iterator[None]:
    """A small forest, which takes most of a fit, in modules that do not ask how good it is."""
    from beltrami.learners import baselines

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(baselines, "_TREES", 10)
        patch.setattr(baselines, "_FOLD_TREES", 5)
        yield


@pytest.fixture
def data_folder() -> Path:
    """The folder with the papers' data sets; the test is skipped where there is none."""
    folder = os.environ.get("BELTRAMI_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("BELTRAMI_DATA names no folder with the papers' data sets")
    return Path(folder)


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shell:
    """The command line in an empty folder."""
    return Shell(tmp_path, monkeypatch, capsys)


@pytest.fixture
def threads_in_force(monkeypatch: pytest.MonkeyPatch) -> str:
    """The number of threads, in the environment too; numba takes no other while its own run."""
    import numba
    from benchmarks.common.threads import THREAD_VARIABLES

    number = str(numba.config.NUMBA_NUM_THREADS)
    for variable in THREAD_VARIABLES:  # put back afterwards
        monkeypatch.setenv(variable, number)
    return number
