"""The page of a proof from labels that were audited by file.

Audited labels, what their answers prove and the target enter; a `ProofPage` leaves.
"""

import shlex
from datetime import UTC, datetime
from pathlib import Path

from beltrami import __version__
from beltrami.labelling.proving.audit_record import AuditRecord
from beltrami.labelling.proving.audits import AuditedLabels
from beltrami.report.page.proof import CheckedRound, ProofPage, WrongRow
from beltrami.review.audit import Certificate, floor_percent


def proof_page(
    audited: AuditedLabels, proof: Certificate, outlook: str, target: float, answers: Path
) -> ProofPage:
    """Return what the page of a proof shows.

    - `outlook`: whether the target is proved, or what is missing.
    - `answers`: the sheet that was read last.
    """
    rounds = audited.record.trail.answered.rounds
    seen = audited.record.trail.seen
    others = sorted({str(one) for one in seen.values() if one is not None} - audited.classes)
    words = ["beltrami", "audit", str(audited.path), "--answers", str(answers)]
    words += ["--target", f"{target:.12g}", "--confidence", f"{proof.confidence:.12g}"]
    words += [word for one in others for word in ("--other", one)]
    facts = {
        "labels": audited.path.name,
        "SHA-256 of their ids, labels and sources": audited.digest,
        "SHA-256 of the rows": audited.data,
        "record of the draws": AuditRecord.path_beside(audited.path).name,
        "accepted labels": f"{proof.n_accepted:,}" if proof.n_accepted is not None else "",
        "looked at": f"{proof.n_checked:,}",
        "at least right": f"{floor_percent(proof.lower)} %",
        "confidence": f"{proof.confidence:.12g}",
        "target": f"{target:.12g}",
        "written": f"{datetime.now(UTC):%Y-%m-%d} (UTC), by Beltrami {__version__}",
    }
    return ProofPage(
        title=f"Proof for {audited.path.name}",
        sentence=proof.sentence,
        outlook=outlook,
        rounds=tuple(
            CheckedRound(len(one.rows), one.n_pool, one.n_wrong, one.n_blank) for one in rounds
        ),
        wrong=tuple(WrongRow(row, audited.accepted[row], str(seen[row])) for row in audited.wrong),
        command=shlex.join(words),
        facts={name: value for name, value in facts.items() if value},
    )
