"""``beltrami export`` and ``beltrami import``."""

import json
from contextlib import closing

import numpy as np
import pytest
from tests.support.command_line import two_groups
from tests.support.door_rows import FILES

from beltrami.project import open_project
from beltrami.tables import TableOptions

pytestmark = pytest.mark.usefixtures("few_trees")


def labels(name):
    with closing(open_project(None, project=name, read_only=True)) as opened:
        return {row: (one.label, one.user) for row, one in opened.state.labels.items()}


def fresh(shell):
    with closing(open_project(shell.folder / "data.csv", project=shell.folder / "b.beltrami")):
        return "b.beltrami"


@pytest.mark.parametrize("form", FILES)
def test_what_is_exported_can_be_imported(shell, project, form):
    content = project.read_bytes()
    shell("export", "data.beltrami", "--to", form, "-o", FILES[form])
    assert project.read_bytes() == content
    said = shell("import", fresh(shell), FILES[form], "--user", "eve")
    assert "3 label(s) came in from" in said
    assert "12 row(s) had this label already" in said
    before, after = labels("data.beltrami"), labels("b.beltrami")
    assert {row: label for row, (label, _) in after.items()} == {
        row: label for row, (label, _) in before.items()
    }
    if form != "cleanlab":
        assert after == before


def test_tables_are_those_of_label_with_the_data_beside(shell, project):
    shell("export", "data.beltrami", "--to", "csv", "-o", "a.csv")
    shell("label", "data.beltrami", "--with-data", "-o", "b.csv")
    assert (shell.folder / "a.csv").read_bytes() == (shell.folder / "b.csv").read_bytes()


def test_the_risk_chosen_in_the_project_holds(shell, project):
    with closing(open_project(project, user="ann")) as opened:
        opened.set_risk("ann", 0.01)
    shell("export", "data.beltrami", "--to", "csv", "-o", "a.csv")
    assert "risk: 0.01, as chosen in data.beltrami" in shell.err
    shell("label", "data.beltrami", "--with-data", "-o", "b.csv")
    assert (shell.folder / "a.csv").read_bytes() == (shell.folder / "b.csv").read_bytes()


def test_our_answers_are_predictions_with_a_score(shell, project):
    shell("export", "data.beltrami", "--to", "label-studio")
    tasks = json.loads((shell.folder / "data.label-studio.json").read_text())
    assert sum(len(one["annotations"]) for one in tasks) == 15
    (prediction,) = tasks[30]["predictions"]
    assert prediction["result"][0]["value"]["choices"] == ["a"]
    assert 0.5 < prediction["score"] <= 1
    assert prediction["model_version"].startswith("beltrami ")
    assert not tasks[30]["annotations"]


def test_probabilities_of_labelled_rows_are_held_out(shell, project):
    shell("export", "data.beltrami", "--to", "cleanlab", "-o", "arrays")
    chances = np.load("arrays/pred_probs.npy")
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    is_held_out = np.load("arrays/held_out.npy")
    assert (is_held_out == (np.load("arrays/labels.npy") >= 0)).all()
    assert (chances[is_held_out].max(axis=1) < 1).all()


def test_labels_of_one_class_leave_without_being_learned_from(shell):
    shell.files({"data.csv": two_groups(label=lambda i: "a" if i < 3 else "")})
    options = TableOptions(min_classes=0)
    open_project(shell.folder / "data.csv", options).close()
    out = shell("export", "data.beltrami", "--to", "jsonl", "--json")
    assert json.loads(out)["counts"] == {"rows": 40, "given": 3, "answered": 0}


def test_results_do_not_go_over_data_or_project(shell, project):
    said = shell.refused("export", "data.beltrami", "--to", "csv", "-o", "data.csv")
    assert "is the input" in said
    said = shell.refused("export", "data.beltrami", "--to", "parquet", "-o", "x.csv")
    assert "must end in .parquet" in said
    assert "there is no form" in shell.refused("export", "data.beltrami", "--to", "excel")
    assert "there is no project" in shell.refused("export", "no.beltrami", "--to", "csv")


@pytest.mark.parametrize("command", ["suggest", "check", "map"])
def test_a_project_in_the_place_of_a_table_is_called_one(shell, project, command):
    said = shell.refused(command, "data.beltrami")
    assert "is no table but a project" in said
    assert "beltrami export data.beltrami" in said


def test_an_import_that_cannot_be_changes_nothing(shell, project):
    shell.files({"broken.json": "[{", "other.csv": "id,label\nzz,a\n"})
    before = labels("data.beltrami")
    assert "no JSON" in shell.refused("import", "data.beltrami", "broken.json")
    assert "none of the 1 id" in shell.refused("import", "data.beltrami", "other.csv")
    assert "there is no file" in shell.refused("import", "data.beltrami", "no.csv")
    assert "there is no project" in shell.refused("import", "no.beltrami", "other.csv")
    assert labels("data.beltrami") == before


def test_what_came_in_is_said(shell, project):
    shell.files({"more.csv": "file,kind\nr30,c\nr0,b\nzz,a\n"})
    said = shell("import", "data.beltrami", "more.csv")
    assert "ids from column 'file', labels from column 'kind'" in shell.err
    assert "2 label(s) came in from more.csv: 1 of 'c', 1 of 'b'." in said
    assert "1 of the row(s) had another label, which was older and is replaced." in said
    assert "'zz'" in said
    assert "new class(es): 'c'." in said
    assert "data.beltrami has 16 label(s) now." in said
