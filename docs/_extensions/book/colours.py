"""The colours of the book's figures, so that its pages need not name any: C0, C1, ... are these."""

from pathlib import Path
from typing import Any

SETTINGS = Path(__file__).with_name("matplotlibrc")


def show_apart(*_: Any) -> None:
    """Draw in these colours from now on; the gallery calls it before each of its pages."""
    from matplotlib import pyplot as plt

    plt.style.use(SETTINGS)
