from book.blocks import blocks_of, fences_of

PAGE = """# Title

```python
# alt: a line
x = 1
```

```sh
# hidden
touch file
```

```text
not run
```
"""


def test_blocks_know_their_language_and_line():
    found = [(block.language, block.line) for block in blocks_of(PAGE, "guides/text")]
    assert found == [("python", 4), ("sh", 9)]


def test_words_for_figures_are_not_shown():
    block = blocks_of(PAGE, "guides/text")[0]
    assert block.alt == ["a line"]
    assert block.shown == "x = 1"


def test_a_first_line_hides_a_block():
    assert [block.is_hidden for block in blocks_of(PAGE, "tutorial")] == [False, True]


def test_pages_from_elsewhere_are_not_run():
    assert blocks_of(PAGE, "reproductions/thesis-3.1") == []
    assert len(fences_of(PAGE)) == 3


def test_the_shell_lines_of_the_readme_are_not_run():
    assert [block.language for block in blocks_of(PAGE, "project/readme")] == ["python"]
