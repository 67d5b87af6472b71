"""``beltrami doctor``: versions, threads, memory, devices, and what is missing."""

from beltrami.cli import options as o
from beltrami.cli.speech import Voice
from beltrami.core.stages import Stage


def doctor(as_json: o.AsJson = False) -> None:
    """Say what this installation has, and what is missing.

    Example: beltrami doctor
    """
    voice = Voice(as_json)
    with voice.work(Stage.INSPECT):
        from beltrami.report.doctor import describe_installation

        facts = describe_installation()
    width = max(len(name) for name in facts)
    lines = [f"{name:<{width}}  {value}" for name, value in facts.items()]
    voice.result(lines, facts)
