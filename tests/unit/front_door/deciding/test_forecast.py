"""The forecast: near what was measured, growing with the data, said only where it is long."""

from pathlib import Path

import pytest

import beltrami
from beltrami.core.machine.threads import thread_limit
from beltrami.core.telling.stages import Stage
from beltrami.front_door.deciding import forecast
from beltrami.front_door.deciding.candidates import CLASS_CANDIDATES
from beltrami.front_door.deciding.forecast import SECONDS, Forecast

MEASURED = [
    (Forecast(2000, 5, 60, 3), 3.1),
    (Forecast(300, 50_000, 60, 3), 9),
    (Forecast(20_000, 20, 60, 3), 5.7),
    (Forecast(50_000, 3, 60, 3), 6.4),
    (Forecast(60_000, 64, 100, 10), 17),
    (Forecast(1_000_000, 64, 100, 10), 140),
]
"""Jobs, and the seconds that each took with questions and a page on two processors."""


@pytest.mark.parametrize(("job", "seconds"), MEASURED)
def test_a_forecast_is_within_a_factor_of_three(job: Forecast, seconds: float) -> None:
    with thread_limit(2):
        found = job.seconds(has_questions=True, has_page=True)
    assert seconds / 3 < found < 3 * seconds


def test_more_rows_columns_labels_and_classes_take_longer() -> None:
    sizes = (20_000, 50, 100, 5)
    first = Forecast(*sizes).seconds(has_questions=True, has_page=True)
    for place in range(4):
        more = [size * (3 if place == at else 1) for at, size in enumerate(sizes)]
        assert Forecast(*more).seconds(has_questions=True, has_page=True) > first


def test_a_budget_and_fewer_wishes_shorten_it() -> None:
    job = Forecast(300_000, 3, 100, 3)
    whole = job.seconds(has_questions=True, has_page=True)
    assert job.seconds(time_budget=1.0, has_questions=True, has_page=True) < whole
    assert job.seconds(has_questions=False, has_page=True) < whole
    assert job.seconds(has_questions=True, has_page=False) < whole


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (19.0, ""),
        (31.0, "about 30 seconds:"),
        (70.0, "about a minute:"),
        (250.0, "about 4 minutes:"),
    ],
)
def test_it_is_said_in_round_numbers_and_only_where_it_is_long(seconds: float, said: str) -> None:
    line = Forecast(500_000, 3, 60, 4).line(seconds)
    assert line.startswith(said)
    if said:
        assert line.endswith("500,000 rows, 3 columns, 60 labels of 4 classes")
    else:
        assert line == ""


def test_every_learner_has_a_cost_and_every_other_step_is_one_that_is_announced() -> None:
    names = {one.name for one in CLASS_CANDIDATES}
    assert names <= set(SECONDS[Stage.LEARN])
    sources = set(Path(beltrami.__file__).parent.rglob("*.py")) - {Path(forecast.__file__)}
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    for steps in SECONDS.values():
        for step in set(steps) - names - {""}:
            assert f'"{step}"' in code, step


def test_a_method_that_is_named_costs_itself_and_the_baselines() -> None:
    costs = Forecast(2000, 20, 60, 3).costs("poisson")[Stage.LEARN]
    tried = [one.title for one in CLASS_CANDIDATES if one.name == "poisson" or one.is_baseline]
    assert sorted(title for title in costs if title) == sorted(tried)
