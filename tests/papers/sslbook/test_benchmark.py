"""The SSL book's benchmark: printed rows, trials, the journal, the pages and a quick run."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from beltrami import GraphRegularizedClassifier, LaplacianEigenmaps, LaplacianRLSClassifier
from beltrami_papers.journal import Journal
from beltrami_papers.mbed.problems import per_class_draws
from beltrami_papers.model import record_text
from beltrami_papers.preparation import LabelledDraws
from beltrami_papers.sslbook.benchmark import (
    Trial,
    benchmark_table,
    book_record,
    cells_of,
    run_trials,
    seconds_of,
    trial_result,
    trials_of,
)
from beltrami_papers.sslbook.drawing import draw_errors
from beltrami_papers.sslbook.lines import (
    difference_lines,
    error_lines,
    finding_lines,
)
from beltrami_papers.sslbook.methods import FRONT_DOOR, Method, methods_of
from beltrami_papers.sslbook.problems import BookProblem, book_problem
from beltrami_papers.sslbook.published import (
    LABELS,
    MEASURED,
    MEMORY,
    ROWS,
    SETS,
    best_published,
)


def _problem(name="Digit1", *, k=2, seed=0, apart=2.0):
    rng = np.random.default_rng(seed)
    classes = np.arange(120) % k
    points = rng.normal(size=(120, 5)) + apart * np.eye(k, 5)[classes]
    few = per_class_draws(classes, per_class=5, n_splits=3)
    many = per_class_draws(classes, per_class=20, n_splits=3)
    draws = {10: few, 100: many}
    return BookProblem.of(
        name, {n: LabelledDraws(name, points, classes, rows) for n, rows in draws.items()}
    )


def _known(trials, errors):
    return Journal(
        None,
        {t.key: {"error": errors[t.method] + t.split, "seconds": 0.5, "rows": 9} for t in trials},
    )


def test_every_printed_row_has_a_number_or_a_gap_for_every_set():
    assert all(len(row.errors[labels]) == len(SETS) for row in ROWS.values() for labels in LABELS)
    printed = [
        e for row in ROWS.values() for es in row.errors.values() for e in es if e is not None
    ]
    assert 0 < min(printed) < max(printed) < 100
    assert {name for name, row in ROWS.items() if row.standing == MEASURED} == {"1-NN"}
    assert {method.published for method in methods_of().values()} - {None} <= set(ROWS)


def test_the_best_printed_row_is_the_lowest_of_its_column():
    assert best_published("Digit1", 10) == (5.44, "LapRLS")
    assert best_published("g241d", 100) == (4.95, "Cluster-Kernel")
    assert best_published("COIL", 10) == (54.54, "LapRLS")


def test_nearest_neighbour_is_a_plain_search_among_the_labelled_rows():
    problem = _problem()
    for labels in LABELS:
        rows = problem.draws[labels].draws[1]
        gaps = np.linalg.norm(problem.points[:, None] - problem.points[rows], axis=2)
        others = np.setdiff1d(np.arange(120), rows)
        wrong = problem.classes[rows][gaps.argmin(axis=1)] != problem.classes
        found = trial_result(problem, methods_of()["1-NN"], labels, 1)
        assert 0 < found["error"] < 50
        assert found["error"] == pytest.approx(100 * wrong[others].mean(), abs=1e-4)
        assert found["rows"] == 120


def test_eigenmaps_are_followed_by_a_search_in_the_map():
    problem = _problem()
    coordinates = LaplacianEigenmaps(10, graph=problem.graph, random_state=0).fit_transform(
        problem.points
    )
    rows = problem.draws[10].draws[2]
    gaps = np.linalg.norm(coordinates[:, None] - coordinates[rows], axis=2)
    found = methods_of()["LEM + 1-NN"].teach(problem, 10, 2)
    np.testing.assert_array_equal(found, problem.classes[rows][gaps.argmin(axis=1)])


def test_a_laplacian_machine_that_goes_on_answers_as_one_that_starts_afresh():
    problem, teach = _problem(), methods_of()["LapRLS"].teach
    teach(problem, 100, 0)
    fresh = LaplacianRLSClassifier(graph=problem.graph, random_state=0)
    fresh.fit(problem.points, problem.draws[10].labels(1))
    np.testing.assert_array_equal(teach(problem, 10, 1), fresh.transduction_)
    assert set(problem.fitted) == {"LaplacianRLSClassifier"}


def test_the_quadratic_criterion_scales_classes_to_their_shares_of_the_labels():
    problem = _problem()
    model = GraphRegularizedClassifier(graph=problem.graph, class_mass="labels")
    expected = model.fit(problem.points, problem.draws[10].labels(0)).transduction_
    np.testing.assert_array_equal(methods_of()["QC+CMN"].teach(problem, 10, 0), expected)


@pytest.mark.parametrize("labels", LABELS)
def test_a_support_vector_machine_separates_what_is_apart(labels):
    problem = _problem(apart=9.0, k=3)
    assert trial_result(problem, methods_of()["SVM"], labels, 0)["error"] == 0


def test_texts_have_neighbours_by_angle_and_a_linear_machine():
    dense = _problem()
    lengths = np.random.default_rng(0).uniform(0.1, 10, size=120)
    rows = np.abs(dense.points) / np.linalg.norm(dense.points, axis=1)[:, None]
    plain, longer = (
        BookProblem.of(
            "Text", {10: LabelledDraws("Text", csr_array(p), dense.classes, dense.draws[10].draws)}
        )
        for p in (rows, rows * lengths[:, None])
    )
    assert (plain.kernel, dense.kernel) == ("cosine", "rbf")
    np.testing.assert_array_equal(
        plain.graph.weights.toarray() > 0, longer.graph.weights.toarray() > 0
    )
    assert trial_result(plain, methods_of()["SVM"], 10, 0)["error"] < 50
    assert "width" not in plain.fitted


def test_the_full_table_has_twelve_splits_of_fast_methods_and_four_of_slow_ones():
    trials = list(trials_of(methods_of()))
    assert len(trials) == len(set(trials)) == len({one.key for one in trials})
    assert tuple(dict.fromkeys(one.data for one in trials)) == SETS
    splits = {name: {t.split for t in trials if t.method == name} for name in methods_of()}
    assert splits["LapRLS"] == set(range(12))
    assert splits[FRONT_DOOR] == set(range(4))
    quick = list(trials_of(methods_of(quick=True), quick=True))
    assert {(one.labels, one.split) for one in quick} == {(10, 0)}
    assert not {one.key for one in quick} & {one.key for one in trials}


def test_cells_stand_beside_the_printed_errors_with_their_standing():
    methods = {name: methods_of()[name] for name in ("1-NN", "LapRLS", FRONT_DOOR)}
    trials = list(trials_of(methods))
    errors = {"1-NN": 30.0, "LapRLS": 4.0, FRONT_DOOR: 20.0}
    found = run_trials(trials, methods, _known(trials, errors), book_problem)
    cells = cells_of(found, methods)
    place = {(c["data"], c["labels"], c["method"]): c for c in cells}
    machine = place["Digit1", 10, "LapRLS"]
    assert (machine["mean"], machine["draws"], machine["published"]) == (9.5, 12, 5.44)
    assert machine["difference"] == pytest.approx(4.06)
    assert machine["standing"] == MEMORY
    assert place["g241c", 100, "1-NN"]["published"] == 40.28
    assert place["g241c", 100, "1-NN"]["standing"] == MEASURED
    assert not {"published", "standing"} & set(place["Text", 10, FRONT_DOOR])
    assert seconds_of(cells)["LapRLS"] == 0.5 * 12 * 14
    record = book_record(cells, methods)
    assert json.loads(record_text(record)) == json.loads(json.dumps(record))
    ten = [cell for cell in cells if cell["labels"] == 10]
    table = "\n".join(error_lines(ten))
    assert f"| {FRONT_DOOR} (first 4 splits) | 21.50 ± 1.29 |" in table
    assert "| *book: 1-NN* | 44.05 |" in table
    assert "| *book: SGT†* | 22.76 | 18.64 | 8.92 | 25.36 |  | 49.59 | 29.02 |" in table
    assert "| LapRLS† | -34.45 | -36.18 | +4.06 |" in "\n".join(difference_lines(ten))
    findings = "\n".join(finding_lines(cells))
    assert "largest difference is -45.04 on COIL with 10 labels (9.50 against 54.54)" in findings
    assert "below the book's best row on 4 of 7 sets (g241c, COIL, BCI, Text)" in findings
    titles = [axes.get_title(loc="left") for axes in draw_errors(cells).axes]
    assert [title.split(":")[0] for title in titles] == ["10 labels", "100 labels"]


def test_a_stopped_table_goes_on_and_loads_no_set_that_is_done(tmp_path):
    path, loaded, taught = tmp_path / "journal.jsonl", [], []

    def teach(problem, labels, split):
        taught.append((problem.name, labels, split))
        if len(taught) == 3:
            raise KeyboardInterrupt
        return problem.classes

    def load(name):
        loaded.append(name)
        return _problem(name)

    methods = {"ours": Method(teach, "")}
    trials = [Trial(data, "ours", 10, split, False) for data in ("a", "b") for split in (0, 1)]
    with pytest.raises(KeyboardInterrupt):
        run_trials(trials, methods, Journal.at(path), load)
    assert (loaded, len(taught)) == (["a", "b"], 3)
    found = run_trials(trials, methods, Journal.at(path), load)
    assert loaded == ["a", "b", "b"]
    assert taught[3:] == [("b", 10, 0), ("b", 10, 1)]
    assert [result["error"] for result in found.values()] == [0, 0, 0, 0]


@pytest.mark.data
def test_nearest_neighbours_on_the_files_give_the_printed_row(data_folder):
    problem = book_problem("Digit1")
    for labels in LABELS:
        errors = [
            trial_result(problem, methods_of()["1-NN"], labels, split)["error"]
            for split in range(12)
        ]
        assert np.mean(errors) == pytest.approx(ROWS["1-NN"].error("Digit1", labels), abs=0.0051)


@pytest.mark.data
def test_a_quick_run_leaves_its_files_and_can_be_gone_on_with(data_folder, tmp_path):
    journal = tmp_path / "journal.jsonl"
    found = benchmark_table(quick=True, journal=journal)
    lines = journal.read_text().splitlines()
    assert len(lines) == len(found.record["errors"]) == 2 * len(methods_of())
    again = benchmark_table(quick=True, journal=journal)
    assert again.record["errors"] == found.record["errors"]
    assert journal.read_text().splitlines() == lines
    written = found.save("ssl-book", tmp_path)
    assert {path.suffix for path in written} == {".png", ".json", ".md"}
    assert str(data_folder) not in (tmp_path / "ssl-book.json").read_text() + found.table
