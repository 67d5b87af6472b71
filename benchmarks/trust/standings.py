"""Where the front door stands among peers: means, ranks, differences, lost cells, and the page.

A cell is a set, labels per class and a way to draw; its accuracies are means over the draws that
all have. Sets count the same, however many cells they have.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.common.pages import table, versions_line
from benchmarks.trust.sets import PER_CLASS

FRONT, BEFORE = "front door", "front door, before"
BASELINES = ("logistic", "1-NN", "forest")
"""Peers that the front door should never be far behind."""
BEHIND = 0.02
N_WORST = 10
GROUPS = {"all": "All sets", "tables": "Ordinary tables", "others": "Other sets"}

Record = Mapping[str, Any]


def compare(front: Iterable[Record], peers: Iterable[Record], old: Iterable[Record]) -> list[Any]:
    """Return cells with the accuracy of everyone in the draws that all have.

    - `front`, `old`: draws with one accuracy each, of the front door as it is and as it was.
    - `peers`: draws with the accuracies by peer.
    """
    found: dict[tuple[str, int, str], dict[int, dict[str, float]]] = {}
    for one in peers:
        found.setdefault(_key(one), {})[one["draw"]] = dict(one["accuracy"])
    for name, facts in ((FRONT, front), (BEFORE, old)):
        for one in facts:
            draw = found.get(_key(one), {}).get(one["draw"])
            if draw is not None:
                draw[name] = one["accuracy"]
    cells = []
    for (set_name, per_class, kind), by_draw in sorted(found.items()):
        draws = sorted(number for number, draw in by_draw.items() if FRONT in draw)
        if not draws:
            continue
        names = [name for name in by_draw[draws[0]] if all(name in by_draw[d] for d in draws)]
        accuracy = {name: [by_draw[number][name] for number in draws] for name in names}
        cells.append({"set": set_name, "per_class": per_class, "kind": kind, "draws": draws,
                      "accuracy": accuracy})  # fmt: skip
    return cells


def _key(one: Record) -> tuple[str, int, str]:
    return one["set"], one["per_class"], one["kind"]


def measure(cells: Sequence[Record]) -> dict[str, Any]:
    """Return means by group of sets and labels per class, and the cells lost by most."""
    summary: dict[str, Any] = {}
    for group in GROUPS:
        members = [one for one in cells if _is_in(group, one["set"])]
        counts = [count for count in PER_CLASS if any(m["per_class"] == count for m in members)]
        if members:
            summary[group] = {
                "by_count": {
                    str(count): _standing([m for m in members if m["per_class"] == count])
                    for count in counts
                },
                "behind": _share_behind(members),
            }
    losses = [_loss(one) for one in cells]
    worst = sorted((one for one in losses if one["behind"] > 0), key=lambda one: -one["behind"])
    return {"groups": summary, "worst": worst[:N_WORST]}


def _is_in(group: str, set_name: str) -> bool:
    return group == "all" or (group == "tables") == set_name.startswith("table ")


def _standing(cells: Sequence[Record]) -> dict[str, Any]:
    """Return where everyone stands with one number of labels."""
    by_set: dict[str, list[dict[str, float]]] = {}
    for one in cells:
        means = {name: float(np.mean(each)) for name, each in one["accuracy"].items()}
        by_set.setdefault(one["set"], []).append(means)
    names = list(dict.fromkeys(name for some in by_set.values() for one in some for name in one))
    complete = [
        some for some in by_set.values() if all(name in one for one in some for name in names)
    ]
    ranks = [
        np.mean([rankdata([-one[name] for name in names]) for one in some], axis=0)
        for some in complete
    ]
    entrants = {}
    for place, name in enumerate(names):
        there = [some for some in by_set.values() if all(name in one for one in some)]
        gaps = [np.mean([one[FRONT] - one[name] for one in some]) for some in there]
        entrants[name] = {
            "sets": len(there),
            "accuracy": _mean([np.mean([one[name] for one in some]) for some in there]),
            "rank": _mean([each[place] for each in ranks]),
            "front_door_less": _mean(gaps),
            "half_interval": _half(gaps),
        }
    rivals = [name for name in names if name not in {FRONT, BEFORE} and entrants[name]["sets"]]
    best = min(rivals, key=lambda name: entrants[name]["front_door_less"], default=None)
    return {
        "sets": len(by_set),
        "ranked_sets": len(complete),
        "draws": sum(len(one["draws"]) for one in cells),
        "entrants": entrants,
        "best_peer": best,
        "behind": _share_behind(cells),
    }


def _mean(numbers: Sequence[Any]) -> float | None:
    return float(np.mean(numbers)) if len(numbers) else None


def _half(gaps: Sequence[Any]) -> float | None:
    """Return half of the 90 % interval of a mean over sets; one set has none."""
    return float(1.645 * np.std(gaps, ddof=1) / np.sqrt(len(gaps))) if len(gaps) > 1 else None


def _loss(cell: Record) -> dict[str, Any]:
    """Return by how much the front door is behind the best baseline of a cell."""
    means = {name: float(np.mean(each)) for name, each in cell["accuracy"].items()}
    best = max((name for name in BASELINES if name in means), key=means.__getitem__)
    return {"set": cell["set"], "per_class": cell["per_class"], "kind": cell["kind"],
            "front_door": means[FRONT], "best": best, "accuracy": means[best],
            "behind": means[best] - means[FRONT]}  # fmt: skip


def _share_behind(cells: Sequence[Record]) -> dict[str, int]:
    behind = sum(_loss(one)["behind"] > BEHIND for one in cells)
    return {"cells": len(cells), "behind": behind}


def render(record: Record) -> str:
    """Return the page."""
    summary, facts, door = (record[key] for key in ("summary", "circumstances", "front_door"))
    text = (
        "# The front door beside peers, on the same labels and rows\n\n"
        "Percent right of up to 1500 rows without a label (`python -m benchmarks.trust.peers`). "
        "The front door answers by what other sets taught, as on the page of sets left out; labels "
        "are drawn evenly and at random, columns are labels per class, and each set counts the "
        "same. Peers see the points that the front door's baselines see. In brackets the mean rank "
        "over the sets that all in the column answered; a star where some sets were skipped: "
        "compare by the rows of differences, which are of the same sets. Intervals are of 90 %, "
        "over sets. Behind: cells (a set, labels per class, a way to draw; mean over draws) in "
        "which the front door is more than two points behind the best of logistic regression, 1-NN "
        "and forest.\n\n"
        "Label spreading gives rows that nothing reaches the class that comes first by its name. "
        "With one label a class these are 54 to 94 % of the rows of `flare-F`, `abalone9-18`, "
        "`winequality-red-4` and `new-thyroid1`, where that class is the large one; were they "
        "drawn by lot, it would have 45 to 64 % right there, and not 75 to 92.\n"
    )
    names = [FRONT, BEFORE, *record["peers"]]
    for group, title in GROUPS.items():
        if group in summary["groups"]:
            text += f"\n## {title}\n\n" + _render_group(summary["groups"][group], names)
    text += f"\n## The {len(summary['worst'])} cells lost by most\n\n"
    header = ["set", "labels per class", "drawn", "front door", "best", "", "behind"]
    text += table(header, [
        [one["set"], str(one["per_class"]), one["kind"], _percent(one["front_door"]),
         _percent(one["accuracy"]), one["best"], _percent(one["behind"])]
        for one in summary["worst"]
    ])  # fmt: skip
    text += "\n## Peers\n\n" + "".join(
        f"- {name}: {call}{_absent(record, name)}\n" for name, call in record["peers"].items()
    )
    return text + (
        f"\nFront door: commit {door['commit']}, {door['date']}. Peers: {versions_line(facts)}, "
        f"graphlearning {facts['graphlearning']}; {facts['date']}. Every draw is in the JSON file "
        "beside.\n"
    )


def _absent(record: Record, name: str) -> str:
    if name in record["missing"]:
        return f"; left out: {record['missing'][name]}"
    reasons: dict[str, list[str]] = {}
    for set_name, peer, reason in record["skipped"]:
        if peer == name:
            reasons.setdefault(reason, []).append(set_name)
    return "".join(f"; not on {', '.join(sets)} ({why})" for why, sets in reasons.items())


def _render_group(group: Record, names: Sequence[str]) -> str:
    """Return one table: everyone, differences to everyone, and the share of lost cells."""
    by_count = group["by_count"]
    names = [name for name in names if any(name in one["entrants"] for one in by_count.values())]
    lines = [["sets", *(str(one["sets"]) for one in by_count.values())]]
    lines += [[name, *(_score(one, name) for one in by_count.values())] for name in names]
    lines.append(["**less best peer**", *map(_best_gap, by_count.values())])
    lines += [
        [f"less {name}", *(_gap(one, name) for one in by_count.values())]
        for name in names
        if name != FRONT
    ]
    lines.append(["behind", *(_behind(one["behind"]) for one in by_count.values())])
    return table(["", *by_count], lines) + f"\nBehind in {_behind(group['behind'])} cells.\n"


def _score(one: Record, name: str) -> str:
    entrant = one["entrants"].get(name)
    if not entrant or entrant["accuracy"] is None:
        return ""
    star = "*" if entrant["sets"] < one["sets"] else ""
    rank = "" if entrant["rank"] is None else f" ({entrant['rank']:.2f})"
    return f"{_percent(entrant['accuracy'])}{star}{rank}"


def _best_gap(one: Record) -> str:
    best = one["best_peer"]
    return f"{_gap(one, best)} {best}" if best else ""


def _gap(one: Record, name: str) -> str:
    entrant = one["entrants"].get(name)
    if not entrant or entrant["front_door_less"] is None:
        return ""
    half = entrant["half_interval"]
    around = "" if half is None else f" ± {_percent(half)}"
    return f"{100 * entrant['front_door_less']:+.1f}{around}"


def _behind(counted: Record) -> str:
    share = counted["behind"] / counted["cells"]
    return f"{counted['behind']} of {counted['cells']} ({share:.0%})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"
