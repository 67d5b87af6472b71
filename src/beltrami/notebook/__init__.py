"""Room `notebook`: the map in a cell, where the extra `widget` is installed.

A table enters; a widget leaves on which a person labels, with labels and selection as traits.
"""

try:
    import anywidget as _host
except ImportError:
    _host = None  # type: ignore[assignment]

if _host is None:
    from beltrami.notebook.missing import LabelWidget
else:
    from beltrami.notebook.widget import LabelWidget

__all__ = ["LabelWidget"]
