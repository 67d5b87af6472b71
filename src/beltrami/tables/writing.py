"""Result tables: columns and what is known of them enter, a file leaves, whole or not at all."""

import gzip
import json
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beltrami.core.errors import BeltramiError, FormulaCellsWarning, InvalidInputError
from beltrami.core.files import atomic_path, read_json
from beltrami.core.spelling import spell_out
from beltrami.tables.formulas import FormulaCells, formula_cells

_BLOCK_CELLS = 2**20


def write_table(path: Path | str, columns: dict[str, Any], metadata: dict[str, str]) -> None:
    """Write columns to a file of the kind that its name says, with facts about them.

    Columns are arrays, or arrow columns, which are not copied; lines of text are made in blocks.
    Parquet, arrow and feather files hold the facts inside. Beside csv, tsv and jsonl files they go
    to ``NAME.meta.json``. Both files are written under another name first and renamed when they
    are complete, so a crash or a full disk leaves what was there before.

    Every cell is written as it is; None and NaN in columns of objects are gaps. Where a spreadsheet
    would run some of a csv or tsv file as formulas, a `FormulaCellsWarning` and the fact
    ``formula_cells`` say so.
    """
    table = _arrow_table(columns)
    with open_table(path, metadata) as write:
        write(table)


@contextmanager
def open_table(path: Path | str, metadata: dict[str, str]) -> Iterator[Callable[[Any], None]]:
    """Yield what writes arrow tables of one kind after each other to a file, as `write_table` does.

    The file is there once all is written. What is never called writes nothing.
    """
    target = Path(path)
    suffix = table_ending(target)
    places = written_files(target)
    try:
        with ExitStack() as stack:
            temporary = [stack.enter_context(atomic_path(place)) for place in places]
            if suffix in _BINARY:
                with _BinaryFile(temporary[0], _BINARY[suffix], metadata) as write:
                    yield write
                return
            has_formulas = _LINES[suffix.removesuffix(".gz")] is not _json_chunks
            file = _LineFile(suffix, has_formulas=has_formulas)
            with file.opened(temporary[0]) as write:
                yield write
            facts = metadata | _warn_of_formulas(file.formulas, target)
            text = spell_out(json.dumps(facts, indent=2, ensure_ascii=False)) + "\n"
            temporary[1].write_text(text, encoding="utf-8")
    except BeltramiError:  # what is to be written could not be read
        raise
    except OSError as error:
        raise InvalidInputError(
            f"{str(target)!r} cannot be written ({error.strerror or error}). Nothing is left half "
            "written; free some space or choose another folder or name."
        ) from error


def records(columns: dict[str, NDArray[Any]]) -> list[dict[str, Any]]:
    """Return columns of one length as one dictionary per row, of Python values."""
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _warn_of_formulas(cells: FormulaCells | None, target: Path) -> dict[str, str]:
    """Warn of cells that a spreadsheet would run, and return the fact."""
    if cells is None:
        return {}
    warnings.warn(
        f"{target.name} holds text that begins with =, +, - or @ ({cells}). It is written exactly "
        "as given, and a spreadsheet that opens the file would run it as a formula: import these "
        "columns as text, or write .parquet instead.",
        FormulaCellsWarning,
        stacklevel=5,
    )
    return {"formula_cells": str(cells)}


def written_files(path: Path) -> tuple[Path, ...]:
    """Return the files that `write_table` makes: the table, and facts beside one of text."""
    is_alone = table_ending(path) in _BINARY
    return (path,) if is_alone else (path, _side_file(path))


def _side_file(target: Path) -> Path:
    return target.with_name(f"{target.name}.meta.json")


def table_facts(path: Path | str) -> dict[str, str]:
    """Return the facts that `write_table` put into a file, or beside a csv, tsv or jsonl file."""
    target = Path(path)
    try:
        if target.suffix.lower() in _BINARY:
            return _facts_inside(target)
        facts = read_json(_side_file(target))
    except (InvalidInputError, OSError):
        return {}
    return {str(key): str(value) for key, value in facts.items()} if isinstance(facts, dict) else {}


def _facts_inside(path: Path) -> dict[str, str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if path.suffix.lower() == ".parquet":
            schema = pq.read_schema(path)
        else:
            with pa.memory_map(str(path)) as source:
                schema = pa.ipc.open_file(source).schema
    except pa.ArrowException:
        return {}
    facts = schema.metadata or {}
    return {
        key.decode("utf-8", "replace"): one.decode("utf-8", "replace") for key, one in facts.items()
    }


def table_ending(path: Path | str) -> str:
    """Return the ending of a name that says which kind of table the file is."""
    target = Path(path)
    name = target.name.lower()
    known = (*_BINARY, *(ending + zipped for ending in _LINES for zipped in ("", ".gz")))
    for ending in sorted(known, key=len, reverse=True):
        if name.endswith(ending) and name != ending:
            return ending
    raise InvalidInputError(
        f"the kind of file {target.name!r} is not known; its name must end in one of "
        f"{', '.join(known)}."
    )


def _arrow_table(columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise InvalidInputError(f"the columns to write differ in length: {lengths}.")
    return pa.table({name: _arrow_column(values) for name, values in columns.items()})


def _arrow_column(values: Any) -> Any:
    import pyarrow as pa

    if isinstance(values, pa.Array | pa.ChunkedArray):
        return values
    array = np.asarray(values)
    if array.dtype.kind == "f" and array.ndim == 1:
        return pa.array(array)
    items = [None if _is_gap(value) else value for value in array.tolist()]
    try:
        return pa.array(items)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # several types in one column
        return pa.array([None if value is None else str(value) for value in items])


def _is_gap(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _parquet_writer(path: Path, schema: Any) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetWriter(path, schema)


def _feather_writer(path: Path, schema: Any) -> Any:
    import pyarrow as pa

    # The IPC file format is what both endings stand for; feather's own writer is deprecated.
    return pa.ipc.new_file(str(path), schema)


_BINARY: dict[str, Callable[[Path, Any], Any]] = {
    ".parquet": _parquet_writer,
    ".feather": _feather_writer,
    ".arrow": _feather_writer,
}


class _BinaryFile:
    """A file of arrow's kinds, with facts inside."""

    def __init__(
        self, path: Path, opener: Callable[[Path, Any], Any], metadata: dict[str, str]
    ) -> None:
        self._path, self._opener, self._metadata = path, opener, metadata
        self._writer: Any = None

    def __enter__(self) -> Callable[[Any], None]:
        return self._write

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def _write(self, table: Any) -> None:
        table = table.replace_schema_metadata(self._metadata)
        if self._writer is None:
            self._writer = self._opener(self._path, table.schema)
        self._writer.write_table(table)


class _LineFile:
    """A file of text, packed or not, and the cells in it that a spreadsheet would run."""

    def __init__(self, suffix: str, *, has_formulas: bool) -> None:
        self._kind = _LINES[suffix.removesuffix(".gz")]
        self._is_packed = suffix.endswith(".gz")
        self._has_formulas = has_formulas
        self.formulas: FormulaCells | None = None

    @contextmanager
    def opened(self, path: Path) -> Iterator[Callable[[Any], None]]:
        """Yield what writes tables; the names of the columns stand above the first."""
        with ExitStack() as stack:
            sink: Any = stack.enter_context(path.open("wb"))
            if self._is_packed:
                # No name and no time inside: the same table gives the same bytes.
                packed = gzip.GzipFile(filename="", mode="wb", fileobj=sink, mtime=0)
                sink = stack.enter_context(packed)
            is_first = True

            def write(table: Any) -> None:
                nonlocal is_first
                if self._has_formulas:
                    cells = formula_cells(table, has_names=is_first)
                    self.formulas = cells if self.formulas is None else self.formulas.plus(cells)
                for chunk in self._kind(table, is_first):
                    sink.write(chunk)
                is_first = False

            yield write


def _delimited_chunks(delimiter: str) -> Callable[[Any, bool], Iterator[bytes]]:
    def chunks(table: Any, is_first: bool) -> Iterator[bytes]:
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        n_block = _block_rows(table)
        for start in range(0, max(table.num_rows, int(is_first)), n_block):
            sink = pa.BufferOutputStream()
            options = arrow_csv.WriteOptions(
                include_header=is_first and start == 0, delimiter=delimiter, quoting_style="needed"
            )
            block = _nested_as_text(table.slice(start, n_block))
            arrow_csv.write_csv(block, sink, options)
            yield sink.getvalue().to_pybytes()

    return chunks


def _block_rows(table: Any) -> int:
    """Return how many rows become text at a time."""
    return max(_BLOCK_CELLS // max(int(table.num_columns), 1), 1)


def _nested_as_text(table: Any) -> Any:
    """Return a block in which lists and records are written as JSON, which csv has no words for."""
    import pyarrow as pa

    for position, name in enumerate(table.column_names):
        if pa.types.is_nested(table.column(name).type):
            values = table.column(name).to_pylist()
            texts = [None if value is None else json.dumps(value, default=str) for value in values]
            table = table.set_column(position, name, pa.array(texts, pa.string()))
    return table


def _json_chunks(table: Any, _: bool) -> Iterator[bytes]:
    n_block = _block_rows(table)
    for start in range(0, table.num_rows, n_block):
        rows = table.slice(start, n_block).to_pylist()
        lines = (json.dumps(plain_json(row), ensure_ascii=False, default=str) for row in rows)
        yield ("\n".join(lines) + "\n").encode("utf-8", "replace")


def plain_json(value: Any) -> Any:
    """Return a value with null for what is not finite, of which JSON knows nothing."""
    if isinstance(value, dict):
        return {name: plain_json(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain_json(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


_LINES: dict[str, Callable[[Any, bool], Iterator[bytes]]] = {
    ".csv": _delimited_chunks(","),
    ".tsv": _delimited_chunks("\t"),
    ".jsonl": _json_chunks,
    ".ndjson": _json_chunks,
}
