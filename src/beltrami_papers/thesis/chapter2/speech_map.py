"""Thesis section 2.6.4: frames of speech, by the logarithms of their short-time spectra.

Recordings with phone labels enter; frames with phones, broad classes, an eigenmap and principal
components leave, and how far frames of one sound lie together.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.types import FloatMatrix, IndexMatrix, IndexVector
from beltrami.data import Dataset, load_dataset, principal_components
from beltrami_papers.preparation import frame_centers, log_spectra
from beltrami_papers.thesis.chapter2.maps import (
    chance_share,
    nearest_in_map,
    plain_eigenmap,
    same_group_share,
)

N_NEIGHBORS = 14
CLASSES = ("fricatives", "closures and silence", "vowels, nasals, semivowels", "bursts of stops")
FRICATIVES, CLOSURES, PERIODIC, BURSTS = range(4)
_SOUNDS = {
    **dict.fromkeys(("s", "sh", "f", "v", "dh", "th", "z", "hh", "ch", "jh"), FRICATIVES),
    **dict.fromkeys(("cl", "sil"), CLOSURES),
    **dict.fromkeys(("k", "t", "p", "d", "g", "b"), BURSTS),
}
SENTENCE = "sa1"
"""'She had your dark suit in greasy wash water all year', which has the words that the thesis's
caption names."""

REGION = 40
"""Frames in a region."""


@dataclass(frozen=True, slots=True, eq=False)
class SpeechMap:
    """Frames of recordings, what is said in each, and where two methods put them.

    Attributes
    ----------
    names : tuple of str
        Of the recordings.
    spectra : ndarray of shape (n, 256)
        Logarithms of short-time spectra.
    phones : ndarray of shape (n,)
        Label of the segment that holds the middle of the frame.
    segments : ndarray of shape (n,)
        Number of that segment.
    classes : ndarray of shape (n,)
        Place in `CLASSES`.
    eigenmap : ndarray of shape (n, 2)
        N = 14, t = infinity.
    components : ndarray of shape (n, 2)
        Two principal components of the same spectra.
    """

    names: tuple[str, ...]
    spectra: FloatMatrix
    phones: NDArray[np.str_]
    segments: IndexVector
    classes: IndexVector
    eigenmap: FloatMatrix
    components: FloatMatrix


def class_of_phone(phone: str) -> int:
    """Return the broad class of a phone.

    - `phone`: a label of TIMIT, closures folded into cl and pauses into sil.
    - Returned: place in `CLASSES`; affricates count as fricatives, what is not named as periodic.
    """
    return _SOUNDS.get(phone, PERIODIC)


def frames_of(recordings: Dataset, number: int) -> tuple[FloatMatrix, IndexVector]:
    """Return the spectra of one recording and the phone segment of each frame."""
    extras = recordings.extras
    wave = extras["wave"][extras["offset"][number] : extras["offset"][number + 1]]
    centers = frame_centers(len(wave), extras["sample_rate"])
    segments = np.flatnonzero(extras["phone_seg"][:, 0] == number)
    place = np.searchsorted(extras["phone_seg"][segments, 1], centers, side="right") - 1
    return log_spectra(wave, extras["sample_rate"]), segments[np.maximum(place, 0)]


def speech_map(recordings: Dataset, numbers: Sequence[int]) -> SpeechMap:
    """Map the frames of one or several recordings."""
    parts = [frames_of(recordings, number) for number in numbers]
    spectra = np.vstack([part for part, _ in parts])
    segments = np.concatenate([part for _, part in parts])
    phones = np.asarray(recordings.extras["phone"])[segments]
    return SpeechMap(
        names=tuple(str(recordings.extras["utterance"][number]) for number in numbers),
        spectra=spectra,
        phones=phones,
        segments=segments,
        classes=np.array([class_of_phone(phone) for phone in phones]),
        eigenmap=plain_eigenmap(spectra, N_NEIGHBORS).coordinates,
        components=principal_components(spectra, 2),
    )


def drawn_recording(recordings: Dataset) -> int:
    """Return the recording that the figures show: the longest of the thesis's sentence."""
    lengths = np.diff(recordings.extras["offset"])
    is_sentence = [SENTENCE in str(name) for name in recordings.extras["utterance"]]
    return int(np.where(is_sentence, lengths, 0).argmax())


def read_recordings() -> Dataset:
    """Return the six recordings."""
    return load_dataset("timit_demo")


def end_regions(coordinates: FloatMatrix, size: int = REGION) -> IndexMatrix:
    """Return three regions of a map, found without looking at any label.

    The centre of the first is the frame farthest from the mean of the map, that of the second the
    frame farthest from it, that of the third the frame farthest from both; a region is its centre
    and the nearest frames.

    A row of frames for each region.
    """
    away = np.linalg.norm(coordinates - coordinates.mean(axis=0), axis=1)
    centres = [int(away.argmax())]
    for _ in range(2):
        gaps = np.linalg.norm(coordinates[:, None] - coordinates[centres], axis=2)
        centres.append(int(gaps.min(axis=1).argmax()))
    near = nearest_in_map(coordinates, size - 1)
    return np.sort(np.column_stack([centres, near[centres]]), axis=1)


def region_cells(speech: SpeechMap) -> list[dict[str, Any]]:
    """Return what is said in the three regions.

    In the order fricatives, closures, others where a region has most of them: commonest ``class``
    and its ``share``, shares of the commonest ``phones``, number of ``segments`` that the frames
    come from, and the frames' ``rows``.
    """
    cells = []
    for rows in end_regions(speech.eigenmap):
        counts = Counter(speech.classes[rows].tolist())
        common = min(counts, key=lambda number: (-counts[number], number))
        phones = Counter(speech.phones[rows].tolist())
        ranked = sorted(phones, key=lambda phone: (-phones[phone], phone))
        cells.append(
            {
                "class": CLASSES[common],
                "share": round(counts[common] / len(rows), 4),
                "chance": round(float(np.mean(speech.classes == common)), 4),
                "phones": {phone: round(phones[phone] / len(rows), 4) for phone in ranked},
                "segments": len(np.unique(speech.segments[rows])),
                "rows": rows.tolist(),
            }
        )
    return sorted(cells, key=lambda cell: CLASSES.index(cell["class"]))


def _centre_share(speech: SpeechMap) -> float:
    """Return the share of periodic sounds among the half of the frames nearest the median."""
    away = np.linalg.norm(speech.eigenmap - np.median(speech.eigenmap, axis=0), axis=1)
    inside = np.argsort(away, kind="stable")[: len(away) // 2]
    return float(np.mean(speech.classes[inside] == PERIODIC))


def speech_homogeneity(speech: SpeechMap) -> dict[str, Any]:
    """Return how many of the nearest frames are of the same phone, and of the same broad class.

    For ``phones`` and ``classes``: shares in the eigenmap, two components, all spectra, and by
    chance. ``elsewhere``: share of the neighbours in the map that come from another segment, and
    ``elsewhere_phones``: share of those that are of the same phone.
    """
    _, phones = np.unique(speech.phones, return_inverse=True)
    spaces = {
        "eigenmap": speech.eigenmap,
        "components": speech.components,
        "spectra": speech.spectra,
    }
    shares = {
        name: {
            **{
                key: round(same_group_share(points, groups, N_NEIGHBORS), 4)
                for key, points in spaces.items()
            },
            "chance": round(chance_share(groups), 4),
        }
        for name, groups in (("phones", phones), ("classes", speech.classes))
    }
    near = nearest_in_map(speech.eigenmap, N_NEIGHBORS)
    other = speech.segments[near] != speech.segments[:, None]
    same = phones[near] == phones[:, None]
    return {
        "recording": ", ".join(speech.names),
        "frames": len(speech.spectra),
        **shares,
        "elsewhere": round(float(other.mean()), 4),
        "elsewhere_phones": round(float(same[other].mean()), 4),
        "centre": round(_centre_share(speech), 4),
        "periodic": round(float(np.mean(speech.classes == PERIODIC)), 4),
    }
