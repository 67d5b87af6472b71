"""What a device can do at best, measured: bytes copied and products of float32 each second."""

import time
from collections.abc import Callable
from typing import Any

import torch

_ROUNDS = 5


def device_facts(device: str) -> dict[str, Any]:
    """Return which device it is and what reached it."""
    facts: dict[str, Any] = {"torch": torch.__version__, "device": device}
    if device.startswith("cuda"):
        properties = torch.cuda.get_device_properties(device)
        facts |= {
            "device": properties.name,
            "memory_gib": round(properties.total_memory / 2**30, 1),
            "cuda": torch.version.cuda,
        }
    return facts


def wait_for(device: str) -> None:
    """Wait until the device has done all that it was told."""
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def measured_limits(device: str, *, n_rows: int) -> dict[str, float]:
    """Return the best of some rounds: bytes read and written, and operations of a product."""
    block = torch.ones((n_rows, 1024), device=device)
    other = torch.empty_like(block)
    square = torch.ones((min(n_rows, 8192), min(n_rows, 8192)), device=device)
    copying = _least_seconds(lambda: other.copy_(block), device)
    product = _least_seconds(lambda: square @ square, device)
    return {
        "bytes_per_s": 2 * block.numel() * block.element_size() / copying,
        "float32_operations_per_s": 2 * len(square) ** 3 / product,
    }


def _least_seconds(work: Callable[[], Any], device: str) -> float:
    work()
    seconds = []
    for _ in range(_ROUNDS):
        wait_for(device)
        started = time.perf_counter()
        work()
        wait_for(device)
        seconds.append(time.perf_counter() - started)
    return min(seconds)
