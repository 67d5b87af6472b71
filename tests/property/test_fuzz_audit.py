"""`beltrami audit` on random sheets, records and labels: a true count, or one message."""

import json

import numpy as np
import typer
from tests.support.random_audits import break_something, fill_in, write_labels

from beltrami.cli import application


def test_every_audit_ends_in_a_true_count_or_one_message(tmp_path, monkeypatch, shell, n_fuzzed):
    # Typer builds the commands anew at each call.
    monkeypatch.setattr(application, "app", typer.main.get_command(application.app))

    n_certified = 0
    for seed in range(n_fuzzed // 2):
        rng = np.random.default_rng((7, seed))
        folder = tmp_path / str(seed)
        folder.mkdir()
        shell.enter(folder)
        case = write_labels(folder, rng)
        code, _, err = shell.run(
            "audit", "labels.csv", "-n", str(int(rng.integers(1, 40))), "-o", "a.csv"
        )
        assert code == 0, f"seed {seed}: {err}"
        fill_in(folder, case, rng)
        for _ in range(int(rng.integers(0, 3))):
            if not case.broken:
                break_something(folder, case, rng)
        before = _contents(folder)
        code, out, err = shell.run("audit", "labels.csv", "--answers", "a.csv", "--json")
        told = f"seed {seed}: {case.broken}\n{out}\n{err}"
        assert "Traceback" not in err, told
        if code == 0:
            n_certified += 1
            found = json.loads(out)
            assert 0 <= found["lower"] <= 1, told
            if case.wrong is not None:
                assert (found["n_wrong"], found["n_blank"]) == (case.wrong, case.blank), told
        else:
            assert code == 1, told
            assert not out, told
            messages = [line for line in err.splitlines() if line.startswith("beltrami: ")]
            assert len(messages) == 1, told
            assert _contents(folder) == before, told
            is_all_blank = case.wrong == 0 and "is empty; fill in" in err
            assert case.broken or is_all_blank, told
    assert n_certified > n_fuzzed // 10


def _contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
