"""The switch: who is asked, what is said where there is none, and where memory ends."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.support.backends import SmallDevice, open_backend
from tests.support.command_line import Shell, two_groups

import beltrami as bt
from beltrami.core.errors import DeviceMemoryWarning, DeviceUnavailableError, InvalidInputError
from beltrami.core.machine import device
from beltrami.core.machine.backend import PROCESSOR
from beltrami.core.store import Store, remember
from beltrami.graph.families import grid, ring

LARGE = 1e15, 1.0


class FakeDevice(SmallDevice):
    """A device with little room."""

    name = "fake (tested)"

    def has_room(self, n_bytes: float) -> bool:
        return n_bytes < 1e9


@pytest.fixture(autouse=True)
def no_choice(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(device.VARIABLE, "cpu")  # so that it is put back
    monkeypatch.delenv(device.VARIABLE)
    reason = device._reason_for_none
    reason.cache_clear()
    yield
    reason.cache_clear()


@pytest.fixture
def a_device(monkeypatch: pytest.MonkeyPatch) -> FakeDevice:
    fake = FakeDevice(10**9)
    monkeypatch.setattr(device, "_reason_for_none", lambda: "")
    monkeypatch.setattr(device, "_cuda", lambda: fake)
    return fake


@pytest.fixture
def no_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    known = device.find_spec
    monkeypatch.setattr(device, "find_spec", lambda name: None if name == "torch" else known(name))


def test_the_processor_computes_where_nothing_was_chosen(a_device: FakeDevice) -> None:
    assert device.backend_for(*LARGE) is PROCESSOR
    assert device.describe_device() == "the processor"
    assert device.device_key() == ()


def test_auto_takes_a_device_where_it_pays_and_has_room(a_device: FakeDevice) -> None:
    with bt.use_device("auto"):
        assert device.backend_for(*LARGE) is a_device
        assert device.backend_for(1e3, 1.0) is PROCESSOR
        assert device.backend_for(1e15, 1e12) is PROCESSOR
    assert device.backend_for(*LARGE) is PROCESSOR


def test_cuda_takes_the_device_for_all_that_runs_there(a_device: FakeDevice) -> None:
    with bt.use_device("cuda"):
        assert device.backend_for(1.0, 1e12) is a_device


def test_a_call_holds_for_the_process_and_a_block_for_its_thread(a_device: FakeDevice) -> None:
    seen = []

    def look() -> None:
        thread = threading.Thread(target=lambda: seen.append(device.backend_for(*LARGE)))
        thread.start()
        thread.join()

    bt.use_device("cuda")
    look()
    with bt.use_device("cpu"):
        assert device.backend_for(*LARGE) is PROCESSOR
        look()
    assert os.environ[device.VARIABLE] == "cuda"
    assert seen == [a_device, a_device]


def test_the_environment_chooses_and_a_block_goes_before_it(
    a_device: FakeDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELTRAMI_DEVICE", "cuda")
    assert device.backend_for(*LARGE) is a_device
    with bt.use_device("cpu"):
        assert device.backend_for(*LARGE) is PROCESSOR
    monkeypatch.setenv("BELTRAMI_DEVICE", "tpu")
    with pytest.raises(InvalidInputError, match=r"BELTRAMI_DEVICE='tpu'.*'auto', 'cpu', 'cuda'"):
        device.backend_for(*LARGE)


def test_without_torch_auto_is_the_processor_in_silence(no_torch: None) -> None:
    with bt.use_device("auto"):
        assert device.backend_for(*LARGE) is PROCESSOR
        assert device.describe_device() == "the processor"


def test_without_torch_cuda_says_what_to_install_and_changes_nothing(no_torch: None) -> None:
    with pytest.raises(DeviceUnavailableError, match=r'pip install "beltrami\[gpu\]".*\'auto\''):
        bt.use_device("cuda")
    assert device.VARIABLE not in os.environ
    assert 'no other: torch is not installed: pip install "beltrami[gpu]"' in (
        device.describe_choice()
    )


def test_doctor_says_that_the_device_asked_for_is_missing(
    no_torch: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELTRAMI_DEVICE", "cuda")
    assert device.describe_choice().startswith("MISSING: the device 'cuda' was asked for")


def test_doctor_says_what_could_be_used(a_device: FakeDevice) -> None:
    assert device.describe_choice() == (
        "the processor; fake (tested) can be used: BELTRAMI_DEVICE=auto, --device auto or "
        "use_device"
    )


def test_an_unknown_device_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="device='gpu' is not known"):
        bt.use_device("gpu")


def test_no_driver_and_torch_is_not_even_loaded() -> None:
    """`auto` on a machine without a device must not cost the seconds that torch takes."""
    code = (
        "import sys, beltrami as bt; from beltrami.core.machine import device; "
        "device._DRIVERS = (); device.shutil.which = lambda name: None; "
        "bt.use_device('auto'); device.backend_for(1e15, 1.0); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def points(n: int = 700) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(n, 11))


def test_blocks_are_halved_until_they_fit_and_the_lists_are_the_same() -> None:
    small, recipe = SmallDevice(100), bt.KnnGraph(5, search="exact", connect="keep")
    with device.use_backend(small):
        graph = recipe.build(points())
    assert small.n_refused == 3  # 700, 350, 175
    assert small.served == [87] * 8 + [4]
    assert_array_equal(graph.neighbors.indices, recipe.build(points()).neighbors.indices)


def test_the_processor_takes_over_with_a_word_where_no_block_fits() -> None:
    recipe = bt.KnnGraph(5, search="exact", connect="keep")
    with (
        device.use_backend(SmallDevice(3)),
        pytest.warns(
            DeviceMemoryWarning, match=r"a small device does not suffice \(the memory ends\)"
        ),
    ):
        graph = recipe.build(points())
    assert_array_equal(graph.neighbors.indices, recipe.build(points()).neighbors.indices)


@pytest.mark.parametrize("solver", ["chebyshev", "multilevel"])
def test_eigenvectors_begin_anew_on_the_processor_with_the_same_draws(solver: str) -> None:
    graph = grid(50, 80)
    options = {"solver": solver, "tol": 0.05, "random_state": 3}
    with device.use_backend(SmallDevice(3000)), pytest.warns(DeviceMemoryWarning):
        found = bt.eigenbasis(graph, 6, **options)
    assert_array_equal(found.vectors, bt.eigenbasis(graph, 6, **options).vectors)


def test_linear_systems_go_on_on_the_processor() -> None:
    right = np.random.default_rng(0).normal(size=(600, 2))
    options = {"shift": 0.5, "solver": "jacobi"}
    with device.use_backend(SmallDevice(10)), pytest.warns(DeviceMemoryWarning, match="linear"):
        found = bt.solve(ring(600), right, **options)
    assert_allclose(found.values, bt.solve(ring(600), right, **options).values, rtol=1e-12)


def test_what_torch_raises_is_caught() -> None:
    backend = open_backend("torch on the processor")
    import torch

    (error,) = backend.memory_errors
    assert error is torch.OutOfMemoryError
    recipe = bt.KnnGraph(5, search="exact", connect="keep")
    small = SmallDevice(3, error)
    with device.use_backend(small), pytest.warns(DeviceMemoryWarning):
        recipe.build(points(200))
    assert small.n_refused == 3  # 200, 100, 50: no less is tried


def test_other_faults_are_not_taken_for_memory() -> None:
    class Broken(SmallDevice):
        def group_minima(self, *parts: object) -> None:
            raise ValueError("broken")

    with device.use_backend(Broken(3)), pytest.raises(ValueError, match="broken"):
        bt.KnnGraph(5, search="exact").build(points(100))


def test_the_store_keeps_a_devices_results_apart(tmp_path: Path, a_device: FakeDevice) -> None:
    told = []
    with remember(Store(tmp_path), tell=told.append, least_seconds=0):
        bt.eigenbasis(ring(20), 3)
        with bt.use_device("cuda"):
            assert device.device_key()[:1] == ("cuda",)
            bt.eigenbasis(ring(20), 3)
            assert not told
            bt.eigenbasis(ring(20), 3)
    assert len(told) == 1


@pytest.mark.usefixtures("few_trees")
def test_commands_take_a_device_and_say_what_computed(shell: Shell, no_torch: None) -> None:
    shell.files({"data.csv": two_groups()})
    shell("label", "data.csv", "--device", "cuda", code=1)
    assert "beltrami[gpu]" in shell.err
    said = json.loads(shell("label", "data.csv", "-o", "o.csv", "--device", "auto", "--json"))
    assert said["facts"]["device"] == "the processor"
    assert device.VARIABLE not in os.environ
