"""``beltrami demo``: the main job on an embedded data set."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("beltrami-demo"),
    seed: Annotated[int, typer.Option(help="Seed of the clustering.")] = 0,
) -> None:
    """Draw the shape of 1797 handwritten digits and cluster them, without any label.

    Example: beltrami demo --out my-folder
    """
    from beltrami.report.demo import demonstrate
    from beltrami.report.figures import save_figure

    found = demonstrate(random_state=seed)
    for line in found.lines():
        typer.echo(line)
    typer.echo(f"picture     {save_figure(found.figure(), out / 'digits.png')}")
