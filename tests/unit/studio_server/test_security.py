"""The whole studio against those who mean ill: files, cells, floods, other pages."""

import json
import socket
import threading
from contextlib import ExitStack, closing

import httpx
import pytest
from tests.support.random_requests import handshake

from beltrami.labelling.options import LearningOptions
from beltrami.project import open_project
from beltrami.studio_server.application import make_app
from beltrami.studio_server.desk import Desk
from beltrami.studio_server.guard.access import Access
from beltrami.studio_server.serving import ServerThread
from beltrami.studio_server.wire.hub import Hub
from beltrami.tables import TableOptions

pytestmark = pytest.mark.usefixtures("few_trees")

TOKEN = "a-token-of-my-own"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
SCRIPT = "<script>alert(1)</script>"
SECRET = "nobody may read this"
N_ROWS = 30
DOUBTS = ("/api/doubts", "/api/doubts/list?kind=label")
HISTORY = (
    "/api/history",
    "/api/history/curve",
    "/api/history/moment?event=3",
    "/api/history/map?event=3",
)
RETURN = "/api/history/return"
AUDIT_POSTS = {
    "/api/audit/risk": {"risk": 0.2},
    "/api/audit/draw": {},
    "/api/audit/answer": {"row": 9, "answer": None},
}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("studio")
    (folder / "secret.txt").write_text(SECRET, encoding="utf-8")
    lines = ["id,x,y,label"]
    lines += [
        f"{SCRIPT}{row},{row % 3},{row / 10},{'ab'[row % 2] if row < 8 else ''}"
        for row in range(N_ROWS)
    ]
    (folder / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    opened = open_project(folder / "data.csv", TableOptions(min_classes=0), user="me")
    hub, access = Hub(), Access.of(("me",), TOKEN)
    desk = Desk(opened, hub, access.users, LearningOptions(random_state=0))
    try:
        with ServerThread(make_app(desk, hub, access)) as running:
            yield running.address
    finally:
        desk.close()


@pytest.fixture
def client(address):
    with httpx.Client(base_url=str(address), headers=BEARER, trust_env=False, timeout=30) as one:
        yield one


@pytest.mark.parametrize(
    "name",
    [
        "../application.py", "..%2fapplication.py", "..%2f..%2f..%2f..%2fetc%2fpasswd",
        "%2e%2e/access.py", "....//access.py", "/etc/passwd", "%2fetc%2fpasswd", "..\\access.py",
        "..%5caccess.py", "%00", "map.js%00.py", "index.html", "../page/index.html", "",
        "secret.txt", "../secret.txt", "__init__.py", "page/../../access.py", "C:%5cboot.ini",
    ],
)  # fmt: skip
def test_no_file_but_those_of_the_page_can_be_named(client, name):
    request = client.build_request("GET", "/static/x")
    request.url = request.url.copy_with(raw_path=f"/static/{name}".encode())
    answer = client.send(request)
    assert answer.status_code == 404
    assert SECRET not in answer.text
    assert "import" not in answer.text


def test_files_of_the_page_are_served_with_their_type(client):
    script, style = "text/javascript", "text/css"
    kinds = {"studio.js": script, "map.js": script, "studio.css": style, "base.css": style}
    for name, kind in kinds.items():
        answer = client.get(f"/static/{name}")
        assert (answer.status_code, answer.headers["content-type"].split(";")[0]) == (200, kind)
        assert answer.headers["cache-control"] == "no-cache"


def test_a_cell_with_a_script_is_text_wherever_it_goes(client):
    answers = [
        client.get("/api/rows?rows=3"),
        client.get("/api/data"),
        client.get("/api/search?text=script"),
    ]
    for answer in answers:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert answers[0].json()["rows"][0]["id"] == f"{SCRIPT}3"
    page = client.get("/")
    assert SCRIPT not in page.text
    assert "unsafe" not in page.headers["content-security-policy"]
    assert "<script>" not in page.text  # only files of our own
    assert " onclick=" not in page.text


def test_a_class_with_a_script_is_text_as_well(client):
    saved = client.post("/api/labels", json={"rows": [9], "label": "<img src=x onerror=alert(1)>"})
    assert saved.status_code == 200
    assert client.post("/api/undo", json={}).status_code == 200


def test_a_stranger_is_told_nothing_of_the_data(address):
    with httpx.Client(base_url=str(address), trust_env=False) as stranger:
        pages = ("/", "/api/state", "/api/rows?rows=1", "/api/labels", "/static/studio.js")
        reports = ("/api/report", "/api/audit", "/api/audit/card")
        for path in (*pages, *reports, *DOUBTS, *HISTORY):
            answer = stranger.get(path)
            assert answer.status_code == 401
            assert "data.csv" not in answer.text
        assert stranger.post("/api/labels", json={"rows": [1], "label": "a"}).status_code == 401
        kept = {"kind": "label", "rows": [1], "value": "a"}
        assert stranger.post("/api/doubts/keep", json=kept).status_code == 401
        for path, body in AUDIT_POSTS.items():
            assert stranger.post(path, json=body).status_code == 401
        assert stranger.post(RETURN, json={"event": 2}).status_code == 401


def test_a_wrong_token_is_told_nothing_of_the_past(address):
    headers = {"Authorization": "Bearer another-token-entirely"}
    with httpx.Client(base_url=str(address), headers=headers, trust_env=False) as stranger:
        for path in HISTORY:
            answer = stranger.get(path)
            assert answer.status_code == 401
            assert SCRIPT not in answer.text
        assert stranger.post(RETURN, json={"event": 2}).status_code == 401


def test_nobody_elses_page_returns_to_a_moment_and_no_nonsense_does(address, client):
    client.post("/api/labels", json={"rows": [26], "label": "a"})
    before = client.get("/api/history").json()["last"]
    with httpx.Client(base_url=str(address), trust_env=False) as browser:
        browser.get(f"/?token={TOKEN}")
        body = json.dumps({"event": 3})
        foreign = {"Origin": "http://127.0.0.1:1", "Content-Type": "application/json"}
        text = {"Origin": str(address), "Content-Type": "text/plain"}
        assert browser.post(RETURN, content=body, headers=foreign).status_code == 403
        assert browser.post(RETURN, content=body, headers=text).status_code == 415
        assert browser.get(RETURN).status_code == 405
        assert browser.get(HISTORY[0], headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
        for path in HISTORY:
            assert browser.post(path, content="{}", headers=foreign).status_code == 403
            assert client.post(path, json={}).status_code == 405
    kind = {"Content-Type": "application/json"}
    bodies = (b"", b"[]", b"null", b"{", b"\xff", b"[" * 100_000, b'{"event": 1e400}')
    for raw in (*bodies, b'{"event": "3"}', b'{"event": 3.0}', b'{"event": true}', b'{"event": 0}'):
        answer = client.post(RETURN, content=raw, headers=kind)
        assert answer.status_code == 400
        assert answer.json()["error"]
    assert client.get("/api/history").json()["last"] == before


@pytest.mark.parametrize(
    "query",
    ["?from=-1", "?from=x", "?from=1e400", "?from=99999999999999999", "?user=" + "x" * 300,
     "/moment?event=%00", "/moment?event=3&event=x", "/map?event=99999999", "/map?quick=1"],
)  # fmt: skip
def test_an_address_of_the_past_that_makes_no_sense_is_refused_in_words(client, query):
    answer = client.get(f"/api/history{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]


def test_what_the_past_tells_of_a_row_is_text(client):
    saved = client.post("/api/labels", json={"rows": [27], "label": SCRIPT}).json()
    told = client.get("/api/history")
    assert told.headers["content-type"] == "application/json"
    assert told.json()["events"][0]["words"] == f"called row {SCRIPT}27 “{SCRIPT}”"
    frame = client.get(f"/api/history/map?event={saved['saved']}")
    assert frame.headers["content-type"] == "application/octet-stream"
    assert client.post("/api/undo", json={}).status_code == 200


def test_what_another_page_would_change_is_not_changed(address, client):
    before = client.get("/api/state").json()["given"]
    with httpx.Client(base_url=str(address), trust_env=False) as browser:
        browser.get(f"/?token={TOKEN}")
        body = json.dumps({"rows": [20], "label": "a"})
        foreign = {"Origin": "http://127.0.0.1:1", "Content-Type": "application/json"}
        text = {"Origin": str(address), "Content-Type": "text/plain"}
        assert browser.post("/api/labels", content=body, headers=foreign).status_code == 403
        assert browser.post("/api/labels", content=body, headers=text).status_code == 415
        assert browser.get("/api/undo").status_code == 405
        kept = json.dumps({"kind": "label", "rows": [1], "value": "a"})
        assert browser.post("/api/doubts/keep", content=kept, headers=foreign).status_code == 403
        assert browser.post("/api/doubts/keep", content=kept, headers=text).status_code == 415
        assert browser.get("/api/doubts/keep").status_code == 405
    assert client.get("/api/state").json()["given"] == before


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"null", b"{", b"\xff", b"[" * 100_000, b'{"rows": [0], "label": "\\ud800"}',
     b'{"rows": [1e400], "label": "a"}', b'{"rows": [0], "label": "' + b"x" * 10**6 + b'"}'],
    ids=["empty", "list", "null", "cut", "no utf-8", "deep", "half a letter", "infinite", "long"],
)  # fmt: skip
def test_a_body_that_is_no_label_is_refused_in_words(client, body):
    headers = {"Content-Type": "application/json"}
    for path in ("/api/labels", "/api/doubts/keep"):
        answer = client.post(path, content=body, headers=headers)
        assert answer.status_code in {400, 413}
        assert answer.json()["error"]


def test_eight_people_saving_at_once_lose_nothing(address, client):
    before = client.get("/api/state").json()["given"]
    statuses = []

    def save(row):
        headers = BEARER | {"Content-Type": "application/json"}
        with httpx.Client(base_url=str(address), headers=headers, trust_env=False) as one:
            body = {"rows": [row], "label": "a"}
            statuses.append(one.post("/api/labels", json=body, timeout=30).status_code)

    threads = [threading.Thread(target=save, args=(row,)) for row in range(10, 18)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 8
    assert client.get("/api/state").json()["given"] == before + 8


def test_pages_that_never_read_do_not_slow_down_those_that_save(address, client):
    with ExitStack() as stack:
        for _ in range(20):
            page = socket.create_connection(("127.0.0.1", address.port))
            stack.enter_context(closing(page)).sendall(handshake(address.port, TOKEN))
        for row in range(20, 25):
            answer = client.post("/api/labels", json={"rows": [row], "label": "b"})
            assert answer.status_code == 200


@pytest.mark.parametrize("path", AUDIT_POSTS)
def test_an_audit_is_begun_by_nobody_elses_page_and_by_no_nonsense(address, client, path):
    before = client.get("/api/audit").json()
    with httpx.Client(base_url=str(address), trust_env=False) as browser:
        browser.get(f"/?token={TOKEN}")
        body = json.dumps(AUDIT_POSTS[path])
        foreign = {"Origin": "http://127.0.0.1:1", "Content-Type": "application/json"}
        text = {"Origin": str(address), "Content-Type": "text/plain"}
        assert browser.post(path, content=body, headers=foreign).status_code == 403
        assert browser.post(path, content=body, headers=text).status_code == 415
        assert browser.get(path).status_code == 405
    kind = {"Content-Type": "application/json"}
    for raw in (b"", b"[]", b"null", b"{", b"\xff", b'{"risk": 1e400, "row": 1e400}'):
        if path == "/api/audit/draw" and raw.startswith(b'{"'):
            continue  # it says nothing that a draw would read
        answer = client.post(path, content=raw, headers=kind)
        assert answer.status_code == 400
        assert answer.json()["error"]
    after = client.get("/api/audit").json()
    assert (after["risk"], after["open"]) == (before["risk"], before["open"])


def test_the_report_is_for_those_who_may_look_and_for_no_other_page(address, client):
    answer = client.get("/api/report")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert SCRIPT not in answer.text
    assert SECRET not in answer.text
    assert client.post("/api/report", json={}).status_code == 405
    elsewhere = {"Host": "evil.example", **BEARER}
    assert client.get("/api/report", headers=elsewhere).status_code in {403, 421}
    with httpx.Client(base_url=str(address), trust_env=False, timeout=30) as browser:
        browser.get(f"/?token={TOKEN}")
        foreign = {"Origin": "http://127.0.0.1:1", "Sec-Fetch-Site": "cross-site"}
        assert browser.get("/api/report", headers=foreign).status_code == 403


def test_who_may_only_look_takes_the_report_begins_no_audit_and_returns_nowhere(tmp_path):
    (tmp_path / "data.csv").write_text("x,y,label\n0.3,1,a\n1.7,5,b\n2.2,3,\n0.9,2,\n")
    open_project(tmp_path / "data.csv", TableOptions(min_classes=0), user="me").close()
    opened = open_project(tmp_path / "data.csv", TableOptions(min_classes=0), read_only=True)
    hub, access = Hub(), Access.of(("me",), TOKEN)
    desk = Desk(opened, hub, access.users, LearningOptions(), is_read_only=True)
    try:
        with (
            ServerThread(make_app(desk, hub, access)) as running,
            httpx.Client(base_url=str(running.address), headers=BEARER, trust_env=False) as one,
        ):
            for path, body in AUDIT_POSTS.items():
                assert one.post(path, json=body).status_code in {403, 409}
            assert one.get("/api/audit/card").json() == {"card": None}
            assert "Who labelled what" in one.get("/api/report", timeout=30).text
            assert one.post(RETURN, json={"event": 2}).status_code in {403, 409}
            for path in HISTORY:
                assert one.get(path, timeout=30).status_code == 200
            assert one.get("/api/history/curve").json()["points"] == []
    finally:
        desk.close()
