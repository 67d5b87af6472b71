"""The result of one call: its columns, its words, its files, from any kind of table."""

import json
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.core.telling.progress import listen
from beltrami.labelling.intake import take_in
from beltrami.tables import TableOptions
from beltrami.tables.own_results import SOURCES, Source

pytestmark = pytest.mark.usefixtures("few_trees")

N = 60
TRUTH = np.array(["ab"[i % 2] for i in range(N)], dtype=object)


def columns(given=lambda i: i < 12):
    rng = np.random.default_rng(0)
    labels = [value if given(i) else None for i, value in enumerate(TRUTH)]
    return {"x": rng.normal(size=N) + 20 * (TRUTH == "b"), "z": rng.normal(size=N), "label": labels}


@pytest.fixture(scope="module")
def found():
    return bt.label(columns(), n_questions=5)


def test_given_labels_are_kept_and_the_rest_is_labelled(found):
    frame = found.frame
    assert list(frame.columns[:4]) == ["id", "label", "source", "confidence"]
    assert_array_equal(frame["label"], TRUTH)
    assert list(frame["source"]) == ["human"] * 12 + ["propagated"] * 48
    assert found.counts == {
        "rows": N,
        "given": 12,
        "labelled": 48,
        "abstained": 0,
        "unreached": 0,
    }
    assert set(frame["second_label"]) == {"a", "b"}
    assert (frame["second_label"] != frame["guess"]).all()
    assert (2 * frame["confidence"] - 1).to_numpy() == pytest.approx(frame["margin"], abs=1e-5)


def test_questions_have_ranks_and_other_rows_none(found):
    ranks = found.frame["ask_rank"]
    assert str(ranks.dtype) == "Int64"
    assert sorted(ranks.dropna()) == [1, 2, 3, 4, 5]
    assert found.frame.loc[ranks == 1, "id"].item() == found.questions[0].row


def test_the_sentence_counts(found):
    assert found.headline == "48 rows labelled from your 12 labels, none left to you."
    assert found.sentence.startswith(found.headline)
    assert len(found.lines()) <= 12


def test_the_sentence_tells_an_estimate_from_a_test(found):
    estimate, tested = found.evidence
    assert estimate.startswith("We expect ")
    assert estimate.endswith("of them to be right; that is our estimate, not a measurement.")
    assert tested == (
        "Tested on 12 of your labels, each hidden in turn, answers were right 100 % of the time "
        "(74 to 100 %)."
    )


def test_a_risk_is_not_sold_as_an_accuracy():
    found = bt.label(columns(), risk=0.05, n_questions=0)
    assert found.evidence[0] == (
        "You asked for at most 5 % wrong; that is our estimate, not a measurement."
    )
    assert "95 %" not in found.headline + found.evidence[0]
    assert found.lines(Path("my labels.csv"))[1] == "To prove it: beltrami audit 'my labels.csv'"


def test_nothing_tested_is_said():
    found = bt.label(columns(lambda i: i < 2), n_questions=0)
    assert found.evidence[-1].startswith("Nothing was tested: no class has two labels")


def test_guesses_are_announced_before_anything_else_is_praised():
    table = columns(lambda i: i < 20) | {"x": np.random.default_rng(5).normal(size=N)}
    found = bt.label(table, n_questions=0)
    assert found.lines()[1].startswith("! ANSWERS MAY BE GUESSES")
    assert len(found.issues) == 0
    assert str(found.issues).startswith("the data do not tell the classes apart: ")


def test_a_result_shows_itself_in_a_few_words(found):
    assert repr(found).startswith("<Labelling of ")
    assert found.sentence in repr(found)
    assert len(repr(found)) < 500


def test_a_notebook_shows_a_table_and_no_foreign_tag():
    table = columns()
    table["label"] = [value and f"<script>{value}" for value in table["label"]]
    table["label"][0] = "<img src=x>"  # the only one of its class, so a warning names it
    shown = bt.label(table, n_questions=0)._repr_html_()
    assert shown.count("<table>") == 2  # counts, and the first rows
    assert "<td>48</td>" in shown
    assert "<img" not in shown
    assert "<script" not in shown
    assert "&lt;img src=x&gt;" in shown


def test_every_feature_is_among_the_facts():
    rng = np.random.default_rng(0)
    table = columns() | {f"c{i}": rng.normal(size=N) for i in range(30)}
    assert "c29" in bt.label(table, n_questions=0).facts["features"]


def test_the_front_door_pickles_to_a_few_times_its_data():
    data = bt.load_dataset("digits")
    points, truth = data.points[:600], data.targets[:600]
    y = np.where(np.arange(600) < 60, truth, -1)
    learner = bt.ManifoldClassifier(random_state=0).fit(points, y)
    packed = pickle.dumps(learner)
    assert len(packed) < 15 * points.nbytes  # a hundred trees among it
    twin = pickle.loads(packed)
    assert_array_equal(twin.predict_proba(points[:9]), learner.predict_proba(points[:9]))
    twin.update([100], [int(truth[100])])
    learner.update([100], [int(truth[100])])
    assert_array_equal(twin.transduction_, learner.transduction_)


def test_a_doubtful_given_label_has_a_margin_below_zero():
    table = columns(lambda _: True)
    table["label"][7] = "a"
    frame = bt.label(table, n_questions=0).frame
    assert frame.loc[7, "label"] == "a"
    assert frame.loc[7, "second_label"] == "b"
    assert frame.loc[7, "margin"] < 0 <= frame["margin"].drop(7).min()


def test_a_table_with_every_label_says_so_without_a_number():
    found = bt.label(columns(lambda _: True), n_questions=3)
    assert found.sentence == "All 60 rows had a label."
    assert found.questions == ()


def test_rows_that_are_not_sure_enough_keep_a_guess():
    rng = np.random.default_rng(1)
    table = columns() | {"x": rng.normal(size=N)}
    found = bt.label(table, risk=0.02, n_questions=0)
    frame = found.frame
    left = frame[frame["source"] == "abstained"]
    assert len(left) == found.counts["abstained"] > 0
    assert left["label"].isna().all()
    assert left["guess"].isin(["a", "b"]).all()
    assert found.headline.endswith(f", {len(left)} left to you.")


def test_an_island_without_a_label_is_not_accepted():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(150, 2)) + 20.0 * (np.arange(150) // 50)[:, None]
    labels = {"id": [0, 1, 2, 50, 51, 52], "label": ["a", "a", "a", "b", "b", "b"]}
    sources = bt.label(points, labels=labels, n_questions=0).frame["source"]
    assert set(sources[:100]) == {SOURCES[Source.GIVEN], SOURCES[Source.LABELLED]}
    assert set(sources[100:]) <= {SOURCES[Source.ABSTAINED], SOURCES[Source.UNREACHED]}


def test_index_and_ids_name_the_rows():
    names = [f"n{i}" for i in range(N)]
    frame = pd.DataFrame(columns(), index=names)
    assert list(bt.label(frame, n_questions=0).frame["id"]) == names
    numbered = pd.DataFrame(columns() | {"key": range(100, 100 + N)})
    found = bt.label(numbered, id="key", n_questions=0)
    assert list(found.frame["id"]) == list(range(100, 100 + N))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_every_kind_of_table_gives_the_same(make, found):
    own = bt.label(make(columns()), n_questions=5)
    pd.testing.assert_frame_equal(own.frame, found.frame)


def test_labels_may_come_beside_the_data():
    table = {name: values for name, values in columns().items() if name != "label"}
    side = {"id": range(12), "label": TRUTH[:12].tolist()}
    assert_array_equal(bt.label(table, labels=side, n_questions=0).frame["label"], TRUTH)
    matrix = np.column_stack([*table.values()])
    assert_array_equal(bt.label(matrix, labels=side, n_questions=0).frame["label"], TRUTH)


@pytest.mark.parametrize("values", [[3, 7], [True, False], ["3", "7"]])
def test_classes_keep_their_type(values, tmp_path):
    table = columns() | {"label": [values[i % 2] if i < 12 else None for i in range(N)]}
    found = bt.label(table, n_questions=0)
    assert_array_equal(found.frame["guess"], [values[i % 2] for i in range(N)])
    path = found.write(tmp_path / "out.jsonl")
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert [record["label"] for record in records] == [values[i % 2] for i in range(N)]


def test_facts_travel_with_the_file(found, tmp_path):
    path = found.write(tmp_path / "out.feather")
    with pa.memory_map(str(path)) as source:
        metadata = pa.ipc.open_file(source).schema.metadata
    assert metadata[b"data_sha256"].decode() == found.facts["data_sha256"]
    assert metadata[b"seed"] == b"0"
    assert [item.name for item in tmp_path.iterdir()] == ["out.feather"]
    with pytest.raises(InvalidInputError, match=r"'out\.xls' is not known"):
        found.write(tmp_path / "out.xls")


def test_the_page_is_one_file(found, tmp_path):
    path = found.report(tmp_path / "page.html")
    text = path.read_text("utf-8")
    assert found.sentence[:40] in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert [item.name for item in tmp_path.iterdir()] == ["page.html"]
    plain = found.report(tmp_path / "plain.html", with_map=False).read_text("utf-8")
    assert len(plain) < len(text)


def test_progress_is_heard_and_can_stop_the_work():
    events = []
    with listen(events.append):
        bt.label(columns(), n_questions=0)
    assert "trying learners" in {event.step for event in events}

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listen(stop):
        bt.label(columns(), n_questions=0)


def test_one_cell_of_another_type_is_refused_unless_the_column_is_left_out():
    table = columns() | {"odd": ["oops" if i == 3 else str(i * i) for i in range(N)]}
    with pytest.raises(InvalidInputError, match=r"'odd'.*'oops' in row 3.*ignore=\['odd'\]"):
        bt.label(table, n_questions=0)
    assert bt.label(table, ignore=["odd"], n_questions=0).counts["labelled"] == 48


@pytest.mark.parametrize("role", ["source", "labels", "embeddings"])
def test_a_result_is_never_written_over_what_was_read(tmp_path, monkeypatch, role):
    given = columns()
    rows = pd.DataFrame({"id": range(N), "label": given.pop("label")})
    points = pd.DataFrame(given)
    source, labels, embeddings = (tmp_path / name for name in ("x.csv", "y.csv", "z.npy"))
    points.assign(id=range(N)).to_csv(source, index=False)
    rows.to_csv(labels, index=False)
    np.save(embeddings, points.to_numpy())
    monkeypatch.chdir(tmp_path)  # a relative path is the same file from another folder
    found = bt.label("x.csv", labels="y.csv", embeddings="z.npy", n_questions=0)
    read = {"source": source, "labels": labels, "embeddings": embeddings}[role]
    before = read.read_bytes()
    monkeypatch.chdir("/")
    for write in (found.write, found.report):
        with pytest.raises(InvalidInputError, match="is the input, which is never changed"):
            write(read)
    assert read.read_bytes() == before
    assert found.write(tmp_path / "other.csv").exists()


def test_sources_are_counted_once_and_say_who_labelled(found):
    assert found.source is found.source
    assert found.codes is found.codes
    assert_array_equal(found.source == Source.GIVEN, np.arange(N) < 12)
    assert [SOURCES[one] for one in Source] == ["human", "propagated", "abstained", "unreached"]


def test_answers_to_our_questions_are_known_as_such_and_labels_in_place_of_others_are_told_of():
    table = columns()
    asked = bt.label(table, n_questions=3)
    sheet = {
        "id": [12, 13, 14, 0],
        "ask_rank": [1, 2, 3, 4],
        "reason": ["far"] * 4,
        "settles": [2] * 4,
    }
    sheet["label"] = [*TRUTH[12:15], "b"]
    found = bt.label(table, labels=sheet, n_questions=0)
    assert any("4 of the 15 labels were asked for" in one for one in found.learner.report_.warnings)
    assert not any("asked for" in one for one in asked.learner.report_.warnings)
    assert "1 in place of another (\"0: 'a' is now 'b'\")" in found.intake.side_note
    plain = {"id": sheet["id"], "label": sheet["label"]}
    again = bt.label(table, labels=plain, n_questions=0)
    assert not any("asked for" in one for one in again.learner.report_.warnings)
    pd.testing.assert_frame_equal(again.frame, found.frame)


@pytest.mark.parametrize(("one", "other", "same"), [(True, False, "true"), (1, 2, "1")])
def test_a_label_written_otherwise_is_in_place_of_none(one, other, same, tmp_path):
    labels = [[one, other][i % 2] if i < 6 else None for i in range(12)]
    table = {"id": [f"r{i}" for i in range(12)], "x": [i * i / 7 for i in range(12)], "y": labels}
    (tmp_path / "side.csv").write_text(f"id,label\nr0,{same}\nr2,{same}\nr7,{same}\n")
    intake = take_in(table, TableOptions(label="y", labels=tmp_path / "side.csv"))
    said = "labels: 6 in the data, 7 with those of side.csv, which come on top"
    assert (intake.side_note, intake.labels[7]) == (said, one)
