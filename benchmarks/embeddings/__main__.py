"""Texts by their words, by a static model and by vectors brought along: what each is worth.

Every way goes through the front door as `beltrami label` would: words by `text`, a model in a
folder by `text_model`, vectors by `embeddings`. Vectors are also compared by angle, which is what
the library does not do, to know what that costs. A way that stands in the results already, for as
many posts and draws, is not measured again.

Run: python -m benchmarks.embeddings --static FOLDER --vectors minilm.npy
"""

import argparse
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np

from beltrami import ManifoldClassifier
from beltrami.labelling.intake import take_in
from beltrami.tables import TableOptions
from benchmarks.common.command import RESULTS
from benchmarks.common.draws import labelled_rows
from benchmarks.common.facts import circumstances, package_version
from benchmarks.common.pages import load_record, table, versions_line, write_results
from benchmarks.embeddings.posts import POSTS, sample_posts

STEM = "embeddings"
LABELS, DRAWS = (1, 2, 5, 10), 3
WORDS = "words, TF-IDF"


def ways(texts: list[str], static: Path | None, vectors: Path | None) -> dict[str, Any]:
    """Return points and metric of each way, as the front door gets them."""
    asked = {WORDS: TableOptions(text="text", min_classes=0)}
    if static is not None:
        asked["static model"] = TableOptions(text="text", text_model=static, min_classes=0)
    if vectors is not None:
        asked["vectors brought along"] = TableOptions(embeddings=vectors, min_classes=0)
    found = {}
    for name, options in asked.items():
        started = time.process_time()
        intake = take_in({"text": texts}, options)
        seconds = time.process_time() - started
        found[name] = (intake.points, intake.metric, intake.features.is_empty, seconds)
    angles = {
        f"{name}, by angle": (points, "angle", is_empty, seconds)
        for name, (points, _, is_empty, seconds) in found.items()
        if name != WORDS
    }
    return found | angles


def accuracy(points: Any, metric: str, targets: np.ndarray, draws: int) -> dict[str, Any]:
    """Return percent right on rows without a label, by labels per class and draw."""
    learner = ManifoldClassifier(metric=metric, random_state=0)
    right: dict[str, list[float]] = {str(count): [] for count in LABELS}
    started = time.process_time()
    for draw in range(draws):
        for count in LABELS:
            rows = labelled_rows(targets, count, draw)
            y = np.full(len(targets), -1)
            y[rows] = targets[rows]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                is_built = hasattr(learner, "classes_")
                learner.fit_labels(y) if is_built else learner.fit(points, y)
            is_open = y < 0
            hits = learner.transduction_[is_open] == targets[is_open]
            right[str(count)].append(round(100 * float(np.mean(hits)), 2))
            print(f"  draw {draw}, {count} per class: {right[str(count)][-1]:.1f} %", flush=True)
    fits = draws * len(LABELS)
    return {"right": right, "seconds a fit": round((time.process_time() - started) / fits, 1)}


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    facts, found = record["circumstances"], record["ways"]
    base = found[WORDS]["right"]
    lines = []
    for name, one in found.items():
        cells = []
        for count, values in one["right"].items():
            gains = [after - before for after, before in zip(values, base[count], strict=True)]
            more = "" if name == WORDS else f" ({mean(gains):+.1f} ± {stdev(gains):.1f})"
            cells.append(f"{mean(values):.1f}{more}")
        width = f"{one['columns']}"
        lines.append([name, width, *cells, f"{one['seconds a fit']}", f"{one['seconds to read']}"])
    header = ("rows compared by", "columns", *(f"{count} per group" for count in LABELS))
    models = "; ".join(f"{name}: {what}" for name, what in record["models"].items())
    return (
        "# Texts by words, by a static model, by vectors brought along\n\n"
        f"Percent of the posts without a label that the front door has right, {record['posts']} "
        f"posts of 20 Newsgroups without headers, {record['posts'] // 20} of each group; mean of "
        f"{record['draws']} draws of labels, the same for every way. In brackets the difference "
        "from words and its standard deviation over draws. `python -m benchmarks.embeddings`.\n\n"
        + table((*header, "processor s a fit", "processor s to read"), lines)
        + f"\n{models or 'No model was at hand'}. Seconds beside other work; to read includes what "
        "a static model makes of the texts, and nothing of how vectors were made elsewhere.\n\n"
        f"{facts['cpu']}, {facts['cores']} cores; Python {facts['python']}, "
        f"{versions_line(facts)}; commit {facts['commit']}, {facts['date']}.\n"
    )


def main(arguments: list[str] | None = None) -> None:
    """Learn by every way and write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.embeddings", description=__doc__)
    parser.add_argument("--static", type=Path, help="folder of a static embedding model")
    parser.add_argument("--vectors", type=Path, help="npy file of `benchmarks.embeddings.encode`")
    parser.add_argument("--models", nargs="*", default=[], help="WAY=what it is, for the page")
    parser.add_argument("--posts", type=int, default=POSTS)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args(arguments)
    texts, targets = sample_posts(asked.posts)
    record = load_record(asked.out, STEM, ways={}, models={})
    size = {"posts": len(texts), "draws": asked.draws}
    if any(record.get(name) != value for name, value in size.items()):
        record = {**size, "ways": {}, "models": {}}
    record["models"] |= dict(one.split("=", 1) for one in asked.models)
    record |= {"circumstances": circumstances(), "model2vec": package_version("model2vec")}
    for name, (points, metric, is_empty, seconds) in ways(
        texts, asked.static, asked.vectors
    ).items():
        if name in record["ways"]:
            continue
        print(name, points.shape, flush=True)
        record["ways"][name] = {
            **accuracy(points, metric, targets, asked.draws),
            "columns": points.shape[1],
            "empty": 0 if is_empty is None else int(is_empty.sum()),
            "seconds to read": round(seconds, 1),
        }
        write_results(asked.out, STEM, record, render(record))
    print(render(record))


if __name__ == "__main__":
    main()
