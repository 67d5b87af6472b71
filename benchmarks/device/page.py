"""The page of what a device saves."""

from typing import Any

from benchmarks.common.pages import table, versions_line


def render(record: dict[str, Any]) -> str:
    """Return the page."""
    header = ("points", "stage", "device s", "processor s", "same", "of the arithmetic limit")
    lines = [
        (
            row["problem"],
            row["stage"],
            f"{row['median_s']:.2f}",
            f"{row['processor_median_s']:.2f}" if "processor_median_s" in row else "not timed",
            _agreement(row),
            f"{100 * row['share_of_arithmetic_limit']:.1f}%"
            if "share_of_arithmetic_limit" in row
            else "",
        )
        for row in record["rows"]
    ]
    device, limits = record["device"], record["limits"]
    about = (
        f"{device['device']}, torch {device['torch']}; at best {limits['bytes_per_s'] / 1e12:.1f} "
        f"TB/s and {limits['float32_operations_per_s'] / 1e12:.0f} TFLOP/s of float32. The "
        f"processor of the same machine has {record['circumstances']['cores']} cores. Median of "
        f"{' or '.join(sorted({str(len(row['seconds'])) for row in record['rows']}))} round(s) "
        "after one."
    )
    versions = versions_line(record["circumstances"])
    return f"# A device beside the processor\n\n{about}\n\n{table(header, lines)}\n{versions}\n"


def _agreement(row: dict[str, Any]) -> str:
    """Say how near the answers are."""
    if "share_of_same_neighbors" in row:
        return f"{100 * row['share_of_same_neighbors']:.2f}% of neighbours"
    if "share_of_same_labels" in row:
        return f"{100 * row['share_of_same_labels']:.2f}% of labels"
    if "largest_relative_value_gap" in row:
        return f"values to {row['largest_relative_value_gap']:.0e}"
    return ""
