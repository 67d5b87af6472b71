"""A script that talks to a studio over its address."""

import json
import urllib.error
import urllib.request

import pytest

from tests.support.patience import wait_until


class Client:
    """A script with the token."""

    def __init__(self, url):
        self.base, self.token = url.split("/?token=")

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.base + path, data, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            content = answer.read()
        return json.loads(content) if content[:1] == b"{" else content

    def refused(self, path, body=None):
        with pytest.raises(urllib.error.HTTPError) as caught:
            self.ask(path, body)
        return caught.value.code, json.loads(caught.value.read())["error"]

    def settled(self):
        def is_settled():
            state = self.ask("/api/state")
            return state["phase"] == "ready" and state["has_map"] and not state["behind"]

        wait_until(is_settled, pause_s=0.05)
        return self.ask("/api/state")

    def audit(self):
        """Return what is said of the audit once all labels are judged."""
        wait_until(lambda: self.ask("/api/audit")["settled"], pause_s=0.05)
        return self.ask("/api/audit")
