"""Text of a user's that is shown: a name enters, one that commands nothing leaves."""

import re

# Control characters, the marks that turn the direction of writing, and halves of characters,
# which stand for bytes of a file name that are no UTF-8.
_COMMANDS = "\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_HIDDEN = re.compile(f"(?![\t\n])[{_COMMANDS}]")


def spell_out(text: str) -> str:
    r"""Return a text in which characters that a terminal would obey are written as their codes.

    Names of files, columns, classes and rows may hold anything. Tabs and line ends stay. The codes
    are those of JSON, so that JSON stays the same JSON.

    Examples
    --------
    >>> from beltrami.core.spelling import spell_out
    >>> print(spell_out("a\x1b[31mb"))
    a\u001b[31mb
    """
    return _HIDDEN.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def is_utf8(name: str) -> bool:
    """Say whether the name of a file can be written in UTF-8."""
    return not any("\ud800" <= character <= "\udfff" for character in name)
