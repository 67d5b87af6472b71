"""Questions that wait: each is lent to one person, and comes back."""

import pytest

from beltrami.questions import Question
from beltrami.studio_server.board import Board


def questions(*rows):
    return [Question(row, "why", 1, 1.0) for row in rows]


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def board(clock):
    board = Board(clock)
    board.put(questions(1, 2, 3, 4))
    return board


def test_the_most_useful_question_comes_first(board):
    assert board.take("ann", set().__contains__).row == 1


def test_no_question_is_lent_to_two_people(board):
    taken = [board.take(user, set().__contains__).row for user in ("ann", "bob", "ann", "bob")]
    assert taken == [1, 2, 3, 4]
    assert board.take("ann", set().__contains__) is None


def test_rows_that_are_closed_to_a_person_are_passed_over(board):
    assert board.take("ann", {1, 2}.__contains__).row == 3


def test_what_somebody_looks_at_is_not_put_up_again(board):
    board.take("ann", set().__contains__)
    board.put(questions(1, 9))
    assert board.take("bob", set().__contains__).row == 9


def test_an_answered_row_is_forgotten(board):
    board.take("ann", set().__contains__)
    board.close([1, 2])
    assert board.held == set()
    assert board.take("bob", set().__contains__).row == 3


def test_questions_of_a_person_who_left_are_for_others(board):
    board.take("ann", set().__contains__)
    board.give_back("ann")
    assert board.take("bob", set().__contains__).row == 1


def test_a_question_that_nobody_answers_comes_back_after_ten_minutes(board, clock):
    board.take("ann", set().__contains__)
    assert board.held == {1}
    clock.now = 601.0
    assert board.held == set()


def test_a_page_that_asks_and_never_answers_gets_its_oldest_question_again(board):
    first = [board.take("ann", set().__contains__).row for _ in range(4)]
    assert first == [1, 2, 3, 4]
    board.put(questions(5, 6))
    assert board.take("ann", set().__contains__).row == 1
    assert board.take("bob", set().__contains__).row == 5


def test_of_the_oldest_questions_one_with_an_answer_is_let_go(board):
    for _ in range(4):
        board.take("ann", set().__contains__)
    board.put(questions(5))
    assert board.take("ann", {1}.__contains__).row == 5


def test_all_are_forgotten_when_the_rows_are_others(board):
    board.take("ann", set().__contains__)
    board.clear()
    assert board.n_ready == 0
    assert board.held == set()
