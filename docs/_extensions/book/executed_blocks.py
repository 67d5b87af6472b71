"""Sphinx extension: run the code of every page, and show beneath it what it printed and drew.

A block that fails is a warning with page and line, and so an error of the build.
"""

import os
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from book.blocks import RUN, blocks_of
from book.runs import PageRun, hash_of_sources, run_pages

FOLDER = "executed"
"""Where results are kept, below the sources."""

log = logging.getLogger(__name__)


def run_all(app: Sphinx, env: BuildEnvironment, *_: set[str]) -> list[str]:
    """Run the blocks of all pages before any is read; return those with new results."""
    pages = {}
    for name in sorted(env.found_docs):
        path = Path(env.doc2path(name))
        blocks = blocks_of(path.read_text("utf-8"), name) if path.suffix == ".md" else []
        if blocks and (not app.config.only_pages or name in app.config.only_pages):
            pages[name] = blocks
    package = hash_of_sources(Path(app.config.package_folder))
    runs = run_pages(pages, Path(app.srcdir) / FOLDER, package, note=_say)
    app.book_runs = runs  # type: ignore[attr-defined]
    for name, run in runs.items():
        for block, result in zip(pages[name], run.results, strict=False):
            if "failure" in result:
                log.warning(
                    "the %s block fails: %s",
                    block.language,
                    result["failure"],
                    location=(name, block.line),
                    type="book",
                    subtype="block",
                )
    return [name for name, run in runs.items() if run.is_new]


def _say(words: str) -> None:
    """Print at once: Sphinx itself is kept quiet, and pages take minutes."""
    print(words, flush=True)


class ShowResults(SphinxTransform):
    """Put what each block printed and drew beneath it."""

    default_priority = 210

    def apply(self, **_: Any) -> None:
        """Change the blocks of one page."""
        run: PageRun | None = getattr(self.app, "book_runs", {}).get(self.env.docname)
        if run is None:
            return
        blocks = blocks_of(Path(self.env.doc2path(self.env.docname)).read_text("utf-8"), run.page)
        found = [
            node
            for node in self.document.findall(nodes.literal_block)
            if node.get("language") in RUN
        ]
        sources = [block.source.rstrip("\n") for block in blocks]
        found = [node for node in found if node.rawsource.rstrip("\n") in sources]
        if len(found) != len(blocks):
            log.warning(
                "%d blocks were run, %d are shown", len(blocks), len(found), location=run.page
            )
        for node, block, result in zip(found, blocks, run.results, strict=False):
            if block.is_hidden:
                node.parent.remove(node)
                continue
            shown = nodes.literal_block(block.shown, block.shown, language=block.language)
            shown["classes"].append("executed")
            shown.line = node.line
            node.replace_self([shown, *_beneath(result, self.env.docname)])


def _beneath(result: dict[str, Any], page: str) -> list[nodes.Node]:
    """Return nodes with what a block printed, and its figures."""
    added: list[nodes.Node] = []
    if result["printed"]:
        printed = nodes.literal_block(result["printed"], result["printed"], language="text")
        added.append(nodes.container("", printed, classes=["printed"]))
    for figure in result["figures"]:
        image = nodes.image(
            uri=f"/{FOLDER}/{page}/{figure['name']}",
            alt=figure.get("alt", ""),
            width=f"{figure['width']}px",
        )
        image["classes"].append("drawn")
        added.append(image)
    return added


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.add_config_value("package_folder", os.curdir, "env", types=str)
    app.add_config_value("only_pages", [], "", types=list)
    app.add_transform(ShowResults)
    app.connect("env-get-outdated", run_all)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
