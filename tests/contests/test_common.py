"""What the contests share: the memory meter, children, the cache, the page and the journal."""

from pathlib import Path

import numpy as np
import pytest
from benchmarks.common import cache
from benchmarks.common.command import RESULTS, results_folder
from benchmarks.common.journal import RowJournal
from benchmarks.common.memory import added_mb
from benchmarks.common.pages import growth_in_words, load_record, table, write_results
from benchmarks.common.processes import run_module
from scipy.sparse import csr_array

ROW = {"problem": "p", "labels": 1, "draw": 0, "method": "m", "code": "1", "seconds": 2.0}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_the_meter_counts_what_a_call_adds_at_its_peak():
    def allocate():
        np.ones(50_000_000 // 8)  # given back before the end
        return np.ones(20_000_000 // 8)

    assert 49 < added_mb(allocate) < 75


def test_a_child_that_fails_says_why():
    with pytest.raises(RuntimeError, match=r"few_labels.nonsense .* failed: .*nonsense"):
        run_module("few_labels.nonsense", "toy")


def test_large_inputs_are_kept_and_come_back_sparse(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "CACHE", tmp_path)
    made = {"points": csr_array(np.eye(3)), "seconds": 1.5}
    for n, kept in ((10, False), (10_000, True)):
        cache.from_cache("key", n, lambda: made)
        assert (tmp_path / "key.npz").exists() == kept
    again = cache.from_cache("key", 10_000, lambda: pytest.fail("made twice"))
    np.testing.assert_array_equal(again["points"].toarray(), np.eye(3))
    assert float(again["seconds"]) == 1.5


def test_toys_stay_out_of_the_published_results(tmp_path):
    assert results_folder(None, toy=False) == RESULTS
    assert RESULTS not in results_folder(None, toy=True).parents
    assert results_folder(tmp_path, toy=True) == tmp_path


def test_a_record_comes_back_as_it_was_written(tmp_path):
    assert load_record(tmp_path, "x", rows=[]) == {"circumstances": {}, "rows": []}
    write_results(tmp_path, "x", {"rows": [1]}, table(["a"], [["1"]]))
    assert load_record(tmp_path, "x", rows=[]) == {"rows": [1]}
    assert (tmp_path / "x.md").read_text() == "| a |\n| --- |\n| 1 |\n"


def test_one_size_has_no_growth():
    assert growth_in_words({10: 1.0}) == "-"
    assert growth_in_words({10: 1.0, 1000: 100.0}) == "1.00"


def test_rows_come_after_a_line_cut_short(tmp_path):
    path = tmp_path / "rows.jsonl"
    RowJournal(path).add(ROW)
    with path.open("a") as file:
        file.write('{"problem": "p", "lab')
    RowJournal(path).add(ROW | {"draw": 1, "seconds": 3.0})
    journal = RowJournal(path)
    assert journal.seconds("p", 1, "m", "1") == [2.0, 3.0]
    assert journal.has(**ROW)
    assert not journal.has(**ROW | {"draw": 2})
