"""Options that several commands have; those on the table become one record of the library's."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from beltrami.cli.configuration import configure

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


_TABLE_OPTIONS: dict[str, Any] = {
    "label": LabelColumn,
    "id": IdColumn,
    "features": FeatureColumns,
    "text": TextColumns,
    "categories": CategoryColumns,
    "numbers": NumberColumns,
    "ignore": IgnoredColumns,
    "embeddings": Embeddings,
    "labels": SideLabels,
    "unlabeled": Unlabeled,
    "delimiter": Delimiter,
    "decimal": Decimal,
    "impute": Impute,
}
"""Fields of the library's `TableOptions` that a command fills, in the order of the help."""

_LISTS = ("features", "text", "categories", "numbers", "ignore")
_OF_LABELS = ("labels", "unlabeled")


def with_table_options(*, min_classes: int = 2, has_labels: bool = True) -> Callable[[Any], Any]:
    """Give a command the options on its table, which it takes as one record called `table`.

    typer knows no dataclasses, so the signature that it reads has an option for each field in the
    place of `table`; the column of labels comes first of all, after the source.

    - `min_classes`: classes that must have a label.
    - `has_labels`: whether the command looks at labels; if not, their column is only set aside.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        names = [name for name in _TABLE_OPTIONS if has_labels or name not in _OF_LABELS]

        def run(**values: Any) -> None:
            from beltrami.tables.options import TableOptions

            chosen = {name: values.pop(name) for name in names}
            chosen |= {name: _split(chosen[name]) for name in _LISTS}
            if has_labels:
                table = TableOptions(**chosen, min_classes=min_classes)
            else:
                table = TableOptions(**chosen, min_classes=0, unlabeled="")  # none of them is open
            command(**values, table=table)

        parameters = _expand(inspect.signature(command), names, is_label_first=has_labels)
        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__annotations__ = {one.name: one.annotation for one in parameters}
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return run

    return decorate


def _expand(
    signature: inspect.Signature, names: list[str], *, is_label_first: bool
) -> list[inspect.Parameter]:
    """Return the parameters of a command with those of the table in the place of `table`."""
    options = {
        name: inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if _TABLE_OPTIONS[name] is Impute else None,
            annotation=_TABLE_OPTIONS[name],
        )
        for name in names
    }
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name == "table":
            parameters += options.values()
        else:
            parameters.append(parameter)
        if parameter.name == "source" and is_label_first:
            parameters.append(options.pop("label"))
    return parameters


def _split(names: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (names or "").split(",") if name.strip())
