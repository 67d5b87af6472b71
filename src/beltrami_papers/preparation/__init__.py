"""How the papers prepare texts and sound."""

from beltrami_papers.preparation.speech import frame_centers, log_spectra
from beltrami_papers.preparation.text import (
    BigramContexts,
    WordCounts,
    bigram_contexts,
    strip_headers,
    word_counts,
)

__all__ = [
    "BigramContexts",
    "WordCounts",
    "bigram_contexts",
    "frame_centers",
    "log_spectra",
    "strip_headers",
    "word_counts",
]
