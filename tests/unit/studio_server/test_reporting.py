"""What the studio hands over is what the commands write: the report, and labels of one class."""

import urllib.request

import numpy as np
import pytest
from tests.support.studio_client import Client

from beltrami.labelling.options import LearningOptions
from beltrami.studio_server.handle import Studio
from beltrami.tables import TableOptions

pytestmark = pytest.mark.usefixtures("few_trees")

N = 80
TABLE = TableOptions(label="kind", id="id", min_classes=0)


@pytest.fixture
def source(shell):
    rng = np.random.default_rng(1)
    points = rng.normal(size=(N, 2)) + 3 * (np.arange(N)[:, None] % 2)
    lines = [f"r{row},{x:.4f},{y:.4f}," for row, (x, y) in enumerate(points)]
    shell.files({"rows.csv": "\n".join(["id,x,y,kind", *lines, ""])})
    return shell.folder / "rows.csv"


def label(client, rows, **more):
    for row in rows:
        client.ask("/api/labels", {"rows": [row], "label": "pq"[row % 2], **more})


def test_the_report_is_the_page_that_the_command_writes(source, shell):
    with Studio.open(source, TABLE, LearningOptions(), user="ann") as studio:
        client = Client(studio.url)
        label(client, range(12), how="key")
        client.settled()
        client.ask("/api/labels", {"rows": [20, 22, 24], "label": "p", "how": "area"})
        client.ask("/api/undo", {})
        label(client, (31, 32), how="click")
        client.ask("/api/audit/draw", {})
        card = client.ask("/api/audit/card")["card"]
        client.ask("/api/audit/answer", {"row": card["row"], "answer": "pq"[card["row"] % 2]})
        client.settled()
        ours = client.ask("/api/report")
        shell("report", "rows.beltrami", "-o", "theirs.html")
    theirs = (shell.folder / "theirs.html").read_bytes()
    assert ours.decode().splitlines() == theirs.decode().splitlines()
    assert b"Round 1 waits for" in ours
    assert b"were wrong" not in ours
    assert str(shell.folder).encode() not in ours


def test_the_report_is_a_file_named_after_the_data(source):
    with Studio.open(source, TABLE, LearningOptions("poisson")) as studio:
        client = Client(studio.url)
        label(client, range(6))
        headers = {"Authorization": f"Bearer {client.token}"}
        request = urllib.request.Request(f"{client.base}/api/report", headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            told = dict(answer.headers.items())
            content = answer.read()
    told = {name.lower(): value for name, value in told.items()}
    assert told["content-disposition"] == "attachment; filename*=UTF-8''rows-report.html"
    assert told["content-type"] == "text/html; charset=utf-8"
    assert int(told["content-length"]) == len(content)


def test_labels_of_one_class_leave_alike_and_make_no_report(source, shell):
    with Studio.open(source, TABLE, LearningOptions()) as studio:
        client = Client(studio.url)
        label(client, (0, 2, 4), how="key")
        client.settled()
        ours = client.ask("/api/labels")
        code, words = client.refused("/api/report")
    shell("label", "rows.beltrami", "-o", "theirs.csv")
    assert ours == (shell.folder / "theirs.csv").read_bytes()
    assert (code, "labels of 1 class(es), and 2 are needed" in words) == (400, True)
