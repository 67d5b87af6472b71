"""Labels are read here and nowhere else: vectors with gaps enter, numbers and labelled rows leave.

`vectors` takes them from any library without losses. What they say is one of three: `classes` of
any type, `values` of a regression, or `probabilities` of classes; `weights` say how much each
counts.
"""

from beltrami.data.labels.classes import (
    AUTO,
    Labels,
    decode_labels,
    encode_labels,
    encode_listed_labels,
    is_continuous,
    labeled_mask,
)
from beltrami.data.labels.probabilities import are_soft_labels, encode_soft_labels
from beltrami.data.labels.values import encode_values
from beltrami.data.labels.weights import checked_weights

__all__ = [
    "AUTO",
    "Labels",
    "are_soft_labels",
    "checked_weights",
    "decode_labels",
    "encode_labels",
    "encode_listed_labels",
    "encode_soft_labels",
    "encode_values",
    "is_continuous",
    "labeled_mask",
]
