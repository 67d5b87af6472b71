"""The record of the audits of a labels file: rounds enter, a sealed file beside it leaves."""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beltrami.core.errors import InvalidInputError
from beltrami.core.files import write_text
from beltrami.review.trail import Round, Trail

_FORMAT = "beltrami audit, version 1"
_ROUND = {
    "pool", "n_pool", "rows", "labels", "rest_sha256", "labels_sha256", "rows_sha256", "seed",
    "answers", "n_given",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """All draws from a labels file, with where each came from.

    Attributes
    ----------
    trail : Trail
        Rounds of ids, labels and answers, all texts.
    sources : tuple of str
        Of each round, the digest of the labels file that it was drawn from.
    data : tuple of str
        Of each round, the digest of the rows that were labelled, without their labels; "" where
        the file does not say.
    seeds : tuple of int
        Of each round.
    """

    trail: Trail = field(default_factory=Trail)
    sources: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()

    @staticmethod
    def path_beside(labels: Path) -> Path:
        """Return where the record of a labels file is."""
        return labels.with_name(f"{labels.name}.audit.json")

    @classmethod
    def read(cls, labels: Path) -> "AuditRecord":
        """Return the record beside a labels file; an empty one where there is none."""
        path = cls.path_beside(labels)
        if not path.exists():
            return cls()
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            is_ours = content["format"] == _FORMAT
            is_whole = is_ours and content["seal"] == _seal(content["rounds"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            is_ours, is_whole = True, False
        if not is_ours:
            raise InvalidInputError(
                f"the record of audits {str(path)!r} has the format "
                f"{str(content['format'])[:60]!r}, and this version reads {_FORMAT!r}. Go on with "
                "the version that wrote it, or move the record away and begin a new audit."
            )
        if not is_whole:
            raise InvalidInputError(
                f"the record of audits {str(path)!r} was edited or cut short: what it holds is not "
                "what was written. Put back a copy, or move it away and begin a new audit; nothing "
                "can be certified without it."
            )
        return cls._from_rounds(content["rounds"])

    @classmethod
    def _from_rounds(cls, rounds: list[dict[str, Any]]) -> "AuditRecord":
        return cls(
            Trail(
                tuple(
                    Round(
                        one["pool"],
                        one["n_pool"],
                        tuple(one["rows"]),
                        tuple(one["labels"]),
                        one["rest_sha256"],
                        None if one["answers"] is None else tuple(one["answers"]),
                        one["n_given"],
                    )
                    for one in rounds
                )
            ),
            tuple(one["labels_sha256"] for one in rounds),
            tuple(one["rows_sha256"] for one in rounds),
            tuple(one["seed"] for one in rounds),
        )

    def write(self, labels: Path) -> Path:
        """Write it beside the labels file, whole or not at all."""
        rounds = [
            {
                "pool": one.pool,
                "n_pool": one.n_pool,
                "rows": list(one.rows),
                "labels": list(one.said),
                "rest_sha256": one.rest,
                "labels_sha256": source,
                "rows_sha256": data,
                "seed": seed,
                "answers": None if one.answers is None else list(one.answers),
                "n_given": one.n_given,
            }
            for one, source, data, seed in zip(
                self.trail.rounds, self.sources, self.data, self.seeds, strict=True
            )
        ]
        path = self.path_beside(labels)
        text = {"format": _FORMAT, "rounds": rounds, "seal": _seal(rounds)}
        write_text(path, json.dumps(text, indent=1, ensure_ascii=False) + "\n")
        return path


def _seal(rounds: Any) -> str:
    """Return a checksum of the rounds: it tells a slip of the hand, not a forger."""
    if any(set(one) != _ROUND for one in rounds):
        raise ValueError("a round has other keys")
    text = json.dumps(rounds, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
