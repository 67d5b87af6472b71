"""The widget in a real Jupyter Lab and a real marimo: drawn, drawn around, labelled, read back.

Each host is started headless on this machine, with a table of 1,797 scans of digits, and driven in
the Chromium of the system, once light and once dark. A second cell reads the traits that the page
has changed. In Jupyter Lab the kernel is restarted at the end, and the map must say that it is
alone; in marimo the label is taken back, and the cell that depends on it must run again. What is
seen is saved as pictures.

Run: python -m benchmarks.studio.notebooks --pictures FOLDER
It needs jupyterlab, marimo, anywidget and playwright.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, sync_playwright
from tests.support.browser import find_browser

FLAGS = ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--force-color-profile=srgb")
SIZE = {"width": 1180, "height": 1000}
PATIENCE_MS = 180_000

MAKE = """import beltrami as bt
import pandas as pd
digits = bt.load_dataset("digits")
names = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
frame = pd.DataFrame({"scan": [f"page {k // 40}, <b>no. {k % 40}</b>" for k in range(1797)]})
frame["ink"] = digits.points.sum(axis=1).astype(int)
frame["digit"] = [names[n] if k < 60 and n != 6 else None for k, n in enumerate(digits.targets)]
"""
OPEN = 'bt.LabelWidget(frame, label="digit", embeddings=digits.points)'
READ = (
    'f"LABELS {len(widget.labels)} SIX {[*widget.labels.values()].count(names[6])} '
    'SELECTED {len(widget.selection)}"'
)
GIVEN = 55
"""Labels in the table."""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def running(command: list[str], folder: Path, url: str) -> Iterator[None]:
    """Run a server in a folder until the block ends; it must answer within a minute."""
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=os.environ)
    try:
        end = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(url, timeout=2).read(1)
                break
            except OSError:
                if time.monotonic() > end or process.poll() is not None:
                    raise SystemExit((folder / "server.log").read_text()) from None
                time.sleep(0.3)
        yield
    finally:
        process.terminate()
        process.wait(20)


def write_ipynb(path: Path) -> None:
    """Write the notebook for Jupyter Lab."""
    cells = [f"{MAKE}widget = {OPEN}\nwidget", f"print({READ})"]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = {
        "cells": [
            {
                "cell_type": "code",
                "id": f"cell-{k}",
                "source": text,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for k, text in enumerate(cells)
        ],
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.write_text(json.dumps(made))


def write_marimo(path: Path) -> None:
    """Write the notebook for marimo: a cell that opens the map, and one that depends on it."""
    made = MAKE.replace("\n", "\n    ").rstrip()
    path.write_text(
        "import marimo\n\napp = marimo.App()\n\n\n"
        "@app.cell\ndef _():\n    import marimo as mo\n    return (mo,)\n\n\n"
        f"@app.cell\ndef _(mo):\n    {made}\n    widget = mo.ui.anywidget({OPEN})\n    widget\n"
        "    return names, widget\n\n\n"
        f"@app.cell\ndef _(mo, names, widget):\n    mo.md({READ})\n"
        '    return\n\n\nif __name__ == "__main__":\n    app.run()\n'
    )


def lasso(page: Page, root: Locator) -> None:
    """Draw around the sixes, which nobody has named yet."""
    canvas = root.locator("canvas.points")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    corners = [(0.33, 0.65), (0.36, 0.64), (0.4, 0.65), (0.41, 0.7), (0.38, 0.74), (0.34, 0.72)]
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=12)
    page.mouse.up()


def counted(text: str, word: str) -> int:
    found = re.search(rf"{word} (\d+)", text)
    return int(found[1]) if found else -1


def label_on(page: Page, root: Locator, pictures: Path, name: str) -> dict[str, Any]:
    """Draw around rows, give them a new class, and return how many and how long that took."""
    page.screenshot(path=pictures / f"{name}-drawn.png")
    lasso(page, root)
    page.screenshot(path=pictures / f"{name}-lasso.png")
    words = root.locator(".words-line")
    words.filter(has_text="rows are selected").wait_for()
    n_chosen = int(words.inner_text().split()[0].replace(",", ""))
    hover(page, root)
    page.screenshot(path=pictures / f"{name}-selected.png")
    root.get_by_label("Name of a class").fill("six")
    begun = time.perf_counter()
    root.get_by_role("button", name="Label", exact=True).click()
    root.get_by_role("button", name="six").wait_for(timeout=PATIENCE_MS)
    seconds = time.perf_counter() - begun
    page.wait_for_timeout(500)
    page.screenshot(path=pictures / f"{name}-labelled.png")
    return {"chosen": n_chosen, "seconds_to_answer": round(seconds, 2)}


def hover(page: Page, root: Locator) -> None:
    """Move the pointer over the map until a row shows itself."""
    box = root.locator("canvas.points").bounding_box()
    assert box is not None
    for step in range(60):
        page.mouse.move(
            box["x"] + 0.39 * box["width"], box["y"] + (0.7 + step / 300) * box["height"]
        )
        page.wait_for_timeout(120)
        if root.locator(".card").is_visible():
            return
    raise SystemExit("no row showed itself under the pointer")


def run_lab(browser: Browser, pictures: Path, theme: str) -> dict[str, Any]:
    """Drive a real Jupyter Lab."""
    with tempfile.TemporaryDirectory() as made:
        folder, port = Path(made), free_port()
        write_ipynb(folder / "map.ipynb")
        settings = folder / "settings" / "@jupyterlab" / "apputils-extension"
        settings.mkdir(parents=True)
        look = {"theme": f"JupyterLab {theme.title()}"}
        (settings / "themes.jupyterlab-settings").write_text(json.dumps(look))
        command = [
            sys.executable,
            "-m",
            "jupyterlab",
            "--no-browser",
            f"--port={port}",
            "--allow-root",
        ]
        command += [
            "--IdentityProvider.token=",
            f"--LabApp.user_settings_dir={folder / 'settings'}",
        ]
        command += [
            "--LabApp.news_url=None",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        ]
        with running(command, folder, f"http://127.0.0.1:{port}/api"):
            page = browser.new_page(viewport=SIZE)
            page.goto(f"http://127.0.0.1:{port}/lab/tree/map.ipynb")
            cells = page.locator(".jp-Notebook .jp-CodeCell")
            cells.first.wait_for(timeout=PATIENCE_MS)
            page.wait_for_timeout(3000)
            if (news := page.get_by_role("button", name="No", exact=True)).is_visible():
                news.click()
            begun = time.perf_counter()
            cells.first.locator(".cm-content").click()
            page.keyboard.press("Shift+Enter")
            root = page.locator(".beltrami")
            root.wait_for(timeout=PATIENCE_MS)
            facts = {"seconds_to_map": round(time.perf_counter() - begun, 1)}
            page.wait_for_timeout(800)
            facts |= label_on(page, root, pictures, f"jupyter-{theme}")
            root.locator("canvas.points").focus()
            page.keyboard.press("l")  # no cell may be cut, nor get line numbers
            facts["cells"] = cells.count()
            cells.nth(1).locator(".cm-content").click()
            page.keyboard.press("Control+Enter")
            output = cells.nth(1).locator(".jp-OutputArea-output")
            output.wait_for(timeout=PATIENCE_MS)
            facts["read_back"] = output.inner_text().strip()
            facts["after_restart"] = restart(page, root)
            page.screenshot(path=pictures / f"jupyter-{theme}-restarted.png")
            page.close()
    return facts


def restart(page: Page, root: Locator) -> str:
    """Restart the kernel and return what the map says when it is touched."""
    page.keyboard.press("Escape")
    page.locator(".lm-MenuBar-item", has_text="Kernel").click()
    page.locator(".lm-Menu-item", has_text=re.compile("Restart Kernel")).first.click()
    page.locator(".jp-Dialog .jp-mod-accept").click()
    page.wait_for_timeout(4000)
    lasso(page, root)
    page.wait_for_timeout(300)
    root.locator(".classes button").first.click()
    page.wait_for_timeout(9000)
    return " ".join(root.locator(".problem, .waiting").all_inner_texts()).strip()


def run_marimo(browser: Browser, pictures: Path, theme: str) -> dict[str, Any]:
    """Drive a real marimo."""
    with tempfile.TemporaryDirectory() as made:
        folder, port = Path(made), free_port()
        write_marimo(folder / "map.py")
        (folder / "pyproject.toml").write_text(f'[tool.marimo.display]\ntheme = "{theme}"\n')
        command = [sys.executable, "-m", "marimo", "edit", "map.py", "--headless", "--no-token"]
        command += [f"--port={port}", "--skip-update-check"]
        with running(command, folder, f"http://127.0.0.1:{port}/"):
            page = browser.new_page(viewport=SIZE)
            page.goto(f"http://127.0.0.1:{port}/")
            page.locator(".cm-content").nth(2).wait_for(timeout=PATIENCE_MS)
            page.wait_for_timeout(2000)
            begun = time.perf_counter()
            page.keyboard.press("Control+Shift+R")  # run all that was not run yet
            root = page.locator(".beltrami")
            root.wait_for(timeout=PATIENCE_MS)
            facts: dict[str, Any] = {"seconds_to_map": round(time.perf_counter() - begun, 1)}
            page.wait_for_timeout(1500)
            facts |= label_on(page, root, pictures, f"marimo-{theme}")
            told = page.get_by_text(re.compile(r"^LABELS \d+ SIX [1-9]"))
            told.first.wait_for(timeout=20_000)
            facts["read_back"] = told.first.inner_text().strip()
            root.get_by_role("button", name="Undo").click()
            told = page.get_by_text(re.compile(rf"^LABELS {GIVEN} SIX 0"))
            told.first.wait_for(timeout=20_000)
            facts["after_undo"] = told.first.inner_text().strip()
            page.screenshot(path=pictures / f"marimo-{theme}-undone.png")
            page.close()
    return facts


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studio.notebooks", description=__doc__
    )
    parser.add_argument("--pictures", type=Path, required=True, help="folder for what is seen")
    parser.add_argument("--hosts", nargs="*", default=["jupyter", "marimo"])
    parser.add_argument("--themes", nargs="*", default=["light", "dark"])
    options = parser.parse_args()
    options.pictures.mkdir(parents=True, exist_ok=True)
    drive = {"jupyter": run_lab, "marimo": run_marimo}
    print(
        {
            name: version(name)
            for name in ("jupyterlab", "marimo", "anywidget", "ipywidgets", "playwright")
        }
    )
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_browser(), args=[*FLAGS])
        for host in options.hosts:
            for theme in options.themes:
                facts = drive[host](browser, options.pictures, theme)
                print(host, theme, json.dumps(facts))
                read = facts["read_back"]
                assert counted(read, "SIX") == facts["chosen"], "the trait is not what was chosen"
                assert counted(read, "SELECTED") == 0
        browser.close()


if __name__ == "__main__":
    main()
