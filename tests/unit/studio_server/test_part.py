"""Representatives of labelled partitions in the studio, and their labels on the way to all rows."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.partitions import blob_table, blobs, write_parts
from tests.support.studio_client import Client

import beltrami as bt
from beltrami.core.errors import InvalidInputError
from beltrami.partitions.people.answered import Answered
from beltrami.project import open_project
from beltrami.studio_server.part import Part

pytestmark = pytest.mark.usefixtures("few_trees")

POINTS, CLASSES = blobs(1200)
TRUTH = [f"c{kind}" for kind in CLASSES]


@pytest.fixture(params=[True, False], ids=["ids", "numbers"])
def labelled(request, tmp_path):
    """Three clusters in four partitions, labelled from two rows of the first two."""
    known = [TRUTH.index("c0"), TRUTH.index("c1")]
    columns = {"id": [f"m{row}" for row in range(1200)]} if request.param else {}
    columns |= {
        "x": POINTS[:, 0],
        "y": POINTS[:, 1],
        "z": POINTS[:, 2],
        "note": [f"remark {row}" for row in range(1200)],
        "kind": [TRUTH[row] if row in known else None for row in range(1200)],
    }
    source = write_parts(tmp_path / "in", pa.table(columns))
    return source, bt.label_partitions(source, "kind", out=tmp_path / "out", **SETTINGS)


SETTINGS = {"n_representatives": 200, "features": ["x", "y", "z"], "method": "poisson"}


def n_wrong(found):
    told = [one for path in found.written for one in pq.read_table(path).to_pylist()]
    return sum(one["guess"] != kind for one, kind in zip(told, TRUTH, strict=True))


def row_of(name):
    return int(str(name).removeprefix("m"))


def test_labels_given_to_representatives_are_used_for_all_rows(shell, labelled, tmp_path):
    source, found = labelled
    asked = found.suggest(12).columns["id"].tolist()
    with bt.studio(found.out, project=tmp_path / "p.beltrami") as studio:
        client = Client(studio.url)
        state = client.settled()
        assert state["rows"] == 200
        assert state["about"].startswith("These are 200 of 1,200 rows")
        assert "--project" in state["about"]
        place = {str(one): k for k, one in enumerate(Answered.open(found.out).intake().ids)}
        for name in asked:
            row = place[str(name)]
            cells = client.ask(f"/api/rows?rows={row}")["rows"][0]["cells"]
            assert f"remark {row_of(name)}" in {cell["value"] for cell in cells}
            body = {"rows": [row], "label": TRUTH[row_of(name)], "how": "key"}
            client.ask("/api/labels", body)
        client.settled()
        assert len(studio.labels) == 14
    arguments = ["--label", "kind", "--features", "x,y,z", "--method", "poisson", "--json"]
    arguments += ["--representatives", "200", "--project", str(tmp_path / "p.beltrami")]
    told = json.loads(shell("label", str(source), *arguments, "-o", str(tmp_path / "again")))
    assert told["counts"]["given"] == 14
    sides = {"id": asked, "label": [TRUTH[row_of(one)] for one in asked]}
    again = bt.label_partitions(source, "kind", out=tmp_path / "third", labels=sides, **SETTINGS)
    assert (n_wrong(found) > 300, n_wrong(again)) == (True, 0)
    same = [pq.read_table(tmp_path / "again" / path.name) for path in again.written]
    assert all(
        one.equals(pq.read_table(path)) for one, path in zip(same, again.written, strict=True)
    )


def test_representatives_are_compared_and_learn_as_in_the_job_and_rows_are_shown_as_they_are(
    tmp_path,
):
    table = blob_table()
    gappy = [None if row % 9 == 0 else x for row, x in enumerate(table["x1"].to_pylist())]
    table = table.set_column(2, "x1", pa.array(gappy, pa.float32()))
    source = write_parts(tmp_path / "in", table)
    found = bt.label_partitions(
        source, "kind", out=tmp_path / "out", method="poisson", n_representatives=200
    )
    folder = Answered.open(found.out)
    part = Part.of(folder, tmp_path / "p.beltrami")
    opened = open_project(part.source, part.table, part.project)
    try:
        intake, known = opened.data, folder.intake()
        assert (intake.points == known.points).all()
        assert intake.ids.tolist() == known.ids.tolist()
        assert intake.labels.tolist() == known.labels.tolist()
        assert intake.table.columns.column("x1").null_count > 0
        again = part.make(intake).fit(intake.points, intake.labels)
        answers = found.labeller.predict(known.points)
        assert (again.predict(known.points) == answers).all()
    finally:
        opened.close()


def test_a_studio_of_representatives_is_not_read_otherwise(labelled):
    _, found = labelled
    with pytest.raises(InvalidInputError, match="Leave out --features"):
        bt.studio(found.out, features=["x"])
