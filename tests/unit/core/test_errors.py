import pytest

from beltrami.core import errors


def test_every_error_and_warning_is_caught_by_one_name() -> None:
    classes = [value for value in vars(errors).values() if isinstance(value, type)]
    assert len(classes) > 10
    for each in classes:
        base = errors.BeltramiWarning if issubclass(each, Warning) else errors.BeltramiError
        assert issubclass(each, base)
        assert each.__doc__


@pytest.mark.parametrize(
    ("error", "builtin", "facts"),
    [
        (
            errors.DisconnectedGraphError(n_components=3, smallest=2, recipe="KnnGraph(5)"),
            ValueError,
            ["KnnGraph(5)", "3 components", "2 point(s)", "connect='mst'"],
        ),
        (
            errors.MemoryBudgetError(
                what="the kernel matrix",
                needed_bytes=3 * 2**30,
                budget_bytes=2**29,
                instead="Take landmarks.",
            ),
            MemoryError,
            ["the kernel matrix", "3.00 GiB", "0.50 GiB", "Take landmarks."],
        ),
        (
            errors.CorruptDataError(path="a.gz", reason="bad header"),
            OSError,
            ["'a.gz'", "bad header", "fresh copy"],
        ),
    ],
)
def test_messages_hold_the_numbers_and_what_to_do(
    error: Exception, builtin: type[Exception], facts: list[str]
) -> None:
    assert isinstance(error, builtin)
    for fact in facts:
        assert fact in str(error)
