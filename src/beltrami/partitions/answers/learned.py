"""What was learned from the representatives, kept beside the results: a job learns once."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from beltrami.core.errors import CorruptDataError, InvalidInputError
from beltrami.core.store import Parcel
from beltrami.front_door import ManifoldClassifier
from beltrami.front_door.deciding.judgement import Judged
from beltrami.front_door.kept.file import read_labeller, write_labeller
from beltrami.front_door.kept.labeller import KeptLabeller
from beltrami.front_door.prepare import default_graph
from beltrami.front_door.report import FitReport
from beltrami.labelling.options import LearningOptions
from beltrami.partitions.representing.representatives import Representatives

LABELLER = "labeller.beltrami"
"""The file, in the folder of what belongs to the job; `beltrami.load` reads it, too."""


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What answers every partition, and what is said of it.

    Attributes
    ----------
    labeller : KeptLabeller
        As it was read from its file.
    report : FitReport
        Of the fit.
    """

    labeller: KeptLabeller
    report: FitReport

    @classmethod
    def write(cls, path: Path, key: str, labeller: KeptLabeller, report: FitReport) -> "Learned":
        """Keep what was learned under the key of its job, and return it as a later call finds it.

        What answers holds nothing but the arrays of the file, now and when the job is taken up.
        """
        write_labeller(labeller, path, Parcel({}, {"job": key, "report": asdict(report)}))
        kept = cls.read(path, key)
        assert kept is not None
        return kept

    @classmethod
    def read(cls, path: Path, key: str) -> "Learned | None":
        """Return what the same job learned before; None where there is nothing."""
        if not path.is_file():
            return None
        try:
            labeller, parcel = read_labeller(path)
            job, facts = parcel.facts["job"], dict(parcel.facts["report"])
        except (InvalidInputError, KeyError) as error:
            raise CorruptDataError(path=str(path), reason=str(error)) from error
        if job != key:
            return None
        members = tuple(Judged(**one) for one in facts.pop("members"))
        lists: dict[str, Any] = {
            name: tuple(facts.pop(name)) for name in ("preparation", "bounds", "warnings")
        }
        return cls(labeller, FitReport(**facts, **lists, members=members))


def learner_of(chosen: Representatives, options: LearningOptions) -> ManifoldClassifier:
    """Return what learns from representatives; rows between two of them weigh their edge."""
    graph = None
    if chosen.witnesses is not None:
        graph = default_graph(
            metric="euclidean",
            witnesses=chosen.witnesses,
            random_state=options.random_state,
            n_jobs=options.n_jobs,
        )
    return ManifoldClassifier(
        options.method,
        scale="standard" if chosen.is_standard else "auto",
        risk=options.risk,
        time_budget=options.time_budget,
        unlabeled=float("nan"),
        random_state=options.random_state,
        n_jobs=options.n_jobs,
        graph=graph,
    )
