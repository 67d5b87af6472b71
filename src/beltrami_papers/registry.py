"""The one list of what can be reproduced: names, sources, what each shows, and how it is made.

Nothing enters; `REPRODUCTIONS` leaves, in the order of the book.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from beltrami_papers.lapsvm.digits import digits_figure
from beltrami_papers.lapsvm.letters import letters_figure
from beltrami_papers.lapsvm.moons import moons_figure
from beltrami_papers.mbed.clusters import clusters_table
from beltrami_papers.mbed.figures import annealing_figure, two_maps_figure
from beltrami_papers.mbed.labels import labels_table
from beltrami_papers.mbed.logistic import logistic_reproduction
from beltrami_papers.model import Reproduction
from beltrami_papers.slides.multi_manifold import multi_manifold_figure
from beltrami_papers.slides.now_it_helps import now_it_helps_figure
from beltrami_papers.slides.pictures import pictures_figure
from beltrami_papers.slides.real.experiment import real_figure
from beltrami_papers.slides.sizes import Size
from beltrami_papers.sslbook.benchmark import benchmark_table
from beltrami_papers.sslbook.variants import benchmark_variants
from beltrami_papers.thesis.chapter2.bars import bars_reproduction
from beltrami_papers.thesis.chapter2.lle_page import lle_reproduction
from beltrami_papers.thesis.chapter2.roll import roll_reproduction
from beltrami_papers.thesis.chapter2.roll_points import roll_points_reproduction
from beltrami_papers.thesis.chapter2.speech_figures import (
    speech_regions_reproduction,
    speech_reproduction,
)
from beltrami_papers.thesis.chapter2.word_figures import (
    fragments_reproduction,
    words_reproduction,
)
from beltrami_papers.thesis.chapter3.heldout import heldout_digits
from beltrami_papers.thesis.chapter3.learning_curves import (
    digits_curves,
    newsgroups_curves,
    phonemes_curves,
)
from beltrami_papers.thesis.chapter3.plane_curve import curve_reproduction
from beltrami_papers.thesis.chapter3.tables_3_1_to_3_3 import (
    digits_table,
    newsgroups_table,
    phonemes_table,
)
from beltrami_papers.thesis.chapter3.variants import digits_variants, newsgroups_variants
from beltrami_papers.thesis.chapter4.convergence_page import convergence_reproduction

THESIS = "Belkin (2003)"
LAPSVM = "Belkin, Niyogi and Sindhwani (2004)"
MBED = "Zien and Quiñonero Candela (2005)"
SLIDES = "Zhu (2009), slides, which print no numbers"
BOOK = "Chapelle, Schölkopf and Zien (2006)"

_LDS = ("g50c", "g10n", "lds_text", "uspst", "coil20")
_BOOK = tuple(
    f"sslbook_{name}" for name in ("g241c", "g241d", "digit1", "usps", "coil", "bci", "text")
)
_REAL = (*_LDS, *_BOOK[1:-1], "sslbook_coil2", "mnist", "isolet", "phoneme", "timit_demo")


class Make(Protocol):
    """Makes one reproduction, at a small size where asked."""

    def __call__(self, *, quick: bool = False) -> Reproduction:
        """Run it."""


class Resume(Protocol):
    """Makes one reproduction and keeps a journal of single results on the way."""

    def __call__(self, *, quick: bool = False, journal: Path | None = None) -> Reproduction:
        """Run it, or go on with it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that can be reproduced.

    Attributes
    ----------
    source : str
        The text, and the table, figure or section in it.
    shows : str
        One line for a list.
    make : Resume
        Makes it.
    minutes : float
        About what it takes on one core; the longest begin first.
    data : tuple of str
        Names of the data sets that it reads.
    in_all : bool
        False where it is made only when asked for by name, as it takes too long.
    is_rehearsed : bool
        Made small beforehand in another process, which compiles what it needs: a kernel that was
        just compiled may round otherwise than one read from the cache, and a long descent makes
        points of that.
    """

    source: str
    shows: str
    make: Resume
    minutes: float = 0.1
    data: tuple[str, ...] = ()
    in_all: bool = True
    is_rehearsed: bool = False


def _in_one_go(make: Make) -> Resume:
    """Return a reproduction that is made in one go and keeps no journal."""

    def reproduce(*, quick: bool = False, journal: Path | None = None) -> Reproduction:
        del journal
        return make(quick=quick)

    return reproduce


def _at_size(make: Callable[..., Reproduction], size: Size) -> Resume:
    """Return a reproduction of the slides at one of its sizes, or small."""

    def reproduce(*, quick: bool = False, journal: Path | None = None) -> Reproduction:
        return make(Size.QUICK if quick else size, journal=journal)

    return reproduce


REPRODUCTIONS: dict[str, Entry] = {
    "thesis-a1": Entry(
        f"{THESIS}, figure A.1; Belkin and Niyogi (2002), figure 1",
        "two classes on a curve: two labels, and what 500 points without one add",
        _in_one_go(curve_reproduction),
    ),
    "thesis-a2": Entry(
        f"{THESIS}, figure A.2",
        "2000 points of the swiss roll",
        _in_one_go(roll_points_reproduction),
    ),
    "thesis-a3": Entry(
        f"{THESIS}, figure A.3",
        "the roll unrolled, for numbers of neighbours and widths of the kernel",
        _in_one_go(roll_reproduction),
        0.2,
    ),
    "thesis-a4": Entry(
        f"{THESIS}, figure A.4",
        "upright and lying bars: eigenmaps tell them apart, principal components do not",
        _in_one_go(bars_reproduction),
    ),
    "thesis-a5": Entry(
        f"{THESIS}, figure A.5",
        "the 300 most frequent words of the Brown corpus by their neighbours",
        _in_one_go(words_reproduction),
        0.2,
        ("brown",),
    ),
    "thesis-a6": Entry(
        f"{THESIS}, figure A.6",
        "three fragments of that map: infinitives, prepositions, auxiliaries",
        _in_one_go(fragments_reproduction),
        0.2,
        ("brown",),
    ),
    "thesis-a7": Entry(
        f"{THESIS}, figure A.7",
        "frames of speech; **six utterances, others than the thesis's**",
        _in_one_go(speech_reproduction),
        0.1,
        ("timit_demo",),
    ),
    "thesis-a8": Entry(
        f"{THESIS}, figure A.8",
        "three regions of that map and their phones; **the same utterances**",
        _in_one_go(speech_regions_reproduction),
        0.1,
        ("timit_demo",),
    ),
    "thesis-lle": Entry(
        f"{THESIS}, section 2.5",
        "LLE's matrix beside the squared Laplacian: where the two agree and where not",
        _in_one_go(lle_reproduction),
        0.4,
    ),
    "thesis-convergence": Entry(
        f"{THESIS}, chapter 4",
        "the graph's Laplacian goes to the sphere's, by points and by width",
        _in_one_go(convergence_reproduction),
        0.4,
    ),
    "thesis-3.1": Entry(
        f"{THESIS}, Table 3.1",
        "MNIST, errors by labelled points and eigenvectors",
        _in_one_go(digits_table),
        12,
        ("mnist",),
    ),
    "thesis-3.1-variants": Entry(
        f"{THESIS}, Table 3.1, nine cells",
        "the same under other readings of the text",
        _in_one_go(digits_variants),
        2,
        ("mnist",),
    ),
    "thesis-3.2": Entry(
        f"{THESIS}, Table 3.2",
        "20 Newsgroups, errors by labelled points and eigenvectors",
        _in_one_go(newsgroups_table),
        31,
        ("newsgroups20", "smart_stop_words"),
    ),
    "thesis-3.2-variants": Entry(
        f"{THESIS}, Table 3.2, eleven cells",
        "the same with other stop lists",
        _in_one_go(newsgroups_variants),
        2,
        ("newsgroups20", "smart_stop_words"),
    ),
    "thesis-3.3": Entry(
        f"{THESIS}, Table 3.3",
        "vowels; **another sample than the thesis's**",
        _in_one_go(phonemes_table),
        0.1,
        ("phoneme",),
    ),
    "thesis-a9": Entry(
        f"{THESIS}, figure A.9; Belkin and Niyogi (2002), figure 2",
        "MNIST, more and fewer unlabelled points",
        _in_one_go(digits_curves),
        13,
        ("mnist",),
    ),
    "thesis-a10": Entry(
        f"{THESIS}, figure A.10; Belkin and Niyogi (2002), figure 3",
        "20 Newsgroups, more and fewer unlabelled points",
        _in_one_go(newsgroups_curves),
        2,
        ("newsgroups20", "smart_stop_words"),
    ),
    "thesis-a11": Entry(
        f"{THESIS}, figure A.11",
        "vowels, the same; **another sample**",
        _in_one_go(phonemes_curves),
        0.5,
        ("phoneme",),
    ),
    "thesis-a12": Entry(
        f"{THESIS}, figure A.12",
        "MNIST, held-out images",
        _in_one_go(heldout_digits),
        4,
        ("mnist",),
    ),
    "lapsvm-moons": Entry(
        f"{LAPSVM}, figure 1",
        "two moons, one label each: SVM, TSVM, LapSVM",
        _in_one_go(moons_figure),
        1,
    ),
    "lapsvm-usps": Entry(
        f"{LAPSVM}, figure 2",
        "45 pairs of USPS digits, two labels each",
        _in_one_go(digits_figure),
        12,
        ("usps",),
    ),
    "lapsvm-isolet": Entry(
        f"{LAPSVM}, figure 3",
        "ISOLET, one labelled speaker of 30, two readings",
        _in_one_go(letters_figure),
        30,
        ("isolet",),
    ),
    "mbed-figure-1": Entry(
        f"{MBED}, figure 1",
        "how memberships sharpen during the annealing",
        _in_one_go(logistic_reproduction),
    ),
    "mbed-figure-2": Entry(
        f"{MBED}, figure 2",
        "USPS digits 2, 4 and 8: SNE, and Mbed without labels",
        _in_one_go(two_maps_figure),
        0.2,
        ("usps",),
        is_rehearsed=True,
    ),
    "mbed-figure-3": Entry(
        f"{MBED}, figure 3",
        "the same digits, clusters and 50 labels, and the annealing",
        _in_one_go(annealing_figure),
        0.2,
        ("usps",),
        is_rehearsed=True,
    ),
    "mbed-table-1": Entry(
        f"{MBED}, Table 1",
        "clusters on five sets, inconsistent pairs",
        _in_one_go(clusters_table),
        13,
        _LDS,
        is_rehearsed=True,
    ),
    "mbed-table-2": Entry(
        f"{MBED}, Table 2",
        "few labels on five sets, ten splits; **COIL with splits of our own**",
        _in_one_go(labels_table),
        19,
        _LDS,
        is_rehearsed=True,
    ),
    "multi-manifold": Entry(
        SLIDES,
        "six sets on crossing, touching and unequal manifolds: global, clairvoyant, ours",
        _at_size(multi_manifold_figure, Size.BOOK),
        21,
    ),
    "multi-manifold-full": Entry(
        SLIDES,
        "the same with five to twenty draws",
        _at_size(multi_manifold_figure, Size.FULL),
        90,
        in_all=False,
    ),
    "multi-manifold-pictures": Entry(
        SLIDES,
        "local covariances, the graph, the cut, predictions",
        _in_one_go(pictures_figure),
    ),
    "now-it-helps": Entry(
        f"{SLIDES}, the table of margins",
        "two squares from apart to overlapping: where unlabelled points help",
        _at_size(now_it_helps_figure, Size.BOOK),
        5,
    ),
    "now-it-helps-full": Entry(
        f"{SLIDES}, the table of margins",
        "the same with ten draws",
        _at_size(now_it_helps_figure, Size.FULL),
        17,
        in_all=False,
    ),
    "multi-manifold-real": Entry(
        "**data of our own choice**; the slides have none",
        "37 real problems, all that were tried",
        _at_size(real_figure, Size.BOOK),
        10,
        _REAL,
    ),
    "multi-manifold-real-full": Entry(
        "**data of our own choice**; the slides have none",
        "the same with ten draws",
        _at_size(real_figure, Size.FULL),
        25,
        _REAL,
        in_all=False,
    ),
    "ssl-book": Entry(
        f"{BOOK}, chapter 21",
        "the benchmark of the SSL book: seven sets, 10 and 100 labels",
        benchmark_table,
        25,
        _BOOK,
        is_rehearsed=True,
    ),
    "ssl-book-variants": Entry(
        f"{BOOK}, chapter 21, nine cells",
        "neighbours of one method and costs of another, where they miss",
        benchmark_variants,
        5,
        _BOOK,
    ),
}
"""What can be reproduced, by name, in the order of the book."""
