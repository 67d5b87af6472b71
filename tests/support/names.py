"""Names of cases that are the same in every process, which workers need."""

from typing import Any

import numpy as np


def case_name(value: Any) -> str:
    """Name a parameter: functions and classes by their names, arrays by their shapes."""
    if isinstance(value, dict):
        return ", ".join(f"{key}={case_name(option)}" for key, option in value.items())
    if isinstance(value, np.ndarray):
        return f"array{value.shape}"
    text = str(getattr(value, "__name__", repr(value)))
    return type(value).__name__ if " at 0x" in text else text
