"""The tables and figures of the papers that the library is built on, made again with it.

``beltrami reproduce NAME`` makes one and ``beltrami reproduce all`` makes them; from Python it is
`run_one` and `run_many`. Each leaves ``NAME.json`` (every number, with seeds, versions and hashes
of the input files), ``NAME.md`` (the page to read) and, where there is a picture, ``NAME.png``.
`compare_runs` compares the records of two runs, and `write_book` gathers the pages of a folder.

A room for each source text, which returns a `Reproduction` for each of its tables and figures:

- `thesis`: Belkin (2003), by chapters;
- `lapsvm`: Belkin, Niyogi and Sindhwani (2004);
- `mbed`: Zien and Quiñonero Candela (2005);
- `sslbook`: Chapelle, Schölkopf and Zien (2006), the benchmark of chapter 21;
- `slides`: Zhu (2009), and the same methods on real data.

`preparation` and `baselines` hold what several of them share. The files beside this one make them
run: `registry` lists every reproduction, `running` runs them and `journal` keeps single results of
the long ones; `model`, `cells` and `findings` make records and pages; `comparison`, `summary`,
`evidence` and `book` read the records of a folder.
"""

from beltrami_papers.book import write_book
from beltrami_papers.comparison import Agreement, compare_runs
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
    "compare_runs",
    "run_many",
    "run_one",
    "write_book",
]
