"""Thesis figures A.5 and A.6: the map of words, and three fragments of it.

Nothing enters but the wish for a quick run; figures, records and pages leave.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from beltrami.report.pictures.figures import bare
from beltrami.report.pictures.palette import OKABE_ITO
from beltrami_papers.cells import table_lines
from beltrami_papers.findings import THESIS, Claim, Setting, reproduction_of
from beltrami_papers.model import Reproduction, StageClock
from beltrami_papers.thesis.chapter2.word_map import (
    FRAGMENT,
    GROUPS,
    N_NEIGHBORS,
    WordMap,
    fragment_cells,
    homogeneity,
    word_map,
)

COLOURS = (
    OKABE_ITO[0],
    OKABE_ITO[5],
    OKABE_ITO[2],
    OKABE_ITO[7],
    OKABE_ITO[4],
    OKABE_ITO[1],
    OKABE_ITO[3],
    "0.5",
)
"""Of the groups; no yellow, which is no colour for words."""

Cells = Sequence[Mapping[str, Any]]


def _words_figure(words: WordMap, fragments: Cells) -> Figure:
    """Draw the map with as many words as there is room for, the most frequent first."""
    figure = Figure(figsize=(11, 8.6), layout="constrained")
    axes = figure.subplots()
    for number, name in enumerate(GROUPS):
        of_group = words.groups == number
        x, y = words.eigenmap[of_group].T
        axes.scatter(x, y, s=14, c=COLOURS[number], label=name, linewidths=0)
    axes.margins(0.06)
    for row in _with_room(words, axes):
        axes.annotate(
            words.words[row],
            words.eigenmap[row],
            xytext=(3, 1),
            textcoords="offset points",
            fontsize=7,
            c=COLOURS[words.groups[row]],
        )
    for number, cell in enumerate(fragments, start=1):
        centre = words.eigenmap[cell["rows"]].mean(axis=0)
        axes.annotate(
            f"{number}. {cell['group']}",
            centre,
            xytext=_TEXTS[number - 1],
            textcoords="axes fraction",
            fontsize=10,
            arrowprops={"arrowstyle": "->", "color": "0.2"},
        )
    whole = homogeneity(words)[0]
    axes.set_title(
        f"Words of one syntactic group lie together: {whole['eigenmap']:.0%} of the "
        f"{N_NEIGHBORS} nearest words share a word's group (chance {whole['chance']:.0%})"
    )
    axes.set_xlabel("first eigenvector")
    axes.set_ylabel("second eigenvector")
    bare(axes)
    axes.legend(frameon=False, fontsize="small", loc="lower right")
    return figure


_TEXTS = ((0.16, 0.05), (0.62, 0.93), (0.52, 0.03))
"""Where the names of the fragments stand."""


def _with_room(words: WordMap, axes: Any) -> list[int]:
    """Choose the words whose names do not cover one another, the most frequent first."""
    size = axes.figure.get_size_inches() * 72
    low, high = (np.array(each) for each in zip(axes.get_xlim(), axes.get_ylim(), strict=True))
    places = (words.eigenmap - low) / (high - low) * size * 0.93
    boxes: list[tuple[float, float, float, float]] = []
    chosen = []
    for row, (x, y) in enumerate(places):
        box = (x, y, x + 4 + 4.2 * len(words.words[row]), y + 8)
        if not any(_overlap(box, other) for other in boxes):
            boxes.append(box)
            chosen.append(row)
    return chosen


def _overlap(box: tuple[float, ...], other: tuple[float, ...]) -> bool:
    apart = box[0] > other[2] or other[0] > box[2] or box[1] > other[3] or other[1] > box[3]
    return not apart


def _fragments_figure(words: WordMap, fragments: Cells) -> Figure:
    """Draw the three fragments with all their words."""
    figure = Figure(figsize=(13, 5.2), layout="constrained")
    panels = figure.subplots(1, len(fragments))
    for axes, cell in zip(panels, fragments, strict=True):
        _draw_fragment(axes, words, cell)
    shares = ", ".join(f"{cell['share']:.0%} {cell['group']}" for cell in fragments)
    figure.suptitle(f"Fragments of the map hold words of one kind: {shares}")
    figure.supxlabel(
        f"blow-ups of the map of figure A.5, {FRAGMENT} words each, colours as there; names are "
        "moved apart, with the commonest tag; chance: the same rule with shuffled groups",
        fontsize="small",
    )
    return figure


def _draw_fragment(axes: Any, words: WordMap, cell: Mapping[str, Any]) -> None:
    rows = np.array(cell["rows"])
    x, y = words.eigenmap[rows].T
    # Words stand on lines of their own, in the order of their height.
    low, span = x.min(), float(np.ptp(x))
    height = (y - y.min()) / float(np.ptp(y))
    lines = np.empty(len(rows))
    lines[np.argsort(height.round(6), kind="stable")] = np.linspace(0.04, 0.94, len(rows))
    places = zip(rows, (x - low) / span, 0.04 + 0.9 * height, lines, strict=True)
    for row, across, up, line in places:
        colour = COLOURS[words.groups[row]]
        axes.plot(0.55 * across, up, "o", c=colour, ms=5)
        axes.plot([0.55 * across, 0.66], [up, line], c="0.85", lw=0.7, zorder=0)
        text = f"{words.words[row]}  ({words.tags[row].lower()})"
        axes.text(0.67, line, text, va="center", fontsize=10, c=colour)
    axes.set_xlim(-0.04, 1.12)
    axes.set_ylim(0, 1)
    axes.set_title(
        f"{cell['group']}: {cell['share']:.0%} (by chance {cell['chance']:.0%})",
        fontsize="medium",
    )
    bare(axes)


def words_reproduction(*, quick: bool = False) -> Reproduction:
    """Reproduce figure A.5: the map of the 300 most frequent words of the Brown corpus."""
    clock, words = _map_words(quick=quick)
    with clock.stage("groups"):
        cells = homogeneity(words)
        fragments = fragment_cells(words, 1)
    whole = cells[0]
    claim = Claim(
        "words of similar syntactic categories seem to cluster together",
        f"{whole['eigenmap']:.1%} of the {N_NEIGHBORS} nearest words in the map are of a word's "
        f"own group; chance {whole['chance']:.1%}, two principal components of the same counts "
        f"{whole['components']:.1%}, all 600 counts {whole['counts']:.1%}",
        whole["eigenmap"] > 2 * whole["chance"],
    )
    return reproduction_of(
        _setting("thesis-a5", "figure A.5", words),
        _words_figure(words, fragments),
        clock,
        claims=[claim],
        numbers={"homogeneity": cells, "edges": words.graph.n_edges},
        body=_group_lines(cells),
    )


def fragments_reproduction(*, quick: bool = False) -> Reproduction:
    """Reproduce figure A.6: three fragments of the map of words."""
    clock, words = _map_words(quick=quick)
    with clock.stage("fragments"):
        cells = fragment_cells(words, 20 if quick else 200)
    return reproduction_of(
        _setting("thesis-a6", "figure A.6", words),
        _fragments_figure(words, cells),
        clock,
        claims=_claims(cells),
        numbers={"fragments": cells},
        body=_fragment_lines(cells),
    )


def _map_words(*, quick: bool) -> tuple[StageClock, WordMap]:
    clock = StageClock()
    with clock.stage("corpus and map"):
        words = word_map(quick=quick)
    return clock, words


def _setting(name: str, figure: str, words: WordMap) -> Setting:
    return Setting(
        name=name,
        source=f"{THESIS}, {figure}",
        data="brown, the most frequent words by counts of their left and right neighbours",
        n=len(words.words),
        settings={
            "map": f"N = {N_NEIGHBORS}, t = infinity, two dimensions",
            "words": "in lower case; punctuation is no word and parts its neighbours",
            "fragments": f"a centre and its {FRAGMENT - 1} nearest words in the map; the centre is "
            "the word of the group whose fragment holds most words of it, of equal ones that of "
            "the least radius",
        },
        seeds="shuffled groups: default_rng(0); nothing else is random.",
        remarks=[
            "The group of a word is that of its commonest tag in the corpus. Infinitives are the "
            "tag VB, the bare form of a verb; modals and auxiliaries all forms of MD, BE, HV, DO; "
            "prepositions IN; possessives count as determiners; particles, wh-words and 'to' are "
            "among the others.",
            "The thesis does not say how it chose its fragments and names no other groups. Ours go "
            "by the tags, so their shares are held against the same rule with shuffled groups.",
        ],
    )


def _claims(cells: Cells) -> list[Claim]:
    verbs, prepositions, modals = cells
    return [
        Claim(
            "the first fragment is exclusively infinitives of verbs",
            f"{_share_in_words(verbs)}; with auxiliaries in that form (be, do, have) "
            f"{verbs['bare_forms']:.0%} are infinitives",
            verbs["bare_forms"] == 1,
        ),
        Claim(
            "the second contains prepositions",
            _share_in_words(prepositions),
            prepositions["share"] > prepositions["chance_most"],
        ),
        Claim(
            "the third has mostly modal and auxiliary verbs",
            _share_in_words(modals),
            modals["share"] > max(0.5, modals["chance_most"]),
        ),
    ]


def _share_in_words(cell: Mapping[str, Any]) -> str:
    return (
        f"{cell['share']:.0%} of {FRAGMENT} words are of the group; the same rule finds "
        f"{cell['chance']:.0%} (at most {cell['chance_most']:.0%}) with shuffled groups and "
        f"{cell['components']:.0%} on two principal components"
    )


def _group_lines(cells: Cells) -> list[str]:
    header = ["group", "words", "eigenmap", "two components", "all counts", "chance"]
    keys = ("eigenmap", "components", "counts", "chance")
    rows = [
        [cell["group"], str(cell["words"]), *(f"{cell[key]:.3f}" for key in keys)] for cell in cells
    ]
    lead = f"Share of the {N_NEIGHBORS} nearest words that are of a word's own group."
    return [lead, "", *table_lines(header, rows, words=(0,))]


def _fragment_lines(cells: Cells) -> list[str]:
    header = ["fragment", "words of the group", "share", "two components", "shuffled", "at most"]
    keys = ("share", "components", "chance", "chance_most")
    rows = [
        [cell["group"], str(cell["words"]), *(f"{cell[key]:.3f}" for key in keys)] for cell in cells
    ]
    lists = [f"- {cell['group']}: {', '.join(cell['fragment'])}" for cell in cells]
    return [*table_lines(header, rows, words=(0,)), "", *lists]
