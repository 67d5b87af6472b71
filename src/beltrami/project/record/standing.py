"""Which events stand: all that happened enters; what was not taken back or returned from leaves.

stand(n) = stand(n-1) and n after an ordinary event, without its target after one that takes back,
and stand(k) after a return to the moment after event k. Records, such as audits, always stand.
"""

from collections.abc import Iterator, Sequence

from beltrami.project.record.events import UNDOABLE, Event, Returned, TakenBack

_RETURNABLE = (*UNDOABLE, TakenBack, Returned)


def standing(events: Sequence[Event]) -> Iterator[Event]:
    """Return the events that stand, without those that take back or return."""
    way = on_the_way(events)
    taken = {event.body.event for event in way if isinstance(event.body, TakenBack)}
    for event in way:
        if event.number not in taken and not isinstance(event.body, TakenBack | Returned):
            yield event


def fallen_numbers(events: Sequence[Event]) -> set[int]:
    """Return the numbers of the events that could be taken back and do not stand."""
    return _fallen(events, {event.number for event in standing(events)})


def fallen_after(events: Sequence[Event], number: int) -> set[int]:
    """Return those that would not stand after a return to the moment after an event."""
    stands = {event.number for event in standing(events[:number])}
    return _fallen(events, stands)


def on_the_way(events: Sequence[Event]) -> list[Event]:
    """Return the events that lead to the last one, and all records."""
    way = way_numbers(events)
    return [one for one in events if one.number in way or not isinstance(one.body, _RETURNABLE)]


def way_numbers(events: Sequence[Event]) -> set[int]:
    """Return the numbers of the events that lead to the last one.

    Whatever lies between a return and the moment that it returned to is left out.
    """
    way, number = set(), len(events)
    for event in reversed(events):
        if event.number <= number:
            way.add(event.number)
            if isinstance(event.body, Returned):
                number = event.body.event
    return way


def _fallen(events: Sequence[Event], stands: set[int]) -> set[int]:
    return {
        event.number
        for event in events
        if isinstance(event.body, UNDOABLE) and event.number not in stands
    }
