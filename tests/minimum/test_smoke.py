"""A little of everything, for the oldest libraries that are allowed (`make test-minimum`)."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import beltrami as bt

N = 40
KINDS = [("ant", "bee")[i % 2] if i < 12 else None for i in range(N)]
COLUMNS = {
    "id": [f"r{i}" for i in range(N)],
    "x": [i % 2 * 4 + i / N for i in range(N)],
    "colour": [("red", "blue")[i % 2] for i in range(N)],
    "label": KINDS,
}
TRUTH = [("ant", "bee")[i % 2] for i in range(N)]
MOONS = bt.two_moons(60, random_state=0)
NUMBERS = np.where(np.arange(60) % 3 == 0, MOONS.points[:, 0], np.nan)
CLASSES = np.where(np.arange(60) % 3 == 0, MOONS.targets, -1)

ESTIMATORS = [
    bt.ConstrainedKMeans(n_clusters=2, min_size=3),
    bt.EigenfunctionClassifier(),
    bt.EigenfunctionRegressor(),
    bt.GeodesicNeighborsClassifier(),
    bt.GraphRegularizedClassifier(),
    bt.GraphRegularizedRegressor(),
    bt.LaplacianEigenmaps(),
    bt.LaplacianRLSClassifier(),
    bt.LaplacianRLSRegressor(),
    bt.LaplacianSVC(),
    bt.ManifoldClassifier(random_state=0),
    bt.ManifoldRegressor(random_state=0),
    bt.Mbed(mode=bt.PracticalMode(n_steps=20), random_state=0),
    bt.MultiManifoldClassifier(),
    bt.MultiManifoldRegressor(),
    bt.PoissonClassifier(),
    bt.SpectralClustering(n_clusters=2),
    bt.StochasticNeighborEmbedding(perplexity=10, n_steps=20),
    bt.TransductiveSVC(),
]


def pandas_frame():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(COLUMNS).astype({"colour": "category"})


def polars_frame():
    polars = pytest.importorskip("polars")
    return polars.DataFrame(COLUMNS).with_columns(polars.col("colour").cast(polars.Categorical))


def polars_columns():
    return {name: polars_frame()[name].to_arrow() for name in COLUMNS}


def arrow_table():
    import pyarrow as pa

    return pa.table(COLUMNS)


def csv_file(folder):
    lines = [
        ",".join("" if cell is None else str(cell) for cell in row)
        for row in zip(*COLUMNS.values(), strict=True)
    ]
    path = folder / "data.csv"
    path.write_text("\n".join([",".join(COLUMNS), *lines, ""]), encoding="utf-8")
    return path


def parquet_file(folder):
    import pyarrow.parquet as pq

    pq.write_table(arrow_table(), folder / "data.parquet")
    return folder / "data.parquet"


def test_every_public_name_is_there():
    assert all(getattr(bt, name) is not None for name in bt.__all__)


@pytest.mark.parametrize(
    "make",
    [pandas_frame, polars_frame, polars_columns, arrow_table, csv_file, parquet_file],
)
def test_a_table_of_any_kind_is_labelled(make, tmp_path):
    source = make(tmp_path) if make in (csv_file, parquet_file) else make()
    found = bt.label(source, "label", n_questions=2)
    assert found.columns["label"].tolist() == TRUTH
    for ending in ("csv", "parquet", "jsonl"):
        assert found.write(tmp_path / f"out.{ending}").stat().st_size > 0


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_an_estimator_fits_and_answers(estimator):
    y = NUMBERS if type(estimator).__name__.endswith("Regressor") else CLASSES
    estimator.fit(MOONS.points, y)
    if hasattr(estimator, "predict"):
        assert len(estimator.predict(MOONS.points[:5])) == 5


@pytest.mark.parametrize(
    ("command", "left"),
    [
        (["label", "data.csv", "--report", "page.html"], "page.html"),
        (["suggest", "data.csv", "-n", "3", "-o", "ask.csv"], "ask.csv"),
        (["check", "data.csv"], ""),
        (["map", "data.csv", "-o", "map.png"], "map.png"),
        (["report", "data.csv", "-o", "page.html"], "page.html"),
        (["embed", "data.csv", "-o", "places.csv"], "places.csv"),
        (["cluster", "data.csv", "-k", "2", "-o", "groups.csv"], "groups.csv"),
        (["doctor"], ""),
        (["--help"], ""),
    ],
    ids=lambda one: one[0] if isinstance(one, list) else "",
)
def test_a_command_runs(command, left, shell):
    csv_file(shell.folder)
    shell(*command)
    assert not left or Path(left).stat().st_size > 0


def test_a_project_is_labelled_and_found_again(shell):
    from beltrami.project import open_project

    path = csv_file(shell.folder)
    project = open_project(path, user="ann")
    project.label("ann", [20], "ant", "key")
    project.label("bob", [21], "bee", "area")
    project.undo("bob")
    project.close()
    shell("label", "--project", "data.beltrami", "-o", "labels.csv")
    assert '"key","ann"' in Path("labels.csv").read_text("utf-8")


def test_a_studio_opens_saves_a_label_and_hands_the_result_out(tmp_path):
    import httpx

    from beltrami.labelling.options import LearningOptions
    from beltrami.studio_server.handle import Studio
    from beltrami.tables import TableOptions

    source, table = csv_file(tmp_path), TableOptions(label="label", min_classes=0)
    with Studio.open(source, table, LearningOptions(random_state=0)) as studio:
        base, token = studio.url.split("/?token=")
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=base, headers=headers, timeout=60) as client:
            assert client.get("/").status_code == 200
            saved = client.post("/api/labels", json={"rows": [20], "label": "ant"})
            assert (saved.status_code, saved.json()["given"]) == (200, 13)
            result = client.get("/api/labels")
            state = client.get("/api/state").json()
    assert (state["rows"], state["given"], state["behind"]) == (N, 13, 0)
    lines = result.text.splitlines()
    assert len(lines) == N + 1
    assert '"api","me"' in lines[21]


def test_pins_are_the_lower_bounds_of_the_project():
    script = Path(__file__).parents[2] / ".ci" / "minimum.py"
    spec = importlib.util.spec_from_file_location("minimum", script)
    minimum = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(minimum)
    assert minimum.lowest(["numpy>=1.26", "faiss-cpu >= 1.9"]) == ["numpy==1.26", "faiss-cpu==1.9"]
    with pytest.raises(SystemExit, match="no lower bound"):
        minimum.lowest(["numpy"])
