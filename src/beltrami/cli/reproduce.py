"""``beltrami reproduce``: tables and figures of the papers, made by the library."""

from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    name: Annotated[str, typer.Argument(help="Which table or figure, or 'all'.")] = "all",
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("beltrami-figures"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Run tables at a small size, to see that they run.")
    ] = False,
) -> None:
    """Reproduce tables and figures of the source papers.

    Tables give NAME.json and NAME.md, figures NAME.png. At full size one takes up to half an hour.

    Example: beltrami reproduce thesis-3.1 --out results
    """
    from beltrami.core.errors import DatasetUnavailableError, InvalidInputError
    from beltrami.report.reproductions import REPRODUCTIONS

    if name != "all" and name not in REPRODUCTIONS:
        listed = ", ".join(["all", *REPRODUCTIONS])
        raise InvalidInputError(f"there is no reproduction {name!r}; choose one of {listed}.")
    for chosen in REPRODUCTIONS if name == "all" else (name,):
        try:
            found = REPRODUCTIONS[chosen](quick=quick)
        except DatasetUnavailableError as error:
            if name != "all":
                raise
            typer.echo(f"{chosen:22} left out: {error}", err=True)
            continue
        for path in found.save(chosen, out):
            typer.echo(f"{chosen:22} {path}")
        if found.record is not None:
            spent = ", ".join(f"{stage} {s:g}" for stage, s in found.record["seconds"].items())
            typer.echo(f"{chosen:22} seconds: {spent}", err=True)
