"""Which device computes: one switch, and what is done where a device's memory does not suffice.

Estimators know nothing of devices. The doors to neighbours, eigenvectors and linear systems ask
`backend_for` with the size of their work, and run it inside `on_device`.
"""

import os
import shutil
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from beltrami.core.errors import DeviceMemoryWarning, DeviceUnavailableError
from beltrami.core.machine.backend import PROCESSOR, Backend, NumpyBackend
from beltrami.core.validation import check_choice

DEVICES = ("auto", "cpu", "cuda")
VARIABLE = "BELTRAMI_DEVICE"
"""The environment variable that holds the choice of the process."""

_USUAL = "cpu"  # until figures of a device have been measured: docs/decisions/0042
_PAYS = 2e9
"""Operations from which "auto" takes a device: about a second of one core. Not yet measured."""
_DRIVERS = (Path("/dev/nvidiactl"), Path("/dev/dxg"))

_Result = TypeVar("_Result")
_chosen: ContextVar[str | Backend | None] = ContextVar("beltrami_device", default=None)
"""The choice of the enclosing block: a name, or a backend itself in tests."""


class DeviceBlock:
    """What `use_device` returns: a ``with`` block for which alone the device is chosen."""

    def __init__(self, device: str, before: str | None) -> None:
        self._device, self._before = device, before
        self._tokens: list[Token[str | Backend | None]] = []

    def __enter__(self) -> None:
        _set_variable(self._before)
        self._tokens.append(_chosen.set(self._device))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _chosen.reset(self._tokens.pop())

    def __repr__(self) -> str:
        return f"use_device({self._device!r})"


def use_device(device: str) -> DeviceBlock:
    """Choose what computes: the processor, or a graphics card of NVIDIA's through torch.

    Called as a function it holds for this process from now on, all threads of it, and for the
    processes that it starts: it sets the environment variable ``BELTRAMI_DEVICE``. In a ``with``
    statement it holds inside the block alone, and there for this thread; a block goes before the
    choice of the process. Nothing else needs to know: estimators have no parameter for it.

    On a device run the search of exact neighbours in more than eight dimensions, eigenvectors,
    linear systems as far as a diagonal preconditioner suits them, and heat flows; the rest stays on
    the processor. Results agree with the processor's within the tolerances of the solvers, not to
    the last bit. Where the device's memory does not suffice, blocks are made smaller, and then the
    processor takes over with a `DeviceMemoryWarning`.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}
        "cpu" is the processor, and what is used where nothing was chosen. "cuda" is the device, or
        an error where there is none. "auto" takes the device where there is one, it has room and
        the work is large; else the processor, in silence.

    Returns
    -------
    DeviceBlock
        To be used in a ``with`` statement, or to be ignored.

    Raises
    ------
    DeviceUnavailableError
        For "cuda", when torch or the device is missing.

    Examples
    --------
    >>> import beltrami as bt
    >>> from beltrami.graph.families import ring
    >>> with bt.use_device("auto"):
    ...     values = bt.eigenbasis(ring(6), 3).values
    >>> values.round(12).tolist()
    [0.0, 1.0, 1.0]
    """
    check_choice(device, DEVICES, name="device")
    if device == "cuda":
        _cuda()
    before = os.environ.get(VARIABLE)
    _set_variable(device)
    return DeviceBlock(device, before)


@contextmanager
def use_backend(backend: Backend) -> Iterator[None]:
    """Let a backend compute all that any device may, inside the block: for tests and benchmarks."""
    token = _chosen.set(backend)
    try:
        yield
    finally:
        _chosen.reset(token)


@contextmanager
def process_device(device: str | None) -> Iterator[None]:
    """Choose the device of the whole process inside the block; None leaves it as it is."""
    before = os.environ.get(VARIABLE)
    try:
        if device is not None:
            use_device(device)
        yield
    finally:
        _set_variable(before)


def backend_for(n_operations: float, n_bytes: float) -> Backend:
    """Return the backend for a piece of work: how many operations it takes, how much memory."""
    asked = _asked()
    if not isinstance(asked, str):
        return asked
    if asked == "cpu" or (asked == "auto" and n_operations < _PAYS):
        return PROCESSOR
    if asked == "cuda":
        return _cuda()
    device = _cuda_if_any()
    return device if device is not None and device.has_room(n_bytes) else PROCESSOR


def on_device(backend: Backend, work: Callable[[Backend], _Result], *, step: str) -> _Result:
    """Return ``work(backend)``; by the processor, with a word, where the memory does not suffice.

    The work must be able to begin anew.
    """
    try:
        return work(backend)
    except backend.memory_errors as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    # After the exception has gone, and with it what its frames held on the device.
    warnings.warn(
        f"{step}: the memory of {backend.name} does not suffice ({reason}), so the processor "
        "computes this, which takes longer. Free memory on the device, or choose the processor by "
        "use_device('cpu') or BELTRAMI_DEVICE=cpu to be spared the attempt.",
        DeviceMemoryWarning,
        stacklevel=3,
    )
    return work(PROCESSOR)


def device_key() -> tuple[str, ...]:
    """Return what a stored result depends on beside its parts: nothing for the processor."""
    device = _device_in_force()
    if device is None:
        return ()
    return (str(_asked()), device.name, _version("torch") or "")


def describe_device() -> str:
    """Say in a few words what computes."""
    asked, device = _asked(), _device_in_force()
    if device is None:
        return "the processor"
    if asked == "auto":
        return f"{device.name} where that pays, else the processor"
    return f"{device.name}, and the processor"


def describe_choice() -> str:
    """Say what computes and what else could, for a person who looks for faults."""
    try:
        words = describe_device()
    except DeviceUnavailableError as error:
        return f"MISSING: {error}"
    if _device_in_force() is not None:
        return words
    reason = _reason_for_none()
    if reason:
        return f"{words}; no other: {reason}"
    return f"{words}; {_cuda().name} can be used: {VARIABLE}=auto, --device auto or use_device"


def _asked() -> str | Backend:
    """Return the choice of the block, else of the process."""
    chosen = _chosen.get()
    if chosen is not None:
        return chosen
    return check_choice(os.environ.get(VARIABLE) or _USUAL, DEVICES, name=VARIABLE)


def _device_in_force() -> Backend | None:
    """Return the device that large work is done on; None for the processor."""
    asked = _asked()
    if not isinstance(asked, str):
        return None if isinstance(asked, NumpyBackend) else asked
    if asked == "cuda":
        return _cuda()
    return _cuda_if_any() if asked == "auto" else None


def _set_variable(value: str | None) -> None:
    if value is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = value


def _cuda() -> Backend:
    """Return the device, or say what is missing."""
    reason = _reason_for_none()
    if reason:
        raise DeviceUnavailableError(reason=reason)
    from beltrami.core.machine.torch_backend import TorchBackend

    return TorchBackend("cuda")


def _cuda_if_any() -> Backend | None:
    return None if _reason_for_none() else _cuda()


@lru_cache(maxsize=1)
def _reason_for_none() -> str:
    """Return why there is no device, empty where there is one.

    To import torch takes seconds, so that a machine without a driver is not asked to.
    """
    if find_spec("torch") is None:
        return 'torch is not installed: pip install "beltrami[gpu]"'
    if not any(path.exists() for path in _DRIVERS) and shutil.which("nvidia-smi") is None:
        return "this machine has no driver of NVIDIA's"
    import torch

    if torch.cuda.is_available():
        return ""
    if torch.version.cuda is None:
        return (
            f"torch {torch.__version__} was built for the processor alone; install one for CUDA, "
            "as https://pytorch.org says"
        )
    return f"torch {torch.__version__} finds no device that it can use; see what nvidia-smi says"


def _version(name: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(name)
    except PackageNotFoundError:
        return None
