"""What stands in the widget's place where the library that it needs is not installed."""

from typing import Any

from beltrami.core.errors import BeltramiError


class MissingLibraryError(BeltramiError, ImportError):
    """A library that only a part of Beltrami needs is not installed."""


class LabelWidget:
    """A map to label on in a notebook; it needs the extra ``widget``.

    Parameters
    ----------
    *args, **options : object
        Whatever the widget would take.

    Raises
    ------
    MissingLibraryError
        Always.

    Examples
    --------
    >>> from beltrami.notebook.missing import LabelWidget
    >>> LabelWidget({"x": [1.0, 2.0]})
    Traceback (most recent call last):
    ...
    beltrami.notebook.missing.MissingLibraryError: LabelWidget needs the library anywidget, ...
    """

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        raise MissingLibraryError(
            "LabelWidget needs the library anywidget, which is not installed here. Install it and "
            'restart the kernel: pip install "beltrami[widget]". Without it, beltrami.studio opens '
            "the same map on a page of its own."
        )
