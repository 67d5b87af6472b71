"""``beltrami label`` with the labels of a project."""

import json
from contextlib import closing

import pytest
from tests.support.command_line import two_groups

from beltrami.project import open_project
from beltrami.tables import TableOptions

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.fixture
def project(shell):
    shell.files({"data.csv": two_groups()})
    with closing(open_project(shell.folder / "data.csv", user="ann")) as opened:
        opened.label("ann", [20, 22], "even", "key")
        opened.label("bob", [21], "b", "area")
        opened.rename_class("bob", "a", "even", merge=True)
    return shell.folder / "data.beltrami"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--project", "data.beltrami"),
        ("data.csv", "--project", "data.beltrami"),
        ("data.beltrami",),
    ],
    ids=["project", "both", "project as source"],
)
def test_the_labels_of_a_project_are_learned_from(shell, project, arguments):
    content = project.read_bytes()
    shell("label", *arguments, "-o", "labels.csv")
    assert "project data.beltrami: 15 label(s) of 2 class(es)" in shell.err
    lines = (shell.folder / "labels.csv").read_text().splitlines()
    assert lines[21].startswith('"r20","even","human",')
    assert '"key","ann",' in lines[21]
    assert lines[31].endswith(",,,")
    assert project.read_bytes() == content
    assert shell.names() == {"data.csv", "data.beltrami", "labels.csv", "labels.csv.meta.json"}


def test_the_result_is_named_after_the_data_and_never_written_over_the_project(shell, project):
    shell("label", "--project", "data.beltrami")
    assert (shell.folder / "data.labelled.csv").exists()
    said = shell.refused("label", "data.csv", "--project", "data.beltrami", "-o", "data.csv")
    assert "is the input" in said


def test_a_project_is_read_while_another_process_writes_it(shell, project):
    with closing(open_project(project, user="ann")) as opened:
        opened.label("ann", [30], "even", "key")
        shell("label", "--project", "data.beltrami", "-o", "labels.csv", "-q")
    assert '"r30","even","human"' in (shell.folder / "labels.csv").read_text()


def test_what_is_missing_is_said(shell, project):
    code, out, err = shell.run("label")
    assert (code, out) == (2, "")
    assert "nothing is named to be labelled" in err
    assert "there is no project" in shell.refused("label", "--project", "nothing.beltrami")
    assert "no project, nor any database" in shell.refused("label", "--project", "data.csv")
    (shell.folder / "data.csv").unlink()
    assert "not at" in shell.refused("label", "--project", "data.beltrami")


@pytest.fixture
def one_class(shell):
    shell.files({"data.csv": two_groups(label=lambda _: "")})
    with closing(open_project("data.csv", TableOptions(min_classes=0), user="ann")) as opened:
        opened.label("ann", [0, 1], "a", "key")


def test_labels_of_one_class_are_written_and_nothing_is_learned(shell, one_class):
    out = shell("label", "data.beltrami", "-o", "labels.csv")
    assert "labels of one class only" in out
    assert "the 2 labels that people gave are written, and no other" in out
    lines = (shell.folder / "labels.csv").read_text().splitlines()
    assert lines[1].startswith('"r0","a","human",1')
    assert lines[3].startswith('"r2",,"unreached",0')
    assert len(lines) == 41


def test_without_any_label_that_is_said(shell, one_class):
    with closing(open_project("data.beltrami", TableOptions(min_classes=0), user="ann")) as opened:
        opened.undo("ann")
    summary = json.loads(shell("label", "data.beltrami", "-o", "labels.csv", "--json"))
    assert summary["sentence"].startswith("Nobody has given a label yet")
    assert summary["counts"] == {
        "rows": 40,
        "given": 0,
        "labelled": 0,
        "abstained": 0,
        "unreached": 40,
    }


def test_labels_of_one_class_take_their_data_along_and_have_no_report(shell, one_class):
    arguments = ("-o", "labels.csv", "--with-data", "--report", "page.html")
    assert "no report" in shell("label", "data.beltrami", *arguments)
    assert '"y"' in (shell.folder / "labels.csv").read_text().splitlines()[0]
    assert not (shell.folder / "page.html").exists()


def test_the_summary_of_a_project_speaks_of_its_own_audits(shell, project):
    for command in (
        ["label", "--project", "data.beltrami", "-o", "l.csv"],
        ["report", "data.beltrami"],
    ):
        out = shell(*command)
        assert "beltrami audit" not in out
        assert "The studio's audit draws one: beltrami studio data.beltrami" in out
