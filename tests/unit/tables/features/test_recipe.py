"""A recipe makes of new rows what it made of those that it was learned from, to the last bit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import issparse
from sklearn.feature_extraction.text import TfidfVectorizer
from tests.support.fake_text_model import install_fake_model

from beltrami.core.errors import InvalidInputError
from beltrami.core.store import Parcel
from beltrami.core.store.parcels import read_parcel, write_parcel
from beltrami.tables import Features, Table, TableOptions, feature_matrix, guess_roles, read_table
from beltrami.tables.features.faults import Faults
from beltrami.tables.features.packing import has_recipe, pack_recipe, unpack_recipe
from beltrami.tables.features.recipe import Recipe
from beltrami.tables.features.texts import ModelPart

WORDS = [f"w{i}" for i in range(40)]
RNG = np.random.default_rng(0)
N = 60
COLUMNS = {
    "size": RNG.normal(size=N),
    "width": [None if i % 7 == 0 else float(i * i) for i in range(N)],
    "price": [f"{1000 * i:,}.5 €".replace(",", ".").replace(".5 ", ",5 ") for i in range(1, N + 1)],
    "city": [("Rome", "Oslo", None)[i % 3] for i in range(N)],
    "story": [" ".join(RNG.choice(WORDS, 1 + i % 6)) for i in range(N)],
    "vector": list(RNG.normal(size=(N, 3)).astype(np.float32)),
}
KINDS: dict[str, dict[str, Any]] = {
    "numbers": {"features": ("size",)},
    "gaps": {"features": ("size", "width")},
    "prices": {"features": ("size", "price")},
    "categories": {"features": ("city", "size")},
    "texts": {"text": ("story",)},
    "all": {"features": ("size", "width", "city", "story", "vector")},
    "vectors": {},
}


def learned(kind: str, columns: dict[str, Any] = COLUMNS) -> tuple[Table, Features]:
    options = TableOptions(min_classes=0, **KINDS[kind])
    table = read_table(columns)
    return table, feature_matrix(table, guess_roles(table, options))


def made(recipe: Recipe, source: Any) -> tuple[Any, list[bool], Faults]:
    table = source if isinstance(source, Table) else read_table(source)
    faults = Faults("new.csv", ids=None, impute=recipe.impute, is_new=True)
    points, is_empty = recipe.make(table, faults)
    return points, is_empty.tolist(), faults


def same(one: Any, other: Any) -> bool:
    if issparse(one):
        parts = ("data", "indices", "indptr")
        return all(getattr(one, p).tobytes() == getattr(other, p).tobytes() for p in parts)
    return one.dtype == other.dtype and one.tobytes() == other.tobytes()


def through_a_file(recipe: Recipe, path: Path) -> Recipe:
    parcel = Parcel({}, {})
    pack_recipe(parcel, recipe)
    write_parcel(path, "a recipe", parcel)
    back = read_parcel(path, "a recipe")
    assert has_recipe(back)
    return unpack_recipe(back)


@pytest.mark.parametrize("kind", KINDS)
def test_a_recipe_from_a_file_makes_the_same_bits_of_all_rows_and_of_any_few(kind, tmp_path):
    table, found = learned(kind)
    recipe = through_a_file(found.recipe, tmp_path / "recipe")
    points, _, _ = made(recipe, table)
    assert same(points, found.points)
    for start, count in ((0, 1), (7, 5), (59, 1)):
        few = replace(table, columns=table.columns.slice(start, count))
        assert same(made(recipe, few)[0], found.points[start : start + count])


def test_the_words_are_weighed_as_scikit_learn_weighs_them():
    _, found = learned("texts")
    theirs = TfidfVectorizer(sublinear_tf=True, dtype=np.float32).fit(COLUMNS["story"])
    expected = theirs.fit_transform(COLUMNS["story"])
    assert found.names == tuple(theirs.get_feature_names_out())
    assert found.points.data.tobytes() == expected.data.tobytes()
    new = ["w1 w2 w2 unheard", "w3"]
    points, _, _ = made(found.recipe, {"story": new})
    assert abs(points - theirs.transform(new)).max() < 1e-6


def test_neither_the_order_of_columns_nor_other_columns_matter():
    table, found = learned("all")
    names = [*reversed(table.names)]
    turned = table.columns.select(names).append_column("more", pa.array(range(N)))
    assert same(made(found.recipe, read_table(turned))[0], found.points)


def test_columns_of_other_types_are_read_by_what_they_hold():
    _, found = learned("categories", {"city": [1, 2, 1, 2, 1], "size": [1, 2, 3, 4, 6]})
    numbers = {"city": np.array([2.0, 1.0]), "size": pa.array([3, 4], pa.int8())}
    expected = made(found.recipe, {"city": [2, 1], "size": [3, 4]})[0]
    assert same(made(found.recipe, numbers)[0], expected)
    texts = {"city": ["2", "1"], "size": [" 3", "4.0"]}
    assert same(made(found.recipe, texts)[0], expected)


def test_a_category_that_was_never_seen_has_no_column_and_is_counted():
    _, found = learned("categories")
    points, is_empty, faults = made(found.recipe, {"city": ["Paris", None], "size": [0.0, None]})
    names = found.names
    assert points[0, names.index("city=Rome")] == points[0, names.index("city=Oslo")] == 0
    assert points[0, names.index("city=missing")] == 0
    assert points[1, names.index("city=missing")] == 1
    assert faults.unseen == {"city": (1, "Paris")}
    assert is_empty == [False, True]


def test_gaps_where_the_fit_saw_none_take_a_median_and_no_mark():
    _, found = learned("numbers")
    points, is_empty, faults = made(found.recipe, {"size": [1.0, None, np.inf]})
    assert points.shape == (3, 1)
    assert points[1:, 0] == pytest.approx(float(np.median(COLUMNS["size"])))
    assert is_empty == [False, True, True]
    assert faults.filled["size"].n_cells == 2


def test_numbers_are_read_in_the_style_of_the_fit_and_in_no_other():
    _, found = learned("prices")
    points, _, _ = made(found.recipe, {"size": [1.0], "price": ["2.000,5 €"]})
    assert points[0, 1] == 2000.5
    for odd in ("2,000.5 €", "2000.5 €", "2.000,5", "dear", "2.000,5 €€"):
        with pytest.raises(InvalidInputError, match=r"in row 0, and the labeller learned numbers"):
            made(found.recipe, {"size": [1.0], "price": [odd]})
    _, plain = learned("numbers")
    assert made(plain.recipe, {"size": ["1.5", "NA", ""]})[0][0, 0] == 1.5
    with pytest.raises(InvalidInputError, match=r"holds '1,5' in row 1.*such as 1234\.5"):
        made(plain.recipe, {"size": ["2", "1,5"]})


def test_columns_that_are_missing_are_named_with_the_nearest():
    _, found = learned("gaps")
    with pytest.raises(InvalidInputError, match=r"lacks 1 of 2 column\(s\).*'width'.*'Width' mean"):
        made(found.recipe, {"size": [1.0], "Width": [2.0]})


@pytest.mark.parametrize(
    ("kind", "cells"),
    [("numbers", [[1.0]]), ("categories", [[1.0]]), ("texts", [[1.0]]), ("vectors", ["a text"])],
)
def test_columns_that_hold_something_else_are_refused_with_a_word(kind, cells):
    _, found = learned(kind)
    columns = dict.fromkeys(("size", "city", "story", "vector"), cells)
    with pytest.raises(InvalidInputError, match=r"(is|are) due\. Write"):
        made(found.recipe, columns)


def test_a_vector_with_a_hole_or_none_at_all_leaves_its_row_to_the_person():
    _, found = learned("vectors")
    rows = [[1.0, 2.0, 3.0], None, [1.0, np.nan, 3.0], [0.0, 0.0, 0.0]]
    points, is_empty, _ = made(found.recipe, {"vector": rows})
    assert np.isfinite(points).all()
    assert is_empty == [False, True, True, True]
    assert made(found.recipe, {"vector": [None, None]})[1] == [True, True]


def test_vectors_of_another_length_are_refused():
    _, found = learned("vectors")
    with pytest.raises(InvalidInputError, match=r"row 0 has 2 numbers, and those of the fit 3"):
        made(found.recipe, {"vector": [[1.0, 2.0], [3.0, 4.0]]})
    table = read_table(RNG.normal(size=(9, 4)))
    matrix = feature_matrix(table, guess_roles(table, TableOptions(min_classes=0))).recipe
    with pytest.raises(InvalidInputError, match="rows of 3 numbers, and the labeller learned from"):
        made(matrix, RNG.normal(size=(2, 3)))
    with pytest.raises(InvalidInputError, match="--embeddings FILE"):
        made(matrix, {"x": [1.0]})


def test_a_text_of_unknown_words_has_a_direction_and_is_left_to_the_person():
    _, found = learned("texts")
    points, is_empty, _ = made(found.recipe, {"story": ["unheard of", "", "w1 w2"]})
    assert is_empty == [True, True, False]
    assert (np.diff(points.indptr) > 0).all()


def test_a_model_of_texts_is_found_again_and_another_one_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = install_fake_model(tmp_path / "colours", monkeypatch)
    texts = {"story": ["red green blue", "red red", "blue green green"]}
    table = read_table(texts)
    roles = guess_roles(table, TableOptions(min_classes=0, text="story"))
    found = feature_matrix(table, roles, text_model=folder)
    recipe = through_a_file(found.recipe, tmp_path / "recipe")
    assert same(made(recipe.found_in(None), table)[0], found.points)
    moved = folder.rename(tmp_path / "moved")
    with pytest.raises(InvalidInputError, match="--text-model FOLDER"):
        recipe.found_in(None)
    assert same(made(recipe.found_in(moved), table)[0], found.points)
    (moved / "config.json").write_text("[]")
    with pytest.raises(InvalidInputError, match="another than the labeller learned with"):
        recipe.found_in(moved)
    assert isinstance(recipe.texts, ModelPart)
    with pytest.raises(InvalidInputError, match="no model of texts"):
        learned("texts")[1].recipe.found_in(moved)


@pytest.mark.parametrize(
    ("kind", "name", "due"), [("texts", "story", "texts"), ("categories", "city", "categories")]
)
def test_bytes_are_neither_texts_nor_categories(kind, name, due):
    table, found = learned(kind)
    values = pa.array([b"\xff\xfe"] * table.n_rows)
    columns = table.columns.set_column(table.names.index(name), name, pa.chunked_array([values]))
    with pytest.raises(InvalidInputError, match=f"holds binary, and {due} are due"):
        made(found.recipe, replace(table, columns=columns))


def test_categories_that_were_numbers_are_read_from_texts_as_numbers(tmp_path):
    shown = {"city": [0.5, 1.0, 1.5, None, 1e20], "size": [True, False, True, False, True]}
    table = read_table(shown)
    options = TableOptions(min_classes=0, categories=("city", "size"))
    found = feature_matrix(table, guess_roles(table, options))
    recipe = through_a_file(found.recipe, tmp_path / "recipe")
    expected = made(recipe, shown)[0]
    texts = {
        "city": ["0.50", "1.0", " 1.5", "nan", "1e+20"],
        "size": ["true", "FALSE", "True", "false", "true"],
    }
    points, _, faults = made(recipe, texts)
    assert same(points, expected)
    assert not faults.unseen
    strange = {"city": ["0.5", "1_0", "red", "2", ""], "size": ["true"] * 5}
    assert made(recipe, strange)[2].unseen == {"city": (3, "1_0")}


def test_categories_that_were_texts_stay_as_they_are_written():
    _, found = learned("categories", {"city": ["01", "1", "01"], "size": ["1.0", "1", "1.0"]})
    _, _, faults = made(found.recipe, {"city": ["01", "1.0"], "size": ["1.0", "1"]})
    assert faults.unseen == {"city": (1, "1.0")}


@pytest.mark.parametrize("change", ["other", "gone"])
def test_another_model_of_texts_is_never_used(change, tmp_path, monkeypatch):
    folder = install_fake_model(tmp_path / "colours", monkeypatch)
    texts = {"story": ["red green blue", "red red", "blue green green"]}
    table = read_table(texts)
    roles = guess_roles(table, TableOptions(min_classes=0, text="story"))
    recipe = through_a_file(
        feature_matrix(table, roles, text_model=folder).recipe, tmp_path / "recipe"
    )
    if change == "other":
        (folder / "config.json").write_text("[]")
    else:
        folder.rename(tmp_path / "moved")
    with pytest.raises(InvalidInputError, match=r"another than|there is no folder"):
        made(recipe, table)


def test_many_words_lie_among_the_arrays_and_not_in_the_header(tmp_path: Path):
    texts = [" ".join(f"word{1000 * i + j}" for j in range(900)) for i in range(150)]
    _, found = learned("texts", {"story": texts})
    recipe = through_a_file(found.recipe, tmp_path / "recipe")
    assert (tmp_path / "recipe").stat().st_size > 2**20
    assert same(made(recipe, {"story": texts[:3]})[0], found.points[:3])


def test_the_medians_that_fill_are_those_of_the_fit(tmp_path: Path):
    table = read_table(np.array([[1.0, np.nan], [3.0, 4.0], [5.0, 8.0]]))
    roles = guess_roles(table, TableOptions(min_classes=0))
    found = feature_matrix(table, roles, impute=True)
    points, is_empty, _ = made(found.recipe, np.array([[np.nan, np.nan], [9.0, 9.0]]))
    assert points[0].tolist() == [3.0, 6.0]
    assert is_empty == [False, False]
