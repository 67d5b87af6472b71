"""``beltrami demo``: the main job on an embedded data set."""

from pathlib import Path
from typing import Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli.speech import Voice
from beltrami.cli.targets import folder_target
from beltrami.core.telling.stages import LEARNING, Stage


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("beltrami-demo"),
    per_class: Annotated[
        int, typer.Option("--per-class", min=1, help="Labels of each digit that are kept.")
    ] = 5,
    seed: o.Seed = 0,
    as_json: o.AsJson = False,
    quiet: o.Quiet = False,
) -> None:
    """Label 1797 handwritten digits from five labels of each, and compare with the truth.

    Writes the table, the labels, the report and a picture of the map.

    Example: beltrami demo --out my-folder
    """
    voice = Voice(as_json, quiet)
    folder = folder_target(out)
    stages = (*LEARNING, Stage.ASK, Stage.MAP, Stage.WRITE)
    with voice.work(*stages):
        from beltrami.labelling.demo import demonstrate

        demonstration = demonstrate(per_class, random_state=seed)
        written = demonstration.save(folder)
    lines = [*demonstration.lines(), *(f"written: {path}" for path in written)]
    voice.result(lines, demonstration.record() | {"written": [str(path) for path in written]})
