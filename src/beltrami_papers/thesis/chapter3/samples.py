"""The three sets of the thesis's section 3.8, prepared as it says.

A name of a set enters; points, classes, metric and number of neighbours leave.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from beltrami.core.errors import DegenerateDataWarning
from beltrami.core.types import FloatMatrix, IndexVector, Points
from beltrami.data import load_dataset, principal_components
from beltrami.graph.model import Graph
from beltrami.graph.recipes import KnnGraph
from beltrami_papers.preparation import strip_headers, word_counts

VOWELS = ("aa", "iy", "ao")
_QUICK_IMAGES = 3000
_QUICK_STRIDE = 8


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Points with classes, and how the thesis joins them to a graph.

    Attributes
    ----------
    data : str
        What the points are, for a person to read.
    points : ndarray or csr_array of shape (n, d)
        The points.
    classes : ndarray of shape (n,)
        From zero.
    metric : str
        Of the graph and of the baseline.
    n_neighbors : int
        Of the graph.
    remarks : tuple of str
        What a reader of the numbers must know.
    """

    data: str
    points: Points
    classes: IndexVector
    metric: str = "euclidean"
    n_neighbors: int = 8
    remarks: tuple[str, ...] = ()

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.classes)

    def graph(self) -> Graph:
        """Join every point to its nearest neighbours, weights one, no bridges added."""
        recipe = KnnGraph(
            self.n_neighbors,
            metric=self.metric,
            weights="binary",
            search="exact",
            connect="keep",
        )
        return recipe.build(self.points)

    def part(self, rows: IndexVector) -> "Sample":
        """Return some of the points."""
        return replace(self, points=self.points[rows], classes=self.classes[rows])

    def settings(self) -> dict[str, str]:
        """Return what a record says of the graph."""
        return {
            "graph": f"{self.n_neighbors} nearest neighbours (either way), weights 0 and 1, no "
            "bridges between components",
            "distance": self.metric,
            "basis": "lowest eigenvectors of L = D - W, the constant counted",
            "labels": "+1 and -1 per class, least squares, largest function wins",
        }


@dataclass(frozen=True, slots=True, eq=False)
class Images:
    """MNIST in its two published parts.

    Attributes
    ----------
    training, heldout : ndarray of shape (n, 784)
        Pixels.
    classes, heldout_classes : ndarray of shape (n,)
        Digits.
    """

    training: FloatMatrix
    classes: IndexVector
    heldout: FloatMatrix
    heldout_classes: IndexVector


def digit_images(*, quick: bool = False) -> Images:
    """Return the pixels of MNIST.

    - `quick`: take the first 3000 training images and 500 of the held-out ones.
    """
    digits = load_dataset("mnist")
    pixels, classes = np.asarray(digits.points), np.asarray(digits.targets)
    border = digits.n_train or 60000
    end = _QUICK_IMAGES if quick else border
    last = border + _QUICK_IMAGES // 6 if quick else len(pixels)
    return Images(pixels[:end], classes[:end], pixels[border:last], classes[border:last])


def digits(*, quick: bool = False) -> Sample:
    """Return MNIST's training images as 100 principal components."""
    images = digit_images(quick=quick)
    return digit_sample(images, principal_components(images.training, 100))


def digit_sample(images: Images, points: FloatMatrix, metric: str = "euclidean") -> Sample:
    """Return a sample of training images in a given representation."""
    return Sample(
        data=f"MNIST, first {len(points)} training images, 100 principal components (centred)",
        points=points,
        classes=images.classes,
        metric=metric,
        remarks=(
            "The thesis does not state its distance for digits, nor whether its components are "
            "centred. Euclidean distance of centred components is the plainest reading and was "
            "stated before the whole table was run; thesis-3.1-variants has other readings.",
        ),
    )


def smart_stop_words() -> tuple[str, ...]:
    """Return the stop list of the SMART system, which Rainbow takes unless told otherwise."""
    return load_dataset("smart_stop_words").texts or ()


def newsgroups(stop_words: Any, *, quick: bool = False) -> Sample:
    """Return 20 Newsgroups as normalised counts of 6000 words."""
    posts = load_dataset("newsgroups20")
    stride = _QUICK_STRIDE if quick else 1
    texts = [strip_headers(text) for text in (posts.texts or ())[::stride]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)  # the remark says how many
        counts = word_counts(texts, 6000, stop_words=stop_words, normalize=True)
    n = len(counts.kept)
    return Sample(
        data="20 Newsgroups, headers removed, counts of the 6000 most frequent words after a stop "
        "list, normalised to sum to one",
        points=counts.matrix,
        classes=np.asarray(posts.targets)[::stride][counts.kept],
        metric="angle",
        remarks=(
            f"{len(texts) - n} of {len(texts)} posts without any of the words were removed, which "
            f"leaves {n}; the thesis keeps 19935.",
            "The stop list is SMART's, 571 words, and words are runs of two or more letters; the "
            "thesis uses the Rainbow package, whose list that is, and speaks of 500 words. "
            "thesis-3.2-variants shows how much hangs on the list.",
        ),
    )


def phonemes(*, quick: bool = False) -> Sample:
    """Return three vowels of the ESL book's phonemes as log-periodograms."""
    sounds = load_dataset("phoneme")
    names = list(sounds.target_names or ())
    targets = np.asarray(sounds.targets)
    codes = np.array([names.index(vowel) for vowel in VOWELS])
    rows = np.flatnonzero(np.isin(targets, codes))[:: 3 if quick else 1]
    classes = (targets[rows][:, None] == codes).argmax(axis=1)
    counts = ", ".join(
        f"{vowel} {count}" for vowel, count in zip(VOWELS, np.bincount(classes), strict=True)
    )
    return Sample(
        data=f"phonemes of the ESL book (TIMIT), log-periodograms of 256 values ({counts})",
        points=np.asarray(sounds.points)[rows],
        classes=classes,
        n_neighbors=10,
        remarks=(
            f"ANOTHER SAMPLE than the thesis's, which has 13168 vowels aa, iy and eh of TIMIT; "
            f"this one has n = {len(rows)}. The public set has no eh, so ao stands in its place. "
            "It is another problem, and the differences measure the data as well as the method.",
            "A point here is the log-periodogram of one frame; the thesis averages the log "
            "spectra of the frames in the middle third of the phoneme.",
        ),
    )
