"""Thesis section 2.6.3: the 300 most frequent words of the Brown corpus, by their neighbours.

The tagged corpus enters; the words with their syntactic groups, an eigenmap and principal
components leave, and how far words of one group lie together.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from beltrami.core.types import FloatMatrix, IndexVector
from beltrami.data import load_dataset, principal_components
from beltrami.graph.model import Graph
from beltrami_papers.preparation import bigram_contexts
from beltrami_papers.thesis.chapter2.maps import (
    chance_share,
    nearest_in_map,
    plain_eigenmap,
    same_group_share,
)

N_NEIGHBORS = 14
N_WORDS = 300
GROUPS = (
    "infinitives",
    "modals and auxiliaries",
    "prepositions",
    "nouns",
    "other verbs",
    "determiners, adjectives, numerals",
    "pronouns",
    "adverbs, conjunctions and others",
)
INFINITIVES, MODALS, PREPOSITIONS = 0, 1, 2
_STARTS = {
    "VB": 4,
    "MD": MODALS,
    "BE": MODALS,
    "HV": MODALS,
    "DO": MODALS,
    "IN": PREPOSITIONS,
    "NN": 3,
    "NP": 3,
    "NR": 3,
    "AT": 5,
    "DT": 5,
    "AB": 5,
    "AP": 5,
    "PP$": 5,
    "JJ": 5,
    "CD": 5,
    "OD": 5,
    "PP": 6,
    "PN": 6,
}
BARE_FORMS = frozenset({"VB", "BE", "HV", "DO"})
"""Tags of verbs in the form of the infinitive, auxiliaries among them."""

FRAGMENT = 12
"""Words in a fragment."""


@dataclass(frozen=True, slots=True, eq=False)
class WordMap:
    """Words, their syntactic groups, and where two methods put them.

    Attributes
    ----------
    words : tuple of str
        By decreasing frequency.
    contexts : ndarray of shape (n, 2n)
        Counts of left and right neighbours.
    tags : tuple of str
        The commonest tag of each word.
    groups : ndarray of shape (n,)
        Place in `GROUPS` of the commonest tag.
    eigenmap : ndarray of shape (n, 2)
        N = 14, t = infinity.
    components : ndarray of shape (n, 2)
        Two principal components of the same counts.
    graph : Graph
        Of the eigenmap.
    """

    words: tuple[str, ...]
    contexts: FloatMatrix
    tags: tuple[str, ...]
    groups: IndexVector
    eigenmap: FloatMatrix
    components: FloatMatrix
    graph: Graph


def group_of_tag(tag: str) -> int:
    """Return the syntactic group of a tag of the Brown corpus.

    - `tag`: in capitals, without the suffixes of titles and headlines; VB is the bare form of a
      verb.
    """
    if tag == "VB":
        return INFINITIVES
    for length in (3, 2):
        if tag[:length] in _STARTS:
            return _STARTS[tag[:length]]
    return len(GROUPS) - 1


def commonest_tags(
    words: Sequence[str], sentences: Sequence[str], tags: Sequence[str]
) -> tuple[str, ...]:
    """Return the commonest tag of each word.

    - `sentences`, `tags`: words and tags of the corpus, separated by blanks, one string per
      sentence.
    """
    counts: dict[str, Counter[str]] = {word: Counter() for word in words}
    for sentence, marks in zip(sentences, tags, strict=True):
        for word, mark in zip(sentence.lower().split(" "), marks.split(" "), strict=True):
            if word in counts:
                counts[word][mark.split("-")[0].upper()] += 1
    return tuple(
        min(of_word, key=lambda tag: (-of_word[tag], tag))
        for of_word in map(counts.__getitem__, words)
    )


def word_map(*, quick: bool = False) -> WordMap:
    """Read the corpus and map its most frequent words."""
    corpus = load_dataset("brown")
    step = 12 if quick else 1
    sentences, marks = (corpus.extras[key][::step] for key in ("sentences", "tags"))
    contexts = bigram_contexts(sentences, 200 if quick else N_WORDS)
    tags = commonest_tags(contexts.words, sentences, marks)
    eigenmap = plain_eigenmap(contexts.matrix, N_NEIGHBORS)
    return WordMap(
        words=contexts.words,
        contexts=contexts.matrix,
        tags=tags,
        groups=np.array([group_of_tag(tag) for tag in tags]),
        eigenmap=eigenmap.coordinates,
        components=principal_components(contexts.matrix, 2),
        graph=eigenmap.graph,
    )


def homogeneity(words: WordMap) -> list[dict[str, Any]]:
    """Return how many of the nearest words are of a word's own group, by map and group.

    For all words and for each group: ``eigenmap`` and ``components`` in the plane, ``counts`` in
    the 600 dimensions, and ``chance``.
    """
    spaces = {
        "eigenmap": words.eigenmap,
        "components": words.components,
        "counts": words.contexts,
    }
    shares = {
        name: (words.groups[nearest_in_map(points, N_NEIGHBORS)] == words.groups[:, None])
        for name, points in spaces.items()
    }
    n = len(words.words)
    cells: list[dict[str, Any]] = [
        {
            "group": "all words",
            "words": n,
            **{
                name: round(same_group_share(points, words.groups, N_NEIGHBORS), 4)
                for name, points in spaces.items()
            },
            "chance": round(chance_share(words.groups), 4),
        }
    ]
    for number, name in enumerate(GROUPS):
        of_group = words.groups == number
        size = int(of_group.sum())
        if size > 1:
            each = {key: round(float(share[of_group].mean()), 4) for key, share in shares.items()}
            chance = round((size - 1) / (n - 1), 4)
            cells.append({"group": name, "words": size, **each, "chance": chance})
    return cells


def fragment_of(coordinates: FloatMatrix, members: IndexVector, size: int = FRAGMENT) -> Any:
    """Return the spot of a map that holds most words of a group, found by rule.

    Every word of the group is tried as a centre; a spot is the centre and its nearest words. The
    spot with most words of the group is taken, of equal ones that of the least radius.
    """
    near = nearest_in_map(coordinates, size - 1)
    centres = np.flatnonzero(members)
    spots = np.column_stack([centres, near[centres]])
    held = members[spots].sum(axis=1)
    radius = np.linalg.norm(coordinates[spots[:, -1]] - coordinates[centres], axis=1)
    return np.sort(spots[np.lexsort((radius, -held))[0]])


def fragment_cells(words: WordMap, shuffles: int) -> list[dict[str, Any]]:
    """Return the three fragments of the figure, beside what the same rule finds elsewhere.

    - `shuffles`: how often the groups are shuffled among the words, to see what the rule finds by
      chance.
    - Returned: ``share`` of the group in its fragment of the eigenmap, ``components`` in that of
      the principal components, ``chance`` mean and ``chance_most`` largest with shuffled groups,
      ``bare_forms``: share of verbs in the form of the infinitive, and the ``fragment`` itself.
    """
    rng = np.random.default_rng(0)
    orders = [rng.permutation(len(words.words)) for _ in range(shuffles)]
    cells = []
    for number in (INFINITIVES, PREPOSITIONS, MODALS):
        members = words.groups == number
        spot = fragment_of(words.eigenmap, members)
        other = fragment_of(words.components, members)
        shuffled = [
            float(members[order][fragment_of(words.eigenmap, members[order])].mean())
            for order in orders
        ]
        cells.append(
            {
                "group": GROUPS[number],
                "words": int(members.sum()),
                "share": round(float(members[spot].mean()), 4),
                "components": round(float(members[other].mean()), 4),
                "chance": round(float(np.mean(shuffled)), 4),
                "chance_most": round(max(shuffled), 4),
                "bare_forms": round(float(np.mean([words.tags[i] in BARE_FORMS for i in spot])), 4),
                "fragment": [f"{words.words[row]} ({words.tags[row].lower()})" for row in spot],
                "rows": spot.tolist(),
            }
        )
    return cells
