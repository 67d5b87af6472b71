"""What people hand to the command line by mistake: exit code 1, one message, and no new file."""

import errno
import json
import os
import re
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from tests.support.command_line import two_groups

from beltrami.core import files
from beltrami.core.machine import memory

pytestmark = pytest.mark.usefixtures("few_trees")

N = 30


table = partial(two_groups, n=N)
GOOD = table()


def broken_row():
    lines = GOOD.splitlines()
    lines[7] += ",5,5"
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (GOOD, ["--label", "labelx"], "no column 'labelx' .* Did you mean 'label'"),
        ("", [], "data.csv is empty"),
        ("id,x,y,label\n", [], "no row below it"),
        (table(label=lambda _: ""), [], "holds no label: all 30 rows are unlabelled"),
        (table(label=lambda i: "a" if i < 9 else ""), [], "all 9 labels .* one class, 'a'"),
        (table(label=lambda i: i / 2), [], "numbers that are not whole"),
        (table(x=lambda i: i * i if i != 3 else "oops"), [], r"'x'.*'oops' in row 3.*--ignore 'x'"),
        (GOOD.replace("r3,", "r2,"), [], r"1 id\(s\) in column 'id' occur more than once: 'r2'"),
        (broken_row(), [], "broken at line 8: it has 6 field"),
        (GOOD, ["--risk", "7"], "risk=7.0 must be a number from 0 to 1"),
        (GOOD, ["--method", "nonsense"], "choose one of auto"),
        (GOOD, ["--jobs", "0"], "n_jobs=0 has no meaning"),
        (GOOD, ["--seed", "-1"], "random_state=-1"),
        (GOOD, ["--budget", "nan"], "time_budget=nan"),
        (GOOD, ["--features", "x,zz"], "no column 'zz'"),
        (GOOD, ["--embeddings", "nope.npy"], "no file 'nope.npy'"),
        (GOOD, ["--labels", "nope.csv"], "no file 'nope.csv'"),
        (GOOD, ["--delimiter", "ab"], "must be a single character"),
        (GOOD, ["--out", "data.csv"], "is the input, which is never changed"),
        (GOOD, ["--out", "./sub/../data.csv"], "is the input, which is never changed"),
        (GOOD, ["--out", "out.xls"], "'out.xls' is not known"),
        (GOOD, ["--out", "data.csv/out.csv"], "'data.csv' is a file and no folder"),
        (GOOD, ["--out", "."], "is a folder"),
        (GOOD, ["--report", "page.pdf"], "must end in .html"),
        (GOOD, ["--report", "data.csv/page.html"], "'data.csv' is a file and no folder"),
        (GOOD, ["--config", "nope.toml"], "cannot be read"),
    ],
)
def test_labelling_is_refused_with_one_message(shell, content, arguments, message):
    shell.files({"data.csv": content})
    assert re.search(message, shell.refused("label", "data.csv", *arguments))


def test_a_missing_file_names_the_nearest(shell):
    shell.files({"data.csv": GOOD})
    assert "Did you mean 'data.csv'" in shell.refused("label", "data.cvs")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([[1, "a"]] * 20, dtype=object), "pickled"),
        (np.ones((20, 2), dtype=complex), "complex"),
        (np.array([["a", "b"]] * 20), "no numbers"),
        (np.ones(20), r"shape (20,)"),
        (np.zeros((0, 3)), "empty"),
    ],
)
def test_arrays_of_the_wrong_kind_are_refused(shell, array, message):
    side = "id,label\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(10))
    shell.files({"data.npy": array, "side.csv": side})
    assert message in shell.refused("label", "data.npy", "--labels", "side.csv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x = [", "no TOML"),
        ("labelx = 'x'", "sets 'labelx', which no command has. Did you mean 'label'?"),
        ("seed = '7'", "'seed' to '7', which must be a whole number"),
        ("seed = 1.5", "must be a whole number"),
        ("impute = 1", "must be true or false"),
        ("risk = true", "must be a number"),
        ("label = 3", "must be a text"),
        ("[labell]\nask = 3", "table [labell], which is no command. Did you mean 'label'?"),
        ("[label]\nnumber = 3", "sets 'number', which `beltrami label` does not have"),
    ],
)
def test_a_config_file_is_checked_like_the_command_line(shell, content, message):
    shell.files({"data.csv": GOOD, "c.toml": content})
    assert message in shell.refused("label", "data.csv", "--config", "c.toml")


@pytest.mark.parametrize(
    "arguments",
    [["label", "data.csv", "--nope"], ["label"], ["nope"], ["label", "data.csv", "--ask", "-1"]],
)
def test_usage_errors_have_exit_code_2(shell, arguments):
    shell.files({"data.csv": GOOD})
    code, _, err = shell.run(*arguments)
    assert code == 2
    assert "Usage" in err
    assert shell.names() == {"data.csv"}


def test_a_file_larger_than_memory_is_refused_with_numbers(shell, monkeypatch):
    shell.files({"data.csv": GOOD})
    monkeypatch.setattr(memory, "available_bytes", lambda: 400)
    assert "GiB and the budget is 0.00 GiB" in shell.refused("label", "data.csv")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "sub/out.jsonl.gz"])
def test_a_disk_that_refuses_leaves_nothing_behind(shell, monkeypatch, number, name):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    shell.files({"data.csv": GOOD, "sub/other.txt": "x"})
    monkeypatch.setattr(files.Path, "replace", refuse)
    message = shell.refused("label", "data.csv", "--method", "neighbors", "--out", name)
    assert os.strerror(number) in message


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.feather", "out.jsonl", "p.html"])
def test_a_disk_that_fills_up_while_writing_leaves_nothing_behind(shell, name):
    """A limit on the size of files stands for a full disk: writes fail halfway, as there."""
    resource = pytest.importorskip("resource")
    shell.files({"data.csv": GOOD})
    command = ["report"] if name == "p.html" else ["label", "--method", "neighbors"]
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        message = shell.refused(*command, "data.csv", "--out", name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "File too large" in message


def test_a_disk_full_at_the_page_says_so(shell, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "page.html")

    shell.files({"data.csv": GOOD})
    monkeypatch.setattr(import_module("beltrami.report.page.render"), "write_text", refuse)
    message = shell.refused("report", "data.csv", "--out", "page.html")
    assert "No space left on device (page.html)" in message
    code, _, err = shell.run("label", "data.csv", "--out", "l.csv", "--report", "page.html", "-q")
    assert code == 1
    assert "'page.html' cannot be written" in err
    assert "the labels are in 'l.csv' already" in err
    assert shell.names() == {"data.csv", "l.csv", "l.csv.meta.json"}


def test_a_folder_that_may_not_be_written_to_is_found_before_any_work(shell, monkeypatch):
    def begin(*_):
        pytest.fail("the fit began")

    shell.files({"data.csv": GOOD})
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr("beltrami.front_door.classifier.ManifoldClassifier.fit", begin)
    assert "may not be written to" in shell.refused("label", "data.csv", "--out", "out.csv")
    assert len(shell.err.splitlines()) == 1  # no roles of columns: the table is not read either


def test_ctrl_c_prints_one_line_and_leaves_no_file(shell, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    shell.files({"data.csv": GOOD})
    monkeypatch.setattr("beltrami.front_door.classifier.ManifoldClassifier.fit", interrupt)
    code, out, err = shell.run("label", "data.csv", "-q")
    assert (code, out) == (130, "")
    assert err == "beltrami: interrupted; nothing is left half written.\n"
    assert shell.names() == {"data.csv"}


def test_ctrl_c_while_writing_leaves_no_file(shell, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    shell.files({"data.csv": GOOD})
    monkeypatch.setattr(files.Path, "replace", interrupt)
    assert shell.run("label", "data.csv", "-q", "--method", "neighbors")[0] == 130
    assert shell.names() == {"data.csv"}


def test_labels_that_differ_by_case_are_kept_apart_with_a_warning(shell):
    shell.files({"data.csv": table(label=lambda i: ["cat", "Cat", "dog", "dog "][i % 4])})
    code, _, err = shell.run("label", "data.csv", "--method", "neighbors")
    assert code == 0
    assert "warning: labels 'Cat', 'cat' differ only by case" in err
    assert "warning: labels 'dog', 'dog ' differ only by case" in err


@pytest.mark.parametrize("cell", ["", "inf", "NA"])
def test_gaps_among_numbers_are_filled_and_it_is_said(shell, cell):
    shell.files({"data.csv": table(x=lambda i: i * i if i != 4 else cell)})
    code, _, err = shell.run("label", "data.csv", "--method", "neighbors")
    assert code == 0
    assert "'x': 1 of 30 cells hold nothing that can be used; they take the median" in err
    facts = json.loads(Path("data.labelled.csv.meta.json").read_text("utf-8"))
    assert "they take the median, 225, and a column marks them" in facts["treatment"]


def test_ids_that_group_rows_are_no_names_of_rows(shell):
    content = "".join(f"{i // 3},{i * i},{'ab'[i % 2]}\n" for i in range(20))
    shell.files({"data.csv": "id,x,label\n" + content})
    assert shell.run("label", "data.csv", "--method", "neighbors")[0] == 0
    repeated = GOOD.replace("r3,", "r2,")
    shell.files({"data.csv": repeated})
    assert shell.run("label", "data.csv", "--method", "neighbors", "--ignore", "id")[0] == 0


LABELLED = "id,label,source\n1,a,propagated\n2,b,propagated\n3,a,human\n"


def test_answers_that_were_typed_are_not_written_over(shell):
    asked = "id,label\nr20,a\nr21,\n"
    shell.files({"data.csv": GOOD, "ask.csv": asked, "l.csv": LABELLED})
    message = shell.refused("suggest", "data.csv", "-n", "2", "--out", "ask.csv")
    assert "'ask.csv' holds 1 answer(s) that would be lost" in message
    shell.files({"a.csv": "id,answer\n1,a\n2,b\n"})
    assert "2 answer(s)" in shell.refused("audit", "l.csv", "--out", "a.csv")
    shell.files({"ask.csv": asked.replace("r20,a", "r20, ")})
    assert shell.run("suggest", "data.csv", "-n", "2", "--out", "ask.csv")[0] == 0


def test_an_audit_needs_labels_of_ours(shell):
    shell.files({"data.csv": GOOD, "l.csv": "id,label,source\n1,a,human\n"})
    assert "no column 'source'" in shell.refused("audit", "data.csv")
    assert "holds no accepted label of ours" in shell.refused("audit", "l.csv")
    assert "is the input" in shell.refused("audit", "l.csv", "--out", "l.csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cluster", "-k", "31"], "n_clusters=31"),
        (["embed", "-n", "30"], "n_components=30"),
        (["map", "-o", "m.gif"], "A picture ends in one of .png, .svg, .pdf"),
        (["suggest", "--strategy", "nonsense"], "strategy='nonsense'"),
        (["report", "-o", "page.txt"], "must end in .html"),
    ],
)
def test_other_commands_refuse_too(shell, arguments, message):
    shell.files({"data.csv": GOOD})
    command, *rest = arguments
    assert message in shell.refused(command, "data.csv", *rest)


def test_a_demonstration_is_refused_before_it_runs(shell):
    shell.files({"a-file": "x"})
    assert "'a-file' is a file" in shell.refused("demo", "--out", "a-file")
    assert "per_class=500 must lie between" in shell.refused("demo", "--per-class", "500")


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("command", ["label", "suggest", "check", "map", "embed", "cluster"])
def test_tiny_tables_end_well_or_with_a_message(shell, command, n):
    rows = "".join(f"{i * 1.5},{i * i},{'ab'[i % 2]}\n" for i in range(n))
    shell.files({"d.csv": "x,z,label\n" + rows})
    options = {"embed": ["-n", "1"], "cluster": ["-k", "1"]}.get(command, [])
    code, out, err = shell.run(command, "d.csv", *options)
    assert code == (1 if n == 1 else 0), err
    assert bool(out) == (n > 1)
    assert ("beltrami: " in err) == (n == 1)


@pytest.mark.parametrize("command", ["label", "suggest", "check", "map", "embed", "report"])
def test_equal_rows_end_well(shell, command):
    rows = "".join(f"1.5,2.5,{'ab'[i % 2] if i < 6 else ''}\n" for i in range(20))
    shell.files({"d.csv": "x,z,label\n" + rows})
    assert "one value only" in shell.refused(command, "d.csv")
    code, _, err = shell.run(command, "d.csv", "--features", "x,z")
    assert code == 0
    assert "every point is identical" in err
