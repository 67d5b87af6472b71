"""Pages of made-up data, for the tests of the page and for looking at it."""

from dataclasses import replace
from typing import Any

import numpy as np

from beltrami.report.page import (
    AuditRound,
    Bin,
    Candidate,
    ClassRow,
    CurvePoint,
    Hand,
    Island,
    Issue,
    Measured,
    Page,
    Question,
    RowView,
    Work,
)

WORDS = [
    "amber",
    "basalt",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "garnet",
    "heath",
    "iris",
    "juniper",
    "kelp",
    "lichen",
    "maple",
    "nettle",
    "onyx",
    "pebble",
    "quartz",
    "reed",
    "sage",
    "thistle",
    "umber",
    "violet",
    "willow",
    "yarrow",
    "zinnia",
    "alder",
    "birch",
    "clover",
    "dune",
    "elm",
]
# Escapes from a script, from an attribute and from text.
HOSTILE = "</script><img src=x onerror=\"document.body.dataset.owned='yes'\"><b>'\"&"


def fake_page(
    n: int = 1797, n_classes: int = 10, *, n_given: int = 2, seed: int = 0, **changes: Any
) -> Page:
    """A page of blobs in the plane: `n_given` labels a class, some rows left or out of reach."""
    random = np.random.default_rng(seed)
    truth = random.integers(n_classes, size=n)
    positions = _positions(random, truth, n_classes)
    confidence = np.clip(random.beta(9, 1.2, size=n) - 0.3 * (random.random(n) < 0.12), 0, 1)
    source = np.where(confidence < 0.62, 2, 1).astype(np.uint8)
    lost = random.choice(n, n // 60, replace=False)
    positions[lost] = random.normal((7.5, -6.0), 0.35, size=(len(lost), 2))
    source[lost], confidence[lost] = 3, 0.0
    given = np.full(n, -1)
    for code in range(n_classes):
        rows = np.flatnonzero((truth == code) & (source == 1))[:n_given]
        given[rows], source[rows], confidence[rows] = code, 0, 1.0
    codes = np.where(source == 3, -1, truth)
    classes = tuple(
        WORDS[code % len(WORDS)] + "'" * (code // len(WORDS)) for code in range(n_classes)
    )
    counts = np.bincount(source, minlength=4)
    page = Page(
        title="flowers.csv, labelled by Beltrami",
        headline=(
            f"Of {n:,} rows you labelled {counts[0]:,}; we label {counts[1]:,} with an estimated "
            f"accuracy of 94 % (91 to 97), and leave {counts[2] + counts[3]:,} to you."
        ),
        counts={
            "rows": n,
            "given": int(counts[0]),
            "labelled": int(counts[1]),
            "abstained": int(counts[2]),
            "unreached": int(counts[3]),
        },
        ids=np.arange(n).astype(object),
        positions=positions,
        classes=classes,
        codes=codes,
        given=given,
        source=source,
        confidence=confidence,
        class_rows=tuple(_class_rows(classes, codes, source, confidence)),
        reliability=_bins(random),
        coverage=np.linspace(0.01, 1, 300),
        risk=0.062 * np.linspace(0.01, 1, 300) ** 2.2 + 0.002,
        candidates=_candidates(),
        questions=_questions(random, classes, source, confidence),
        issues=_issues(random, classes, given),
        islands=(Island(len(lost), tuple(str(row) for row in lost[:6]), 0), Island(41, ("3",), 2)),
        warnings=(
            "The labels are no random sample: 9 of 10 come from the first tenth of the file. The "
            "estimated accuracy holds for rows like those.",
        ),
        facts={
            "beltrami": "0.7.0",
            "command": "beltrami label flowers.csv --label kind -o flowers-labels.parquet --seed 0",
            "parameters": "method=auto, n_neighbors=15, metric=auto, risk=0.05",
            "seed": "0",
            "data (sha256)": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "time": "12 s on 8 threads",
            "libraries": "numpy 2.4, scipy 1.17, scikit-learn 1.9, faiss 1.13",
        },
    )
    return replace(page, **changes)


# A white dot of one pixel.
DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTlQVwAAAABJRU5ErkJggg=="


def filled_page(n: int = 200, **changes: Any) -> Page:
    """A page that knows what its rows are: texts, cells, and pictures of rows 0 to 99."""
    page = fake_page(n, 3, **changes)
    view = RowView("the words of a row", (("size", "12", "higher than 99 % of rows"),), 4)
    return replace(
        page,
        previews=lambda rows: [f"the words of row {row}" for row in rows],
        views={str(row): view for row in range(n)},
        pictures={str(row): DOT for row in range(100)},
        pictures_note="Pictures are of 100 rows.",
    )


def fake_work(name: str = "ann", n_points: int = 30, **changes: Any) -> Work:
    """What three hands did in a project, with an audit of two rounds."""
    at = "2026-11-0{} 09:{:02}"
    work = Work(
        hands=(
            Hand("the file", {"in the file": 12}, 1, 0, 0, at.format(1, 0), at.format(1, 0)),
            Hand(name, {"by key": 48, "by area": 1200}, 4, 2, 65, at.format(1, 5), at.format(4, 1)),
            Hand("bob", {"by click": 7}, 0, 1, 65, at.format(2, 0), at.format(3, 30)),
        ),
        by_class=(("amber", (6, 900, 4)), (name, (6, 348, 3))),
        n_unsure=3,
        curve=tuple(
            CurvePoint(4 * place + 1, at.format(1 + place // 10, place), 12 + 3 * place**2, 2)
            for place in range(n_points)
        ),
        measured=tuple(
            Measured(place, 5 * place, 900 + 20 * place, 300, 30 - place, 0.9, *share, 5 * place)
            for place in range(1, 20)
            for share in [(0.7 + place / 80, 0.6 + place / 80, 0.75 + place / 80)]
        ),
        rounds=(
            AuditRound(at.format(3, 0), 65, 1500, 63, 2, False),
            AuditRound(at.format(4, 0), 65, 1500, 20, 1, True),
        ),
        proof="",
        proof_note="Round 2 waits for 44 of its 65 answers.",
        command="beltrami label --project flowers.beltrami -o labels.csv",
        date=at.format(4, 1),
    )
    return replace(work, **changes)


def hostile_page() -> Page:
    """A page with markup in everything that a user's file can name."""
    page = fake_page(40, 2, previews=lambda rows: [HOSTILE] * len(rows))
    name = HOSTILE
    return replace(
        page,
        title=name,
        headline=name,
        ids=np.array([f"{HOSTILE}{i}" for i in range(40)], dtype=object),
        classes=(name, "b"),
        class_rows=(ClassRow(name, 1, 2, 3, (0.1, 0.2, 0.3)),),
        candidates=tuple(replace(one, name=name, note=name) for one in page.candidates),
        questions=(Question(f"{HOSTILE}1", name, 3, name, 0.5),),
        issues=tuple(replace(one, id=name, given=name, suggested=name) for one in page.issues),
        islands=(Island(3, (name, f"{HOSTILE}5"), 0),),
        warnings=(name,),
        facts={name: name},
        counts={"rows": 40, name: 1},
        views={f"{HOSTILE}1": RowView(name, ((name, name, name),), 1), name: RowView(name)},
        pictures={f"{HOSTILE}{i}": DOT for i in range(1, 6)},
        pictures_note=name,
        work=fake_work(name, proof=name, proof_note=name, command=name, date=name),
    )


def _positions(random: np.random.Generator, truth: Any, n_classes: int) -> Any:
    angle = 2.399963 * np.arange(n_classes)  # the golden angle spreads the centres
    centres = np.sqrt(np.arange(n_classes) + 0.6)[:, None] * 2.1
    centres = centres * np.column_stack([np.cos(angle), np.sin(angle)])
    turn = random.uniform(0, 2 * np.pi, n_classes)
    bend = random.normal(size=len(truth)) * 1.1
    along = np.column_stack([np.cos(turn), np.sin(turn)])[truth] * bend[:, None]
    across = np.column_stack([-np.sin(turn), np.cos(turn)])[truth] * (0.4 * bend**2)[:, None]
    return centres[truth] + along + across + random.normal(0, 0.34, size=(len(truth), 2))


def _class_rows(classes: Any, codes: Any, source: Any, confidence: Any) -> Any:
    for code, name in enumerate(classes):
        ours = confidence[(codes == code) & (source == 1)]
        quartiles = np.quantile(ours, (0.25, 0.5, 0.75)) if len(ours) else (np.nan,) * 3
        numbers = [int(np.sum((codes == code) & (source == kind))) for kind in range(3)]
        yield ClassRow(name, *numbers, tuple(float(value) for value in quartiles))


def _bins(random: np.random.Generator) -> tuple[Bin, ...]:
    bins = []
    for low in np.arange(0.3, 1.0, 0.1):
        count = int(4 + 130 * max(low - 0.3, 0) ** 2)
        right = random.binomial(count, min(low + 0.06, 0.98))
        bins.append(Bin(float(low), float(low + 0.1), float(low + 0.05), right / count, count))
    return tuple(bins)


def _candidates() -> tuple[Candidate, ...]:
    nan = float("nan")
    return (
        Candidate("graph regularised", 0.061, 0.012, 0.84, "", is_chosen=True),
        Candidate("Poisson", 0.069, 0.014, 1.2),
        Candidate("spectral ridge", 0.074, 0.013, 0.31, "20 eigenfunctions"),
        Candidate("LapSVM", nan, nan, 0.0, "left out: it would take 40 s of a budget of 30"),
        Candidate("logistic regression", 0.142, 0.02, 0.05, "", is_baseline=True),
        Candidate("1-nearest neighbour", 0.171, 0.022, 0.01, "", is_baseline=True),
    )


def _questions(random: np.random.Generator, classes: Any, source: Any, confidence: Any) -> Any:
    reasons = (
        "between two classes, in a dense part",
        "on an island that no label reaches",
        "the methods disagree here",
    )
    rows = np.flatnonzero(source >= 2)[:12]
    return tuple(
        Question(
            str(row),
            reasons[place % 3],
            int(400 / (place + 1)),
            classes[int(random.integers(len(classes)))] if source[row] == 2 else "",
            float(confidence[row]),
        )
        for place, row in enumerate(rows)
    )


def _issues(random: np.random.Generator, classes: Any, given: Any) -> Any:
    rows = np.flatnonzero(given >= 0)[:3]
    return tuple(
        Issue(str(row), classes[given[row]], classes[(given[row] + 1) % len(classes)], score)
        for row, score in zip(rows, (0.97, 0.88, 0.71), strict=False)
    )
