from book.outputs import differences, places_of, with_outputs, without_outputs

PAGE = """# Title

```python
print(1)
```

Words.

```sh
# hidden
touch file
```

```python
x = 2
```
"""
RESULTS = [{"printed": "1 row\n\nin 0.5 s"}, {"printed": "made"}, {"printed": ""}]


def told(text, results):
    return list(differences(text, "tutorial", results))


def test_outputs_stand_beneath_their_blocks_once():
    once = with_outputs(PAGE, "tutorial", RESULTS)
    assert "```\n\n```text printed\n1 row\n\nin 0.5 s\n```\n\nWords." in once
    assert once.count("text printed") == 1
    assert with_outputs(once, "tutorial", RESULTS) == once


def test_what_is_no_longer_printed_goes():
    once = with_outputs(PAGE, "tutorial", RESULTS)
    assert with_outputs(once, "tutorial", [{"printed": ""}] * 3) == PAGE


def test_the_build_takes_the_page_without_them_line_by_line():
    once = with_outputs(PAGE, "tutorial", RESULTS)
    bare = without_outputs(once, "tutorial")
    assert "1 row" not in bare
    lines = [place.block.line for place in places_of(once, "tutorial")]
    assert [place.block.line for place in places_of(bare, "tutorial")] == lines


def test_another_output_is_told_and_another_time_is_not():
    once = with_outputs(PAGE, "tutorial", RESULTS)
    assert told(PAGE, RESULTS) == []  # a page without outputs promises none
    assert told(once, [{"printed": "1 row\n\nin 12.25 s"}, *RESULTS[1:]]) == []
    (fault,) = told(once, [{"printed": "2 rows\n\nin 0.5 s"}, *RESULTS[1:]])
    assert "line 4" in fault
    assert "-1 row" in fault
    assert "+2 rows" in fault
    assert len(told(once, [*RESULTS[:2], {"printed": "new"}])) == 1


def test_a_column_of_seconds_may_differ_and_others_not():
    table = "  name  share    s\n  one     0.5  0.1\nshare 0.5"
    once = with_outputs(PAGE, "tutorial", [{"printed": table}, *RESULTS[1:]])
    slower, other = table.replace("0.1", "12.3"), table.replace("share 0.5", "share 0.6")
    assert told(once, [{"printed": slower}, *RESULTS[1:]]) == []
    assert told(once, [{"printed": table.replace("0.5  0.1", "0.6  0.1")}, *RESULTS[1:]])
    assert told(once, [{"printed": other}, *RESULTS[1:]])


def test_what_varies_is_written_and_not_compared():
    once = with_outputs(PAGE, "tutorial", RESULTS).replace("text printed", "text printed varies")
    other = [{"printed": "else"}, *RESULTS[1:]]
    assert told(once, other) == []
    assert "```text printed varies\nelse\n```" in with_outputs(once, "tutorial", other)


def test_printed_fences_get_longer_marks():
    page = with_outputs(PAGE, "tutorial", [{"printed": "```\ncode\n```"}, *RESULTS[1:]])
    assert "````text printed\n```\ncode\n```\n````" in page
    assert with_outputs(page, "tutorial", RESULTS) == with_outputs(PAGE, "tutorial", RESULTS)
