"""Options that several commands have; those on the table become one record of the library's.

To add one about the table: a field of ``TableOptions`` in ``tables/options.py``, its spelling and
help here, and a parameter of ``label`` in ``labelling/main_job.py``.
"""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from beltrami.cli.caching import kept_between_commands
from beltrami.cli.configuration import configure
from beltrami.cli.speech import Voice

Source = Annotated[
    str,
    typer.Argument(
        help="The data: parquet, arrow, csv, tsv, jsonl, npy, npz, or a folder of images."
    ),
]
SourceOrNone = Annotated[
    str | None,
    typer.Argument(help="The data, as for other commands; those of the project when left out."),
]
Project = Annotated[
    Path | None,
    typer.Option("--project", help="Take the labels that people gave in this project."),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything drawn.")]
Device = Annotated[
    str | None,
    typer.Option("--device", help="auto, cpu or cuda; BELTRAMI_DEVICE when left out."),
]
Jobs = Annotated[int | None, typer.Option("--jobs", help="Threads; all when left out.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
QuietButFindings = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but what was found, and errors.")
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print what was tried and read.")]


Config = Annotated[
    Path | None,
    typer.Option(
        "--config", callback=configure, is_eager=True, help="TOML file with defaults of options."
    ),
]

_NO_CACHE, _DEVICE = "no_cache", "device"

_TABLE_OPTIONS: dict[str, tuple[Any, str]] = {
    "label": (str | None, "Column of the labels; guessed when left out."),
    "id": (str | None, "Column of the ids; row numbers when there is none."),
    "features": (str | None, "Columns to compare rows by, a,b,c."),
    "text": (str | None, "Columns that hold texts, a,b,c."),
    "categories": (str | None, "Columns that hold categories, a,b."),
    "numbers": (str | None, "Columns that hold numbers, a,b."),
    "ignore": (str | None, "Columns to leave out, a,b."),
    "embeddings": (
        str | None,
        "Vectors to compare rows by: npy, npz, parquet or jsonl file, or a column of lists.",
    ),
    "text_model": (str | None, "Folder of a static embedding model for texts."),
    "labels": (
        list[str] | None,
        "A table of id and label, such as answers to suggest's list; may be given again.",
    ),
    "unlabeled": (
        str | None,
        "What marks a row without a label, besides empty cells; '' says that nothing does.",
    ),
    "delimiter": (str | None, "Of a csv file."),
    "decimal": (str | None, "Sign before decimals, . or , where the cells do not tell."),
    "impute": (bool, "Fill cells of a matrix or of vectors that are not finite."),
}
"""Fields of the library's `TableOptions` that commands fill: type and help, in order."""


def with_table_options(*, min_classes: int = 2, has_labels: bool = True) -> Callable[[Any], Any]:
    """Let a command take the options on its table as one record, its parameter `table`.

    typer knows no dataclasses: the signature that it reads has an option for each field in the
    place of `table`, that for the column of labels right after the source, and at the end
    ``--device`` and ``--no-cache``: whatever reads a table builds its graph, on the device that is
    chosen, which is kept from command to command.

    - `min_classes`: classes that must have a label.
    - `has_labels`: whether the command looks at labels; if not, their column is only set aside.
    """
    names = [name for name in _TABLE_OPTIONS if has_labels or name not in ("labels", "unlabeled")]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        def run(**values: Any) -> None:
            from beltrami.core.machine.device import process_device
            from beltrami.tables.options import COLUMN_LISTS, TableOptions

            fields = {name: values.pop(name) for name in names}
            fields |= {name: _split(fields[name]) for name in COLUMN_LISTS}
            if not has_labels:
                fields["unlabeled"] = ""  # none of them is open, whatever they are
            least = min_classes if has_labels else 0
            voice = Voice(is_quiet=values.get("quiet", False))
            is_kept = kept_between_commands(voice, is_off=values.pop(_NO_CACHE))
            with process_device(values.pop(_DEVICE)), is_kept:
                command(**values, table=TableOptions(**fields, min_classes=least))

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
    options = {name: _table_option(name) for name in names}
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.name == "table":
            parameters += options.values()
        else:
            parameters.append(parameter)
        if parameter.name == "source" and is_label_first:
            parameters.append(options.pop("label"))
    return [*parameters, _device_option(), _no_cache_option()]


def _table_option(name: str) -> inspect.Parameter:
    kind, help_text = _TABLE_OPTIONS[name]
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if kind is bool else None,
        annotation=Annotated[kind, typer.Option(f"--{name.replace('_', '-')}", help=help_text)],
    )


def _device_option() -> inspect.Parameter:
    return inspect.Parameter(
        _DEVICE, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Device
    )


def _no_cache_option() -> inspect.Parameter:
    return inspect.Parameter(
        _NO_CACHE,
        inspect.Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[
            bool, typer.Option("--no-cache", help="Compute all anew; see `doctor --cache`.")
        ],
    )


def _split(names: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (names or "").split(",") if name.strip())
