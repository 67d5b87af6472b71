"""Every table and figure of the source texts, by one registry.

`REPRODUCTIONS` names them; `run_one` and `run_many` make them and write a picture, a record and a
page each; `compared` holds two runs against each other; `write_book` gathers the pages.
"""

from beltrami.report.reproductions.book import write_book
from beltrami.report.reproductions.comparison import Agreement, compared
from beltrami.report.reproductions.model import Reproduction
from beltrami.report.reproductions.outcome import Outcome, Running
from beltrami.report.reproductions.registry import REPRODUCTIONS, Entry
from beltrami.report.reproductions.running import run_many, run_one

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
