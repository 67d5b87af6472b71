"""Each page of results is what its record says: no number in a table is written by hand."""

import json
from importlib import import_module
from pathlib import Path

import pytest
from benchmarks.common.command import RESULTS
from benchmarks.peers.report import load

from beltrami_papers.summary import records_in, summary_text

REPRODUCTIONS = Path(__file__).parents[2] / "docs" / "reproductions"

MAKERS = {
    "audit_coverage": "robustness.audits",
    "basis": "basis.__main__",
    "constrained": "constrained.__main__",
    "device": "device.page",
    "embeddings": "embeddings.__main__",
    "few_labels": "few_labels.report",
    "few_labels_sizes": "few_labels.sizes",
    "front_door_accuracy": "front_door.tables",
    "front_door_layouts": "front_door.layouts",
    "front_door_live": "front_door.live",
    "front_door_progress": "front_door.progress",
    "front_door_queries": "front_door.queries",
    "front_door_reviews": "front_door.reviews",
    "front_door_scale": "front_door.scale",
    "front_door_small": "front_door.small",
    "kept": "kept.held_out",
    "manifold_accuracy": "manifold.accuracy_report",
    "manifold_defaults": "manifold.defaults_report",
    "manifold_speed": "manifold.speed_report",
    "mbed_accuracy": "mbed.accuracy",
    "mbed_gradient": "mbed.gradient",
    "mbed_new_points": "mbed.new_points",
    "mbed_scale": "mbed.scale",
    "neighbors": "neighbors.__main__",
    "partitions_apply": "partitions.apply",
    "partitions_equality": "partitions.equality",
    "partitions_growth": "partitions.growth",
    "partitions_mnist": "partitions.mnist",
    "partitions_rare": "partitions.rare",
    "regression_intervals": "regression.intervals",
    "second_command": "front_door.second_command",
    "separation_scale": "separation.scale",
    "studio_audits": "studio.audits",
    "studio_drawing": "studio.drawing",
    "studio_history": "studio.history",
    "studio_kills": "studio.kills",
    "studio_latency": "studio.latency",
    "studio_load": "studio.load",
    "trust_left_out": "trust.measures",
    "trust_peers": "trust.standings",
    "trust_simulations": "trust.simulations",
    "trust_wrong_labels": "trust.wrong_labels",
}
"""Modules whose ``render`` makes the page of a record."""


def record_of(stem):
    return json.loads((RESULTS / f"{stem}.json").read_text("utf-8"))


def page_of(stem):
    return (RESULTS / f"{stem}.md").read_text("utf-8")


@pytest.mark.parametrize("stem", MAKERS)
def test_a_page_of_results_is_what_its_record_says(stem):
    maker = import_module(f"benchmarks.{MAKERS[stem]}")
    assert maker.render(record_of(stem)) == page_of(stem)


def test_the_contests_are_what_their_record_says():
    report = import_module("benchmarks.peers.report")
    rows = [row for row, _ in load(RESULTS)]
    assert report.render(record_of("contests")["circumstances"], rows) == page_of("contests")


def test_regression_is_what_its_record_says():
    maker, record = import_module("benchmarks.regression.__main__"), record_of("regression")
    assert maker.render(record["surfaces"], record["circumstances"]) == page_of("regression")


@pytest.mark.parametrize("stem", ["studio_review", "studio_whole_path"])
def test_a_page_of_the_studio_is_what_its_record_says(stem):
    maker = import_module(f"benchmarks.studio.{stem.removeprefix('studio_')}")
    assert maker.page_of(record_of(stem)) == page_of(stem)


def test_wrong_labels_of_the_front_door_are_what_their_record_says():
    maker, record = (
        import_module("benchmarks.front_door.suspects"),
        record_of("front_door_suspects"),
    )
    assert maker._page(record["set"], record["rows"]) == page_of("front_door_suspects")


def test_every_page_of_results_is_held_to_its_record():
    others = {"contests", "regression", "studio_review", "studio_whole_path", "front_door_suspects"}
    assert {path.stem for path in RESULTS.glob("*.md")} == others | set(MAKERS)


def test_the_summary_of_the_papers_is_what_their_records_say():
    records = records_in(REPRODUCTIONS)
    assert summary_text(records) == (REPRODUCTIONS / "summary.md").read_text("utf-8")
