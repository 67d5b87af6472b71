"""Texts as vectors: counts of words in documents, and counts of neighbours of words.

Strings enter; a sparse matrix of documents or a dense matrix of words leaves, each with the words
that its columns stand for.
"""

import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from beltrami.core.errors import DegenerateDataWarning, InvalidInputError
from beltrami.core.types import CsrMatrix, FloatMatrix, IndexVector
from beltrami.core.validation import check_choice, check_count

_WORD = r"[^\W\d_]{2,}"  # runs of at least two letters, of any alphabet
_BLANK_LINE = re.compile(r"(?:\A|\r?\n)\r?\n")


@dataclass(frozen=True, slots=True, eq=False)
class WordCounts:
    """Documents as counts of words; row i of `matrix` is the text number ``kept[i]``.

    Examples
    --------
    >>> from beltrami_papers.preparation import word_counts
    >>> counts = word_counts(["red red blue", "blue sky"], n_words=2)
    >>> counts.vocabulary, counts.kept.tolist(), counts.matrix.shape
    (('blue', 'red'), [0, 1], (2, 2))
    """

    matrix: CsrMatrix
    vocabulary: tuple[str, ...]
    kept: IndexVector


@dataclass(frozen=True, slots=True, eq=False)
class BigramContexts:
    """Words as counts of their neighbours; `frequencies` says how often each word occurs.

    Examples
    --------
    >>> from beltrami_papers.preparation import bigram_contexts
    >>> contexts = bigram_contexts(["the cat saw the dog", "the end"], n_words=2)
    >>> contexts.words, contexts.frequencies.tolist()
    (('the', 'cat'), [3, 1])
    """

    words: tuple[str, ...]
    matrix: FloatMatrix
    frequencies: IndexVector


def strip_headers(text: str) -> str:
    r"""Return the body of a post: what follows its first empty line.

    The header of a newsgroup post names the group, so a classifier must not see it. A text
    without an empty line has no body and gives an empty string.

    Parameters
    ----------
    text : str
        The post, with either kind of line ends.

    Returns
    -------
    str
        The body.

    Examples
    --------
    >>> from beltrami_papers.preparation import strip_headers
    >>> strip_headers("From: me\nSubject: test\n\nHello.\n\nBye.")
    'Hello.\n\nBye.'
    """
    border = _BLANK_LINE.search(text)
    return text[border.end() :] if border else ""


def word_counts(
    texts: Sequence[str],
    n_words: int = 6000,
    *,
    stop_words: Literal["english"] | int | Collection[str] | None = "english",
    normalize: bool = True,
) -> WordCounts:
    r"""Represent each document by how often it uses the most frequent words.

    With :math:`c_{ij}` the count of word j in document i, the rows are

    .. math:: x_{ij} = c_{ij} / \sum_k c_{ik},

    after Belkin (2003), Section 3.8.2, which takes 6000 words after a stop list of 500. A word is
    a run of at least two letters, in lower case; digits and punctuation separate words. Words are
    ranked by their count in all texts, then alphabetically. A document that holds none of the
    chosen words has no direction: it is left out and a `DegenerateDataWarning` says how many are.

    Parameters
    ----------
    texts : sequence of str
        The documents; strip their headers first if they name the class.
    n_words : int, default=6000
        How many words to keep; fewer are kept where the texts hold fewer.
    stop_words : {"english"}, int, collection of str or None, default="english"
        Words to leave out: scikit-learn's English list, this many of the most frequent words of
        the texts, the given words, or none. Given words are split as the texts are: "don't"
        stops "don".
    normalize : bool, default=True
        Divide each row by its sum.

    Returns
    -------
    WordCounts
        Sparse float64 rows, the words of the columns by decreasing frequency, and the numbers of
        the texts that were kept.

    Raises
    ------
    InvalidInputError
        When the texts are no sequence of strings, or no word is left.

    Examples
    --------
    >>> from beltrami_papers.preparation import word_counts
    >>> counts = word_counts(["red red blue", "blue sky"], n_words=2)
    >>> counts.vocabulary
    ('blue', 'red')
    >>> counts.matrix.toarray().round(2)
    array([[0.33, 0.67],
           [1.  , 0.  ]])
    """
    documents = _check_texts(texts)
    n_words = check_count(n_words, name="n_words")
    counts, words = _all_counts(documents)
    columns = _chosen_columns(counts, words, n_words, stop_words)
    chosen: CsrMatrix = csr_array(counts[:, columns])
    totals = np.asarray(chosen.sum(axis=1)).ravel()
    kept = np.flatnonzero(totals > 0)
    if kept.size < totals.size:
        warnings.warn(
            f"{totals.size - kept.size} of {totals.size} texts hold none of the {columns.size} "
            "chosen words and were left out, because a zero row has no direction. "
            "WordCounts.kept lists the others; raise n_words to keep more.",
            DegenerateDataWarning,
            stacklevel=2,
        )
    matrix: CsrMatrix = csr_array(chosen[kept])
    if normalize:
        matrix.data /= np.repeat(totals[kept], np.diff(matrix.indptr))
    return WordCounts(matrix, tuple(words[columns].tolist()), kept)


def _check_texts(texts: object) -> list[str]:
    usable = isinstance(texts, Iterable) and not isinstance(texts, str | bytes)
    documents: list[str] = list(texts) if usable else []  # type: ignore[call-overload]
    if not documents or not all(isinstance(text, str) for text in documents):
        raise InvalidInputError(
            f"texts must be a non-empty sequence of strings and is {type(texts).__name__}; put a "
            "single text into a list, and decode bytes first."
        )
    return documents


def _all_counts(documents: list[str]) -> tuple[CsrMatrix, Any]:
    """Return the counts of every word and the words, sorted."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(token_pattern=_WORD, lowercase=True, dtype=np.float64)
    try:
        counts = csr_array(vectorizer.fit_transform(documents))
    except ValueError as error:  # scikit-learn's word for an empty vocabulary
        raise InvalidInputError(
            f"the {len(documents)} texts hold no word of two or more letters."
        ) from error
    return counts, np.asarray(vectorizer.get_feature_names_out(), dtype=np.str_)


def _chosen_columns(
    counts: CsrMatrix,
    words: Any,
    n_words: int,
    stop_words: Literal["english"] | int | Collection[str] | None,
) -> IndexVector:
    totals = np.asarray(counts.sum(axis=0), dtype=np.float64).ravel()
    ranked = np.lexsort((words, -totals))
    if isinstance(stop_words, int | np.integer):
        left = ranked[check_count(stop_words, name="stop_words", minimum=0) :]
    else:
        stopped = np.isin(words, sorted(_stop_list(stop_words)))
        left = ranked[~stopped[ranked]]
    if left.size == 0:
        raise InvalidInputError(
            f"the stop list removes all {words.size} words of the texts; pass a shorter one."
        )
    return left[:n_words]


def _stop_list(stop_words: Collection[str] | None) -> set[str]:
    if stop_words is None:
        return set()
    if isinstance(stop_words, str):
        check_choice(stop_words, ("english",), name="stop_words")
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return set(ENGLISH_STOP_WORDS)
    return {part for word in stop_words for part in re.findall(_WORD, word.lower())}


def bigram_contexts(sentences: Iterable[str | Sequence[str]], n_words: int = 300) -> BigramContexts:
    r"""Represent the most frequent words by their left and right neighbours.

    With :math:`w_1, \dots, w_m` the m most frequent words, word i becomes the vector

    .. math:: v_i(j) = \#(w_j w_i), \qquad v_i(j + m) = \#(w_i w_j), \qquad 1 \le j \le m,

    where # counts occurrences of the two words next to each other, as in Belkin (2003), Section
    2.6.3, which takes 300 words of the Brown corpus. Two words are neighbours within one sentence
    only. Tokens are compared in lower case; a token without a letter or digit (punctuation) is no
    word, but keeps its place, so the words on its two sides are not neighbours. Words are ranked
    by their count, then alphabetically.

    Parameters
    ----------
    sentences : iterable of str or of sequences of str
        The corpus; a string is split at white space.
    n_words : int, default=300
        How many words to represent.

    Returns
    -------
    BigramContexts
        The words by decreasing frequency, their (n_words, 2 n_words) counts and frequencies.

    Raises
    ------
    InvalidInputError
        When the corpus has fewer than `n_words` different words.

    Examples
    --------
    >>> from beltrami_papers.preparation import bigram_contexts
    >>> contexts = bigram_contexts(["the cat saw the dog", "the end"], n_words=2)
    >>> contexts.words
    ('the', 'cat')
    >>> contexts.matrix  # "cat" stands once to the right of "the", and has "the" to its left
    array([[0., 0., 0., 1.],
           [1., 0., 0., 0.]])
    """
    n_words = check_count(n_words, name="n_words")
    if isinstance(sentences, str):
        raise InvalidInputError("sentences must be a sequence of sentences and is one string.")
    tokens = [_tokens(sentence) for sentence in sentences]
    totals = Counter(token for sentence in tokens for token in sentence if _is_word(token))
    if len(totals) < n_words:
        raise InvalidInputError(
            f"the corpus has {len(totals)} different words and n_words={n_words} are asked for; "
            "give more sentences or ask for fewer words."
        )
    ranked = sorted(totals, key=lambda word: (-totals[word], word))[:n_words]
    number = {word: i for i, word in enumerate(ranked)}
    follows = np.zeros((n_words, n_words))
    for sentence in tokens:
        rows = [number.get(token, -1) for token in sentence]
        for left, right in pairwise(rows):
            if left >= 0 and right >= 0:
                follows[left, right] += 1
    return BigramContexts(
        words=tuple(ranked),
        matrix=np.hstack([follows.T, follows]),
        frequencies=np.array([totals[word] for word in ranked]),
    )


def _tokens(sentence: str | Sequence[str]) -> list[str]:
    words = sentence.split() if isinstance(sentence, str) else sentence
    return [word.lower() for word in words]


def _is_word(token: str) -> bool:
    return any(letter.isalnum() for letter in token)
