"""``beltrami doctor``: versions, threads, memory, devices, and what is missing."""

from beltrami.cli import options as o


def doctor(as_json: o.AsJson = False) -> None:
    """Say what this installation has, and what is missing.

    Example: beltrami doctor
    """
    from beltrami.report.doctor import examined

    found = examined()
    width = max(len(name) for name in found)
    lines = [f"{name:<{width}}  {value}" for name, value in found.items()]
    o.Voice(as_json).result(lines, found)
