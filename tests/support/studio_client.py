"""A script that talks to a studio over its address."""

import json
import time
import urllib.error
import urllib.request

import pytest


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
        for _ in range(600):
            state = self.ask("/api/state")
            if state["phase"] == "ready" and state["has_map"] and not state["behind"]:
                return state
            time.sleep(0.05)
        raise AssertionError(state)

    def audit(self):
        """Return what is said of the audit once all labels are judged."""
        for _ in range(600):
            told = self.ask("/api/audit")
            if told["settled"]:
                return told
            time.sleep(0.05)
        raise AssertionError(told)
