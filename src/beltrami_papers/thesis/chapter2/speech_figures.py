"""Thesis figures A.7 and A.8: the map of frames of speech, and three regions of it.

Nothing enters but the wish for a quick run; figures, records and pages leave.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from beltrami.core.telling.progress import track
from beltrami.report.pictures.figures import bare
from beltrami.report.pictures.palette import OKABE_ITO
from beltrami_papers.cells import table_lines
from beltrami_papers.findings import THESIS, Claim, Setting, reproduction_of
from beltrami_papers.model import Reproduction, StageClock
from beltrami_papers.thesis.chapter2.speech_map import (
    CLASSES,
    CLOSURES,
    FRICATIVES,
    N_NEIGHBORS,
    PERIODIC,
    REGION,
    SpeechMap,
    drawn_recording,
    read_recordings,
    region_cells,
    speech_homogeneity,
    speech_map,
)

COLOURS = (OKABE_ITO[5], OKABE_ITO[7], OKABE_ITO[0], OKABE_ITO[2])
MARKS = ("^", "s", "o", "D")
PUBLISHED_FRAMES = 685
Cells = Sequence[Mapping[str, Any]]


def _speech_figure(speech: SpeechMap, regions: Cells) -> Figure:
    """Draw the frames in the eigenmap and in two principal components."""
    figure = Figure(figsize=(12, 5.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    numbers = speech_homogeneity(speech)["phones"]
    panels = ((left, speech.eigenmap, "eigenmap"), (right, speech.components, "components"))
    names = {"eigenmap": "Laplacian eigenmap", "components": "two principal components"}
    for axes, coordinates, key in panels:
        for number, name in enumerate(CLASSES):
            of_class = speech.classes == number
            axes.scatter(
                *coordinates[of_class].T,
                s=14,
                c=COLOURS[number],
                marker=MARKS[number],
                linewidths=0,
                alpha=0.75,
                label=name,
            )
        axes.set_title(
            f"{names[key]}: {numbers[key]:.0%} of neighbours are the same phone", fontsize="medium"
        )
        bare(axes)
    left.set_xlabel("first eigenvector")
    left.set_ylabel("second eigenvector")
    right.set_xlabel("first component")
    right.set_ylabel("second component")
    middle = speech.eigenmap.mean(axis=0)
    for number, cell in enumerate(regions, start=1):
        end = speech.eigenmap[cell["rows"]].mean(axis=0)
        place = middle + 0.9 * (end - middle)
        left.annotate(
            str(number),
            place,
            xytext=_TEXTS[number - 1],
            textcoords="offset points",
            fontsize=13,
            fontweight="bold",
            bbox={"boxstyle": "circle", "fc": "white", "ec": "0.4"},
        )
    left.legend(frameon=False, fontsize="small", loc="best")
    one, other = (cell["class"] for cell in regions[:2])
    figure.suptitle(
        f"{len(speech.spectra)} frames of a sentence: a spoke of {one}, one of {other}, periodic "
        "sounds between"
    )
    return figure


_TEXTS = ((14, -20), (14, 8), (-30, -4))


def _regions_figure(speech: SpeechMap, regions: Cells) -> Figure:
    """Draw the three regions with the phone of every frame."""
    figure = Figure(figsize=(13.5, 5), layout="constrained")
    for number, (axes, cell) in enumerate(zip(figure.subplots(1, 3), regions, strict=True), 1):
        rows = np.array(cell["rows"])
        low = speech.eigenmap[rows].min(axis=0)
        places = (speech.eigenmap[rows] - low) / np.ptp(speech.eigenmap[rows], axis=0)
        for row, (x, y) in zip(rows, places, strict=True):
            colour = COLOURS[speech.classes[row]]
            axes.text(
                x, y, speech.phones[row], c=colour, fontsize=9, ha="center", va="center", alpha=0.9
            )
        axes.set_xlim(-0.08, 1.08)
        axes.set_ylim(-0.08, 1.08)
        common = ", ".join(f"{phone} {share:.0%}" for phone, share in _first(cell["phones"], 3))
        axes.set_title(
            f"{number}. {cell['share']:.0%} {cell['class']}\n{common}; {cell['segments']} segments",
            fontsize="medium",
        )
        bare(axes)
    figure.suptitle(
        f"The {REGION} frames at each end of the map are of like sound, from several places of the "
        "sentence"
    )
    figure.supxlabel("blow-ups of the map of figure A.7; colours as there", fontsize="small")
    return figure


def _first(shares: Mapping[str, float], count: int) -> list[tuple[str, float]]:
    return list(shares.items())[:count]


def speech_reproduction(*, quick: bool = False) -> Reproduction:
    """Reproduce figure A.7: a sentence in the Laplacian spectral representation."""
    clock, speech, others = _map_recordings(quick=quick)
    with clock.stage("measures"):
        regions = region_cells(speech)
        cells = [speech_homogeneity(each) for each in others]
        spokes = [_spokes(each) for each in others]
    return reproduction_of(
        _setting("thesis-a7", "figure A.7", speech),
        _speech_figure(speech, regions),
        clock,
        claims=_map_claims(speech_homogeneity(speech), regions, spokes),
        numbers={"drawn": speech.names[0], "homogeneity": cells, "spokes": spokes},
        body=_map_lines(cells, spokes),
    )


def speech_regions_reproduction(*, quick: bool = False) -> Reproduction:
    """Reproduce figure A.8: three regions of the map of a sentence."""
    clock, speech, others = _map_recordings(quick=quick)
    with clock.stage("measures"):
        regions = region_cells(speech)
        numbers = speech_homogeneity(speech)
        spokes = [_spokes(each) for each in others]
    return reproduction_of(
        _setting("thesis-a8", "figure A.8", speech),
        _regions_figure(speech, regions),
        clock,
        claims=_region_claims(regions, numbers),
        numbers={"regions": regions, "homogeneity": numbers, "recordings": spokes},
        body=[*_region_lines(regions), "", *_spoke_lines(spokes)],
    )


def _map_recordings(*, quick: bool) -> tuple[StageClock, SpeechMap, list[SpeechMap]]:
    """Return the drawn recording and every recording on its own, the drawn one first."""
    clock = StageClock()
    with clock.stage("spectra and maps"):
        recordings = read_recordings()
        drawn = drawn_recording(recordings)
        rest = (
            [] if quick else [i for i in range(len(recordings.extras["utterance"])) if i != drawn]
        )
        maps = []
        with track("maps of recordings", total=1 + len(rest)) as advance:
            for number in [drawn, *rest]:
                maps.append(speech_map(recordings, [number]))
                advance(1)
    return clock, maps[0], maps


def _spokes(speech: SpeechMap) -> dict[str, Any]:
    regions = region_cells(speech)
    return {
        "recording": speech.names[0],
        "regions": [{key: cell[key] for key in ("class", "share", "segments")} for cell in regions],
    }


def _setting(name: str, figure: str, speech: SpeechMap) -> Setting:
    return Setting(
        name=name,
        source=f"{THESIS}, {figure}",
        data=f"timit_demo, recording {speech.names[0]}",
        n=len(speech.spectra),
        settings={
            "frames": "logarithms of 256 short-time Fourier coefficients, windows of 30 ms every "
            "5 ms, 16 kHz",
            "map": f"N = {N_NEIGHBORS}, t = infinity, two dimensions",
            "regions": f"the frame farthest from the mean, the one farthest from that, the one "
            f"farthest from both, each with its {REGION - 1} nearest frames; no label is used",
        },
        seeds="none: nothing is random.",
        remarks=[
            f"ANOTHER RECORDING than the thesis's, which has {PUBLISHED_FRAMES} frames and is not "
            "named. The words of its caption (she, dark, all) are those of TIMIT's sentence sa1; "
            "of the two recordings of it that we have the longer one is drawn.",
            "Our phone labels are folded: all closures are cl, all pauses sil.",
            "The label of a frame is that of the segment that holds its middle. The window is "
            "Hamming's; the thesis names none.",
        ],
    )


def _map_claims(numbers: Mapping[str, Any], regions: Cells, spokes: Cells) -> list[Claim]:
    kinds = {cell["class"]: cell for cell in regions}
    named = [CLASSES[FRICATIVES], CLASSES[CLOSURES]]
    both = [
        each["recording"]
        for each in spokes
        if set(named) <= {region["class"] for region in each["regions"] if region["share"] > 0.5}
    ]
    phones = numbers["phones"]
    ends = "; ".join(f"{cell['share']:.0%} {cell['class']}" for cell in regions)
    return [
        Claim(
            "two spokes correspond predominantly to fricatives and to closures",
            f"the three ends of the map: {ends}. Both spokes stand out in {len(both)} of "
            f"{len(spokes)} recordings: {', '.join(both)}",
            all(name in kinds and kinds[name]["share"] > 0.5 for name in named),
        ),
        Claim(
            "the central portion is mostly vowels, nasals and semivowels",
            f"{numbers['centre']:.0%} of the half of the frames nearest the median of the map; of "
            f"all frames {numbers['periodic']:.0%}",
            numbers["centre"] > max(0.5, numbers["periodic"]),
        ),
        Claim(
            "a natural clustering into broad classes is obtained",
            f"{numbers['classes']['eigenmap']:.0%} of neighbours in the map are of one broad class "
            f"(chance {numbers['classes']['chance']:.0%}, two components "
            f"{numbers['classes']['components']:.0%}), {phones['eigenmap']:.0%} the same phone "
            f"(chance {phones['chance']:.0%}, two components {phones['components']:.0%})",
            numbers["classes"]["eigenmap"] > 1.5 * numbers["classes"]["chance"],
        ),
    ]


def _region_claims(regions: Cells, numbers: Mapping[str, Any]) -> list[Claim]:
    least = min(regions, key=lambda cell: float(cell["share"]))
    few = min(cell["segments"] for cell in regions)
    shares = "; ".join(
        f"{cell['class']} {cell['share']:.0%} ("
        + ", ".join(f"{phone} {share:.0%}" for phone, share in _first(cell["phones"], 3))
        + ")"
        for cell in regions
    )
    return [
        Claim("each region is phonetically homogeneous", shares, least["share"] > 0.8),
        Claim(
            "its points come from different occurrences of a phoneme",
            f"from at least {few} segments each; of neighbours in the map "
            f"{numbers['elsewhere']:.0%} are from another segment, and of those "
            f"{numbers['elsewhere_phones']:.0%} are the same phone (chance "
            f"{numbers['phones']['chance']:.0%})",
            few > 1 and numbers["elsewhere_phones"] > 2 * numbers["phones"]["chance"],
        ),
        Claim(
            "by the symbols of the caption the regions are sh; aa and ao; closures and silence",
            "; ".join(", ".join(phone for phone, _ in _first(c["phones"], 3)) for c in regions),
            _has_phones(regions),
        ),
    ]


def _has_phones(regions: Cells) -> bool:
    """Say whether the commonest phones are those of the thesis's caption."""
    first = {cell["class"]: [phone for phone, _ in _first(cell["phones"], 2)] for cell in regions}
    return (
        first.get(CLASSES[FRICATIVES], [""])[0] == "sh"
        and set(first.get(CLASSES[PERIODIC], [])) == {"aa", "ao"}
        and set(first.get(CLASSES[CLOSURES], [])) <= {"cl", "sil"}
    )


def _map_lines(cells: Cells, spokes: Cells) -> list[str]:
    spaces = ("eigenmap", "components", "spectra", "chance")
    rows = [
        [cell["recording"], str(cell["frames"])]
        + [f"{cell[kind][space]:.2f}" for kind in ("phones", "classes") for space in spaces]
        for cell in cells
    ]
    names = ("eigenmap", "two components", "all spectra", "chance")
    header = ["recording", "frames", *(f"phone: {each}" for each in names)]
    header += [f"class: {each}" for each in names]
    lead = f"Share of the {N_NEIGHBORS} nearest frames that are of the same phone or broad class."
    return [lead, "", *table_lines(header, rows, words=(0,)), "", *_spoke_lines(spokes)]


def _spoke_lines(spokes: Cells) -> list[str]:
    rows = [
        [each["recording"]] + [f"{cell['class']} {cell['share']:.0%}" for cell in each["regions"]]
        for each in spokes
    ]
    header = ["recording", "one end of its map", "another", "the third"]
    lead = f"Commonest class of the {REGION} frames at each end of the map of each recording."
    return [lead, "", *table_lines(header, rows, words=(0, 1, 2, 3))]


def _region_lines(regions: Cells) -> list[str]:
    rows = [
        [
            str(number),
            cell["class"],
            f"{cell['share']:.2f}",
            f"{cell['chance']:.2f}",
            str(cell["segments"]),
            ", ".join(f"{phone} {share:.0%}" for phone, share in cell["phones"].items()),
        ]
        for number, cell in enumerate(regions, start=1)
    ]
    header = ["region", "commonest class", "share", "of all frames", "segments", "phones"]
    return table_lines(header, rows, words=(1, 5))
