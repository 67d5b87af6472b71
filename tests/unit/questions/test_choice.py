"""Which rows to label next: groups by size, islands, doubt, and the promises of every strategy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import block_diag, csr_array

from beltrami import Graph, KnnGraph, load_dataset
from beltrami.core.errors import InvalidInputError
from beltrami.questions import STRATEGIES, choose_questions
from beltrami.solvers.eigen import eigenbasis

SIZES = (30, 50, 20)
ISLAND = np.repeat([0, 1, 2], SIZES)


@pytest.fixture(scope="module")
def islands():
    """Three cliques of 30, 50 and 20 rows with nothing between them."""
    return Graph.from_matrix(csr_array(block_diag([np.ones((size, size)) for size in SIZES])))


@pytest.fixture(scope="module")
def digits():
    data = load_dataset("digits")
    return KnnGraph(10, weights="tuned_shared").build(data.points), data.targets


def rows_of(questions):
    return [question.row for question in questions]


@pytest.mark.parametrize("strategy", ["auto", "cover"])
def test_without_labels_groups_are_asked_by_size(islands, strategy):
    questions = choose_questions(islands, n=3, strategy=strategy, rng=0)
    assert ISLAND[rows_of(questions)].tolist() == [1, 0, 2]
    assert [question.settles for question in questions] == [50, 30, 20]
    gains = [question.utility for question in questions]
    assert (np.array(gains) > [25, 15, 10]).all()  # half for an island, the rest for likeness
    assert questions[0].reason == "first of a group of 50 rows without a label"


def test_islands_that_no_label_reaches_come_first(islands):
    beliefs = np.full((100, 2), 0.5)
    questions = choose_questions(islands, n=2, labelled=[40], distributions=beliefs, rng=0)
    assert ISLAND[rows_of(questions)].tolist() == [0, 2]
    assert questions[0].reason == "on an island of 30 rows that no label reaches"
    assert questions[1].reason == "on an island of 20 rows that no label reaches"
    assert [question.settles for question in questions] == [30, 20]


def test_rows_that_stand_for_many_are_asked_first_and_all_they_stand_for_is_counted(islands):
    masses = np.where(ISLAND == 2, 500.0, 1.0)
    questions = choose_questions(islands, n=3, masses=masses, rng=0)
    assert ISLAND[rows_of(questions)].tolist() == [2, 1, 0]
    assert [question.settles for question in questions] == [10_000, 50, 30]
    beliefs = np.full((100, 2), 0.5)
    questions = choose_questions(
        islands, n=1, labelled=[40], distributions=beliefs, masses=masses, rng=0
    )
    assert questions[0].reason == "on an island of 10000 rows that no label reaches"


def test_an_island_that_only_a_bridge_joins_has_its_own_size(islands):
    piece = np.where(np.arange(100) < 14, 0, -1)
    questions = choose_questions(
        islands, n=1, labelled=[40, 90], reached=piece < 0, piece=piece, candidates=range(14), rng=0
    )
    assert questions[0].reason == "on an island of 14 rows that no label reaches"


def test_pieces_of_another_number_of_rows_are_refused(islands):
    with pytest.raises(InvalidInputError, match=r"piece has shape .* 100 rows"):
        choose_questions(islands, n=1, labelled=[1], piece=np.zeros(3, dtype=int))


def test_a_tiny_island_waits_for_the_large_groups():
    sizes = [60, 60, 1]
    blocks = csr_array(block_diag([np.ones((size, size)) for size in sizes]))
    graph = Graph.from_matrix(blocks)
    found = rows_of(choose_questions(graph, n=2, rng=0))
    assert sorted(row // 60 for row in found) == [0, 1]
    known = [*range(59), *range(60, 119)]
    found = rows_of(choose_questions(graph, n=1, labelled=known, rng=0))
    assert found == [120]


def test_doubt_draws_auto_to_where_it_is_and_leaves_cover_alone(islands):
    beliefs = np.tile([1.0, 0.0], (100, 1))
    beliefs[ISLAND == 2] = 0.5
    known = {"labelled": [40], "distributions": beliefs, "reached": np.ones(100, bool)}
    auto = choose_questions(islands, n=1, **known, rng=0)
    cover = choose_questions(islands, n=1, strategy="cover", **known, rng=0)
    assert ISLAND[rows_of(auto)].tolist() == [2]
    assert ISLAND[rows_of(cover)].tolist() == [0]


@pytest.mark.parametrize("names", [None, ["cat", "dog", "owl"], np.array(["cat", "dog", "owl"])])
def test_a_close_call_is_named(islands, names):
    beliefs = np.tile([0.1, 0.5, 0.4], (100, 1))
    labelled = [0, 30, 80]
    questions = choose_questions(
        islands, n=2, distributions=beliefs, labelled=labelled, classes=names, rng=0
    )
    wanted = "class 1 and class 2" if names is None else "'dog' and 'owl'"
    assert {question.reason for question in questions} == {f"between {wanted}"}


def test_uncertain_takes_the_smallest_leads_in_order(islands):
    first = np.linspace(0.5, 1.0, 100)
    beliefs = np.column_stack([first, 1 - first])
    known = {"labelled": [1], "distributions": beliefs, "reached": np.ones(100, bool)}
    questions = choose_questions(islands, n=3, strategy="uncertain", **known, rng=0)
    assert rows_of(questions) == [0, 2, 3]
    assert questions[0].utility == pytest.approx(1.0)


def test_a_row_that_no_label_reaches_is_wholly_in_doubt(islands):
    known = {"labelled": [0, 1], "distributions": np.tile([0.9, 0.1], (100, 1))}
    questions = choose_questions(islands, n=70, strategy="uncertain", **known, rng=0)
    assert sorted(rows_of(questions)) == list(range(30, 100))
    assert {question.utility for question in questions} == {1.0}


def test_uncertain_has_nothing_to_go_by_before_the_first_label(islands):
    for beliefs in (None, np.full((100, 2), 0.5)):
        with pytest.raises(InvalidInputError, match="needs labels and distributions"):
            choose_questions(islands, n=1, strategy="uncertain", distributions=beliefs)


def test_the_first_twenty_digits_are_of_all_classes_and_far_from_alike(digits):
    graph, targets = digits
    for seed in range(3):
        questions = choose_questions(graph, n=20, rng=seed)
        assert len(set(targets[rows_of(questions)])) == 10
        assert sum(question.settles for question in questions) == pytest.approx(len(targets), abs=1)
        gains = [question.utility for question in questions]
        assert gains == sorted(gains, reverse=True)


def test_later_questions_keep_away_from_the_labels(digits):
    graph, _ = digits
    basis = eigenbasis(graph, 60, kind="random_walk")
    first = rows_of(choose_questions(graph, n=10, basis=basis, rng=0))
    again = choose_questions(graph, n=10, basis=basis, labelled=first, rng=0)
    nobody = choose_questions(graph, n=10, basis=basis, rng=0)
    assert not set(first) & set(rows_of(again))
    assert again[0].utility < nobody[0].utility


@pytest.mark.parametrize("kind", ["combinatorial", "normalized", "random_walk"])
def test_every_kind_of_basis_serves(digits, kind):
    graph, targets = digits
    basis = eigenbasis(graph, 60, kind=kind)
    questions = choose_questions(graph, n=30, basis=basis, rng=0)
    assert len(set(targets[rows_of(questions)])) >= 9


@given(
    strategy=st.sampled_from(STRATEGIES),
    labelled=st.lists(st.integers(0, 99), min_size=1, max_size=60),
    candidates=st.none() | st.lists(st.integers(0, 99), max_size=20),
    n=st.integers(1, 30),
    seed=st.integers(0, 9),
)
@settings(max_examples=60)
def test_questions_are_new_rows_each_once_and_as_many_as_there_are(
    islands, strategy, labelled, candidates, n, seed
):
    beliefs = np.random.default_rng(seed).dirichlet([1, 1, 1], 100)
    arguments = {
        "n": n, "strategy": strategy, "labelled": labelled, "candidates": candidates,
        "distributions": beliefs, "rng": seed,
    }  # fmt: skip
    questions = choose_questions(islands, **arguments)
    found = rows_of(questions)
    allowed = set(range(100) if candidates is None else candidates) - set(labelled)
    assert len(found) == len(set(found)) == min(n, len(allowed))
    assert set(found) <= allowed
    assert all(question.settles >= 1 and question.reason for question in questions)
    assert rows_of(choose_questions(islands, **arguments)) == found


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n": 0}, "at least 1"),
        ({"strategy": "best"}, "choose one of 'auto'"),
        ({"labelled": [100]}, "1 of the labelled row numbers are outside 0 to 99"),
        ({"candidates": [-1, 5]}, "1 of the candidates row numbers"),
        ({"candidates": np.ones(100, bool)}, "flatnonzero"),
        ({"labelled": [1], "reached": np.ones(3, bool)}, r"reached has shape \(3,\)"),
        ({"labelled": [1], "distributions": np.ones((3, 2))}, r"shape \(3, 2\)"),
        ({"labelled": [1], "distributions": np.ones((100, 1))}, "2 or more"),
        ({"masses": np.ones(3)}, r"masses have shape \(3,\)"),
        ({"masses": np.zeros(100)}, "stands for itself"),
    ],
)
def test_what_cannot_be_used_is_refused(islands, wrong, message):
    with pytest.raises(InvalidInputError, match=message):
        choose_questions(islands, **{"n": 1} | wrong)


def test_a_basis_of_another_graph_is_refused(islands, digits):
    basis = eigenbasis(digits[0], 5)
    with pytest.raises(InvalidInputError, match="basis has 1797 rows and the graph 100"):
        choose_questions(islands, n=1, basis=basis)


def test_more_labels_than_are_compared_at_once_all_count(digits):
    graph, _ = digits
    basis = eigenbasis(graph, 30, kind="random_walk")
    (question,) = choose_questions(graph, n=1, labelled=np.arange(1, 1797), basis=basis, rng=0)
    assert (question.row, question.settles) == (0, 1)
    assert question.reason == "1 row is closer to it than to any label"
