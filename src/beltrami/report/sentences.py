"""The sentences about a result, which the command, the page and notebooks print alike."""

from beltrami.front_door.report import FitReport, percent


def headline(counts: dict[str, int]) -> str:
    """Say how many rows have a label now, and how many are left."""
    left = counts["abstained"] + counts["unreached"]
    if not counts["labelled"] and not left:
        return f"All {counts['rows']:,} rows had a label."
    done = count_rows(counts["labelled"]) if counts["labelled"] else "No row"
    rest = f"{left:,}" if left else "none"
    return f"{done} labelled from {_count_labels(counts['given'])}, {rest} left to you."


def evidence(
    counts: dict[str, int], expected: float, risk: float | None, report: FitReport
) -> tuple[str, ...]:
    """Say what is estimated of how right the labels are, and what was tested.

    `expected` is the mean confidence of the rows that we labelled.
    """
    if counts["given"] == counts["rows"]:
        return ()
    sentences: list[str] = []
    if counts["labelled"]:
        estimate = f"We expect {percent(expected)} of them to be right"
        if risk is not None:
            estimate = f"You asked for at most {100 * risk:.3g} % wrong"
        sentences.append(f"{estimate}; that is our estimate, not a measurement.")
    elif risk is not None and counts["abstained"]:
        sentences.append(f"No row is sure enough for at most {100 * risk:.3g} % wrong.")
    if report.n_held_out:
        low, high = report.bounds
        sentences.append(
            f"Tested on {report.n_held_out:,} of your labels, each hidden in turn, answers "
            f"were right {percent(report.held_out_accuracy)} of the time ({100 * low:.0f} to "
            f"{percent(high)})."
        )
    elif counts["labelled"]:
        sentences.append("Nothing was tested: no class has two labels, so none could be hidden.")
    return tuple(sentences)


def count_rows(count: int) -> str:
    """Return a number of rows in words."""
    return "1 row" if count == 1 else f"{count:,} rows"


def _count_labels(count: int) -> str:
    return "your 1 label" if count == 1 else f"your {count:,} labels"


def pieces_sentence(count: int) -> str:
    """Say what it means that the rows fall into so many pieces."""
    return (
        f"the rows fall into {count:,} pieces, joined where they come closest: what is said across "
        "such a bridge is a guess. Label some rows in each piece."
    )
