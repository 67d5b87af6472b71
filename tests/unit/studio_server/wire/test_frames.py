"""Frames hold what they should, byte for byte, as a page reads them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from beltrami.studio_server.answers import Answers
from beltrami.studio_server.wire.frames import pack_answers, pack_changes, pack_column, pack_places

HEADER = np.dtype(
    [("magic", "S4"), ("kind", "u1"), ("pad", "u1"), ("more", "<u2"), ("numbers", "<u4", 6)]
)


def header(frame):
    return np.frombuffer(frame, HEADER, 1)[0]


@pytest.fixture
def answers():
    n = 100
    return Answers(
        version=7,
        codes=np.arange(n, dtype=np.uint16) % 3,
        confidence=np.arange(n, dtype=np.uint8),
        source=np.full(n, 1, dtype=np.uint8),
        n_given=4,
        n_classes=2,
        n_behind=1,
    )


def test_a_frame_of_answers_holds_every_row(answers):
    frame = pack_answers(answers)
    head = header(frame)
    assert (head["magic"], head["kind"]) == (b"BLT1", 2)
    assert head["numbers"].tolist() == [7, 100, 100, 4, 1, 2]
    assert len(frame) == 32 + 4 * 100
    assert np.frombuffer(frame, "<u2", 100, 32).tolist() == answers.codes.tolist()
    assert np.frombuffer(frame, "u1", 100, 232).tolist() == answers.confidence.tolist()
    assert np.frombuffer(frame, "u1", 100, 332).tolist() == answers.source.tolist()


def test_changes_hold_the_rows_that_differ_and_no_other(answers):
    after = replace(answers, version=8, codes=answers.codes.copy(), source=answers.source.copy())
    after.codes[5], after.source[90] = 1, 0
    frame = pack_changes(answers, after)
    head = header(frame)
    assert head["kind"] == 3
    assert head["numbers"].tolist() == [8, 100, 2, 4, 1, 2]
    assert np.frombuffer(frame, "<u4", 2, 32).tolist() == [5, 90]
    assert np.frombuffer(frame, "<u2", 2, 40).tolist() == [1, answers.codes[90]]
    assert np.frombuffer(frame, "u1", 2, 44).tolist() == [5, 90]
    assert np.frombuffer(frame, "u1", 2, 46).tolist() == [1, 0]


def test_nothing_changed_is_an_empty_frame_with_the_new_version(answers):
    frame = pack_changes(answers, replace(answers, version=9))
    assert header(frame)["numbers"].tolist()[:3] == [9, 100, 0]


@pytest.mark.parametrize("before", [None, "other rows", "most rows"])
def test_all_answers_are_sent_where_that_is_shorter_or_nothing_is_known(answers, before):
    after = replace(answers, confidence=answers.confidence + np.uint8(1))
    known = {
        None: None,
        "other rows": replace(answers, codes=answers.codes[:50]),
        "most rows": answers,
    }
    assert pack_changes(known[before], after) == pack_answers(after)


def test_places_keep_their_shape():
    positions = np.random.default_rng(0).normal(size=(50, 2)) * [4, 1]
    frame = pack_places(positions)
    head = header(frame)
    assert (head["kind"], head["numbers"][1]) == (1, 50)
    wide, high = np.frombuffer(frame, "<f4", 2, 32)
    assert wide == 1
    spans = np.ptp(positions, axis=0)
    assert high == pytest.approx(spans[1] / spans[0])
    codes = np.frombuffer(frame, "<u2", 100, 40).reshape(50, 2) / 65535
    exact = (positions - positions.min(axis=0)) / spans[0]
    assert np.abs(codes - exact).max() < 1e-4


def test_a_column_says_what_its_numbers_mean():
    facts = {"name": "größe", "kind": "numeric", "low": 1.5, "high": 2.5}
    codes = np.array([0, 1, 65535], dtype=np.uint16)
    frame = pack_column(facts, codes)
    size = int(np.frombuffer(frame, "<u4", 1, 32)[0])
    assert size % 4 == 0
    assert json.loads(frame[36 : 36 + size]) == facts
    assert np.frombuffer(frame, "<u2", 3, 36 + size).tolist() == codes.tolist()
