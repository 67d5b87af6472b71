"""How large the experiments after the slides are: to see that they run, for the book, or full."""

from enum import Enum


class Size(Enum):
    """How many draws and points."""

    QUICK = "quick"
    """Seconds; the numbers mean nothing."""
    BOOK = "book"
    """Some minutes on one core, few draws: what ``beltrami reproduce all`` runs."""
    FULL = "full"
    """Up to an hour and a half on one core: the draws that the README quotes."""

    def reproduction_name(self, name: str) -> str:
        """Return the name of a reproduction at this size."""
        return f"{name}-full" if self is Size.FULL else name
