"""A studio without a disk: made-up rows, labels that go to the nearest labelled row, undo."""

import asyncio
import contextlib
import json
import struct
from typing import Any

import numpy as np
from starlette.websockets import WebSocket, WebSocketDisconnect

from tests.support.fake_rows import fake_rows

_REASONS = ("between two classes", "far from every label", "the methods disagree here")


class FakeStudio:
    """The state of a project that lives in memory, and what the routes answer."""

    def __init__(self, kind: str = "text", *, given: int = 0, n: int = 2000) -> None:
        self.rows = fake_rows(kind, n)
        self.classes: list[dict[str, Any]] = []
        self.given = np.full(n, -1)
        self.by_area = np.zeros(n, bool)
        self.unsure = np.zeros(n, bool)
        self.skipped = np.zeros(n, bool)
        self.reserved: set[int] = set()
        self.events: list[dict[str, Any]] = []
        self.n_events = self.version = self.behind = 0
        self.posts: list[tuple[str, Any]] = []
        self.sockets: set[WebSocket] = set()
        self.refuse = ""  # words with which every save fails
        self.is_down = False  # no socket is accepted
        self.learn_s = 0.03
        self.save_s = 0.0
        self.read_only = False
        self.users = ["ann"]
        self.marker: dict[str, Any] | None = None  # what may be a class or a gap
        self.asked: dict[str, str] = {}  # the list that a column was put into, by its name
        self.loop: asyncio.AbstractEventLoop | None = None
        self.waiting: set[asyncio.Task[None]] = set()
        if given:
            self.classes = [{"name": name, "gone": False} for name in self.rows.classes]
            for code in range(len(self.classes)):
                self.given[np.flatnonzero(self.rows.truth == code)[:given]] = code
        self.answers = self.learn(self.given)

    def learn(self, given: Any) -> tuple[Any, Any, Any]:
        """Return codes, confidences and sources of all rows, by the nearest labels."""
        n = len(self.rows)
        labelled = np.flatnonzero(given >= 0)
        if not len(labelled):
            return np.zeros(n, int), np.zeros(n), np.full(n, 3)
        gaps = self.rows.places[:, None] - self.rows.places[labelled][None]
        distances = np.full((n, len(self.classes)), 9.0)
        for code in range(len(self.classes)):
            own = given[labelled] == code
            if own.any():
                distances[:, code] = np.sqrt((gaps[:, own] ** 2).sum(2)).min(1)
        order = np.sort(distances, axis=1)
        second = order[:, 1] if order.shape[1] > 1 else 9.0
        confidence = np.clip(1.6 * (second / (order[:, 0] + second + 1e-9)) - 0.6, 0, 1)
        codes = distances.argmin(1) + 1
        source = np.where(confidence < 0.25, 2, 1)
        lost = order[:, 0] > 0.4
        source[lost], codes[lost], confidence[lost] = 3, 0, 0
        is_given = given >= 0
        source[is_given], codes[is_given], confidence[is_given] = 0, given[is_given] + 1, 1
        return codes, confidence, source

    def state(self) -> dict[str, Any]:
        codes, _, source = self.answers
        counts = {
            name: int(np.sum(source == kind))
            for kind, name in enumerate(("given", "labelled", "abstained", "unreached"))
        }
        n, given = len(self.rows), int(np.sum(self.given >= 0))
        headline = (
            f"Of {n:,} rows you labelled {given:,}; we label {counts['labelled']:,} and leave "
            f"{counts['abstained'] + counts['unreached']:,} to you."
        )
        return {
            "view": "map",
            "rows": n,
            "given": given,
            "version": self.version,
            "behind": self.behind,
            "phase": "ready",
            "classes": [
                {
                    **one,
                    "given": int(np.sum(self.given == code)),
                    "labelled": int(np.sum((codes == code + 1) & (source == 1))),
                    "left": int(np.sum((codes == code + 1) & (source == 2))),
                }
                for code, one in enumerate(self.classes)
            ],
            "user": "ann",
            "users": self.users,
            "read_only": self.read_only,
            "source": f"{self.rows.kind}.csv",
            "project": f"{self.rows.kind}.beltrami",
            "label": None,
            "marker": self.marker,
            "kind": self.rows.kind,
            "has_pictures": self.rows.kind == "pictures",
            "columns": [
                {"name": name, "kind": "numeric" if values.dtype.kind == "f" else "categorical"}
                for name, values in self.rows.table.items()
                if name != "remark"
            ],
            "headline": headline if given else f"{n:,} rows, and no label yet.",
            "evidence": ["Held-out labels: 94 % right (88 to 98)."] if given > 20 else [],
            "warnings": ["Half of the classes have fewer than five labels."] if given else [],
            "counts": counts,
            "unsure": int(self.unsure.sum()),
            "has_learned": given > 0,
            "can_undo": bool(self.events),
        }

    def item(self, row: int) -> dict[str, Any]:
        codes, confidence, source = self.answers
        names = [one["name"] for one in self.classes]
        guess = names[codes[row] - 1] if codes[row] and source[row] else None
        others = [name for name in names if name != guess] if guess else []
        given = self.given[row]
        return {
            "row": row,
            "id": self.rows.ids[row],
            "text": self.rows.texts[row] or None,
            "picture": self.rows.kind == "pictures",
            "cells": self.rows.cells(row),
            "label": names[given] if given >= 0 else None,
            "how": ("area" if self.by_area[row] else "key") if given >= 0 else None,
            "user": "ann" if given >= 0 else None,
            "guess": guess,
            "confidence": float(confidence[row]),
            "second": others[0] if others else None,
            "second_confidence": 0.6 * float(min(confidence[row], 1 - confidence[row])),
            "source": int(source[row]),
            "unsure": bool(self.unsure[row]),
        }

    def question(self) -> dict[str, Any]:
        _, confidence, _ = self.answers
        doubt = confidence + 5.0 * ((self.given >= 0) | self.skipped | self.unsure)
        if self.reserved:
            doubt[list(self.reserved)] += 5
        row = int(doubt.argmin())
        if doubt[row] > 4:
            return {"question": None, "why": "Every row has a label or was set aside."}
        self.reserved.add(row)
        reason = _REASONS[row % 3] if (self.given >= 0).any() else "it stands for a part of the map"
        question = {"row": row, "reason": reason, "settles": 40 + row % 97, "item": self.item(row)}
        return {"question": question}

    def places_frame(self) -> bytes:
        extent = self.rows.places.max(0)
        places = np.round(self.rows.places * 65535).astype("<u2")
        return self._head(1, 0) + struct.pack("<ff", *extent) + places.tobytes()

    def answers_frame(self) -> bytes:
        codes, confidence, source = self.answers
        flags = source + 4 * self.by_area + 8 * self.unsure
        return (
            self._head(2, len(self.rows))
            + codes.astype("<u2").tobytes()
            + np.round(255 * confidence).astype("u1").tobytes()
            + flags.astype("u1").tobytes()
        )

    def changes_frame(self, before: Any) -> bytes:
        whole, n = np.frombuffer(self.answers_frame()[32:], "u1"), len(self.rows)
        parts = (whole[: 2 * n].view("<u2"), whole[2 * n : 3 * n], whole[3 * n :])
        old = (before[: 2 * n].view("<u2"), before[2 * n : 3 * n], before[3 * n :])
        changed = np.flatnonzero(sum(a != b for a, b in zip(parts, old, strict=True)))
        body = b"".join(part[changed].tobytes() for part in parts)
        return self._head(3, len(changed)) + changed.astype("<u4").tobytes() + body

    def column_frame(self, name: str) -> bytes:
        values = self.rows.table[name]
        head: dict[str, Any]
        if values.dtype.kind == "f":
            low, high = float(values.min()), float(values.max())
            codes = 1 + np.round(65534 * (values - low) / (high - low))
            head = {"name": name, "kind": "numeric", "low": low, "high": high}
        else:
            names, places = np.unique(values.astype(str), return_inverse=True)
            codes = places + 1
            head = {"name": name, "kind": "categorical", "values": list(names)}
        text = json.dumps(head).encode()
        text += b" " * (-len(text) % 4)
        return (
            self._head(4, len(values))
            + struct.pack("<I", len(text))
            + text
            + codes.astype("<u2").tobytes()
        )

    def _head(self, kind: int, entries: int) -> bytes:
        given = int(np.sum(self.given >= 0))
        numbers = (self.version, len(self.rows), entries, given, self.behind, len(self.classes))
        return b"BLT1" + struct.pack("<BBH6I", kind, 0, 0, *numbers)

    def code_of(self, name: str) -> int:
        for code, one in enumerate(self.classes):
            if one["name"] == name and not one["gone"]:
                return code
        self.classes.append({"name": name, "gone": False})
        return len(self.classes) - 1

    def save(self, event: dict[str, Any]) -> dict[str, Any]:
        """Count a change as saved, and learn it a moment later."""
        self.n_events += 1
        if event["kind"] != "undo":
            before = (self.given.copy(), self.by_area.copy(), self.unsure.copy())
            self.events.append(event | {"before": event.pop("before", before)})
        self.behind += 1
        task = asyncio.get_running_loop().create_task(self._catch_up())
        self.waiting.add(task)
        task.add_done_callback(self.waiting.discard)
        given = int(np.sum(self.given >= 0))
        return {
            "saved": self.n_events,
            "given": given,
            "version": self.version,
            "behind": self.behind,
        }

    async def _catch_up(self) -> None:
        await asyncio.sleep(self.learn_s)
        if not self.behind:
            return
        before = np.frombuffer(self.answers_frame()[32:], "u1")
        self.answers = self.learn(self.given)
        self.version, self.behind = self.n_events, 0
        await self.send(self.changes_frame(before))
        await self.send(json.dumps({"type": "state", **self.state()}))

    async def send(self, message: str | bytes) -> None:
        for one in list(self.sockets):
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                if isinstance(message, str):
                    await one.send_text(message)
                else:
                    await one.send_bytes(message)

    def tell(self, **message: Any) -> None:
        """Send a message to the page from the test's thread."""
        assert self.loop is not None
        text = json.dumps(message)
        asyncio.run_coroutine_threadsafe(self.send(text), self.loop).result(5)

    def hang_up(self) -> None:
        """Close every socket from the test's thread."""

        async def close() -> None:
            for one in list(self.sockets):
                await one.close()

        assert self.loop is not None
        asyncio.run_coroutine_threadsafe(close(), self.loop).result(5)
