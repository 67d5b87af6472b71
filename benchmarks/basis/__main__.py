"""Loose eigenbases: the multilevel solver beside the Chebyshev iteration and SciPy's.

Graphs of points on ten sheets of three dimensions, nodes in random order, and any graph of weights
given as a file; every run in a process of its own, the solvers in turn, so that a slow minute of
the machine hits all. Processor seconds are noted beside the clock: they do not count the waiting on
a busy machine.

Run: python -m benchmarks.basis [--graph mnist=weights.npz]
"""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array, load_npz
from scipy.sparse.linalg import eigsh, lobpcg
from scipy.spatial import cKDTree

from beltrami import Graph, eigenbasis, laplacian
from benchmarks.common.command import RESULTS, contest_parser
from benchmarks.common.facts import circumstances
from benchmarks.common.memory import GIB, peak_bytes, restart_peak
from benchmarks.common.pages import growth_in_words, load_record, table, write_results

STEM = "basis"
SIZES = (60_000, 250_000, 1_000_000)
TOL = 0.1
SOLVERS = ("multilevel", "chebyshev", "lobpcg", "eigsh")
_PEERS_UP_TO = 60_000  # nodes
_CHEBYSHEV_UP_TO = 250_000


def sheets(n: int, seed: int = 0) -> csr_array:
    """Return the weights of a 10-nearest-neighbour graph of points on ten sheets."""
    rng = np.random.default_rng(seed)
    targets, points = rng.integers(0, 10, n), np.empty((n, 4))
    for code in range(10):
        shape = np.random.default_rng((1, code))
        rows = targets == code
        places = rng.uniform(-1, 1, (rows.sum(), 3))
        waves = np.sin(0.8 * places @ shape.normal(size=(3, 4)) + shape.uniform(0, 2 * np.pi, 4))
        bend = np.column_stack([places, places[:, 0] * places[:, 1]])
        points[rows] = 0.7 * waves + 0.55 * shape.normal(size=4) + 0.3 * bend
    points += rng.normal(0, 0.002, points.shape)
    distances, near = cKDTree(points).query(points, 11, workers=-1)
    distances, near = distances[:, 1:], near[:, 1:].astype(np.int32)
    widths = distances[:, 6]
    weights = np.exp(-(distances**2) / (widths[:, None] * widths[near]))
    indptr = np.arange(0, 10 * n + 1, 10, dtype=np.int32)
    matrix = csr_array((weights.ravel(), near.ravel(), indptr), shape=(n, n))
    return csr_array(matrix.maximum(matrix.T))


def _read(source: str) -> csr_array:
    weights = csr_array(load_npz(source)) if source.endswith(".npz") else sheets(int(source))
    weights.indices, weights.indptr = (
        part.astype(np.int32) for part in (weights.indices, weights.indptr)
    )
    return weights


def run_once(source: str, solver: str, count: int) -> dict[str, Any]:
    """Compute one basis in this process and return what it took and what it is."""
    weights = _read(source)
    graph = Graph(weights)
    if solver in {"multilevel", "chebyshev"}:
        warm = Graph(sheets(3000))
        eigenbasis(warm, 10, kind="random_walk", tol=TOL, solver=solver)
    before = restart_peak()
    clock, processor = time.perf_counter(), time.process_time()
    if solver in {"multilevel", "chebyshev"}:
        basis = eigenbasis(
            graph, count, kind="random_walk", tol=TOL, solver=solver, dtype="float32"
        )
        values, converged = basis.values, basis.converged
    else:
        values, converged = _peer_values(graph, solver, count), True
    return {
        "seconds": round(time.perf_counter() - clock, 2),
        "processor_s": round(time.process_time() - processor, 2),
        "peak_gib": round((peak_bytes() - before) / GIB, 2),
        "values": [float(f"{value:.6g}") for value in values],
        "converged": bool(converged),
    }


def _peer_values(graph: Graph, solver: str, count: int) -> np.ndarray:
    """Return the lowest values by SciPy, with the tolerance that its solver understands."""
    matrix = laplacian(graph, "normalized")
    n = graph.n_nodes
    if solver == "eigsh":
        turned = csr_array(2 * diags_array(np.ones(n)) - matrix)
        return np.sort(2 - eigsh(turned, count, which="LA", tol=TOL * 1e-2)[0])
    start = np.random.default_rng(0).standard_normal((n, count))
    found, _ = lobpcg(matrix, start, largest=False, tol=TOL * 0.05, maxiter=60)
    return np.sort(found)


def _in_a_process(source: str, solver: str, count: int, limit_s: float) -> dict[str, Any] | None:
    command = [sys.executable, "-m", "benchmarks.basis", "--once", source, solver, str(count)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=True)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout.splitlines()[-1])


def contest(
    name: str, source: str, count: int, solvers: list[str], rounds: int, limit_s: float
) -> list[dict[str, Any]]:
    """Run the solvers in turn; return a row for each."""
    runs: dict[str, list[dict[str, Any]]] = {solver: [] for solver in solvers}
    for _ in range(rounds):
        for solver in solvers:
            done = _in_a_process(source, solver, count, limit_s)
            if done is not None:
                runs[solver].append(done)
    exact = np.array(runs["chebyshev"][0]["values"]) if runs.get("chebyshev") else None
    rows = []
    for solver in solvers:
        if not runs[solver]:
            rows.append({"problem": name, "p": count, "solver": solver, "limit_s": limit_s})
            continue
        row = {"problem": name, "p": count, "solver": solver, "runs": len(runs[solver])}
        for part in ("seconds", "processor_s", "peak_gib"):
            row[part] = float(np.median([run[part] for run in runs[solver]]))
        row["converged"] = all(run["converged"] for run in runs[solver])
        values = np.array(runs[solver][0]["values"])
        if exact is not None:
            inside = exact > 1e-10
            row["value_gap_percent"] = float(100 * np.mean(values[inside] / exact[inside] - 1))
        rows.append(row)
    return rows


def render(record: Mapping[str, Any]) -> str:
    """Return the page."""
    facts, rows = record["circumstances"], record["rows"]
    lines = [
        "# The eigenbasis of a graph",
        "",
        f'`eigenbasis(graph, p, kind="random_walk", tol={TOL}, dtype="float32")`, two threads '
        f"({facts['cpu']}), by the multilevel solver, by the Chebyshev iteration from random "
        "vectors with the same tolerance, and by SciPy where that ends in time. Processor seconds "
        "beside the clock: the machine was shared. Value gap: mean gap to the values of the "
        "Chebyshev iteration.",
        "",
    ]
    header = ["graph", "p", "solver", "s", "processor s", "peak GiB above the graph", "value gap"]
    body = []
    for row in rows:
        if "seconds" not in row:
            body.append([row["problem"], str(row["p"]), row["solver"],
                         f"> {row['limit_s']:.0f}", "", "", ""])  # fmt: skip
            continue
        gap = row.get("value_gap_percent")
        body.append(
            [row["problem"], str(row["p"]), row["solver"], f"{row['seconds']:.1f}",
             f"{row['processor_s']:.1f}", f"{row['peak_gib']:.2f}",
             "" if gap is None else f"{gap:+.2f} %"]
        )  # fmt: skip
    lines.append(table(header, body))
    own = {
        int(row["problem"].split()[1]): row["processor_s"]
        for row in rows
        if row["problem"].startswith("sheets") and row["solver"] == "multilevel"
        and "seconds" in row
    }  # fmt: skip
    if own:
        lines.append(f"Growth of the multilevel solver on the sheets: n^{growth_in_words(own)}.\n")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Run every contest; the files are written after each, and keep the rows of earlier ones."""
    parser = contest_parser("basis", __doc__)
    parser.add_argument("--once", nargs=3, metavar=("SOURCE", "SOLVER", "P"))
    parser.add_argument("--graph", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--counts", type=int, nargs="*", default=[50, 100, 200])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit-s", type=float, default=150.0, help="of one run")
    parser.add_argument("--solvers", nargs="*", default=list(SOLVERS))
    asked = parser.parse_args(arguments)
    if asked.once:
        source, solver, count = asked.once
        print(json.dumps(run_once(source, solver, int(count))))
        return
    problems = [tuple(each.split("=", 1)) for each in asked.graph]
    contests = [(name, source, p) for name, source in problems for p in asked.counts]
    contests += [(f"sheets {n}", str(n), 100) for n in asked.sizes]
    out = asked.out or Path(RESULTS)
    rows: list[dict[str, Any]] = load_record(out, STEM, rows=[])["rows"]
    for name, source, p in contests:
        n = int(source) if source.isdigit() else 0
        solvers = [
            solver
            for solver in asked.solvers
            if n <= {"multilevel": np.inf, "chebyshev": _CHEBYSHEV_UP_TO}.get(solver, _PEERS_UP_TO)
            and (p == 100 or solver in {"multilevel", "chebyshev"})
        ]
        fresh = contest(name, source, p, solvers, asked.rounds, asked.limit_s)
        done = {(row["problem"], row["p"], row["solver"]) for row in fresh}
        rows = [r for r in rows if (r["problem"], r["p"], r["solver"]) not in done] + fresh
        record = {"circumstances": circumstances(), "tol": TOL, "rows": rows}
        write_results(out, STEM, record, render(record))
        print(*fresh, sep="\n", flush=True)


if __name__ == "__main__":
    main()
