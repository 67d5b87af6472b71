"""The commands on good input: what they write, print and return, and how they are configured."""

import csv
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from tests.support.command_line import N, two_groups

from beltrami import __version__

pytestmark = pytest.mark.usefixtures("few_trees")


def rows_of(name):
    with Path(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_label_writes_a_table_beside_its_facts_and_keeps_the_input(run):
    before = Path("data.csv").read_bytes()
    out = run("label", "data.csv")
    assert out.startswith("28 rows labelled from your 12 labels, none left to you.")
    assert "To prove it: beltrami audit data.labelled.csv" in out.splitlines()
    assert out.rstrip().endswith("written: data.labelled.csv")
    assert len(out.splitlines()) <= 10
    assert Path("data.csv").read_bytes() == before
    rows = rows_of("data.labelled.csv")
    assert [row["id"] for row in rows] == [f"r{i}" for i in range(N)]
    assert [row["label"] for row in rows] == ["ab"[i % 2] for i in range(N)]
    facts = json.loads(Path("data.labelled.csv.meta.json").read_text("utf-8"))
    assert (facts["beltrami"], facts["seed"], facts["label_column"]) == (__version__, "0", "label")
    assert len(facts["data_sha256"]) == 64


def test_the_same_seed_gives_the_same_bytes(run):
    for name in ("one.csv", "two.csv", "one.parquet", "two.parquet"):
        run("label", "data.csv", "--out", name, "--seed", "3")
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()
    assert Path("one.parquet").read_bytes() == Path("two.parquet").read_bytes()


def test_roles_go_to_stderr_and_quiet_prints_nothing(run):
    run("label", "data.csv")
    assert "numeric (2): x, y" in run.err
    assert run("label", "data.csv", "--quiet") == ""
    assert run.err == ""
    run("label", "data.csv", "--verbose")
    assert "held-out error  weight" in run.err


def test_json_is_json(run):
    found = json.loads(run("label", "data.csv", "--json", "--quiet", "--report", "page.html"))
    assert found["counts"] == {
        "rows": 40,
        "given": 12,
        "labelled": 28,
        "abstained": 0,
        "unreached": 0,
    }
    assert found["written"] == ["data.labelled.csv", "page.html"]
    assert "<html" in Path("page.html").read_text("utf-8")
    Path("once.csv").write_text(two_groups(lambda i: "ab"[i] if i < 2 else ""), encoding="utf-8")
    text = run("label", "once.csv", "--json")  # nothing can be held out: no number to tell
    assert json.loads(text, parse_constant=pytest.fail)["held_out_accuracy"] is None


def test_a_risk_leaves_rows_open_and_says_what_they_may_be(run):
    mixed = two_groups(lambda i: "abab"[i * i % 3] if i < 20 else "")
    Path("mixed.csv").write_text(mixed, encoding="utf-8")
    run("label", "mixed.csv", "--risk", "0.02", "--out", "out.csv")
    open_rows = [row for row in rows_of("out.csv") if row["source"] == "abstained"]
    assert open_rows
    assert all(not row["label"] and row["guess"] in "ab" for row in open_rows)


def test_questions_are_ranked_on_rows_without_a_label(run):
    run("label", "data.csv", "--ask", "4", "--out", "out.csv")
    asked = {row["ask_rank"]: row["source"] for row in rows_of("out.csv") if row["ask_rank"]}
    assert sorted(asked) == ["1", "2", "3", "4"]
    assert "human" not in asked.values()
    run("label", "data.csv", "--ask", "0", "--out", "out.csv")
    assert not any(row["ask_rank"] for row in rows_of("out.csv"))


def test_parquet_holds_the_facts_inside(run):
    run("label", "data.csv", "--out", "new/folder/out.parquet")
    metadata = pq.read_schema("new/folder/out.parquet").metadata
    assert metadata[b"seed"] == b"0"
    assert b"method=auto" in metadata[b"parameters"]
    assert sorted(Path("new/folder").iterdir()) == [Path("new/folder/out.parquet")]


def test_config_gives_defaults_and_the_command_line_wins(run):
    Path("c.toml").write_text(
        "seed = 5\nnumber = 7\nfeatures = ['x', 'y']\n[label]\nask = 2\nout = 'here.csv'\n"
        "method = 'neighbors'\n[suggest]\nnumber = 3\n",
        encoding="utf-8",
    )
    found = json.loads(run("label", "data.csv", "--config", "c.toml", "--json"))
    assert found["written"] == ["here.csv"]
    assert found["method"] == "neighbors"
    assert found["facts"]["seed"] == "5"
    assert sum(bool(row["ask_rank"]) for row in rows_of("here.csv")) == 2
    arguments = ("--config", "c.toml", "--json", "--seed", "6", "--method", "poisson")
    found = json.loads(run("label", "data.csv", *arguments))
    assert (found["facts"]["seed"], found["method"]) == ("6", "poisson")
    questions = json.loads(run("suggest", "data.csv", "--config", "c.toml", "--json"))
    assert len(questions["questions"]) == 3


def pictures(folder):
    rng = np.random.default_rng(0)
    folder.mkdir()
    for i in range(16):
        pixels = (rng.random((6, 6)) * 60 + 180 * (i % 2)).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{i:02}.png")


def vectors(path):
    label = [("ab"[i % 2] if i < 10 else None) for i in range(30)]
    values = [[4.0 * (i % 2), i / 30, i % 3] for i in range(30)]
    pq.write_table(pa.table({"v": values, "label": label}), path)


def lines(path):
    records = ({"x": 4 * (i % 2) + i / 30, "z": i % 7, "class": "ab"[i % 2]} for i in range(30))
    text = "".join(
        json.dumps(r | ({"class": None} if r["x"] > 4.5 else {})) + "\n" for r in records
    )
    path.write_text(text, encoding="utf-8")


def texts(path):
    kinds = (("cat", "dog")[i % 2] for i in range(20))
    rows = (f"a word on {kind}s no{i},{kind if i < 6 else ''}" for i, kind in enumerate(kinds))
    path.write_text("\n".join(["body,label", *rows, ""]), encoding="utf-8")


SIDE = "id,label\n" + "".join(f"{i:02}.png,{'ab'[i % 2]}\n" for i in range(6))
KINDS = {
    "im": (pictures, ["--labels", "side.csv"]),
    "d.parquet": (vectors, []),
    "d.jsonl": (lines, []),
    "d.tsv.gz": (
        lambda path: path.write_bytes(gzip.compress(two_groups().replace(",", "\t").encode())),
        [],
    ),
    "d.npz": (
        lambda path: np.savez(
            path,
            X=np.arange(60.0).reshape(30, 2) % 7,
            y=np.array([i % 2 if i < 9 else -1 for i in range(30)]),
        ),
        ["--unlabeled", "-1"],
    ),
    "text.csv": (texts, []),
}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_file_is_labelled(run, name):
    make, options = KINDS[name]
    make(Path(name))
    Path("side.csv").write_text(SIDE, encoding="utf-8")
    run("label", name, *options, "--method", "neighbors", "--out", "out.jsonl")
    records = [json.loads(line) for line in Path("out.jsonl").read_text("utf-8").splitlines()]
    assert {record["source"] for record in records} == {"human", "propagated"}
    assert all(0 <= record["confidence"] <= 1 for record in records)


def test_minus_one_is_a_class_or_a_marker_as_the_user_says(run):
    Path("scale.csv").write_text(two_groups(lambda i: i % 3 - 1), encoding="utf-8")
    run("label", "scale.csv", code=1)
    assert "14 of 40 rows hold -1 in the label column 'label'" in run.err
    assert "--unlabeled -1 (unlabeled=-1)" in run.err
    assert '--unlabeled "" (unlabeled="")' in run.err
    for marker, n_given in (("-1", 26), ("", 40)):
        options = ("--unlabeled", marker, "--method", "neighbors", "--json", "--out", "l.csv")
        found = json.loads(run("label", "scale.csv", *options))
        assert found["counts"]["given"] == n_given
    assert {row["label"] for row in rows_of("l.csv")} == {"-1", "0", "1"}
    assert "labels: 40 given, no row without one" in run.err
    run("embed", "scale.csv")  # labels are set aside, so nothing is open


def test_a_class_called_none_is_a_class(run):
    Path("data.csv").write_text(two_groups(lambda i: ["none", "some"][i % 2] if i < 12 else ""))
    run("label", "data.csv", "--method", "neighbors", "--out", "l.csv")
    assert "'none' counts as a class (6 rows); if it marks rows without a label" in run.err
    assert "labels: 12 given, 28 rows without one (28 empty cells)" in run.err
    assert [row["label"] for row in rows_of("l.csv")] == ["none", "some"] * (N // 2)


def test_columns_are_what_the_user_says(run):
    rows = [f"{i % 2 + 7};{i % 9 + 1}.00{i % 5};{'ab'[i % 2] if i < 12 else ''}" for i in range(N)]
    Path("d.csv").write_text("\n".join(["code;price;label", *rows, ""]), encoding="utf-8")
    run("label", "d.csv", code=1)
    assert "may be 1 or 1000" in run.err
    options = ("--method", "neighbors", "--out", "l.csv")
    run("label", "d.csv", "--decimal", ",", "--categories", "code", *options)
    assert "categorical (1): code" in run.err
    assert "column 'price' is read as numbers: '1.000' is 1000" in run.err
    facts = json.loads(Path("l.csv.meta.json").read_text("utf-8"))
    assert "'1.000' is 1000" in facts["treatment"]
    assert facts["labels"] == "12 given, 28 rows without one (28 empty cells)"
    run("label", "d.csv", "--decimal", ".", "--categories", "code", "--numbers", "code", code=1)
    assert "'code' cannot be categories and numbers at once" in run.err


def test_side_embeddings_and_side_labels_are_joined(run):
    points = [f"r{i},word{i}" for i in range(N)]
    Path("names.csv").write_text("\n".join(["id,note", *points, ""]), encoding="utf-8")
    np.save("e.npy", np.array([[4.0 * (i % 2), i / N] for i in range(N)], dtype=np.float32))
    Path("some.csv").write_text("id,label\nr3,odd\nr4,even\nr7,odd\nr8,even\n", encoding="utf-8")
    run("label", "names.csv", "--embeddings", "e.npy", "--labels", "some.csv", "--out", "out.csv")
    assert [row["guess"] for row in rows_of("out.csv")] == ["even", "odd"] * (N // 2)


def test_the_same_vectors_give_the_same_labels_whichever_way_they_come(run):
    rng = np.random.default_rng(0)
    vectors = (rng.normal(size=(N, 3)) + 3 * (np.arange(N) % 2)[:, None]).astype(np.float32)
    np.save("v.npy", vectors)
    back = np.arange(N)[::-1]
    np.savez("v.npz", ids=np.array([f"r{i}" for i in back]), vectors=vectors[back])
    given = [("ab"[i % 2] if i < 12 else None) for i in range(N)]
    ids = [f"r{i}" for i in range(N)]
    lists = pa.array(list(vectors), pa.list_(pa.float32()))
    pq.write_table(pa.table({"id": ids, "v": lists, "size": range(N), "label": given}), "t.parquet")
    pq.write_table(pa.table({"id": ids, "embedding": lists}), "side.parquet")
    some = "".join(f"{i},{label}\n" for i, label in enumerate(given) if label)
    Path("some.csv").write_text("id,label\n" + some, encoding="utf-8")
    ways = {
        "npy": ("data.csv", "--embeddings", "v.npy"),
        "npz": ("data.csv", "--embeddings", "v.npz"),
        "parquet": ("data.csv", "--embeddings", "side.parquet"),
        "column": ("t.parquet", "--embeddings", "v"),
        "found": ("t.parquet",),
    }
    for name, words in ways.items():
        run("label", *words, "--out", f"{name}.csv")
    assert "rows are compared by the embeddings in column 'v' alone" not in run.err
    contents = {name: Path(f"{name}.csv").read_bytes() for name in ways}
    assert len(set(contents.values())) == 1
    run("label", "v.npy", "--labels", "some.csv", "--out", "itself.csv")
    for name in ("label", "guess", "confidence", "margin", "source"):
        assert [row[name] for row in rows_of("itself.csv")] == [
            row[name] for row in rows_of("npy.csv")
        ]
    facts = json.loads(Path("npz.csv.meta.json").read_text("utf-8"))
    other = json.loads(Path("npy.csv.meta.json").read_text("utf-8"))
    assert (facts["embeddings"], other["embeddings"]) == ("v.npz", "v.npy")
    assert facts["embeddings_sha256"] == other["embeddings_sha256"]
    column = json.loads(Path("column.csv.meta.json").read_text("utf-8"))
    assert column["embeddings"] == "column 'v'"


def test_every_command_on_a_table_takes_embeddings(run):
    np.save("v.npy", np.array([[5.0 * (i % 2), i / N, 1.0] for i in range(N)], dtype=np.float32))
    for command in ("label", "suggest", "check", "cluster", "embed", "report", "map"):
        words = {"cluster": ["-k", "2"], "map": ["--out", "m.csv"], "embed": ["-n", "2"]}
        run(command, "data.csv", "--embeddings", "v.npy", *words.get(command, []))
        assert "rows are compared by the embeddings in v.npy alone" in run.err, command


def test_vectors_that_changed_are_not_taken_from_the_cache(run, monkeypatch, tmp_path):
    monkeypatch.setenv("BELTRAMI_CACHE", str(tmp_path / "cache"))
    even = np.array([[5.0 * (i % 2), i / N] for i in range(N)])
    halves = np.array([[5.0 * (i < N // 2), i / N] for i in range(N)])
    found = []
    for vectors in (even, halves, even):
        np.save("v.npy", vectors)
        run("cluster", "data.csv", "-k", "2", "--embeddings", "v.npy", "--out", "c.csv")
        found.append([row["cluster"] for row in rows_of("c.csv")])
    assert found[0] == found[2] != found[1]
    assert len(set(found[1][: N // 2])) == 1


@pytest.mark.parametrize("label", [lambda _: "", lambda i: "a" if i < 5 else ""])
def test_suggest_works_without_labels_or_with_one_class(run, label):
    Path("data.csv").write_text(two_groups(label), encoding="utf-8")
    assert len(run("suggest", "data.csv", "-n", "3").splitlines()) == 4
    rows = rows_of("data.ask.csv")
    assert [row["ask_rank"] for row in rows] == ["1", "2", "3"]
    assert all(row["reason"] and not row["label"] and not row["guess"] for row in rows)


def test_suggest_says_when_there_is_nothing_to_ask(run):
    Path("data.csv").write_text(two_groups(lambda i: "ab"[i % 2]), encoding="utf-8")
    assert run("suggest", "data.csv").startswith("every row has a label")


def test_two_hundred_classes_are_labelled(run):
    wide = two_groups(lambda i: f"c{i % 200}" if i < 300 else "", n=400)
    Path("wide.csv").write_text(wide, encoding="utf-8")
    run("label", "wide.csv", "--method", "neighbors", "--out", "out.csv")
    assert "200 classes for 300 labels" in run.err
    assert len({row["guess"] for row in rows_of("out.csv")}) == 200


def test_an_audit_goes_from_labels_to_a_certificate(run):
    run("label", "data.csv", "--out", "l.csv")
    run("audit", "l.csv", "-n", "8")
    drawn = rows_of("l.audit.csv")
    assert len(drawn) == 8
    assert list(drawn[0]) == ["id", "answer"]  # blind: not a word of what we said
    truth = {f"r{i}": "ab"[i % 2] for i in range(N)}
    filled = "".join(f"{row['id']},{truth[row['id']]}\n" for row in drawn)
    Path("a.csv").write_text("id,answer\n" + filled, encoding="utf-8")
    found = json.loads(run("audit", "l.csv", "--answers", "a.csv", "--json"))
    assert (found["n_checked"], found["n_wrong"], found["n_accepted"]) == (8, 0, 28)
    assert 0.6 < found["lower"] < 1


def test_answers_in_several_tables_come_on_top_and_are_told(run):
    run("suggest", "data.csv", "-n", "4", "--out", "ask.csv")
    asked = [row["id"] for row in rows_of("ask.csv")]
    truth = {f"r{i}": "ab"[i % 2] for i in range(N)}
    for name, ids in (("one.csv", asked[:2]), ("two.csv", asked[2:])):
        filled = "".join(f"{one},{truth[one]}\n" for one in ids)
        Path(name).write_text("id,label\n" + filled, encoding="utf-8")
    run("label", "data.csv", "--labels", "one.csv", "--labels", "two.csv", "--out", "l.csv")
    assert "labels: 12 in the data, 16 with those of one.csv, two.csv, which come" in run.err
    human = {row["id"] for row in rows_of("l.csv") if row["source"] == "human"}
    assert human >= set(asked)
    assert "two.csv" in Path("l.csv.meta.json").read_text(encoding="utf-8")
    Path("options.toml").write_text('labels = ["one.csv", "two.csv"]', encoding="utf-8")
    run("label", "data.csv", "--config", "options.toml", "--out", "m.csv")
    assert rows_of("m.csv") == rows_of("l.csv")


def test_check_finds_a_planted_error_and_equal_rows(run):
    planted = two_groups(lambda i: "ab"[(i + (i in (7, 20, 33))) % 2]).splitlines()
    planted[2] = planted[4].replace("r3", "r1")
    Path("data.csv").write_text("\n".join(planted), encoding="utf-8")
    found = json.loads(run("check", "data.csv", "--json", "--out", "issues.csv"))
    assert {issue["id"] for issue in found["issues"]} == {"r7", "r20", "r33"}
    assert found["n_repeated"] == 1
    sure = [row for row in rows_of("issues.csv") if row["sure"] == "yes"]
    better = {row["id"]: row["suggested"] for row in sure}
    assert better == {"r7": "b", "r20": "a", "r33": "b"}


@pytest.mark.parametrize("name", ["m.png", "m.svg", "m.pdf", "m.csv"])
def test_maps_are_pictures_or_tables_with_the_same_bytes_each_time(run, name):
    run("map", "data.csv", "--out", name)
    first = Path(name).read_bytes()
    run("map", "data.csv", "--out", name)
    assert Path(name).read_bytes() == first


def test_embed_and_cluster_write_a_row_per_row(run):
    run("embed", "data.csv", "-n", "3")
    assert list(rows_of("data.embedding.csv")[0]) == ["id", "x1", "x2", "x3"]
    run("cluster", "data.csv", "-k", "2")
    groups = [row["cluster"] for row in rows_of("data.clusters.csv")]
    assert groups[::2] == [groups[0]] * (N // 2)
    assert groups[1::2] == [groups[1]] * (N // 2)


def test_a_column_y_of_numbers_is_a_coordinate(run):
    points = "\n".join(f"{i * i},{i / 7}" for i in range(20))
    Path("points.csv").write_text("x,y\n" + points + "\n", encoding="utf-8")
    run("embed", "points.csv", "-n", "2")
    assert "numeric (2): x, y" in run.err


def test_doctor_compiles_what_commands_need(run):
    assert run("doctor", "--warm").startswith("compiled in ")
    assert "[2/2] compiling: " in run.stages


def test_doctor_and_version_answer(run):
    assert json.loads(run("doctor", "--json"))["beltrami"] == __version__
    assert "scikit-learn" in run("doctor")
    assert run("--version") == f"beltrami {__version__}\n"


def test_the_package_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "beltrami", "--version"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"beltrami {__version__}\n")


def test_names_that_a_terminal_cannot_show_are_spelled_out(tmp_path):
    words = two_groups(lambda i: ["été", "名前"][i % 2] if i < 12 else "")
    (tmp_path / "data.csv").write_text(words, encoding="utf-8")
    done = _process(tmp_path, "check", "data.csv", PYTHONIOENCODING="latin-1")
    assert done.returncode == 0, done.stderr
    assert "été 6, ".encode("latin-1") + rb"\u540d\u524d 6" in done.stdout


def test_a_reader_that_leaves_early_is_no_traceback(tmp_path):
    (tmp_path / "data.csv").write_text(two_groups(), encoding="utf-8")
    reader, writer = os.pipe()
    os.close(reader)
    done = _process(tmp_path, "label", "data.csv", "-o", "out.csv", stdout=writer)
    os.close(writer)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr
    assert len((tmp_path / "out.csv").read_text("utf-8").splitlines()) == N + 1


def test_a_real_interrupt_leaves_no_file(tmp_path):
    (tmp_path / "data.csv").write_text(two_groups(n=20_000), encoding="utf-8")
    script = [sys.executable, "-m", "beltrami.cli", "label", "data.csv", "-v"]
    with subprocess.Popen(script, cwd=tmp_path, stderr=subprocess.PIPE) as process:
        while process.stderr.readline() != b"label: label\n":
            pass  # not read yet; then the fit is about to begin
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read().decode()
    assert process.returncode == 130, said
    assert said.rstrip().endswith("beltrami: interrupted; nothing is left half written.")
    assert "Traceback" not in said
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv"}


def _process(folder, *arguments, stdout=subprocess.PIPE, **environment):
    return subprocess.run(
        [sys.executable, "-m", "beltrami.cli", *arguments],
        cwd=folder,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=os.environ | environment,
        check=False,
    )


def test_rows_without_ids_are_counted_from_zero_and_it_is_said(run):
    Path("bare.csv").write_text(
        "\n".join(line.partition(",")[2] for line in two_groups().splitlines()), encoding="utf-8"
    )
    run("label", "bare.csv", "--label", "label")
    assert "id: row numbers, from 0" in run.err.splitlines()
    assert rows_of("bare.labelled.csv")[0]["id"] == "0"


@pytest.mark.parametrize("command", ["label", "suggest", "check", "report", "map", "embed"])
def test_pieces_of_the_data_are_told_without_a_word_of_python(run, command):
    rows = [f"{i // 40 * 90 + i % 40 / 9:.2f},{i * 7 % 11 / 5:.2f},{'ab'[i % 2] if i < 8 else ''}"
            for i in range(80)]  # fmt: skip
    Path("two.csv").write_text("\n".join(["x,y,label", *rows, ""]), encoding="utf-8")
    run(command, "two.csv")
    assert "the data fall into 2 pieces, of " in run.err
    assert "KnnGraph" not in run.err
    assert "connect=" not in run.err


def test_groups_tell_how_they_hang_together(run):
    assert "of its ties lead to other groups" in run("cluster", "data.csv", "-k", "2")


@pytest.mark.parametrize("command", ["label", "report", "check", "suggest", "map", "studio"])
def test_a_result_of_ours_is_no_data_for_a_command(run, command):
    run("label", "data.csv", "--label", "label", "-o", "labels.csv")
    run(command, "labels.csv", code=1)
    assert "labels.csv is a result of beltrami: 28 of its 40 labels are our own" in run.err
    assert re.search(r"Name what was labelled instead: \S*data\.csv --label label\. ", run.err)
    assert re.search(r"beltrami audit \S*labels\.csv\.", run.err)
    run("audit", "labels.csv")


def test_nobody_sits_down_by_the_name_of_the_data(run):
    run("studio", "data.csv", "--user", "ann", "--user", "file", "--no-browser", code=1)
    assert "nobody may be called 'file': the labels that stand in the data are." in run.err


def test_quiet_keeps_what_was_asked_for_and_drops_how_it_was_read(run):
    Path("data.csv").write_text(two_groups(lambda i: "ab"[(i % 2) ^ (i == 6)] if i < 20 else ""))
    loud = run("check", "data.csv", "-o", "issues.csv")
    assert "r6" in loud
    assert run("check", "data.csv", "-o", "issues.csv", "--quiet") + "written: issues.csv\n" == loud
    assert run.err == ""
    loud = run("suggest", "data.csv", "-n", "3")
    assert run("suggest", "data.csv", "-n", "3", "-q") + "written: data.ask.csv\n" == loud
    assert run.err == ""
