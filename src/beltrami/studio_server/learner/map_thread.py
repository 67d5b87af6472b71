"""The thread that draws the map: a rough one at once, the fine one when it is there."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from beltrami.core.telling.progress import listen
from beltrami.embeddings.layout import layout_graph
from beltrami.graph.model import Graph
from beltrami.studio_server.learner.audience import Audience
from beltrami.studio_server.learner.errands import BrokenOffError

_ROUGH_ROWS = 3_000
"""Rows above which a rough map is shown while the fine one is drawn."""


class MapThread:
    """Draws the map of the latest graph.

    Parameters
    ----------
    audience : Audience
        Who is shown it.
    remembering : callable
        Makes the context in which maps are kept between commands.
    require_going : callable
        Raises `BrokenOffError` where the work is to end.
    """

    def __init__(
        self,
        audience: Audience,
        remembering: Callable[[], AbstractContextManager[None]],
        require_going: Callable[[], None],
    ) -> None:
        self._audience, self._remembering = audience, remembering
        self._require_going = require_going
        self._graph: Graph | None = None
        self._thread: threading.Thread | None = None

    def draw(self, graph: Graph) -> None:
        """Show a rough map where the fine one takes longer, and begin with that."""
        if graph is self._graph:
            return
        self._graph = graph
        if graph.n_nodes > _ROUGH_ROWS:
            self._audience.show_places(layout_graph(graph, n_epochs=1, random_state=0))
        self._thread = threading.Thread(
            target=self._draw_finely, args=(graph,), name="beltrami map", daemon=True
        )
        self._thread.start()

    def join(self, patience: float | None = None) -> None:
        """Wait for the end, at most so many seconds."""
        if self._thread is not None:
            self._thread.join(patience)

    def _draw_finely(self, graph: Graph) -> None:
        try:
            with self._remembering(), listen(lambda _: self._require_going()):
                positions = layout_graph(graph, random_state=0)
        except BrokenOffError:
            return
        except Exception as error:  # noqa: BLE001 - whatever it is, the page must not wait for it
            self._audience.show_word(f"the map could not be drawn: {error}")
            return
        if graph is self._graph:
            self._audience.show_places(positions)
