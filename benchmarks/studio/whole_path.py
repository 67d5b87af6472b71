"""A person's whole path on the page, in a real browser: label, doubt, prove, take the labels away.

A folder of 1,797 handwritten digits, of which 200 have a label, 5 % of them wrong. A person who
knows the truth answers 40 questions by keys, two of them wrongly, goes through the labels that look
wrong, lets 5 % be wrong, draws rows and says blindly what they are until the page says that they
may stop, and exports. All of it by keys and clicks on what the page shows; the server is asked
apart from the page only to compare with the truth.

    python -m benchmarks.studio.whole_path
    python -m benchmarks.studio.whole_path --film out/path.webp
"""

import csv
import io
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits
from tests.support.chromium import open_browser, open_page

from benchmarks.common.command import contest_parser, results_folder
from benchmarks.common.facts import circumstances, warn_if_busy
from benchmarks.common.pages import table, versions_line, write_results
from benchmarks.studio.process import Running, running
from benchmarks.studio.review import WRONG_SHARE

STEM = "studio_whole_path"
N_ROWS, N_LABELS, N_ANSWERS = 1797, 200, 40
RISK = "At most 5 % wrong"
_LOOK_EVERY = 4
_FILM_WIDTH, _FRAME_MS = 720, 450
_PATIENCE_MS = 60_000


@dataclass
class Person:
    """Somebody before the page who knows what each row is.

    Attributes
    ----------
    page : Page
        Of the browser.
    truth : ndarray of shape (n,)
        What the rows are.
    frames : list of bytes
        What was seen, as pictures.
    words : list of str
        What was done, with the seconds since the beginning.
    pictures : Path or None
        Where four pictures of the way go.
    """

    page: Any
    truth: np.ndarray
    pictures: Path | None = None
    frames: list[bytes] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    began: float = field(default_factory=time.perf_counter)

    def look(self) -> None:
        """Keep what is on the screen."""
        self.frames.append(self.page.screenshot(type="jpeg", quality=70))

    def picture(self, name: str) -> None:
        """Keep a picture of this part of the way, the first time that it is seen."""
        if self.pictures is not None and not (path := self.pictures / f"path-{name}.png").exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            shot = Image.open(io.BytesIO(self.page.screenshot()))
            shot.convert("RGB").quantize(256, kmeans=2).save(path, optimize=True)

    def say(self, words: str) -> None:
        """Write down what was done."""
        self.words.append(f"{time.perf_counter() - self.began:6.1f} s  {words}")
        print(self.words[-1], flush=True)
        self.look()

    def open_view(self, name: str) -> None:
        """Go to a view."""
        self.page.locator(f'a[href="#{name}"]').click()

    def press(self, buttons: str, name: str) -> None:
        """Press the key that the button of a class shows, or choose the class from all."""
        shown = self.page.locator(f'{buttons} button[title="{name}"] kbd')
        if shown.count():
            self.page.keyboard.press(shown.first.inner_text().lower())
            return
        self.page.keyboard.press("c")
        self.page.keyboard.type(name)
        self.page.keyboard.press("Enter")

    def row_of(self, selector: str) -> int:
        """Return the row that is shown."""
        shown = self.page.locator(f"{selector}[data-row]")
        return int(shown.get_attribute("data-row", timeout=_PATIENCE_MS))

    def wait_for_another(self, selector: str, row: int) -> None:
        """Wait until another row is shown, or none."""
        other = self.page.locator(f'{selector}:not([data-row="{row}"])')
        other.wait_for(state="attached", timeout=_PATIENCE_MS)

    def answer_questions(self, count: int, n_wrong: int) -> None:
        """Answer what the queue asks, the last few wrongly."""
        self.open_view("queue")
        for place in range(count):
            row = self.row_of("#item")
            name = str(self.truth[row])
            if place >= count - n_wrong:
                name = str((int(name) + 1) % 10)
            if place % _LOOK_EVERY == 0:
                self.look()
            if place == count // 2:
                self.picture("queue")
            self.press("#answers", name)
            self.wait_for_another("#item", row)
        self.settle()

    def review_labels(self) -> list[tuple[int, bool]]:
        """Go through the labels that look wrong; return each row, and whether it was wrong."""
        self.open_view("review")
        self.page.locator("#doubt-kinds button").first.wait_for(timeout=_PATIENCE_MS)
        seen: list[tuple[int, bool]] = []
        labels = self.page.locator('#doubt-kinds button[data-name="kind:label"]:not([disabled])')
        while labels.count():
            if labels.get_attribute("aria-pressed") != "true":
                labels.click()
            doubt = self.page.locator('#doubt[data-kind="label"]')
            doubt.wait_for(timeout=_PATIENCE_MS)
            row = int(doubt.get_attribute("data-row"))
            given = self.page.evaluate("(row) => window.__labels[row]", row)
            is_wrong = given != str(self.truth[row])
            seen.append((row, is_wrong))
            self.look()
            self.picture("review")
            if is_wrong:
                self.press("#doubt-answers", str(self.truth[row]))
            else:
                self.page.keyboard.press("k")
            self.wait_for_another("#doubt", row)
            self.settle()
            time.sleep(0.3)  # the list is asked for again
        return seen

    def allow(self, words: str) -> None:
        """Move the slider of risk to where it says these words."""
        self.open_view("audit")
        self.page.locator("#risk-words:not(:empty)").wait_for(timeout=_PATIENCE_MS)
        self.page.locator("#risk").focus()
        for _ in range(20):
            if words in self.page.locator("#risk-words").inner_text():
                break
            self.page.keyboard.press("ArrowLeft")
        time.sleep(1.0)  # where the slider rests is meant
        self.settle()

    def prove(self, most_rounds: int = 20) -> tuple[int, str]:
        """Draw and answer rounds until the page says that one may stop; return what it says."""
        n_answers = 0
        for _ in range(most_rounds):
            self.page.get_by_role("button", name="Draw rows to check").click()
            self.page.locator("#audit-card[data-row]").wait_for(timeout=_PATIENCE_MS)
            while self.page.locator("#audit-card[data-row]").count():
                row = self.row_of("#audit-card")
                if n_answers % (4 * _LOOK_EVERY) == 0:
                    self.look()
                if n_answers == _LOOK_EVERY:
                    self.picture("audit")
                self.press("#audit-answers", str(self.truth[row]))
                self.wait_for_another("#audit-card", row)
                n_answers += 1
            self.page.locator("#audit-left:not(:empty)").wait_for(timeout=_PATIENCE_MS)
            sentence = self.page.locator("#audit-sentence").inner_text()
            self.say(f"{n_answers} blind answers: {sentence}")
            if self.page.locator("#audit-sentence.proved").count():
                self.picture("proof")
                break
        return n_answers, sentence

    def settle(self) -> None:
        """Wait until the map has all labels."""
        self.page.locator('body[data-behind="0"]').wait_for(timeout=_PATIENCE_MS)

    def export(self) -> list[dict[str, str]]:
        """Take the file that the page hands out."""
        with self.page.expect_download(timeout=_PATIENCE_MS) as waiting:
            self.page.locator("#export").click()
        text = Path(waiting.value.path()).read_text(encoding="utf-8")
        return list(csv.DictReader(io.StringIO(text)))


def write_pictures(folder: Path, seed: int) -> dict[str, str]:
    """Write pictures, the labelled ones into folders of their labels; return what each is."""
    digits, rng = load_digits(), np.random.default_rng(seed)
    labelled = rng.choice(N_ROWS, N_LABELS, replace=False)
    wrong = set(rng.choice(labelled, round(WRONG_SHARE * N_LABELS), replace=False).tolist())
    named = set(labelled.tolist())
    truth = {}
    for row, (image, target) in enumerate(zip(digits.images, digits.target, strict=True)):
        label = (target + rng.integers(1, 10)) % 10 if row in wrong else target
        place = folder / str(label) if row in named else folder
        place.mkdir(parents=True, exist_ok=True)
        grey = Image.fromarray((255 - image * 255 / 16).astype(np.uint8))
        grey.resize((64, 64), Image.Resampling.BICUBIC).save(place / f"digit{row:04d}.png")
        truth[f"digit{row:04d}"] = str(target)
    return truth


def go(studio: Running, known: Mapping[str, str], pictures: Path | None) -> tuple[Person, Any]:
    """Go the whole path, and return what was seen and found."""
    with open_browser() as browser:
        size = {"width": 1280, "height": 800}
        with open_page(browser, viewport=size, accept_downloads=True) as page:
            page.goto(studio.url)
            studio.wait_until_ready()
            rows = _rows_of(studio)
            truth = np.array([known[Path(row["id"]).stem] for row in rows])
            one = Person(page, truth, pictures)
            one.say(f"{len(truth):,} rows, {N_LABELS} labels of which some are wrong")
            one.answer_questions(N_ANSWERS, round(WRONG_SHARE * N_ANSWERS))
            one.say(f"{N_ANSWERS} questions answered by keys")
            rows = enumerate(_rows_of(studio))
            labels = {row: told["label"] for row, told in rows if told["source"] == "human"}
            wrong = {row for row, label in labels.items() if label != str(truth[row])}
            page.evaluate("(labels) => { window.__labels = labels; }", labels)
            seen = one.review_labels()
            found = {row for row, is_wrong in seen if is_wrong}
            one.say(f"{len(seen)} labels looked at again, {len(found)} of {len(wrong)} wrong found")
            one.allow(RISK)
            n_answers, sentence = one.prove()
            rows = one.export()
            one.say(f"exported {len(rows):,} rows")
    return one, {
        "n_wrong": len(wrong),
        "n_looked_at": len(seen),
        "n_found": len(found),
        "n_blind": n_answers,
        "sentence": sentence,
    } | _compare(studio, rows, truth)


def _rows_of(studio: Running) -> list[dict[str, str]]:
    """Return all rows as they would be exported now."""
    return list(csv.DictReader(io.StringIO(studio.ask("/api/labels").decode())))


def _compare(studio: Running, rows: Sequence[Mapping[str, str]], truth: Any) -> dict[str, Any]:
    """Return how right the exported labels are, beside what was proved of them."""
    said = np.array([one["label"] or one["guess"] for one in rows])
    sources = np.array([one["source"] for one in rows])
    is_right, is_ours = said == truth, sources == "propagated"
    proof = studio.ask("/api/audit")["certificate"]
    return {
        "accuracy": float(is_right[sources != "human"].mean()),
        "n_accepted": int(is_ours.sum()),
        "accepted_right": float(is_right[is_ours].mean()),
        "proved": None if proof is None else proof["lower"],
        "n_left": int((sources == "abstained").sum()),
        "still_wrong": int((~is_right[sources == "human"]).sum()),
    }


def film(frames: Sequence[bytes], path: Path) -> None:
    """Write what was seen as one moving picture."""
    images = [Image.open(io.BytesIO(one)).convert("RGB") for one in frames]
    height = round(images[0].height * _FILM_WIDTH / images[0].width)
    small = [one.resize((_FILM_WIDTH, height), Image.Resampling.LANCZOS) for one in images]
    path.parent.mkdir(parents=True, exist_ok=True)
    times = [_FRAME_MS] * (len(small) - 1) + [8 * _FRAME_MS]
    small[0].save(path, save_all=True, append_images=small[1:], duration=times, loop=0, quality=45)


def page_of(record: Mapping[str, Any]) -> str:
    """Return the page of results."""
    found = record["found"]
    lines = [
        ["wrong labels, of all given", f"{found['n_wrong']} of {N_LABELS + N_ANSWERS}"],
        ["labels looked at again", str(found["n_looked_at"])],
        ["wrong ones found among them", str(found["n_found"])],
        ["wrong labels left among those of people", str(found["still_wrong"])],
        ["rows without a label of a person that are right", f"{found['accuracy']:.2%}"],
        [
            "labels of ours accepted, left to the person",
            f"{found['n_accepted']}, {found['n_left']}",
        ],
        ["blind answers", str(found["n_blind"])],
        ["proved of the accepted, at 95 % confidence", f"{found['proved']:.1%}"],
        ["truth of the accepted", f"{found['accepted_right']:.2%}"],
    ]
    steps = "\n".join(record["words"])
    return (
        "# A person's whole path on the page\n\n"
        f"{N_ROWS:,} digits, {N_LABELS} labels of which {WRONG_SHARE:.0%} are wrong, in Chromium: "
        f"{N_ANSWERS} questions answered by keys, two of them wrongly; labels that look wrong gone "
        "through; 5 % allowed to be wrong; blind cards until the page says that one may stop; "
        "export.\n\n"
        f"{table(['', 'found'], lines)}\n"
        f"The page said: *{found['sentence']}*\n\n```text\n{steps}\n```\n\n"
        f"{versions_line(record['circumstances'])}\n"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Go the path once, and write the results."""
    parser = contest_parser("studio.whole_path", __doc__)
    parser.add_argument("--film", type=Path, default=None, help="where a moving picture goes")
    parser.add_argument("--pictures", type=Path, default=None, help="where four pictures go")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    warn_if_busy()
    with tempfile.TemporaryDirectory() as folder:
        source, cache = Path(folder) / "digits", Path(folder) / "cache"
        truth = write_pictures(source, chosen.seed)
        with running(source, "--label", "folder", cache=cache) as studio:
            one, found = go(studio, truth, chosen.pictures)
    record = {"circumstances": circumstances(), "found": found, "words": one.words}
    write_results(results_folder(chosen.out, toy=False), STEM, record, page_of(record))
    if chosen.film is not None:
        film(one.frames, chosen.film)


if __name__ == "__main__":
    main()
