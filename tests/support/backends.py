"""Every backend that can be had here, and one whose memory ends."""

from typing import Any

import numpy as np
import pytest

from beltrami.core.machine.backend import Backend, NumpyBackend

NAMES = ("numpy", "torch on the processor", "cuda")


def open_backend(name: str) -> Backend:
    """Return a backend by its name; the test is skipped where it cannot be had."""
    if name == "numpy":
        return NumpyBackend()
    torch = pytest.importorskip("torch", reason="torch is not installed: make test-device")
    from beltrami.core.machine.torch_backend import TorchBackend

    if name == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no device for torch's cuda")
    return TorchBackend("cuda" if name == "cuda" else "cpu")


class MemoryEnds(Exception):  # noqa: N818 - what a device says
    """Raised by `SmallDevice`."""


class SmallDevice(NumpyBackend):
    """A device that bears so many rows of a block, and counts how often it was asked for more."""

    name = "a small device"
    memory_errors = (MemoryEnds,)

    def __init__(self, n_rows: int, error: type[Exception] = MemoryEnds) -> None:
        self.n_rows, self.n_refused, self.served = n_rows, 0, []
        self.memory_errors, self._error = (error,), error

    def group_minima(self, queries: Any, base: Any, halves: Any, size: int) -> Any:
        self._require(len(queries))
        self.served.append(len(queries))
        return super().group_minima(queries, base, halves, size)

    def chebyshev_step(self, matrix: Any, x: Any, out: Any, **numbers: float) -> None:
        self._require(len(x))
        super().chebyshev_step(matrix, x, out, **numbers)

    def grounded_product(self, matrix: Any, x: np.ndarray, out: np.ndarray) -> None:
        self._require(len(x))
        super().grounded_product(matrix, x, out)

    def _require(self, n_rows: int) -> None:
        if n_rows > self.n_rows:
            self.n_refused += 1
            raise self._error("the memory ends\nand more lines")
