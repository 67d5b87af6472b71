import json

import pytest

from beltrami.core.spelling import spell_out


@pytest.mark.parametrize("text", ["", "plain", "été 名前 עברית 👍🏽", "a\tb\nc", "\u200d\u00a0"])
def test_text_of_any_language_stays(text: str) -> None:
    assert spell_out(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", r"\u001b[31m"),
        ("\x1b]0;title\x07", r"\u001b]0;title\u0007"),
        ("a\rb\x00\x7f", r"a\u000db\u0000\u007f"),
        ("\x9b31m", r"\u009b31m"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("odd\udce9", r"odd\udce9"),
    ],
)
def test_what_commands_a_terminal_is_written_as_its_code(text: str, shown: str) -> None:
    assert spell_out(text) == shown


def test_json_that_is_spelled_out_says_the_same() -> None:
    record = {"a\x9b31m": ["\u202e\x7f\x1b\udcff", "b\tc\n"]}
    text = spell_out(json.dumps(record, ensure_ascii=False, indent=2))
    assert json.loads(text) == record
    assert "\x9b" not in text
