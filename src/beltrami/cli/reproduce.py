"""``beltrami reproduce``: figures of the papers, drawn by the library."""

from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    name: Annotated[str, typer.Argument(help="Which figure, or 'all'.")] = "all",
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("beltrami-figures"),
) -> None:
    """Redraw figures of the source papers.

    Example: beltrami reproduce thesis-a3 --out figures
    """
    from beltrami.core.errors import InvalidInputError
    from beltrami.report.figures import save_figure
    from beltrami.report.reproductions import FIGURES

    if name != "all" and name not in FIGURES:
        listed = ", ".join(["all", *FIGURES])
        raise InvalidInputError(f"there is no figure {name!r}; choose one of {listed}.")
    for chosen in FIGURES if name == "all" else (name,):
        typer.echo(f"{chosen:22} {save_figure(FIGURES[chosen](), out / f'{chosen}.png')}")
