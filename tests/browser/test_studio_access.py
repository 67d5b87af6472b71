"""The studio's gate in a real browser: our page may, and the pages of others may not."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.support.chromium import open_browser, open_page

from beltrami.studio_server.guard.access import Access, Gate
from beltrami.studio_server.guard.limits import Limits
from beltrami.studio_server.serving import ServerThread

PAGE = b"""<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>ours</title>
<script type="module" src="/static/page.js"></script></html>"""
SCRIPT = b"""const answer = await fetch("/api/labels", {
  method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
document.documentElement.dataset.status = answer.status;
const socket = new WebSocket(`ws://${location.host}/api/live`);
socket.onmessage = (event) => { document.documentElement.dataset.word = event.data; };"""
INJECTED = PAGE.replace(b"<script ", b"<img src=x onerror=\"document.title='bad'\"><script ", 1)
SEEN = "html[data-status='200'][data-word='hello']"


class Behind:
    """What is behind the gate: a page, a script, and a list of all that came through."""

    def __init__(self, page: bytes = PAGE) -> None:
        self.page, self.reached = page, []

    async def __call__(self, scope, receive, send):
        if scope["type"] == "lifespan":
            raise NotImplementedError
        self.reached.append(scope["path"])
        if scope["type"] == "websocket":
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.send", "text": "hello"})
            while (await receive())["type"] != "websocket.disconnect":
                pass
            return
        kind, body = {
            "/": (b"text/html", self.page),
            "/static/page.js": (b"text/javascript", SCRIPT),
        }.get(scope["path"], (b"application/json", b"{}"))
        headers = [(b"content-type", kind)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


@contextmanager
def another_site(page: str) -> Iterator[int]:
    """Serve a page of somebody else on this machine; yield its port."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def browser():
    with open_browser() as opened:
        yield opened


@contextmanager
def studio(behind: Behind) -> Iterator[tuple[str, str]]:
    """Serve what is behind the gate; yield its address without and with the token."""
    access = Access.of(("me",))
    with ServerThread(Gate(Limits(behind), access)) as running:
        yield str(running.address), f"{running.address}/?token={access.token_of('me')}"


def test_our_page_comes_in_saves_and_listens_and_the_address_keeps_no_token(browser):
    with studio(Behind()) as (base, link), open_page(browser) as page:
        page.goto(link)
        page.wait_for_selector(SEEN, state="attached")
        assert page.url == f"{base}/"
        assert page.evaluate("document.cookie") == ""
        page.reload()
        page.wait_for_selector(SEEN, state="attached")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same site", "other site"])
@pytest.mark.parametrize("has_token", [True, False], ids=["with token", "with cookie"])
def test_a_link_on_another_site_opens_the_studio(browser, host, has_token):
    with studio(Behind()) as (base, link), open_page(browser) as page:
        if not has_token:  # the browser has been here before, and keeps the cookie back at first
            page.goto(link)
            page.wait_for_selector(SEEN, state="attached")
        target = link if has_token else f"{base}/"
        with another_site(f'<link rel="icon" href="data:,"><a href="{target}">x</a>') as port:
            page.goto(f"http://{host}:{port}/")
            page.click("a")
            page.wait_for_selector(SEEN, state="attached")
            assert page.url == f"{base}/"


ATTACK = """<link rel="icon" href="data:,"><img src="BASE/api/picture?row=1"><iframe name="frame"
src="BASE/"></iframe>
<form method="post" target="frame" enctype="text/plain" action="BASE/api/labels">
<input name='{"rows": [1], "label": "' value='"}'></form><script>
const results = [];
async function attempt(path, options) {
  try { results.push((await fetch("BASE" + path, { credentials: "include", ...options })).type); }
  catch (error) { results.push("refused"); }
}
(async () => {
  document.forms[0].submit();
  const json = { "Content-Type": "application/json" };
  await attempt("/api/state", {});
  await attempt("/api/labels", { method: "POST", body: "{}", headers: json });
  await attempt("/api/labels", { method: "POST", body: "{}" });
  await attempt("/api/labels", { method: "POST", body: "{}", mode: "no-cors" });
  const socket = new WebSocket("BASE/api/live".replace("http", "ws"));
  await new Promise((resolve) => {
    socket.onopen = () => { results.push("open"); resolve(); };
    socket.onerror = () => { results.push("refused"); resolve(); };
  });
  document.body.dataset.results = JSON.stringify(results);
})();
</script>"""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same site", "other site"])
def test_no_page_of_another_reaches_what_is_behind_the_gate(browser, host):
    behind = Behind()
    context = browser.new_context()
    with studio(behind) as (base, link), another_site(ATTACK.replace("BASE", base)) as port:
        page = context.new_page()
        page.goto(link)
        page.wait_for_selector(SEEN, state="attached")
        behind.reached.clear()
        page.goto(f"http://{host}:{port}/")
        page.wait_for_selector("body[data-results]")
        results = json.loads(page.locator("body").get_attribute("data-results"))
        page.wait_for_timeout(200)  # the form's answer
        context.close()
    assert results == ["refused"] * len(results)
    assert len(results) == 5
    assert behind.reached == []


def test_what_got_into_a_page_as_markup_is_not_run(browser):
    behind = Behind(INJECTED)
    context = browser.new_context()
    with studio(behind) as (_, link):
        page = context.new_page()
        page.goto(link)
        page.wait_for_selector(SEEN, state="attached")
        assert page.title() == "ours"
        context.close()
