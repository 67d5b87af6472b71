"""Made-up rows for the studio's page: texts, a table or pictures, and a place in the plane each."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

HOSTILE = (
    "<script>document.body.dataset.owned='yes'</script>"
    "<img src=x onerror=\"document.body.dataset.owned='yes'\"><b>bold?</b>"
)
"""What must stay text."""

HOSTILE_ROW = 7
LONG_ROW = 300

TOPICS = {
    "gardens": "tulip compost hedge seedling pruning orchard mulch trellis pollen lawn",
    "sailing": "mast harbour tide spinnaker keel anchor regatta breeze hull rudder",
    "kitchen": "oven saffron dough simmer ladle garlic pastry broth whisk pepper",
    "railways": "signal carriage sleeper platform timetable siding locomotive gauge",
    "weather": "drizzle isobar frost gale forecast humidity thunder cloud sleet",
}
_GLUE = "the and after before under with a of to near over without their our while"
CITIES = ("Aberdeen", "Bath", "Cardiff", "Durham", "Exeter")


@dataclass(frozen=True, eq=False)
class FakeRows:
    """Rows of one kind, with the class each truly has and where it lies."""

    kind: str
    truth: NDArray[np.int64]
    places: NDArray[np.float64]
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    table: dict[str, NDArray[Any]]
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.truth)

    def cells(self, row: int) -> list[dict[str, str | None]]:
        """Return the columns of a row as an `Item` has them."""
        cells = []
        for name, values in self.table.items():
            value = values[row]
            unusual = None
            if values.dtype.kind == "f":
                share = float(np.mean(values < value))
                unusual = f"higher than {share:.0%} of all rows" if share > 0.985 else None
                value = f"{value:,.0f}"
            cells.append({"name": name, "value": str(value), "unusual": unusual})
        return cells

    def found(self, text: str) -> list[int]:
        """Return the rows whose id, text or categories contain a text."""
        wanted = text.casefold()
        words = [values for values in self.table.values() if values.dtype.kind != "f"]
        return [
            row
            for row in range(len(self))
            if wanted in self.ids[row].casefold()
            or wanted in self.texts[row].casefold()
            or any(wanted in str(values[row]).casefold() for values in words)
        ]


@cache
def fake_rows(kind: str, n: int = 2000, seed: int = 0) -> FakeRows:
    """Return `n` rows in five blobs, one hostile and one long; the last fiftieth is an island."""
    random = np.random.default_rng(seed)
    classes = tuple(TOPICS)
    truth = random.integers(len(classes), size=n)
    angle = 2 * np.pi * np.arange(len(classes)) / len(classes)
    centres = 0.26 * np.column_stack([np.cos(angle), np.sin(angle)]) + (0.5, 0.42)
    places = centres[truth] + random.normal(0, 0.065, size=(n, 2))
    places[-n // 50 :] = random.normal((0.93, 0.8), 0.012, size=(n // 50, 2))
    places = np.clip(places, (0, 0), (1, 0.84))
    texts = [_text(random, classes[code]) for code in truth] if kind == "text" else [""] * n
    table: dict[str, NDArray[Any]] = {}
    if kind == "table":
        table = {
            "age": np.round(random.normal(30 + 8 * truth, 6).clip(16, 99)),
            "income": np.round(random.lognormal(10 + 0.2 * truth, 0.4)),
            "city": np.asarray(CITIES, dtype=object)[(truth + (random.random(n) < 0.2)) % 5],
            "remark": np.asarray([_text(random, classes[code])[:60] for code in truth], object),
        }
        table["remark"][HOSTILE_ROW] = HOSTILE
    if kind == "text":
        texts[HOSTILE_ROW] = HOSTILE
        texts[LONG_ROW] = "\n\n".join(_text(random, classes[truth[LONG_ROW]]) for _ in range(40))
        table = {"length": np.asarray([float(len(text)) for text in texts])}
    return FakeRows(
        kind, truth, places, tuple(f"r{row:04d}" for row in range(n)), tuple(texts), table, classes
    )


def _text(random: np.random.Generator, topic: str) -> str:
    own, glue, n = TOPICS[topic].split(), _GLUE.split(), int(random.integers(9, 45))
    picks = zip(random.random(n) < 0.4, random.integers(1000, size=n), strict=True)
    words = [
        own[place % len(own)] if is_own else glue[place % len(glue)] for is_own, place in picks
    ]
    return " ".join(words).capitalize() + "."


def draw_picture(rows: FakeRows, row: int, side: int) -> bytes:
    """Return a shape by class on a ground by row, as PNG."""
    import io

    from PIL import Image, ImageDraw

    random = np.random.default_rng(row)
    ground = tuple(int(value) for value in random.integers(200, 250, 3))
    ink = tuple(int(value) for value in random.integers(20, 150, 3))
    image = Image.new("RGB", (48, 48), ground)
    pen = ImageDraw.Draw(image)
    left, top = random.integers(6, 14, 2)
    right, bottom = 48 - random.integers(6, 14, 2)
    box = (int(left), int(top), int(right), int(bottom))
    middle = (box[0] + box[2]) // 2
    shapes = (
        lambda: pen.ellipse(box, fill=ink),
        lambda: pen.rectangle(box, fill=ink),
        lambda: pen.polygon([(middle, box[1]), (box[2], box[3]), (box[0], box[3])], fill=ink),
        lambda: pen.ellipse(box, outline=ink, width=6),
        lambda: (
            pen.line(box, fill=ink, width=6),
            pen.line((box[2], box[1], box[0], box[3]), fill=ink, width=6),
        ),
    )
    shapes[int(rows.truth[row])]()
    file = io.BytesIO()
    image.resize((side, side), Image.Resampling.LANCZOS).save(file, "PNG")
    return file.getvalue()
