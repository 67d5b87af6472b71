"""What waits for a page that is slow: the newest of each thing, in a bounded number of bytes."""

import asyncio
import json
import struct
import tracemalloc

from beltrami.studio_server.wire.outbox import Outbox


def frame(kind, version, size=32):
    return struct.pack("<4sBBHI", b"BLT1", kind, 0, 0, version).ljust(size, b"\0")


def told(message):
    """Return a text, or the kind and version of a frame."""
    return message if isinstance(message, str) else struct.unpack_from("<4xBxxxI", message)


class Socket:
    """A client that reads when it is let to."""

    def __init__(self):
        self.taken, self.may_take = [], asyncio.Semaphore(0)

    async def send_text(self, text):
        await self.may_take.acquire()
        self.taken.append(text)

    async def send_bytes(self, content):
        await self.may_take.acquire()
        self.taken.append(told(content))

    async def take(self, n):
        for _ in range(n):
            self.may_take.release()
        for _ in range(1000):
            if len(self.taken) == n:
                break
            await asyncio.sleep(0.001)
        taken, self.taken = self.taken, []
        return taken


def with_outbox(play, answers=lambda: None, **options):
    """Run `play(outbox, socket)` beside a task that sends."""

    async def run():
        outbox, socket = Outbox(answers, **options), Socket()
        gone = asyncio.Event()
        reading = asyncio.ensure_future(gone.wait())
        sending = asyncio.ensure_future(outbox.send_all(socket, reading))
        result = await play(outbox, socket)
        gone.set()
        socket.may_take.release()
        await asyncio.wait_for(sending, 5)
        return result

    return asyncio.run(run())


def test_a_client_that_keeps_up_is_sent_everything_in_order():
    async def play(outbox, socket):
        outbox.put_state("state 1")
        outbox.put_places(frame(1, 1))
        outbox.put_answers(frame(2, 1))
        first = await socket.take(3)
        outbox.put_answers(frame(3, 2))
        outbox.put_text("word")
        outbox.put_answers(frame(3, 3))
        return first, await socket.take(3)

    first, then = with_outbox(play)
    assert first == ["state 1", (1, 1), (2, 1)]
    assert then == [(3, 2), "word", (3, 3)]


def test_of_each_thing_a_slow_client_is_sent_the_newest():
    async def play(outbox, socket):
        outbox.put_state("state 0")
        await asyncio.sleep(0.01)  # being sent
        for number in range(1, 1000):
            outbox.put_state(f"state {number}")
            outbox.put_text(f"progress {number}", "progress")
        return await socket.take(3)

    assert with_outbox(play) == ["state 0", "state 999", "progress 999"]


def test_when_changes_are_dropped_the_next_is_all_answers_as_they_are_then():
    versions = [1]

    async def play(outbox, socket):
        outbox.put_answers(frame(2, 1))
        first = await socket.take(1)
        outbox.put_text("being sent")
        await asyncio.sleep(0.01)
        for versions[0] in range(2, 40):
            outbox.put_answers(frame(3, versions[0], 100))
        then = await socket.take(2)
        outbox.put_answers(frame(3, 40))
        return first, then, await socket.take(1)

    first, then, last = with_outbox(play, lambda: frame(2, versions[0]), changes_bytes=1000)
    assert first == [(2, 1)]
    assert then == ["being sent", (2, 39)]
    assert last == [(3, 40)]


def test_changes_that_are_few_wait_in_their_order():
    async def play(outbox, socket):
        outbox.put_answers(frame(2, 1))
        await socket.take(1)
        outbox.put_text("being sent")
        for version in range(2, 9):
            outbox.put_answers(frame(3, version, 100))
        return await socket.take(8)

    taken = with_outbox(play, changes_bytes=1000)
    assert taken == ["being sent", *((3, version) for version in range(2, 9))]


def test_changes_mean_nothing_before_all_answers_are_known():
    known = []

    async def play(outbox, socket):
        outbox.put_answers(frame(3, 1))  # dropped: there are no answers yet
        await asyncio.sleep(0.05)
        known.append(frame(2, 2))
        outbox.put_answers(frame(3, 2))
        return await socket.take(1)

    assert with_outbox(play, lambda: known[0] if known else None) == [(2, 2)]


def test_new_places_come_before_the_answers_of_their_rows():
    async def play(outbox, socket):
        outbox.put_answers(frame(2, 1))
        await socket.take(1)
        outbox.put_text("being sent")
        await asyncio.sleep(0.01)
        outbox.put_answers(frame(3, 2))
        outbox.put_places(frame(1, 3))
        outbox.put_answers(frame(3, 4))
        return await socket.take(3)

    assert with_outbox(play, lambda: frame(2, 4)) == ["being sent", (1, 3), (2, 4)]


def test_a_client_that_never_reads_holds_a_bounded_number_of_bytes():
    async def play(outbox, socket):
        outbox.put_answers(frame(2, 1))
        await socket.take(1)
        tracemalloc.start()
        try:
            for version in range(20_000):
                outbox.put_answers(frame(3, version, 1000))
                outbox.put_state(json.dumps({"version": version}) * 10)
                outbox.put_text(f"word {version}" * 10)
            held = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        return held

    assert with_outbox(play, changes_bytes=100_000) < 300_000


def test_sending_ends_when_the_client_has_gone():
    async def play(outbox, socket):
        return "nothing was ever sent"

    assert with_outbox(play) == "nothing was ever sent"
