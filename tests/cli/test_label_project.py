"""``beltrami label`` with the labels of a project."""

from contextlib import closing

import pytest
from tests.support.command_line import two_groups

from beltrami.project import open_project

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


def test_a_project_with_labels_of_one_class_has_nothing_to_tell_apart(shell):
    shell.files({"data.csv": two_groups(label=lambda _: "")})
    from beltrami.tables import TableOptions

    options = TableOptions(min_classes=0)
    with closing(open_project("data.csv", options, user="ann")) as opened:
        opened.label("ann", [0, 1], "a", "key")
    assert "labels of 1 class(es), and 2 are needed" in shell.refused("label", "data.beltrami")
