"""One writer a project: a lock that the system lets go of, however the process ends.

It is on a file of its own beside the project. Were it on the project itself, closing its descriptor
would drop the locks that SQLite holds there.
"""

import json
import os
from pathlib import Path

from beltrami.core.locks import FileLock, LockHeldError, NoLocksError
from beltrami.project.errors import ProjectError, ProjectInUseError
from beltrami.project.record.events import now


def lock_project(project: Path, user: str) -> FileLock:
    """Take the right to write a project, or raise with who has it.

    Where the system has no locks, the numbers of events keep two writers from writing over each
    other.
    """
    path = lock_file(project)
    who = {"process": os.getpid(), "user": user, "since": now()}
    try:
        return FileLock.take(path, json.dumps(who).encode())
    except LockHeldError as error:
        raise ProjectInUseError(_in_use(project, error.holder)) from error
    except NoLocksError as error:
        raise ProjectError(
            f"{str(path)!r} cannot be locked ({error.strerror or error}), so two processes could "
            "write the project at once. Put it on a disk of this machine, or open it with "
            "--read-only."
        ) from error
    except OSError as error:
        raise ProjectError(
            f"the project {str(project)!r} cannot be written ({error.strerror or error}). Choose "
            "a folder that may be written to with --project, or open a project that is there with "
            "--read-only."
        ) from error


def lock_file(project: Path) -> Path:
    """Return the file that is locked while a project is written."""
    return project.with_name(f"{project.name}-lock")


def _in_use(project: Path, holder: bytes) -> str:
    try:
        who = json.loads(holder)
        said = f" (process {int(who['process'])}, user {who['user']!r}, since {who['since'][:19]})"
    except (ValueError, TypeError, KeyError):
        said = ""
    return (
        f"the project {str(project)!r} is being written by another process{said}, and two would "
        "write over each other. Stop that one, or open the project with --read-only."
    )
