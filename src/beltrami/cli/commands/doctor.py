"""``beltrami doctor``: versions, threads, memory, devices, what is missing, and what is kept."""

import time
from typing import Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli.speech import Voice
from beltrami.core.telling.progress import enter_stage
from beltrami.core.telling.stages import Stage


def doctor(
    cache: Annotated[
        bool, typer.Option("--cache", help="Show what is kept between commands instead.")
    ] = False,
    clear_cache: Annotated[
        bool, typer.Option("--clear-cache", help="Remove what is kept between commands.")
    ] = False,
    warm: Annotated[
        bool, typer.Option("--warm", help="Compile what commands need, so that none waits for it.")
    ] = False,
    as_json: o.AsJson = False,
) -> None:
    """Say what this installation has, and what is missing.

    Commands keep the graph, the eigenbasis and the map of a file, and the influence of its labels,
    in a folder of their own, so that the next command on the same file need not compute them.
    BELTRAMI_CACHE names another folder, or none where it is empty, and BELTRAMI_CACHE_GIB its
    limit, 4 if not set.

    Example: beltrami doctor --cache
    """
    voice = Voice(as_json)
    if cache or clear_cache:
        _show_cache(voice, clear=clear_cache)
        return
    if warm:
        _warm(voice)
        return
    with voice.work(Stage.INSPECT):
        from beltrami.report.doctor import describe_installation

        facts = describe_installation()
    width = max(len(name) for name in facts)
    lines = [f"{name:<{width}}  {value}" for name, value in facts.items()]
    voice.result(lines, facts)


def _warm(voice: Voice) -> None:
    with voice.work(Stage.START, Stage.COMPILE):
        from beltrami.labelling.warming import warm_up

        enter_stage(Stage.COMPILE)
        seconds = warm_up()
    voice.result([f"compiled in {seconds:.1f} s"], {"seconds": seconds})


def _show_cache(voice: Voice, *, clear: bool) -> None:
    from beltrami.core.store.folder import in_mib, usual_store
    from beltrami.report.doctor import describe_store, store_lines

    store = usual_store()
    gone = store.clear() if store is not None and clear else []
    facts = describe_store(store)
    lines = store_lines(facts, time.time())
    if clear:
        facts["removed"] = {"entries": len(gone), "bytes": sum(one.n_bytes for one in gone)}
        size = in_mib(facts["removed"]["bytes"])
        lines.insert(0, f"removed  {len(gone)} entries, {size}")
    voice.result(lines, facts)
