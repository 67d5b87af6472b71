"""The noun of progress: how far a job has come at one moment."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProgressEvent:
    """How far a job has come.

    Attributes
    ----------
    stage, n_stages : int
        Number of the stage, from 1, and how many there are.
    title : str
        What the stage does.
    fraction : float or None
        Share of the stage that is done; None where that is not known.
    elapsed_s : float
        Seconds since the job began.
    left_s : float or None
        Seconds it will take still, as far as can be told.
    step : str
        What is being done within the stage; the title where it has no name.
    done, total : float
        Units of the step; a total of 0 where it has none.
    is_over : bool
        Whether the job has ended well; its last event says so.
    """

    stage: int
    n_stages: int
    title: str
    fraction: float | None
    elapsed_s: float
    left_s: float | None
    step: str
    done: float
    total: float
    is_over: bool = False
