"""A labeller learned from half of the rows of real sets, applied to the other half and to others.

python -m benchmarks.kept.held_out --sets iris usps --rows 2000
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

import beltrami as bt
from beltrami.labelling.kept.answers import Answers
from beltrami.labelling.kept.applied import Applied
from beltrami.labelling.kept.table_labeller import TableLabeller
from benchmarks.common.command import RESULTS
from benchmarks.common.draws import labelled_rows
from benchmarks.common.facts import circumstances
from benchmarks.common.pages import table, versions_line, write_results

STEM = "kept"
TABLES = (
    "banana", "contraceptive", "flare-F", "german", "led7digit", "magic", "movement_libras",
    "mushroom", "page-blocks0", "penbased", "phoneme", "segment", "texture", "tic-tac-toe",
    "titanic", "twonorm", "wdbc", "winequality-red-4", "yeast3",
)  # fmt: skip
LOADED = (
    "digits", "usps", "isolet", "coil20", "sslbook_digit1", "sslbook_usps", "sslbook_g241c",
    "sslbook_coil2",
)  # fmt: skip
_PER_CLASS, _SCALE, _SHIFT = 10, 2.0, 3.0
_TRUTH = "truth"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=[*TABLES, *LOADED])
    parser.add_argument("--rows", type=int, default=2000, help="in each half, at most")
    parser.add_argument("--tables", type=Path, default=Path("../shared/data/tables"))
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    frames = {name: _frame(name, arguments.tables) for name in arguments.sets}
    lines = []
    for name, frame in frames.items():
        lines.append(_line(name, frame, frames, arguments.rows))
        print(lines[-1], flush=True)
        record = {"circumstances": circumstances(), "per_class": _PER_CLASS, "lines": lines}
        write_results(arguments.out, STEM, record, render(record))


def _frame(name: str, tables: Path) -> pd.DataFrame:
    """Return a set as a table, with its classes as texts."""
    place = tables / f"{name}.csv"
    if place.exists():
        frame = pd.read_csv(place)
        return frame.rename(columns={"class": _TRUTH}).astype({_TRUTH: str})
    held = bt.load_dataset(name)
    points = held.points if isinstance(held.points, np.ndarray) else held.points.toarray()
    frame = pd.DataFrame(points, columns=[f"x{i}" for i in range(points.shape[1])])
    return frame.assign(**{_TRUTH: [f"c{one}" for one in held.targets]})


def _line(name: str, frame: pd.DataFrame, frames: dict[str, pd.DataFrame], most: int) -> dict:
    rng = np.random.default_rng(0)
    mixed = frame.iloc[rng.permutation(len(frame))[: 2 * most]].reset_index(drop=True)
    half = len(mixed) // 2
    old, new = mixed.iloc[:half], mixed.iloc[half:]
    with tempfile.TemporaryDirectory() as folder:
        found, given, fit_s = _labelled(old)
        path = found.save(Path(folder) / "model.beltrami")
        labeller = bt.load(path)
        began = time.perf_counter()
        answers = labeller.apply(new.drop(columns=_TRUTH))
        line = {
            "set": name,
            "rows": half,
            "columns": frame.shape[1] - 1,
            "fit_s": fit_s,
            "apply_s": time.perf_counter() - began,
            "file_bytes": path.stat().st_size,
            "usual": labeller.usual,
            "fit_unlike": float(found.learner.unlike_.mean()),
            "held_out": _unlike(answers),
            "alarm": _alarm(labeller, answers),
            **_errors(answers, new[_TRUTH]),
            **_beside_label(found, labeller.apply(old.drop(columns=_TRUTH)), given),
        }
        changed = _changed(name, new, frames, rng)
        line["changed"] = {}
        for kind, rows in changed.items():
            said = labeller.apply(rows)
            line["changed"][kind] = {"unlike": _unlike(said), "alarm": _alarm(labeller, said)}
        line["absent"] = _absent(old, new, Path(folder))
    return line


def _labelled(old: pd.DataFrame) -> tuple:
    codes = pd.factorize(old[_TRUTH], sort=True)[0]
    least = int(np.bincount(codes).min())
    rows = labelled_rows(codes, min(_PER_CLASS, max(least // 2, 1)), 0)
    kind = np.full(len(old), None, dtype=object)
    kind[rows] = old[_TRUTH].to_numpy()[rows]
    began = time.perf_counter()
    found = bt.label(old.drop(columns=_TRUTH).assign(kind=kind), "kind", n_questions=0)
    return found, kind != np.array(None), time.perf_counter() - began


def _unlike(answers: pd.DataFrame) -> float:
    return float(answers["unlike"].mean())


def _alarm(labeller: TableLabeller, answers: pd.DataFrame) -> list[str]:
    """Return which warnings of drift the summary has."""
    said = Applied(labeller).plus(Answers(pa.Table.from_pandas(answers))).drift()
    return ["rows" if "rows have changed" in one else "shares" for one in said]


def _errors(answers: pd.DataFrame, truth: pd.Series) -> dict[str, float]:
    wrong = answers["guess"].to_numpy() != truth.to_numpy()
    unlike = answers["unlike"].to_numpy()
    return {
        "error": float(wrong[~unlike].mean()) if (~unlike).any() else float("nan"),
        "error_unlike": float(wrong[unlike].mean()) if unlike.any() else float("nan"),
    }


def _beside_label(found: bt.Labelling, again: pd.DataFrame, given: np.ndarray) -> dict[str, float]:
    """Say how answers to the rows of the fit differ from what the labelling says of them."""
    asked = ~given
    frame = found.frame[asked]
    again = again[asked]
    apart = np.abs(frame["confidence"].to_numpy() - again["confidence"].to_numpy())
    return {
        "same_guess": float((frame["guess"].to_numpy() == again["guess"].to_numpy()).mean()),
        "same_confidence": float((apart == 0).mean()),
        "largest_apart": float(apart.max()),
        "same_source": float((frame["source"].to_numpy() == again["source"].to_numpy()).mean()),
    }


def _changed(
    name: str, new: pd.DataFrame, frames: dict[str, pd.DataFrame], rng: np.random.Generator
) -> dict[str, pd.DataFrame]:
    """Return the new rows changed, and the rows of other sets with as many columns."""
    rows = new.drop(columns=_TRUTH)
    numbers = rows.select_dtypes("number")
    apart = rows.apply(rng.permutation)
    changed = {"columns shuffled apart": apart}
    if len(numbers.columns):
        shifted = numbers + _SHIFT * numbers.std()
        changed |= {
            "doubled": rows.assign(**(_SCALE * numbers)),
            "one column shifted": rows.assign(**shifted.iloc[:, :1]),
            "shifted": rows.assign(**shifted),
        }
    for other, frame in frames.items():
        theirs = frame.drop(columns=_TRUTH)
        kinds = [[one.kind for one in both.dtypes] for both in (theirs, rows)]
        if other != name and list(theirs.columns) == list(rows.columns) and kinds[0] == kinds[1]:
            changed[f"rows of {other}"] = theirs.sample(min(len(theirs), 500), random_state=0)
    return changed


def _absent(old: pd.DataFrame, new: pd.DataFrame, folder: Path) -> dict | None:
    """Leave the second largest class out of the fit, and see whether its rows are noticed."""
    counts = old[_TRUTH].value_counts()
    if len(counts) < 3:
        return None
    absent = counts.index[1]
    found, _, _ = _labelled(old[old[_TRUTH] != absent].reset_index(drop=True))
    labeller = bt.load(found.save(folder / "absent.beltrami"))
    answers = labeller.apply(new.drop(columns=_TRUTH))
    is_absent = (new[_TRUTH] == absent).to_numpy()
    unlike = answers["unlike"].to_numpy()
    sure = answers["confidence"].to_numpy()
    return {
        "share": float(is_absent.mean()),
        "unlike": float(unlike[is_absent].mean()),
        "unlike_others": float(unlike[~is_absent].mean()),
        "confidence": float(sure[is_absent].mean()),
        "confidence_others": float(sure[~is_absent].mean()),
        "alarm": _alarm(labeller, answers),
    }


def render(record: dict) -> str:
    """Return the page."""
    lines = record["lines"]
    unlike = [
        (
            one["set"],
            f"{one['rows']:,} x {one['columns']}",
            f"{one['usual']:.1%}",
            f"{one['held_out']:.1%}",
            _words(one["alarm"]),
            f"{one['error']:.1%}",
            f"{one['error_unlike']:.1%}" if one["held_out"] else "",
        )
        for one in lines
    ]
    same = [
        (
            one["set"],
            f"{one['file_bytes'] / 2**20:.1f}",
            f"{one['file_bytes'] / (8 * one['rows'] * one['columns']):.1f}",
            f"{one['same_guess']:.1%}",
            f"{one['same_confidence']:.1%}",
            f"{one['largest_apart']:.1g}",
            f"{one['same_source']:.1%}",
        )
        for one in lines
    ]
    changed = [
        (one["set"], kind, f"{two['unlike']:.1%}", _words(two["alarm"]))
        for one in lines
        for kind, two in one["changed"].items()
    ]
    absent = [
        (
            one["set"],
            f"{two['share']:.1%}",
            f"{two['unlike']:.1%}",
            f"{two['unlike_others']:.1%}",
            f"{two['confidence']:.2f}",
            f"{two['confidence_others']:.2f}",
            _words(two["alarm"]),
        )
        for one in lines
        if (two := one["absent"]) is not None
    ]
    rates = [one["held_out"] for one in lines]
    return (
        "# A kept labeller on rows that it has not seen\n\n"
        f"{len(lines)} real sets, cut in halves by chance. `beltrami label --save` learns from "
        f"one, with up to {record['per_class']} labels per class; `apply` answers the other.\n\n"
        "## Held-out rows that are called unlike\n\n"
        "They come from the same place, so each is a false alarm: the median over the sets is "
        f"{np.median(rates):.1%}, the largest {max(rates):.1%}. Beside it the share of the fit's "
        "own rows that lie as far apart, whether the summary warns of drift, and errors among the "
        "other rows and among these.\n\n"
        + table(("set", "fit", "own", "held out", "warns", "errors", "of unlike"), unlike)
        + "\n## How often a change is noticed\n\nSets on which the summary warns, and on which it "
        "says that the rows have changed; details below.\n\n"
        + table(("change", "sets", "warned of", "as changed rows"), _noticed(lines))
        + "\n## Rows that have changed\n\nShare that is called unlike, and whether the summary "
        f"warns. Numbers are multiplied by {_SCALE:g}, or moved by {_SHIFT:g} standard deviations; "
        "columns are shuffled apart, so that each has the same values and no row belongs "
        "together.\n\n"
        + table(("set", "rows", "unlike", "warns"), changed)
        + "\n## A class that the fit had none of\n\nThe second largest class is left out of the "
        "fit. How many of its rows are called unlike, beside those of the other classes.\n\n"
        + table(
            ("set", "share", "unlike", "others", "confidence", "of others", "warns"),
            absent,
        )
        + "\n## The file, and the rows of the fit once more\n\nMiB, and times the numbers of the "
        "fit as doubles. Rows of the fit without a label, answered by `apply`: the share with the "
        "guess, confidence and source that `label` gave them, and how far confidences are apart at "
        "most.\n\n"
        + table(("set", "MiB", "of the data", "guess", "confidence", "most apart", "source"), same)
        + f"\n{versions_line(record['circumstances'])}\n"
    )


def _noticed(lines: list[dict]) -> list[tuple[str, ...]]:
    """Count the sets on which each change is warned of."""
    found: dict[str, list[list[str]]] = {"none: held-out rows": [one["alarm"] for one in lines]}
    for one in lines:
        for kind, two in one["changed"].items():
            name = "rows of another set" if kind.startswith("rows of") else kind
            found.setdefault(name, []).append(two["alarm"])
    absent = [one["absent"]["alarm"] for one in lines if one["absent"] is not None]
    found["a class that the fit had none of"] = absent
    return [
        (name, str(len(alarms)), str(sum(map(bool, alarms))), str(sum("rows" in a for a in alarms)))
        for name, alarms in found.items()
    ]


def _words(alarms: list[str]) -> str:
    return " and ".join(alarms) or "no"


if __name__ == "__main__":
    main()
