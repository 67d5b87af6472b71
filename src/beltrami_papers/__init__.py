"""Every table and figure of the source texts, by one registry.

`REPRODUCTIONS` names them; `run_one` and `run_many` make them and write a picture, a record and a
page each; `compared` holds two runs against each other; `write_book` gathers the pages.
"""

from beltrami_papers.book import write_book
from beltrami_papers.comparison import Agreement, compared
from beltrami_papers.model import Reproduction
from beltrami_papers.outcome import Outcome, Running
from beltrami_papers.registry import REPRODUCTIONS, Entry
from beltrami_papers.running import run_many, run_one

__all__ = [
    "REPRODUCTIONS",
    "Agreement",
    "Entry",
    "Outcome",
    "Reproduction",
    "Running",
    "compared",
    "run_many",
    "run_one",
    "write_book",
]
