"""How the rows of a table are to be labelled: filled by the command line and by `label`."""

from dataclasses import dataclass

from beltrami.core.types import Seed

N_QUESTIONS = 20


@dataclass(frozen=True, slots=True, eq=False)
class LearningOptions:
    """What a user says about the learning.

    Attributes
    ----------
    method : str
        As in `ManifoldClassifier`.
    risk : float or None
        Largest expected share of wrong ones among accepted labels; None accepts all.
    time_budget : float or None
        Seconds after which no further method is tried.
    random_state : int, Generator, RandomState or None
        Seeds what is drawn.
    n_questions : int
        Rows to suggest for labelling; 0 for none.
    n_jobs : int or None
        Threads.
    """

    method: str = "auto"
    risk: float | None = None
    time_budget: float | None = None
    random_state: Seed = 0
    n_questions: int = N_QUESTIONS
    n_jobs: int | None = None

    def __str__(self) -> str:
        """Return what the answer depends on, as far as it is set."""
        settings = {
            "method": self.method,
            "risk": self.risk,
            "time_budget": self.time_budget,
            "random_state": self.random_state,
        }
        return ", ".join(f"{name}={one}" for name, one in settings.items() if one is not None)


def written_risk(parameters: str) -> float | None:
    """Return the risk that options name where they are written as texts; None for none."""
    pairs = (one.partition("=") for one in parameters.split(", "))
    try:
        return next((float(value) for name, _, value in pairs if name == "risk"), None)
    except ValueError:
        return None
