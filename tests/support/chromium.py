"""A Chromium driven by playwright, for tests and benchmarks of pages.

The sync interface of playwright keeps an event loop in its thread while a browser is open, so
fixtures that hold one are of a module, not of a session, and there is one at a time; `asyncio.run`
works again once it is closed. A page under a policy without `unsafe-eval` cannot be waited for by
`wait_for_function`: wait for a selector.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.browser import NAMES, find_browser

try:
    from playwright.sync_api import Browser, ConsoleMessage, Error, Page, sync_playwright
except ImportError:  # the group `browser` is not installed
    Browser = ConsoleMessage = Error = Page = Any  # type: ignore[misc, assignment]
    sync_playwright = None  # type: ignore[assignment]

FLAGS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--mute-audio",
    "--force-color-profile=srgb",
    # The page is put together as on a machine without a graphics card, and WebGL2, where a page
    # insists on it, is drawn in software (SwiftShader): the same on every machine.
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
)
"""What the browser is started with.

`--use-angle=swiftshader` gives WebGL2 too, but puts the whole page together through it, which
halves the frames of everything on it.
"""


@contextmanager
def open_browser(*flags: str) -> Iterator[Browser]:
    """Open a browser with more flags of one's own; a build machine must have one, others skip."""
    path = find_browser()
    if path is None or sync_playwright is None:
        found = "playwright is not installed" if path else f"none of {', '.join(NAMES)} is found"
        words = f"no browser to test pages in: {found}"
        if os.environ.get("CI") == "true":
            pytest.fail(words)
        pytest.skip(words)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=[*FLAGS, *flags])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def open_page(browser: Browser, *, expected: str = "", **options: Any) -> Iterator[Page]:
    """Open a page in a context of its own (`viewport`, `color_scheme`, ...).

    Whatever its scripts do wrong fails the test when the page is closed: an error that nobody
    caught, a word on the console's error channel, a load that was refused or not found. Errors
    with `expected` in them, where it is not empty, are what the test is about.
    """
    errors: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error":
            errors.append(message.text)

    def catch(error: Error) -> None:
        errors.append(f"{error.name}: {error.message}\n{error.stack}")

    context = browser.new_context(**options)
    try:
        page = context.new_page()
        page.on("console", hear)
        page.on("pageerror", catch)
        yield page
    finally:
        context.close()
    errors = [one for one in errors if not expected or expected not in one]
    assert not errors, "the page's scripts went wrong:\n" + "\n".join(errors)
