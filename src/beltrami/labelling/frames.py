"""Answers as a table of the kind that came: an arrow table enters, a frame leaves.

pandas and polars are never imported unless the user's object came from them.
"""

from typing import Any

_LABELS = ("label", "guess", "second_label")


def frame_like(answers: Any, source: Any, *, is_numbered: bool) -> Any:
    """Return answers as pandas, polars, a dict or arrow, as the source is.

    - `is_numbered`: whether rows have no ids: pandas then calls them by the index.
    """
    home = type(source).__module__.split(".", maxsplit=1)[0]
    if home == "pandas":
        return _as_pandas(answers, source, is_numbered=is_numbered)
    if home == "polars":
        import polars as pl

        return pl.from_arrow(answers)
    return answers.to_pydict() if isinstance(source, dict) else answers


def _as_pandas(answers: Any, source: Any, *, is_numbered: bool) -> Any:
    """Return a frame with the index of the source; its types rest on those of the source alone."""
    import pandas as pd
    import pyarrow as pa

    frame = answers.to_pandas()
    nullable = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    for name in _LABELS:  # gaps would make floats of whole numbers
        kind = nullable.get(answers.column(name).type)
        if kind is not None:
            frame[name] = answers.select([name]).to_pandas(types_mapper=nullable.get)[name]
    frame.index = source.index
    if is_numbered:
        frame["id"] = source.index
    return frame
