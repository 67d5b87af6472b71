"""Colours and marks that stay apart for every eye and in grey."""

OKABE_ITO = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#F0E442",
    "#000000",
)
"""Eight colours that colour-blind readers can tell apart (Okabe and Ito)."""

MARKERS = ("o", "^", "s")
"""Beyond eight groups the colours come round again with another mark."""


def style_of(group: int) -> tuple[str, str]:
    """Return colour and mark of a group.

    Parameters
    ----------
    group : int
        Number of the group, from zero.

    Returns
    -------
    colour, marker : str
        For matplotlib; the first twenty-four groups have distinct pairs.

    Examples
    --------
    >>> from beltrami.report.pictures.palette import style_of
    >>> style_of(0), style_of(8)
    (('#0072B2', 'o'), ('#0072B2', '^'))
    """
    return OKABE_ITO[group % len(OKABE_ITO)], MARKERS[group // len(OKABE_ITO) % len(MARKERS)]
