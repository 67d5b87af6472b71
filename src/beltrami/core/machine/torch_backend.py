"""The primitives of the iterative solvers in torch, for its devices.

Importing this module imports torch, which takes seconds: `device.py` does so where a device is
asked for. Blocks are strided tensors, sparse matrices torch's compressed rows; products of float32
blocks stay in float32 whatever the user allows torch elsewhere, and sums over rows are in float64,
as on the processor.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from beltrami.core.machine.backend import ROW_CHUNK, GroundedLaplacian, SplitMatrix
from beltrami.core.types import CsrMatrix, FloatVector

_DOT_ROWS = 2**20  # rows of float32 blocks that are held in float64 at once
_EDGE_ENTRIES = 2**27  # differences along edges that are held at once: a GiB
_COLUMNS = 32_768  # points of the base whose products with queries are held at once
_SORT_ENTRIES = 2**26  # of rows with ties, sorted at once
_ROOM = 0.8  # share of the free memory that one piece of work may plan with


@dataclass(frozen=True, slots=True, eq=False)
class DeviceMatrix:
    """diag(d) - W on a device."""

    diagonal: Any
    weights: Any


@dataclass(frozen=True, slots=True, eq=False)
class DeviceLaplacian:
    """L + G on a device, as edges: W by entries, the row of each, and where rows begin."""

    rows: Any
    columns: Any
    weights: Any
    starts: Any
    ground: Any


@dataclass(frozen=True, slots=True)
class TorchBackend:
    """One device of torch.

    Attributes
    ----------
    device : str
        As torch calls it: "cuda", or "cpu" for tests.
    """

    device: str

    @property
    def name(self) -> str:
        """What computes, for a person."""
        if self.device.startswith("cuda"):
            return f"{self.device} ({torch.cuda.get_device_name(self.device)})"
        return f"torch on {self.device}"

    @property
    def memory_errors(self) -> tuple[type[Exception], ...]:
        """What torch raises where the device's memory does not suffice."""
        return (torch.cuda.OutOfMemoryError,)

    def has_room(self, n_bytes: float) -> bool:
        """Say whether so much of the device's memory is free, what torch keeps for us included."""
        if not self.device.startswith("cuda"):
            return True
        free, _ = torch.cuda.mem_get_info(self.device)
        kept = torch.cuda.memory_reserved(self.device) - torch.cuda.memory_allocated(self.device)
        return bool(n_bytes <= _ROOM * (free + kept))

    def block(self, host: Any, dtype: Any) -> Any:
        """Copy a host array or a block to the device, row-major."""
        if isinstance(host, torch.Tensor):
            kind = _torch_dtype(dtype)
            return host.to(self.device, kind, copy=True, memory_format=torch.contiguous_format)
        return torch.from_numpy(np.array(host, dtype=_numpy_dtype(dtype), order="C")).to(
            self.device
        )

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return a block whose entries are not set."""
        return torch.empty(shape, dtype=_torch_dtype(dtype), device=self.device)

    def vector(self, host: Any, dtype: Any) -> Any:
        """Return numbers to be combined with blocks."""
        return self.block(host, dtype)

    def host(self, block: Any) -> Any:
        """Return a block as a NumPy array."""
        return block.cpu().numpy()

    def matrix(self, matrix: SplitMatrix, dtype: Any) -> DeviceMatrix:
        """Return the matrix on the device."""
        weights = self._sparse(matrix.weights, dtype)
        return DeviceMatrix(self.vector(matrix.diagonal, dtype), weights)

    def chebyshev_step(
        self, matrix: DeviceMatrix, x: Any, out: Any, *, alpha: float, beta: float, center: float
    ) -> None:
        """Overwrite `out` with alpha (A - center I) x + beta out."""
        torch.addmm(out, matrix.weights, x, beta=beta, alpha=-alpha, out=out)
        # A part of the rows may look at further columns, which come after them.
        own = x[: len(matrix.diagonal)]
        out.addcmul_((matrix.diagonal - center)[:, None], own, value=alpha)

    def product(self, matrix: DeviceMatrix, x: Any, out: Any) -> None:
        """Overwrite `out` with A x."""
        self.chebyshev_step(matrix, x, out, alpha=1.0, beta=0.0, center=0.0)

    def grounded(self, matrix: GroundedLaplacian) -> DeviceLaplacian:
        """Return the edges of a grounded Laplacian on the device."""
        weights = matrix.weights
        rows = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))
        return DeviceLaplacian(
            self.vector(rows, np.int64),
            self.vector(weights.indices, np.int64),
            self.vector(weights.data, np.float64),
            self.vector(weights.indptr, np.int64),
            self.vector(matrix.ground, np.float64),
        )

    def grounded_product(self, matrix: DeviceLaplacian, x: Any, out: Any) -> None:
        """Overwrite `out` with (L + G) x, accurate however weak an edge is next to others."""
        width = max(_EDGE_ENTRIES // max(len(matrix.weights), 1), 1)
        for start in range(0, x.shape[1], width):
            part = x[:, start : start + width]
            flows = part[matrix.rows]
            flows -= part[matrix.columns]
            flows *= matrix.weights[:, None]
            # Sums of a row's entries in their order, the same in every run.
            sums = torch.segment_reduce(flows, "sum", offsets=matrix.starts, axis=0, initial=0)
            out[:, start : start + width] = sums
        out.addcmul_(matrix.ground[:, None], x)

    def sparse_product(self, matrix: Any, x: Any) -> Any:
        """Return a sparse host matrix times a block, in the block's precision."""
        return self._sparse(csr_array(matrix), x.dtype) @ x

    def scale_rows(self, x: Any, factors: Any, out: Any) -> None:
        """Overwrite `out` with x, each row times its own factor."""
        torch.mul(x, factors[:, None], out=out)

    def gram(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Return left' right: products in the blocks' precision, sums over chunks in float64."""
        total = torch.zeros(
            (left.shape[1], right.shape[1]), dtype=torch.float64, device=self.device
        )
        with _full_precision():
            for start in range(0, len(left), ROW_CHUNK):
                rows = slice(start, start + ROW_CHUNK)
                total += left[rows].T @ right[rows]
        sums: NDArray[np.float64] = self.host(total)
        return sums

    def rotate(self, block: Any, matrix: NDArray[np.float64]) -> Any:
        """Return ``block @ matrix`` in the block's precision."""
        with _full_precision():
            return block @ self.vector(matrix, block.dtype)

    def turn(self, block: Any, matrix: NDArray[np.float64]) -> None:
        """Overwrite a block with ``block @ matrix``, some rows at a time."""
        turn = self.vector(matrix, block.dtype)
        with _full_precision():
            for start in range(0, len(block), _DOT_ROWS):
                rows = slice(start, start + _DOT_ROWS)
                block[rows] = block[rows] @ turn

    def column_dots(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Return the inner products of matching columns, summed in float64."""
        total = torch.zeros(left.shape[1], dtype=torch.float64, device=self.device)
        for start in range(0, len(left), _DOT_ROWS):
            rows = slice(start, start + _DOT_ROWS)
            total += (left[rows].double() * right[rows].double()).sum(0)
        dots: NDArray[np.float64] = self.host(total)
        return dots

    def advance(
        self, x: Any, residual: Any, direction: Any, image: Any, alpha: FloatVector
    ) -> None:
        """Take one conjugate-gradient step in place."""
        lengths = self.vector(alpha, x.dtype)
        x.addcmul_(direction, lengths)
        residual.addcmul_(image, lengths, value=-1)

    def redirect(self, direction: Any, gradient: Any, beta: FloatVector) -> None:
        """Overwrite `direction` with gradient + beta direction."""
        direction *= self.vector(beta, direction.dtype)
        direction += gradient

    def smallest(self, values: Any, k: int) -> tuple[Any, Any]:
        """Return the `k` smallest entries of each row and their columns, ties by column.

        torch's own choice among equal entries is not said; it is mended where it can matter.
        """
        found, columns = torch.topk(values, k, dim=1, largest=False)
        columns, order = torch.sort(columns, dim=1)
        found, order = torch.sort(torch.gather(found, 1, order), dim=1, stable=True)
        columns = torch.gather(columns, 1, order)
        # Of entries equal to the last one, some may have been left out that come before it.
        tied = torch.nonzero((values <= found[:, -1:]).sum(1) > k).ravel()
        step = max(_SORT_ENTRIES // max(values.shape[1], 1), 1)
        for start in range(0, len(tied), step):
            rows = tied[start : start + step]
            ordered = torch.sort(values[rows], dim=1, stable=True)
            found[rows], columns[rows] = ordered.values[:, :k], ordered.indices[:, :k]
        return found, columns

    def group_minima(self, queries: Any, base: Any, halves: Any, size: int) -> Any:
        """Return the least of |y|^2 / 2 - <x, y> over each `size` points y in a row of the base."""
        minima = torch.empty(
            (len(queries), len(base) // size), dtype=base.dtype, device=self.device
        )
        step = max(_COLUMNS // size, 1) * size
        with _full_precision():
            for start in range(0, len(base), step):
                some = slice(start, min(start + step, len(base)))
                gaps = torch.addmm(halves[some], queries, base[some].T, alpha=-1)
                groups = slice(some.start // size, some.stop // size)
                minima[:, groups] = gaps.view(len(queries), -1, size).amin(2)
        return minima

    def _sparse(self, matrix: CsrMatrix, dtype: Any) -> Any:
        """Return a sparse matrix on the device; row numbers as narrow as torch allows."""
        numbers = np.int32 if matrix.nnz < 2**31 else np.int64
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that compressed rows are new to torch
            return torch.sparse_csr_tensor(
                self.vector(matrix.indptr, numbers),
                self.vector(matrix.indices, numbers),
                self.vector(matrix.data, dtype),
                size=matrix.shape,
                device=self.device,
                check_invariants=False,
            )


def _torch_dtype(dtype: Any) -> Any:
    """Return torch's name of a number format."""
    if isinstance(dtype, torch.dtype):
        return dtype
    return getattr(torch, np.dtype(dtype).name)


def _numpy_dtype(dtype: Any) -> Any:
    """Return NumPy's name of a number format."""
    if isinstance(dtype, torch.dtype):
        return str(dtype).removeprefix("torch.")
    return dtype


@contextmanager
def _full_precision() -> Iterator[None]:
    """Keep products of float32 blocks in float32, and put back what the user had chosen.

    Bounds on rounding rest on it: with fewer digits neighbours are missed.
    """
    chosen = torch.get_float32_matmul_precision()
    if chosen == "highest":
        yield
        return
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(chosen)
