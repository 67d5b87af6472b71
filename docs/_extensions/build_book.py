"""Build the book: gather the pages, run their code, build HTML, check links.

``python docs/_extensions/build_book.py`` builds all of it into ``out/docs``.
``--only guides/text tutorial`` runs the code of these pages alone and leaves out the gallery, to
see a page while writing it.
"""

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from book.gather import gather  # noqa: E402
from book.link_check import check_links  # noqa: E402
from book.outputs import differences  # noqa: E402
from book.runs import hash_of_sources  # noqa: E402


def main() -> int:
    """Build; return 1 where anything is wrong, so that nothing wrong is published."""
    arguments = _arguments()
    start = time.perf_counter()
    out = arguments.out.resolve()
    stage, html, doctrees = out / "source", out / "html", out / "doctrees"
    print("gathering the pages", flush=True)
    gathered = gather(ROOT, stage)
    _forget_old_gallery(stage)
    only = [name.removeprefix("docs/").removesuffix(".md") for name in arguments.only]
    print("running their code, then the gallery's, then writing HTML", flush=True)
    n_faults = _sphinx(stage, html, doctrees, only)
    stale = list(_stale_outputs(stage, only))
    for fault in stale:
        print(f"output: {fault}", file=sys.stderr)
    if stale:
        print("docs/_extensions/book/outputs.py writes outputs anew", file=sys.stderr)
    print("checking links", flush=True)
    links = check_links(html)
    for fault in (*gathered.faults, *links.faults):
        print(f"link: {fault}", file=sys.stderr)
    (out / "addresses.txt").write_text("\n".join(links.addresses) + "\n", "utf-8")
    n_faults += len(gathered.faults) + len(links.faults) + len(stale)
    if n_faults and not only:
        shutil.rmtree(doctrees, ignore_errors=True)  # or the next build would not warn again
    print(
        f"{html / 'index.html'}: {links.n_pages} pages, {_n_blocks(stage, only)} blocks executed, "
        f"{links.n_internal} links within and {len(links.addresses)} addresses elsewhere, "
        f"{n_faults} faults, {time.perf_counter() - start:.0f} s"
    )
    return 1 if n_faults else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "docs", help="folder to fill")
    parser.add_argument("--only", nargs="+", default=[], help="pages whose code is run")
    return parser.parse_args()


def _sphinx(stage: Path, html: Path, doctrees: Path, only: list[str]) -> int:
    """Run Sphinx, and return how much it complained."""
    from sphinx.cmd.build import build_main

    os.environ.pop("BELTRAMI_DATA", None)
    options = [f"-Donly_pages={','.join(only)}", "-Dplot_gallery=0"] if only else []
    strict = ["-q", "-W", "--keep-going", "-n"]
    folders = ["-c", str(ROOT / "docs"), "-d", str(doctrees), str(stage), str(html)]
    return build_main(["-b", "html", *strict, *options, *folders])


def _stale_outputs(stage: Path, only: list[str]) -> Iterator[str]:
    """Yield where pages hold other outputs than came now; ``book/outputs.py`` writes them anew."""
    for results in sorted((stage / "executed").rglob("results.json")):
        page = results.parent.relative_to(stage / "executed").as_posix()
        origin = ROOT / "docs" / f"{page}.md"
        if origin.is_file() and (not only or page in only):
            yield from differences(
                origin.read_text("utf-8"), page, json.loads(results.read_text("utf-8"))
            )


def _forget_old_gallery(stage: Path) -> None:
    """Let the gallery run again where the package changed."""
    now, kept = hash_of_sources(ROOT / "src"), stage.parent / "gallery.key"
    if not kept.is_file() or kept.read_text() != now:
        shutil.rmtree(stage / "gallery", ignore_errors=True)
        kept.write_text(now)


def _n_blocks(stage: Path, only: list[str]) -> int:
    from book.blocks import blocks_of

    found = ((path.relative_to(stage).as_posix(), path) for path in stage.rglob("*.md"))
    pages = ((name.removesuffix(".md"), path.read_text("utf-8")) for name, path in found)
    return sum(len(blocks_of(text, name)) for name, text in pages if not only or name in only)


if __name__ == "__main__":
    sys.exit(main())
