import pytest
from benchmarks.partitions.growth import model_of


def _run(rows: int, *, each: float, some: float, alone: float) -> dict:
    passes = {
        "every row": {"processor_seconds": each * rows, "seconds": each * rows / 2},
        "some": {"processor_seconds": some * min(rows, 6400), "seconds": 1.0},
    }
    seconds = each * rows / 2 + 1.0 + alone
    coverage = {"representatives": 100}
    return {"rows": rows, "seconds": seconds, "coverage": coverage, "passes": passes}


def test_a_model_of_growth_finds_what_the_runs_were_made_of() -> None:
    sizes = (2000, 5000, 10_000, 20_000)
    model = model_of([_run(rows, each=1e-3, some=2e-3, alone=30.0) for rows in sizes])
    assert model.each == pytest.approx(1e-3)
    assert model.settling == pytest.approx(2e-3 * 6400)
    assert (model.alone, model.off) == (pytest.approx(30.0), pytest.approx(0.0, abs=1e-9))
    assert model.seconds(1e6, 10) == pytest.approx((1000 + 12.8) / 10 + 30)
