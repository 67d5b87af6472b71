"""What the commands share: options on the table, and how results are told.

stdout carries data and results, stderr what a person reads on the way.
"""

import json
import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from beltrami.cli.configuration import configure
from beltrami.cli.speech import say

Source = Annotated[
    str,
    typer.Argument(
        help="The data: parquet, arrow, csv, tsv, jsonl, npy, npz, or a folder of images."
    ),
]
LabelColumn = Annotated[
    str | None, typer.Option("--label", help="Column of the labels; guessed when left out.")
]
IdColumn = Annotated[
    str | None, typer.Option("--id", help="Column of the ids; row numbers when there is none.")
]
FeatureColumns = Annotated[
    str | None, typer.Option("--features", help="Columns to compare rows by, a,b,c.")
]
TextColumns = Annotated[str | None, typer.Option("--text", help="Columns that hold texts, a,b,c.")]
CategoryColumns = Annotated[
    str | None, typer.Option("--categories", help="Columns that hold categories, a,b.")
]
NumberColumns = Annotated[
    str | None, typer.Option("--numbers", help="Columns that hold numbers, a,b.")
]
IgnoredColumns = Annotated[str | None, typer.Option("--ignore", help="Columns to leave out, a,b.")]
Embeddings = Annotated[
    str | None, typer.Option("--embeddings", help="An npy matrix with as many rows.")
]
SideLabels = Annotated[
    list[str] | None,
    typer.Option(
        "--labels",
        help="A table of id and label, such as answers to suggest's list; may be given again.",
    ),
]
Unlabeled = Annotated[
    str | None,
    typer.Option(
        "--unlabeled",
        help="What marks a row without a label, besides empty cells; '' says that nothing does.",
    ),
]
Delimiter = Annotated[str | None, typer.Option("--delimiter", help="Of a csv file.")]
Decimal = Annotated[
    str | None,
    typer.Option("--decimal", help="Sign before decimals, . or , where the cells do not tell."),
]
Impute = Annotated[
    bool,
    typer.Option("--impute", help="Fill cells of a matrix or of vectors that are not finite."),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything drawn.")]
Jobs = Annotated[int | None, typer.Option("--jobs", help="Threads; all when left out.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print what was tried and read.")]


Config = Annotated[
    Path | None,
    typer.Option(
        "--config", callback=configure, is_eager=True, help="TOML file with defaults of options."
    ),
]


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Options on how a table is read."""

    label: str | None = None
    id: str | None = None
    features: str | None = None
    text: str | None = None
    ignore: str | None = None
    embeddings: str | None = None
    labels: list[str] | None = None
    unlabeled: str | None = None
    delimiter: str | None = None
    impute: bool = False
    categories: str | None = None
    numbers: str | None = None
    decimal: str | None = None

    def read(self, source: str, *, min_classes: int = 2) -> Any:
        """Return the `Intake` of a file."""
        from beltrami.labelling import take_in

        return take_in(
            source,
            self.label,
            id=self.id,
            features=_listed(self.features),
            text=_listed(self.text),
            categories=_listed(self.categories),
            numbers=_listed(self.numbers),
            ignore=_listed(self.ignore) or (),
            embeddings=self.embeddings,
            labels=self.labels or None,
            unlabeled=self.unlabeled,
            delimiter=self.delimiter,
            decimal=self.decimal,
            impute=self.impute,
            min_classes=min_classes,
        )


def _listed(names: str | None) -> list[str] | None:
    return None if names is None else [name.strip() for name in names.split(",") if name.strip()]


@dataclass(frozen=True, slots=True)
class Voice:
    """How much is said, and in what form."""

    as_json: bool = False
    is_quiet: bool = False
    is_verbose: bool = False

    def tell(self, lines: list[str]) -> None:
        """Say what happens on the way, to a person."""
        if not self.is_quiet:
            for line in lines:
                say(line, err=True)

    def detail(self, lines: list[str]) -> None:
        """Say it only when asked for more."""
        if self.is_verbose:
            self.tell(lines)

    def result(self, lines: list[str], facts: dict[str, Any]) -> None:
        """Say the result, as lines or as JSON."""
        if self.as_json:
            plain = _plain(facts)
            say(json.dumps(plain, ensure_ascii=False, indent=2, allow_nan=False))
        elif not self.is_quiet:
            for line in lines:
                say(line)


def _plain(value: Any) -> Any:
    """Return what JSON can hold: it knows neither NaN nor infinity."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int) else str(value)


@contextmanager
def collected_warnings(voice: Voice) -> Iterator[None]:
    """Turn the library's warnings into lines on stderr, each once; hide those of others.

    A quiet command shows no progress either.
    """
    import warnings

    from beltrami.core.errors import BeltramiWarning
    from beltrami.core.progress import listen

    with ExitStack() as stack:
        if voice.is_quiet:
            stack.enter_context(listen(lambda _: None))
        caught = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        try:
            yield
        finally:
            own = [one for one in caught if issubclass(one.category, BeltramiWarning)]
            voice.tell([f"warning: {text}" for text in dict.fromkeys(str(o.message) for o in own)])
