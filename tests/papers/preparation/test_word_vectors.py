import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.core.errors import DegenerateDataWarning, InvalidInputError
from beltrami_papers.preparation import bigram_contexts, strip_headers, word_counts


def test_header_ends_at_the_first_empty_line() -> None:
    assert strip_headers("From: a\nSubject: b\n\nHello\n\nBye") == "Hello\n\nBye"
    assert strip_headers("From: a\r\n\r\nHello") == "Hello"
    assert strip_headers("\nHello") == "Hello"
    assert strip_headers("From: a\n \nmore: b\n\nHello") == "Hello"
    assert strip_headers("From: a\nSubject: b") == ""


def test_rows_are_shares_of_the_most_frequent_words() -> None:
    counts = word_counts(["Red, red blue!", "blue-sky; the 42 x"], n_words=2)
    assert counts.vocabulary == ("blue", "red")
    assert_allclose(counts.matrix.toarray(), [[1 / 3, 2 / 3], [1, 0]])
    assert counts.matrix.dtype == np.float64
    assert_array_equal(counts.kept, [0, 1])


def test_single_letters_and_digits_are_no_words() -> None:
    assert word_counts(["don't x 42 a1b yz_w été"]).vocabulary == ("don", "yz", "été")


def test_plain_counts_are_kept_on_request() -> None:
    counts = word_counts(["red red blue"], normalize=False)
    assert counts.vocabulary == ("red", "blue")
    assert_array_equal(counts.matrix.toarray(), [[2, 1]])


def test_stop_list_may_be_english_a_number_words_or_nothing() -> None:
    texts = ["the the the cat", "the cat sat"]
    assert word_counts(texts).vocabulary == ("cat", "sat")
    assert word_counts(texts, stop_words=None).vocabulary == ("the", "cat", "sat")
    assert word_counts(texts, stop_words=0).vocabulary == ("the", "cat", "sat")
    assert word_counts(texts, stop_words=np.int64(1)).vocabulary == ("cat", "sat")
    assert word_counts(texts, stop_words=["The", "sat"]).vocabulary == ("cat",)


def test_words_of_a_stop_list_are_split_as_the_texts_are() -> None:
    texts = ["I don't know", "can't you know"]
    assert word_counts(texts, stop_words=["Don't", "can't"]).vocabulary == ("know", "you")


def test_texts_without_a_chosen_word_are_left_out_and_said() -> None:
    with pytest.warns(DegenerateDataWarning, match="2 of 4 texts hold none of the 1 chosen words"):
        counts = word_counts(["red", "", "red red", "blue"], n_words=1)
    assert_array_equal(counts.kept, [0, 2])
    assert counts.matrix.shape == (2, 1)


def test_no_warning_when_every_text_is_kept() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        word_counts(["red", "red blue"])


@pytest.mark.parametrize("texts", ["one text", [], [b"bytes"], [3], None])
def test_what_is_no_sequence_of_texts_is_refused(texts: object) -> None:
    with pytest.raises(InvalidInputError, match="sequence of strings"):
        word_counts(texts)  # type: ignore[arg-type]


def test_texts_without_words_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="no word"):
        word_counts(["1 2 3", "!"])
    with pytest.raises(InvalidInputError, match="removes all 1 words"):
        word_counts(["the the"])
    with pytest.raises(InvalidInputError, match="'english'"):
        word_counts(["red"], stop_words="french")
    with pytest.raises(InvalidInputError, match="n_words"):
        word_counts(["red"], n_words=0)


def test_bigrams_count_left_and_right_neighbours_within_a_sentence() -> None:
    contexts = bigram_contexts(["A b a b .", "B c", "a , b"], n_words=2)
    assert contexts.words == ("b", "a")
    assert_array_equal(contexts.frequencies, [4, 3])
    # Left neighbours of b: b 0, a 2. Right of b: b 0, a 1. Not across the comma or a sentence.
    assert_array_equal(contexts.matrix, [[0, 2, 0, 1], [1, 0, 2, 0]])


def test_sentences_may_be_lists_of_words() -> None:
    strings = bigram_contexts(["x y x", "y z"], n_words=3)
    lists = bigram_contexts(iter([["x", "y", "x"], ("y", "z")]), n_words=3)
    assert strings.words == lists.words
    assert_array_equal(strings.matrix, lists.matrix)


def test_corpus_too_small_or_not_a_corpus_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="2 different words and n_words=300"):
        bigram_contexts(["x y . ."])
    with pytest.raises(InvalidInputError, match="one string"):
        bigram_contexts("x y")
