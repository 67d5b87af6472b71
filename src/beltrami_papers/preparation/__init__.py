"""How the papers prepare their data: texts, sound, components, and which rows have a label."""

from beltrami_papers.preparation.components import project_on_components
from beltrami_papers.preparation.spectra import frame_centers, log_spectra
from beltrami_papers.preparation.splits import LabelledDraws, draw_per_class, keep_labels
from beltrami_papers.preparation.word_vectors import (
    BigramContexts,
    WordCounts,
    bigram_contexts,
    strip_headers,
    word_counts,
)

__all__ = [
    "BigramContexts",
    "LabelledDraws",
    "WordCounts",
    "bigram_contexts",
    "draw_per_class",
    "frame_centers",
    "keep_labels",
    "log_spectra",
    "project_on_components",
    "strip_headers",
    "word_counts",
]
