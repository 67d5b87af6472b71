"""``beltrami report`` of a project: what people did, beside what was learned from it."""

import base64
import json
from contextlib import closing

import pytest
from tests.support.command_line import two_groups

from beltrami.project import open_project
from beltrami.project.file import read_project
from beltrami.tables import TableOptions

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.fixture
def project(project):
    with closing(open_project(project, user="ann")) as opened:
        opened.label("bob", [23], "a", "click")
        opened.undo("bob")
    return project


def test_the_page_says_who_did_what_and_how_to_get_the_same_labels(shell, project):
    content = project.read_bytes()
    shell("report", "data.beltrami")
    text = (shell.folder / "data.report.html").read_text()
    for words in ("Who labelled what", "by area", "the file", "Nothing is proved yet"):
        assert words in text
    assert "<code>beltrami label --project data.beltrami -o labels.csv</code>" in text
    assert read_project(project).seal in text
    assert str(shell.folder) not in text
    assert project.read_bytes() == content
    assert shell.names() == {"data.csv", "data.beltrami", "data.report.html"}


def test_the_command_on_the_page_writes_labels_by_the_same_risk_and_seed(shell, project):
    with closing(open_project(project, user="ann")) as opened:
        opened.set_risk("ann", 0.2)
    shell("report", "data.beltrami", "-o", "page.html", "--seed", "3")
    text = (shell.folder / "page.html").read_text()
    assert "beltrami label --project data.beltrami -o labels.csv --seed 3<" in text
    shell("report", "data.beltrami", "-o", "page.html", "--risk", "0.1")
    text = (shell.folder / "page.html").read_text()
    assert "beltrami label --project data.beltrami -o labels.csv --risk 0.1<" in text


def test_a_project_is_reported_while_another_process_writes_it_and_twice_alike(shell, project):
    with closing(open_project(project, user="ann")) as opened:
        opened.label("ann", [30], "a", "key")
        shell("report", "data.beltrami", "-o", "one.html", "-q")
    shell("report", "data.beltrami", "-o", "two.html", "-q")
    one, two = ((shell.folder / name).read_bytes() for name in ("one.html", "two.html"))
    assert one == two


def test_what_cannot_be_reported_is_refused_in_words(shell, project):
    said = shell.refused("report", "data.beltrami", "--ignore", "x")
    assert "keeps how its data are read, so --ignore cannot be said here" in said
    assert "there is no project" in shell.refused("report", "nothing.beltrami")
    assert "must end in .html" in shell.refused("report", "data.beltrami", "-o", "page.csv")
    (shell.folder / "data.csv").unlink()
    assert "not at" in shell.refused("report", "data.beltrami")


def test_labels_of_one_class_make_no_report(shell):
    shell.files({"data.csv": two_groups(label=lambda _: "")})
    with closing(open_project("data.csv", TableOptions(min_classes=0), user="ann")) as opened:
        opened.label("ann", [0, 1], "a", "key")
    assert "labels of 1 class(es), and 2 are needed" in shell.refused("report", "data.beltrami")


def test_classes_have_the_order_and_so_the_colours_of_the_studio(shell):
    rows = [
        f"{10 * (i % 2) + i % 5 / 9},{i % 7 / 9},{('zebra', 'ant')[i % 2] if i < 20 else ''}"
        for i in range(80)
    ]
    shell.files({"z.csv": "\n".join(["x,y,label", *rows])})
    with closing(open_project(shell.folder / "z.csv", user="ann")) as opened:
        opened.label("ann", [40, 42], "bee", "key")
        assert opened.state.class_names == ["ant", "zebra", "bee"]
    shell("report", "z.beltrami")
    text = (shell.folder / "z.report.html").read_text()
    data = json.loads(
        text.partition('<script type="application/json" id="data">')[2].partition("<")[0]
    )
    assert data["classes"] == ["ant", "zebra", "bee"]
    assert base64.b64decode(data["given"])[:2] == bytes([2, 1])
    table = text.partition('id="classes-title"')[2]
    assert table.index("ant<") < table.index("zebra") < table.index("bee")
