import numpy as np
import pytest

from beltrami.core.errors import InvalidInputError
from beltrami.core.randomness import generator


def test_an_integer_gives_the_same_stream_and_another_integer_another() -> None:
    assert generator(3).random() == generator(3).random()
    assert generator(3).random() != generator(4).random()
    assert generator(np.int64(3)).random() == generator(3).random()


def test_none_draws_fresh_entropy() -> None:
    assert generator(None).random() != generator(None).random()


def test_a_generator_is_passed_through() -> None:
    rng = np.random.default_rng(0)
    assert generator(rng) is rng


def test_a_legacy_state_advances_so_that_two_calls_differ_but_repeat_with_the_seed() -> None:
    state = np.random.RandomState(0)
    first, second = generator(state).random(), generator(state).random()
    assert first != second
    again = np.random.RandomState(0)
    assert generator(again).random() == first


@pytest.mark.parametrize("bad", [-1, 1.5, "seed"])
def test_what_cannot_seed_is_refused_with_the_choices(bad: object) -> None:
    with pytest.raises(InvalidInputError, match=r"random_state=.*integer of at least 0"):
        generator(bad)  # type: ignore[arg-type]
