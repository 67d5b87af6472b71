"""Colours and marks of the classes on the page, for a light and a dark ground.

The number of classes enters; one `ClassStyle` for each leaves.
"""

from dataclasses import dataclass

from beltrami.report.pictures.palette import OKABE_ITO

_ON_LIGHT = {"#F0E442": "#DDCB1C"}
_ON_DARK = {
    "#0072B2": "#2E93D9",
    "#009E73": "#17B98B",
    "#CC79A7": "#DE97BD",
    "#56B4E9": "#8FD3F9",
    "#D55E00": "#F0752A",
    "#000000": "#F4F4F2",
}
_MORE = (
    ("#882255", "#C9588F"),
    ("#7A6A1E", "#A8964A"),
    ("#5A45C4", "#9C8CF5"),
    ("#5E7480", "#9FB4C0"),
)

COLOURS = (
    *((_ON_LIGHT.get(colour, colour), _ON_DARK.get(colour, colour)) for colour in OKABE_ITO),
    *_MORE,
)
"""Twelve colours for a light and a dark ground: those of Okabe and Ito, then four more."""

ROUNDS = ("square", "diamond")
"""Marks of the classes past the twelfth, twelve each."""

N_STYLES = len(COLOURS) * (1 + len(ROUNDS))
"""Pairs of colour and mark before they repeat."""


@dataclass(frozen=True, slots=True)
class ClassStyle:
    """How a class is drawn.

    Attributes
    ----------
    light, dark : str
        Colour on a light and on a dark ground.
    mark : str
        Name of the shape.
    """

    light: str
    dark: str
    mark: str


def class_styles(n_classes: int) -> tuple[ClassStyle, ...]:
    """Return a style for each class: eight colours as discs, four as triangles, and so on."""
    styles = []
    for code in range(n_classes):
        light, dark = COLOURS[code % len(COLOURS)]
        first = "disc" if code % len(COLOURS) < len(OKABE_ITO) else "triangle"
        marks = (first, *ROUNDS)
        styles.append(ClassStyle(light, dark, marks[code // len(COLOURS) % len(marks)]))
    return tuple(styles)
