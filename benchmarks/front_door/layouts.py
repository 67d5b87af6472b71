"""``python -m benchmarks.front_door.layouts``: maps of graphs beside t-SNE and two components."""

import argparse
import os
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.common.command import add_threads, contest_parser, results_folder
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.pages import table, write_results
from benchmarks.common.threads import set_threads

STEM = "front_door_layouts"
SEED, NEIGHBORS, SUBSET, PROBED = 0, 10, 2000, 5000
MARKS = (
    ("digits", "class purity", 0.95, "at least"),
    ("digits", "seconds", 2.0, "below"),
    ("mnist", "class purity", 0.90, "at least"),
    ("mnist", "seconds", 30.0, "below"),
)
_ABOUT = {
    "digits": "1797 digits of scikit-learn",
    "mnist": "60,000 images on 100 principal components",
    "coil20": "1440 views of 20 objects",
    "newsgroups": "posts without headers, TF-IDF of 6000 words, angle",
    "moons": "two moons, noise 0.05; class: the moon",
    "roll": "Swiss roll; class: one of 20 stretches along the spiral",
    "islands": "four clouds and 30 single points, components kept apart",
}


def main(arguments: list[str] | None = None) -> None:
    """Draw every problem by every method; the files are written after each problem."""
    asked = _arguments(arguments)
    set_threads(asked.threads)  # before any of the libraries that read it is loaded

    warn_if_busy()
    folder = results_folder(asked.out, toy=asked.toy)
    facts = circumstances() | {"load": os.getloadavg()[0]}
    record: dict[str, Any] = {"circumstances": facts, "rows": [], "marks": []}
    _warm()
    for name in ("digits", "moons", "islands") if asked.toy else (asked.only or _ABOUT):
        for row in rows_of(name, subset=400 if asked.toy else SUBSET, pictures=asked.pictures):
            record["rows"].append(row)
            print(" | ".join(_cells(row)), flush=True)
        record["marks"] = marks(record["rows"])
        write_results(folder, STEM, record, render(record))
    print(render(record))


def rows_of(name: str, *, subset: int, pictures: Path | None = None) -> list[dict[str, Any]]:
    """Return ours on all points of a problem, then every method on a subset of them."""
    import numpy as np  # noqa: PLC0415

    points, targets, metric = problem(name)
    n = points.shape[0]
    ours = {"ours": _ours}
    whole = [] if n <= subset else _draw_and_measure(name, points, targets, metric, ours, pictures)
    rows = np.arange(n)
    if n > subset:
        rows = np.sort(np.random.default_rng(SEED).choice(n, subset, replace=False))
    every = ours | {"t-SNE (scikit-learn)": _tsne, "two principal components": _plane}
    return whole + _draw_and_measure(name, points[rows], targets[rows], metric, every, pictures)


def problem(name: str) -> tuple[Any, Any, str]:
    """Return points, classes and metric of a problem."""
    import numpy as np  # noqa: PLC0415

    from beltrami import load_dataset, swiss_roll, two_moons  # noqa: PLC0415

    if name == "mnist":
        from benchmarks.peers.problems import N_MNIST  # noqa: PLC0415
        from benchmarks.peers.problems import points as cached  # noqa: PLC0415

        cloud = cached("mnist", N_MNIST)
        return cloud["points"], np.asarray(cloud["targets"]), "euclidean"
    if name == "newsgroups":
        return (*_newsgroups(), "angle")
    if name == "moons":
        data = two_moons(2000, noise=0.05, random_state=SEED)
        return data.points, np.asarray(data.targets), "euclidean"
    if name == "roll":
        points = swiss_roll(2000, random_state=SEED).points
        along = np.argsort(np.argsort(np.hypot(points[:, 0], points[:, 2])))
        return points, along // 100, "euclidean"
    if name == "islands":
        return (*_islands(), "euclidean")
    data = load_dataset(name)
    return np.asarray(data.points, dtype=np.float32), np.asarray(data.targets), "euclidean"


def marks(rows: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what was asked, what was found, and whether it holds; of ours on most points."""
    best: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        if row["method"] == "ours" and row["n"] > best.get(row["problem"], {"n": 0})["n"]:
            best[row["problem"]] = row
    out = []
    for name, about, bound, how in MARKS:
        if name in best:
            value = best[name][about]
            met = value >= bound if how == "at least" else value < bound
            asked = f"{how} {bound:g}"
            out.append({"about": f"{name}, {about}", "asked": asked, "found": value, "met": met})
    return out


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""

    facts = record["circumstances"]
    header = (
        "problem", "n", "method", "seconds", "processor s", "graph s", "class purity",
        "neighbours kept",
    )  # fmt: skip
    asked = [
        [one["about"], one["asked"], f"{one['found']:.3f}", "yes" if one["met"] else "MISSED"]
        for one in record["marks"]
    ]
    sets = "".join(f"- {name}: {about}.\n" for name, about in _ABOUT.items())
    return (
        "# Maps of neighbourhood graphs\n\n"
        f"{facts['cpu']}, {facts['cores']} cores, {facts['threads']} threads; Python "
        f"{facts['python']}, NumPy {facts['versions']['numpy']}, numba "
        f"{facts['versions']['numba']}, scikit-learn {facts['versions']['scikit-learn']}; "
        f"{facts['date']} at commit {facts['commit']}; one run each, compilation not timed. "
        f"Load of the machine at the start {facts['load']:.1f}: where that is above the threads, "
        "seconds are those of a shared machine, and processor seconds, summed over threads, say "
        "more.\n\n"
        f"Class purity: share of the 10 nearest on the map that have the same class. Neighbours "
        "kept: share of the 10 nearest on the map that are among the 15 nearest in the data; both "
        f"on up to {PROBED} points. Ours draws a {NEIGHBORS}-NN graph with default weights, whose "
        "seconds stand apart; t-SNE searches for itself, with default parameters. Every method "
        f"sees the same subset where a set has more than {SUBSET} points.\n\n"
        + sets
        + "\n"
        + table(header, [_cells(row) for row in record["rows"]])
        + "\n"
        + table(("about", "asked", "found", "met"), asked)
    )


def _draw_and_measure(
    name: str,
    points: Any,
    targets: Any,
    metric: str,
    methods: Mapping[str, Callable[..., Any]],
    pictures: Path | None,
) -> list[dict[str, Any]]:
    import numpy as np  # noqa: PLC0415

    from beltrami.graph.search import open_space  # noqa: PLC0415

    graph, graph_s = _graph(name, points, metric)
    rng = np.random.default_rng(SEED)
    probed = rng.choice(points.shape[0], min(PROBED, points.shape[0]), replace=False)
    near = open_space(points, metric).nearest(points[probed], 16)[0]
    if name == "islands":
        graph = _with_single_points(graph, 30)
        targets = np.append(targets, np.full(30, -1))
    out = []
    for method, draw in methods.items():
        start, busy = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            positions = draw(points, graph, metric)
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
        out.append({
            "problem": name, "n": len(positions), "method": method, "seconds": seconds,
            "processor s": busy,
            "graph s": graph_s if method == "ours" else None,
            **quality(positions, targets, near, probed),
        })  # fmt: skip
        if pictures is not None:
            _picture(pictures / f"{name}-{len(positions)}-{method[:5]}.png", positions, targets)
    return out


def quality(positions: Any, targets: Any, near: Any, probed: Any) -> dict[str, float]:
    """Return class purity and the share of neighbours kept.

    `near` holds the 16 nearest in the data of each row of `probed`, itself among them.
    """
    import numpy as np  # noqa: PLC0415
    from scipy.spatial import cKDTree  # noqa: PLC0415

    nearest = cKDTree(positions).query(positions[probed], 11)[1]
    is_itself = nearest == probed[:, None]
    is_itself[~is_itself.any(axis=1), -1] = True  # a twin may stand in for the point itself
    nearest = nearest[~is_itself].reshape(len(probed), 10)
    kept = [np.isin(here, there).mean() for here, there in zip(nearest, near, strict=True)]
    same = targets[nearest] == targets[probed][:, None]
    return {"class purity": float(same.mean()), "neighbours kept": float(np.mean(kept))}


def _graph(name: str, points: Any, metric: str) -> tuple[Any, float]:
    """Return the graph and its seconds; that of all of MNIST is kept from other contests."""
    from beltrami import KnnGraph  # noqa: PLC0415
    from beltrami.core.errors import BeltramiWarning  # noqa: PLC0415

    if name == "mnist" and points.shape[0] > SUBSET:
        from benchmarks.few_labels.problems import problem as few_labels  # noqa: PLC0415

        whole = few_labels("mnist")
        return whole.graph, whole.graph_s
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeltramiWarning)
        connect = "keep" if name == "islands" else "mst"
        start = time.perf_counter()
        graph = KnnGraph(NEIGHBORS, metric=metric, connect=connect).build(points)
        return graph, time.perf_counter() - start


def _ours(points: Any, graph: Any, metric: str) -> Any:  # noqa: ARG001
    from beltrami.embeddings.layout import layout_graph  # noqa: PLC0415

    return layout_graph(graph, random_state=SEED)


def _tsne(points: Any, graph: Any, metric: str) -> Any:  # noqa: ARG001
    from sklearn.manifold import TSNE  # noqa: PLC0415

    how = {"metric": "cosine", "init": "random"} if metric == "angle" else {}
    return TSNE(random_state=SEED, **how).fit_transform(points)


def _plane(points: Any, graph: Any, metric: str) -> Any:  # noqa: ARG001
    from sklearn.decomposition import TruncatedSVD  # noqa: PLC0415

    centred = points if metric == "angle" else points - points.mean(axis=0)
    return TruncatedSVD(2, random_state=SEED).fit_transform(centred)


def _newsgroups() -> tuple[Any, Any]:
    import numpy as np  # noqa: PLC0415
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

    from beltrami import load_dataset  # noqa: PLC0415
    from beltrami_papers.preparation import strip_headers  # noqa: PLC0415

    data = load_dataset("newsgroups20")
    words = TfidfVectorizer(max_features=6000, stop_words="english", sublinear_tf=True)
    matrix = words.fit_transform([strip_headers(text) for text in data.texts]).tocsr()
    some = np.flatnonzero(np.diff(matrix.indptr) > 0)
    return matrix[some], np.asarray(data.targets)[some]


def _islands() -> tuple[Any, Any]:
    import numpy as np  # noqa: PLC0415

    rng = np.random.default_rng(SEED)
    sizes, centres = (800, 500, 200, 40), (0.0, 30.0, -30.0, 60.0)
    parts = [rng.normal(centre, size=(n, 5)) for n, centre in zip(sizes, centres, strict=True)]
    return np.concatenate(parts), np.repeat(np.arange(4), sizes)


def _with_single_points(graph: Any, n: int) -> Any:
    from scipy.sparse import block_diag, csr_array  # noqa: PLC0415

    from beltrami import Graph  # noqa: PLC0415

    return Graph(csr_array(block_diag([graph.weights, csr_array((n, n))])))


def _picture(place: Path, positions: Any, targets: Any) -> None:
    import matplotlib.pyplot as plt  # noqa: PLC0415

    place.parent.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(figsize=(7, 7))
    size = 0.4 if len(positions) > 10_000 else 5
    colours = targets[: len(positions)]
    axes.scatter(*positions.T, c=colours, s=size, cmap="tab20", linewidths=0)
    axes.set_aspect("equal")
    figure.savefig(place, dpi=80)
    plt.close(figure)


def _warm() -> None:
    """Compile, so that no row pays for it."""
    from beltrami.graph.families import ring  # noqa: PLC0415

    for n in (20, 3000):
        _ours(None, ring(n), "euclidean")


def _cells(row: Mapping[str, Any]) -> list[str]:
    graph_s = "" if row["graph s"] is None else f"{row['graph s']:.2f}"
    return [
        row["problem"], str(row["n"]), row["method"], f"{row['seconds']:.2f}",
        f"{row['processor s']:.2f}", graph_s, f"{row['class purity']:.3f}",
        f"{row['neighbours kept']:.3f}",
    ]  # fmt: skip


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = contest_parser("front_door.layouts", __doc__)
    parser.add_argument("--toy", action="store_true", help="small problems")
    parser.add_argument("--only", nargs="+", choices=list(_ABOUT), help="these problems")
    add_threads(parser)
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of every map")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
