"""Peers of the trust contest answer on flowers, are kept, and stand on a page beside the door."""

import json

import numpy as np
import pytest
from benchmarks.trust import peers
from benchmarks.trust.sets import KINDS, TrustSet
from benchmarks.trust.standings import BEFORE, FRONT, compare, measure, render
from sklearn.datasets import load_iris

# What a peer warns of is told on the page.
pytestmark = pytest.mark.filterwarnings("ignore")

NAME = "table iris"


@pytest.fixture(scope="module")
def flowers() -> TrustSet:
    points, targets = load_iris(return_X_y=True)
    return TrustSet(NAME, points, targets, {"scale": "standard"}, True)


@pytest.fixture(scope="module")
def posed(flowers: TrustSet) -> peers.PeerProblem:
    return peers.pose(flowers)


def test_rows_judged_have_no_label_and_are_always_the_same(flowers):
    rows = flowers.draw(5, "random", 1)
    judged = flowers.judged(rows, 5, 1)
    np.testing.assert_array_equal(judged, flowers.judged(rows, 5, 1))
    assert len(judged) == 150 - 15
    assert not np.isin(judged, rows).any()


@pytest.mark.parametrize("peer", peers.peers(), ids=lambda peer: peer.name)
def test_every_peer_answers(peer, flowers, posed):
    if why := peer.missing():
        pytest.skip(why)
    assert not peer.skip_reason(posed)
    rows = flowers.draw(10, "balanced", 0)
    judged = flowers.judged(rows, 10, 0)
    right = peer.learn(posed, rows, judged) == flowers.targets[judged]
    assert right.mean() > (0.3 if peer.name == "boosting" else 0.6)  # 30 labels make one leaf


def test_a_class_without_a_label_is_said_of_no_row(flowers, posed):
    rows = np.flatnonzero(flowers.targets != 1)[::10]
    everyone = np.arange(150)
    for peer in peers.peers():
        if not peer.missing():
            assert 1 not in peer.learn(posed, rows, everyone)


def test_columns_are_on_one_scale(posed):
    np.testing.assert_allclose(posed.plain.std(axis=0), 1, rtol=1e-6)


def test_what_was_worked_out_is_kept(flowers, monkeypatch, tmp_path):
    asked = []

    def guess(problem, rows, judged):
        asked.append(len(rows))
        return np.zeros(len(judged))

    few = [
        peers.Peer("logistic", "guesses", guess),
        peers.Peer("late", "guesses", guess, counts=(10,)),
        peers.Peer("small", "guesses", guess, most_rows=100),
        peers.Peer("absent", "not there", guess, needs="no_such_module"),
    ]
    monkeypatch.setattr(peers, "FOLDER", tmp_path)
    monkeypatch.setattr(peers, "peers", lambda: few)
    monkeypatch.setattr(peers, "load_set", lambda *_: flowers)

    peers.work_out(NAME, tmp_path, 1)
    assert sorted(set(asked)) == [3, 6, 15, 30]
    assert len(asked) == (4 + 1) * len(KINDS)
    assert peers.work_out(NAME, tmp_path, 1) == (NAME, 0.0)
    peers.work_out(NAME, tmp_path, 2)
    assert len(asked) == 2 * (4 + 1) * len(KINDS)

    cells = [
        {"set": NAME, "per_class": 10, "kind": kind, "draw": draw, "accuracy": 0.9}
        for kind in KINDS
        for draw in (0, 5)
    ]
    front = {"cells": cells, "circumstances": {"commit": "abc", "date": "2000-01-01"}}
    record = peers.collect(front, 5)
    assert [one["draws"] for one in record["cells"]] == [[0], [0]]
    page = render(json.loads(json.dumps(record)))
    assert f"- small: guesses; not on {NAME} (above 100 rows: it takes too long)" in page
    assert "- absent: not there; left out: no_such_module is not installed" in page


def _draws(name: str, **accuracies: list[float]) -> list[dict]:
    return [
        {"set": name, "per_class": 5, "kind": "random", "draw": draw,
         "accuracy": {peer.replace("_", "-"): each[draw] for peer, each in accuracies.items()}}
        for draw in range(2)
    ]  # fmt: skip


def _alone(name: str, accuracies: list[float]) -> list[dict]:
    return [one | {"accuracy": one["accuracy"]["x"]} for one in _draws(name, x=accuracies)]


def test_standings():
    answers = [
        *_draws("table a", logistic=[0.5, 0.7], forest=[0.6, 0.6], spreading=[0.9, 0.9]),
        *_draws("b", logistic=[0.8, 0.8], forest=[0.9, 0.9]),
    ]
    front = [*_alone("table a", [0.8, 0.6]), *_alone("b", [0.8, 0.8]), *_alone("c", [1.0, 1.0])]
    cells = compare(front, answers, _alone("b", [0.7, 0.7]))

    assert [one["set"] for one in cells] == ["b", "table a"]
    summary = measure(cells)
    everyone = summary["groups"]["all"]["by_count"]["5"]
    entrants = everyone["entrants"]
    assert entrants[FRONT]["accuracy"] == pytest.approx(0.75)
    assert entrants["logistic"]["accuracy"] == pytest.approx(0.7)
    assert entrants["forest"]["front_door_less"] == pytest.approx(0.0)
    assert entrants["spreading"]["sets"] == entrants[BEFORE]["sets"] == 1
    assert everyone["best_peer"] == "spreading"
    assert everyone["behind"] == {"cells": 2, "behind": 1}
    other = summary["groups"]["others"]["by_count"]["5"]["entrants"]
    assert [other[name]["rank"] for name in ("forest", FRONT, BEFORE)] == [1, 2.5, 4]
    assert [(one["set"], one["best"]) for one in summary["worst"]] == [("b", "forest")]
    assert summary["worst"][0]["behind"] == pytest.approx(0.1)
