"""The options on a table: spelled once, and handed on as one record."""

import dataclasses
import inspect
import re
from typing import Any

import pytest

from beltrami.cli import options as o
from beltrami.cli.commands.label import label
from beltrami.front_door.deciding.candidates import CLASS_CANDIDATES
from beltrami.tables import TableOptions

TYPED = {"label": "kind", "features": "a, b,", "labels": ["l.csv"], "embeddings": "e.npy"}


def command(
    source: o.Source,
    *,
    out: str | None = None,
    table: TableOptions,
    seed: o.Seed = 0,
) -> None:
    """Keep what came."""
    command.came = (source, out, table, seed)


def options(**typed: Any) -> dict[str, Any]:
    names = [field.name for field in dataclasses.fields(TableOptions)]
    return (
        dict.fromkeys(names[:-1], None)
        | {"impute": False, "device": None, "no_cache": False}
        | typed
    )


def test_every_option_stands_in_the_place_of_the_record_and_the_label_first():
    names = [field.name for field in dataclasses.fields(TableOptions)]
    assert names[-1] == "min_classes"
    with_labels = list(inspect.signature(o.with_table_options()(command)).parameters)
    assert with_labels == ["source", "label", "out", *names[1:-1], "seed", "device", "no_cache"]
    without = list(inspect.signature(o.with_table_options(has_labels=False)(command)).parameters)
    rest = [name for name in names[:-1] if name not in ("labels", "unlabeled")]
    assert without == ["source", "out", *rest, "seed", "device", "no_cache"]


def test_what_is_typed_becomes_the_record():
    o.with_table_options(min_classes=1)(command)(
        source="d.csv", out="o", seed=3, **options(**TYPED)
    )
    source, out, table, seed = command.came
    assert (source, out, seed) == ("d.csv", "o", 3)
    assert (table.label, table.features, table.text) == ("kind", ("a", "b"), ())
    assert table.beside == ("e.npy", "l.csv")
    assert (table.min_classes, table.unlabeled) == (1, None)


def test_a_command_without_labels_takes_none_of_them_for_open():
    typed = options()
    del typed["labels"], typed["unlabeled"]
    o.with_table_options(has_labels=False)(command)(source="d.csv", out=None, seed=0, **typed)
    table = command.came[2]
    assert (table.min_classes, table.unlabeled, table.beside) == (0, "", ())


@pytest.mark.parametrize("names", ["a", ["a"], ("a",)])
def test_one_name_is_a_list_of_one(names):
    assert TableOptions(text=names).text == ("a",)
    assert TableOptions(text=names).is_exclusive
    assert not TableOptions(numbers=names).is_exclusive
    assert TableOptions(numbers=names, categories=names).named_features == ("a",)


def test_the_help_of_method_names_every_method_of_classes():
    help_text = inspect.signature(label).parameters["method"].annotation.__metadata__[0].help
    for one in CLASS_CANDIDATES:
        assert re.search(rf"\b{one.name}\b", help_text)
