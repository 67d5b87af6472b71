"""`beltrami apply` on the random tables of `beltrami label`: valid answers to the same rows."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest
import typer
from tests.support.random_tables import random_case

from beltrami.cli import application

pytestmark = pytest.mark.usefixtures("few_trees")


def test_whatever_was_labelled_is_answered_again(tmp_path, monkeypatch, shell, seeds):
    monkeypatch.setattr(application, "app", typer.main.get_command(application.app))
    n_valid, tried = 0, seeds[::4]
    for seed in tried:
        folder = tmp_path / str(seed)
        folder.mkdir()
        shell.enter(folder)
        case = random_case(seed, folder)
        labelled = case.arguments[case.arguments.index("--out") + 1]
        code, _, err = shell.run("label", *case.arguments, "--save", "m.beltrami")
        if code:
            assert not Path("m.beltrami").exists(), err
            continue
        code, out, err = shell.run("apply", "m.beltrami", case.arguments[0], "-o", "again.parquet")
        told = f"seed {seed}: {case.arguments}\n{out}\n{err}"
        assert code == 0, told
        assert "Traceback" not in err, told
        assert Path(labelled).exists(), told
        _require_valid(Path("again.parquet"), case.n_rows, told)
        n_valid += 1
    assert n_valid > 0.1 * len(tried)


def _require_valid(path: Path, n_rows: int, told: str) -> None:
    answers = pq.read_table(path).to_pylist()
    assert len(answers) in (n_rows, n_rows - 1), told  # a blank line may be no row
    for one in answers:
        assert one["source"] in ("human", "propagated", "abstained", "unreached"), told
        assert 0 <= one["confidence"] <= 1, told
        assert -1 <= one["margin"] <= 1, told
        assert (one["label"] is None) == (one["source"] in ("abstained", "unreached")), told
        assert (one["guess"] is None) == (one["source"] == "unreached"), told
        assert one["second_label"] != one["guess"] or one["guess"] is None, told
        assert one["unlike"] in (True, False), told
        assert one["source"] != "propagated" or not one["unlike"], told
