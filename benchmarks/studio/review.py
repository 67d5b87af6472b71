"""What the review finds: wrong labels put into digits, and what taking its suggestions changes.

200 random rows of digits (1,797 rows, 64 columns) have a label, 5 % of them another class than the
true one. The studio is opened on the table and asked for its doubts about labels. Those that it
calls more likely wrong than right are taken as suggested, all of them unseen; this is taken back,
and a person who knows the truth goes through the whole list instead, corrects what is wrong and
keeps what is right. Accuracy is of the rows that have no label.

    python -m benchmarks.studio.review
    python -m benchmarks.studio.review --seeds 1 --rows 400 --labels 100
"""

import csv
import io
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from sklearn.datasets import load_digits

from beltrami.labelling.options import LearningOptions
from beltrami.studio_server.handle import Studio
from beltrami.tables import TableOptions
from benchmarks.common.command import contest_parser, results_folder
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.pages import table, versions_line, write_results

STEM = "studio_review"
N_ROWS, N_LABELS, N_SEEDS = 1797, 200, 5
WRONG_SHARE = 0.05
_EVEN = 0.5
_WHENS = ("before", "taken", "looked")


class Desk:
    """A studio as a script sees it, beside the truth.

    Parameters
    ----------
    client : httpx.Client
        With the address and the token of a studio.
    truth : ndarray of shape (n,)
        True classes, as texts.
    given : dict of int to str
        The labels of the file.
    """

    def __init__(self, client: httpx.Client, truth: np.ndarray, given: Mapping[int, str]) -> None:
        self._client, self._truth, self._given = client, truth, given

    def ask(self, path: str) -> Any:
        """Return what the studio answers."""
        return self._client.get(path).raise_for_status().json()

    def tell(self, path: str, body: Mapping[str, Any]) -> None:
        """Hand something in."""
        self._client.post(path, json=dict(body)).raise_for_status()

    def settle(self) -> None:
        """Wait until all labels are learned and judged."""
        while True:
            state = self.ask("/api/state")
            if state["phase"] == "ready" and not state["behind"] and state["settled"]:
                return
            time.sleep(0.1)

    def doubts(self) -> list[dict[str, Any]]:
        """Return all doubts about labels."""
        found: list[dict[str, Any]] = []
        while True:
            page = self.ask(f"/api/doubts/list?kind=label&from={len(found)}")
            found += page["doubts"]
            if not page["doubts"] or len(found) >= page["count"]:
                return found

    def accuracy(self) -> float:
        """Return the share of rows without a label of the file that are answered right."""
        text = self._client.get("/api/labels").raise_for_status().text
        said = [line["label"] for line in csv.DictReader(io.StringIO(text))]
        rows = [row for row in range(len(self._truth)) if row not in self._given]
        return float(np.mean([said[row] == self._truth[row] for row in rows]))


def write_digits(path: Path, seed: int, n_rows: int, n_labels: int) -> tuple[Any, dict[int, str]]:
    """Write a table with some labels, a few of them wrong; return the truth and the labels."""
    points, targets = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(targets))[:n_rows]
    points, truth = points[chosen], targets[chosen].astype(str)
    rows = rng.choice(n_rows, n_labels, replace=False)
    wrong = rng.choice(rows, round(WRONG_SHARE * n_labels), replace=False)
    given = {int(row): str(truth[row]) for row in rows}
    given |= {int(row): str((int(truth[row]) + rng.integers(1, 10)) % 10) for row in wrong}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"pixel {k}" for k in range(points.shape[1])), "digit"])
        for row, values in enumerate(points):
            writer.writerow([*values, given.get(row, "")])
    return truth, given


def review(seed: int, n_rows: int, n_labels: int) -> dict[str, Any]:
    """Open a studio on one table, and return what its review finds and changes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "digits.csv"
        truth, given = write_digits(path, seed, n_rows, n_labels)
        columns = TableOptions(label="digit")
        with Studio.open(path, columns, LearningOptions(random_state=0)) as studio:
            base, token = studio.url.split("/?token=")
            head = {"Authorization": f"Bearer {token}"}
            with httpx.Client(base_url=base, headers=head, timeout=300, trust_env=False) as client:
                return {"seed": seed} | _measure(Desk(client, truth, given), truth, given)


def _measure(desk: Desk, truth: Any, given: Mapping[int, str]) -> dict[str, Any]:
    desk.settle()
    began = time.perf_counter()
    desk.ask("/api/doubts")
    found_s = time.perf_counter() - began
    began = time.perf_counter()
    doubts = desk.doubts()
    listed_s = time.perf_counter() - began
    before = desk.accuracy()
    sure = [one for one in doubts if one["score"] > _EVEN]
    for one in sure:
        desk.tell("/api/labels", {"rows": one["ask"], "label": one["suggested"], "how": "api"})
    taken = desk.accuracy()
    for _ in sure:
        desk.tell("/api/undo", {})
    for one in doubts:
        (row,) = one["ask"]
        if one["given"] == truth[row]:
            desk.tell("/api/doubts/keep", {name: one[name] for name in ("kind", "rows", "value")})
        else:
            desk.tell("/api/labels", {"rows": [row], "label": truth[row], "how": "api"})
    looked = desk.accuracy()
    wrong = {row for row, label in given.items() if label != truth[row]}
    return {
        "n_wrong": len(wrong),
        "n_sure": len(sure),
        "n_sure_wrong": len({one["ask"][0] for one in sure} & wrong),
        "n_sure_right_class": sum(one["suggested"] == truth[one["ask"][0]] for one in sure),
        "n_listed": len(doubts),
        "n_listed_wrong": len({one["ask"][0] for one in doubts} & wrong),
        "n_open_after": len(desk.doubts()),
        "accuracy_before": round(before, 4),
        "accuracy_taken": round(taken, 4),
        "accuracy_looked": round(looked, 4),
        "found_s": round(found_s, 3),
        "listed_s": round(listed_s, 3),
    }


def page_of(record: Mapping[str, Any]) -> str:
    """Return the page of results."""
    runs: Sequence[Mapping[str, Any]] = record["runs"]
    lines = [
        [
            str(one["seed"]),
            str(one["n_wrong"]),
            f"{one['n_sure_wrong']} of {one['n_sure']}",
            f"{one['n_listed_wrong']} of {one['n_listed']}",
            *(f"{one[f'accuracy_{when}']:.2%}" for when in _WHENS),
            str(one["n_open_after"]),
        ]
        for one in runs
    ]
    mean = [f"{np.mean([one[f'accuracy_{w}'] for one in runs]):.2%}" for w in _WHENS]
    total = {name: sum(one[name] for one in runs) for name in runs[0] if name.startswith("n_")}
    lines.append(
        [
            "all",
            str(total["n_wrong"]),
            f"{total['n_sure_wrong']} of {total['n_sure']}",
            f"{total['n_listed_wrong']} of {total['n_listed']}",
            *mean,
            str(total["n_open_after"]),
        ]
    )
    header = ["seed", "wrong labels", "called wrong", "listed", "accuracy before", "taken unseen"]
    header += ["looked at", "open afterwards"]
    return (
        "# The studio's review\n\n"
        f"{record['rows']:,} rows of digits, {record['labels']} labels, {WRONG_SHARE:.0%} of them "
        "wrong. *Called wrong*: labels that are more likely wrong than right, how many of them are "
        "wrong. *Listed*: these and the labels that others only say otherwise of. Accuracy of rows "
        "without a label: before, after the suggestions for labels called wrong were taken unseen, "
        "and after a person who knows the truth went through the list.\n\n"
        f"{table(header, lines)}\n"
        f"{versions_line(record['circumstances'])}\n"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the results."""
    parser = contest_parser("studio.review", __doc__)
    parser.add_argument("--seeds", type=int, default=N_SEEDS, help="how many tables")
    parser.add_argument("--rows", type=int, default=N_ROWS)
    parser.add_argument("--labels", type=int, default=N_LABELS)
    chosen = parser.parse_args(arguments)
    warn_if_busy()
    is_toy = (chosen.seeds, chosen.rows, chosen.labels) != (N_SEEDS, N_ROWS, N_LABELS)
    record = {
        "circumstances": circumstances(),
        "rows": chosen.rows,
        "labels": chosen.labels,
        "runs": [review(seed, chosen.rows, chosen.labels) for seed in range(chosen.seeds)],
    }
    write_results(results_folder(chosen.out, toy=is_toy), STEM, record, page_of(record))


if __name__ == "__main__":
    main()
