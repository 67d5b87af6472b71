"""``beltrami studio``: a page on this machine on which people label and the data answer."""

import threading
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beltrami.cli import options as o
from beltrami.cli import partitions as parts
from beltrami.cli.speech import Voice, say
from beltrami.core.telling.stages import INTAKE

if TYPE_CHECKING:
    from beltrami.labelling.options import LearningOptions
    from beltrami.project import Project
    from beltrami.studio_server.guard.access import Access
    from beltrami.studio_server.guard.addresses import Address
    from beltrami.studio_server.part import Part
    from beltrami.tables import TableOptions


@o.with_table_options(min_classes=0)
def studio(
    source: o.Source,
    *,
    project: Annotated[
        Path | None, typer.Option("--project", help="Where labels are kept; NAME.beltrami.")
    ] = None,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Of the address; 0 finds a free one.")
    ] = 0,
    host: Annotated[
        str, typer.Option("--host", help="Whom to listen to; beyond this machine with --token.")
    ] = "127.0.0.1",
    user: Annotated[
        list[str] | None,
        typer.Option(
            "--user", help="Who labels; given again, several people with an address each."
        ),
    ] = None,
    token: Annotated[
        str | None, typer.Option("--token", help="Of the address, instead of a random one.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Open no page.")] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Look, change nothing.")] = False,
    table: "TableOptions",
    seed: o.Seed = 0,
    jobs: o.Jobs = None,
    config: o.Config = None,
    quiet: o.Quiet = False,
) -> None:
    """Open a page on which people label, and every label answers for the whole map.

    Labels are saved at once, in a project beside the data; the data are never changed. Ctrl-C
    ends it, and the same command goes on where it ended.

    Of a folder that `beltrami label` wrote for partitions the representatives are opened; the page
    says so, and how labels given there are used for all rows.

    Example: beltrami studio data.csv --label category
    """
    del config
    voice = Voice(is_quiet=quiet)
    users = tuple(dict.fromkeys(user or ["me"]))
    part = None
    with voice.work(*INTAKE):
        from beltrami.labelling.options import LearningOptions
        from beltrami.project import open_project
        from beltrami.project.record.events import FILE, check_person
        from beltrami.studio_server.guard.access import Access
        from beltrami.studio_server.part import Part
        from beltrami.studio_server.serving import check_host

        check_host(host, has_own_token=token is not None)
        access = Access.of(users, token)
        for name in users:
            check_person(
                name, f"nobody may be called {FILE!r}: the labels that stand in the data are"
            )
        if parts.is_answered(source):
            part = Part.of(parts.open_answered(source, table, seed, jobs), project)
            source, table, project = part.source, part.table, part.project
        opened = open_project(source, table, project, user=users[0], read_only=read_only)
        voice.tell([*opened.data.lines(), *opened.words, *([] if part is None else [part.about])])
    learning = LearningOptions(random_state=seed, n_jobs=jobs) if part is None else part.learning
    place = host, port
    _serve(opened, access, learning, place, part=part, voice=voice, is_shown=not no_browser)


def _serve(
    opened: "Project",
    access: "Access",
    learning: "LearningOptions",
    place: tuple[str, int],
    *,
    part: "Part | None",
    voice: Voice,
    is_shown: bool,
) -> None:
    """Serve until somebody ends it."""
    from beltrami.core.store import remember_usually
    from beltrami.studio_server.application import make_app
    from beltrami.studio_server.desk import Desk
    from beltrami.studio_server.serving import serve
    from beltrami.studio_server.wire.hub import Hub

    hub, users = Hub(), access.users
    desk = Desk(
        opened,
        hub,
        users,
        learning,
        is_read_only=opened.read_only,
        remembering=remember_usually,
        about="" if part is None else part.about,
        make=None if part is None else part.make,
    )
    host, port = place

    def announce(address: "Address") -> None:
        for name in users:
            if len(users) > 1:
                voice.tell([f"{name}:"])
            say(f"{address}/?token={access.token_of(name)}")
            if address.outside_url is not None:
                voice.tell([f"elsewhere: {address.outside_url}/?token={access.token_of(name)}"])
        voice.tell([f"labels are kept in {opened.path}; Ctrl-C ends the studio"])
        if is_shown:
            url = f"{address}/?token={access.token_of(users[0])}"
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    try:
        serve(make_app(desk, hub, access, host=host), host, port, announce)
    except KeyboardInterrupt:  # the usual end
        n = len(opened.state.labels)
        voice.tell([f"the studio has ended; {n:,} labels are in {opened.path}"])
    finally:
        desk.close()
