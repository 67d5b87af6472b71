"""Doubts through the server: named with what speaks for them, answered, kept, taken back."""

import csv
import re

import numpy as np
import pytest
from tests.unit.studio_server.test_studio import Client

from beltrami.labelling.options import LearningOptions
from beltrami.studio_server.handle import Studio
from beltrami.studio_server.learner.doubts import TITLES
from beltrami.tables import TableOptions

pytestmark = [
    pytest.mark.usefixtures("few_trees"),
    pytest.mark.filterwarnings("ignore::beltrami.core.errors.ConnectedByBridgesWarning"),
]

WRONG, N = 10, 170
TABLE = TableOptions(label="kind", features=("x", "y"), min_classes=0)


def write_clouds(path):
    """Write two clouds with a wrong label, twins and a class spelled in two ways; an island."""
    random = np.random.default_rng(0)
    points = random.normal(0, 0.5, size=(N, 2))
    points[75:150] += 4
    points[150:] = random.normal(40, 0.3, size=(20, 2))
    points[21] = points[20]
    labels = {row: "low" if row < 75 else "high" for row in [*range(0, 40, 2), *range(80, 120, 2)]}
    labels |= {WRONG: "high", 21: "high", 82: "High"}
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "y", "kind"])
        for row, point in enumerate(points):
            writer.writerow([*point, labels.get(row, "")])
    return path


@pytest.fixture
def opened(tmp_path):
    path = write_clouds(tmp_path / "clouds.csv")
    with Studio.open(path, TABLE, LearningOptions()) as studio:
        client = Client(studio.url)
        client.settled()
        yield client


def counts(client):
    client.settled()
    return {one["kind"]: one["count"] for one in client.ask("/api/doubts")["groups"]}


def listed(client, kind):
    client.settled()
    return client.ask(f"/api/doubts/list?kind={kind}")["doubts"]


def keep(client, doubt):
    body = {name: doubt[name] for name in ("kind", "rows", "value")}
    return client.ask("/api/doubts/keep", body)


def test_all_kinds_are_counted_and_titled(opened):
    told = opened.ask("/api/doubts")
    assert told["settled"] is True
    titles = TITLES | {"label": "Labels the others answer otherwise"}  # none is clearly wrong
    assert {one["kind"]: one["title"] for one in told["groups"]} == titles
    found = counts(opened)
    assert found["label"] >= 1
    assert (found["twins"], found["spelling"], found["island"]) == (1, 1, 1)


def test_a_doubt_shows_its_row_and_the_labelled_rows_that_speak_against_it(opened):
    doubts = {one["rows"][0]: one for one in listed(opened, "label")}
    one = doubts[WRONG]
    assert (one["given"], one["suggested"], one["ask"]) == ("high", "low", [WRONG])
    assert one["items"][0]["row"] == WRONG
    assert one["items"][0]["cells"]
    assert [item["label"] for item in one["neighbours"]].count("low") >= 3
    shares = [item["share"] for item in one["neighbours"]]
    assert shares == sorted(shares, reverse=True)
    assert 0 <= one["score"] <= 1
    assert "the labelled rows around it say, by weight: “low”" in one["words"]
    assert "'" not in one["words"]


def test_a_labelled_row_weighs_its_part_of_what_all_of_them_say(tmp_path):
    path = tmp_path / "few.csv"
    points = np.random.default_rng(0).normal(0, 1, size=(120, 2))
    kinds = {0: "low", 1: "high", 2: "low", 3: "high"}
    rows = [f"{x},{y},{kinds.get(row, '')}" for row, (x, y) in enumerate(points)]
    path.write_text("\n".join(["x,y,kind", *rows]))
    with Studio.open(path, TABLE, LearningOptions()) as studio:
        client = Client(studio.url)
        found = listed(client, "between")
        assert found
        for one in found:  # all four are shown
            said = dict.fromkeys(("low", "high"), 0.0)
            for item in one["neighbours"]:
                said[item["label"]] += item["share"]
            assert sum(said.values()) == pytest.approx(1, abs=1e-3)
            for name, share in said.items():
                percent = re.search(rf"“{name}” (\d+) %", one["words"])
                assert percent
                assert int(percent[1]) == pytest.approx(100 * share, abs=1)


def test_a_suggestion_that_is_taken_is_doubted_no_more(opened):
    before = counts(opened)["label"]
    opened.ask("/api/labels", {"rows": [WRONG], "label": "low", "how": "key"})
    assert WRONG not in {one["rows"][0] for one in listed(opened, "label")}
    assert counts(opened)["label"] <= before


def test_what_is_kept_goes_and_comes_back_with_undo(opened):
    for kind in ("label", "twins", "spelling", "island"):
        before, (first, *_) = counts(opened)[kind], listed(opened, kind)
        assert keep(opened, first)["saved"] > 0
        assert counts(opened)[kind] == before - 1
        assert first["value"] not in [
            one["value"] for one in listed(opened, kind) if one["rows"] == first["rows"]
        ]
        undone = opened.ask("/api/undo", {})["undone"]
        assert (undone["kind"], undone["count"]) == ("kept", len(first["rows"]))
        assert counts(opened)[kind] == before


def test_a_kept_label_that_changes_and_changes_back_is_still_kept(opened):
    first = next(one for one in listed(opened, "label") if one["rows"] == [WRONG])
    keep(opened, first)
    opened.ask("/api/labels", {"rows": [WRONG], "label": "low", "how": "key"})
    opened.ask("/api/labels", {"rows": [WRONG], "label": "high", "how": "key"})
    assert WRONG not in {one["rows"][0] for one in listed(opened, "label")}


def test_twins_are_told_which_class_the_others_say(opened):
    (one,) = listed(opened, "twins")
    assert (one["given"], one["suggested"], one["ask"]) == ("high | low", "low", [20, 21])
    assert not {item["row"] for item in one["neighbours"]} & {20, 21}
    opened.ask("/api/labels", {"rows": one["ask"], "label": "low", "how": "key"})
    assert counts(opened)["twins"] == 0


def test_two_spellings_become_one_class(opened):
    (one,) = listed(opened, "spelling")
    assert (one["given"], one["suggested"], one["rows"]) == ("High", "high", [])
    assert [item["row"] for item in one["items"]] == [82]
    assert {item["label"] for item in one["neighbours"]} == {"high"}
    opened.ask("/api/classes", {"rename": "High", "to": "high", "merge": True})
    assert counts(opened)["spelling"] == 0


def test_one_label_settles_an_island(opened):
    (one,) = listed(opened, "island")
    assert (len(one["rows"]), len(one["ask"])) == (20, 1)
    opened.ask("/api/labels", {"rows": one["ask"], "label": "far", "how": "key"})
    assert counts(opened)["island"] == 0


def test_doubts_come_twenty_at_a_time(opened):
    total = counts(opened)["label"]
    later = opened.ask(f"/api/doubts/list?kind=label&from={total}")
    assert later == {"doubts": [], "count": total}
    assert len(listed(opened, "label")) == min(total, 20)


@pytest.mark.parametrize("path", ["kind=taste", "", "kind=label&from=-1", "kind=label&from=x"])
def test_what_cannot_be_listed_is_refused_in_words(opened, path):
    code, words = opened.refused(f"/api/doubts/list?{path}")
    assert code == 400
    assert "must be" in words


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "taste", "rows": [1], "value": "a"},
        {"kind": "label", "rows": [], "value": "a"},
        {"kind": "label", "rows": [N], "value": "a"},
        {"kind": "label", "rows": [1]},
        {"kind": "label", "rows": [1], "value": 3},
        {"kind": "spelling", "rows": ["x"], "value": "a"},
        {"kind": "label", "rows": [1], "value": "a" * 3000},
    ],
    ids=str,
)
def test_what_cannot_be_kept_is_refused_in_words(opened, body):
    code, words = opened.refused("/api/doubts/keep", body)
    assert code == 400
    assert words


def test_nothing_is_doubted_before_anything_was_learned(tmp_path):
    (tmp_path / "bare.csv").write_text("x,y\n" + "".join(f"{k},{k % 7}\n" for k in range(40)))
    bare = TableOptions(features=("x", "y"), min_classes=0)
    with Studio.open(tmp_path / "bare.csv", bare, LearningOptions()) as studio:
        client = Client(studio.url)
        client.settled()
        assert set(counts(client).values()) == {0}
        client.ask("/api/classes", {"add": "cat"})
        client.ask("/api/classes", {"add": "Cat"})
        assert counts(client)["spelling"] == 1
        assert listed(client, "label") == []
