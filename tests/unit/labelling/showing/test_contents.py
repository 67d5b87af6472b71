"""What a person sees of a row."""

import datetime as dt
import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from beltrami.core.errors import InvalidInputError
from beltrami.labelling.intake import take_in
from beltrami.labelling.showing.contents import Cell, RowContents
from beltrami.labelling.showing.picture_shelf import PictureShelf
from beltrami.tables import TableOptions


def contents_of(source: Any, **options: Any) -> RowContents:
    return RowContents.of(take_in(source, TableOptions(min_classes=0, **options)))


def mixed_table(n: int = 200) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        "key": [f"row {i}" for i in range(n)],
        "size": rng.normal(size=n),
        "colour": ["red"] * (n - 3) + ["blue", "mauve", "mauve"],
        "is_new": [True] * (n - 1) + [False],
        "bought": [dt.date(2024, 1, 1 + i % 28) for i in range(n)],
        "weight": [None, *rng.normal(size=n - 1)],
        "label": ["a", "b", *[""] * (n - 2)],
    }


def cells_of(contents: RowContents, row: int) -> dict[str, Cell]:
    return {cell.name: cell for cell in contents.content(row).cells}


def test_cells_are_all_columns_but_id_and_label_in_the_order_of_the_file() -> None:
    contents = contents_of(mixed_table())
    shown = contents.content(4)
    assert [cell.name for cell in shown.cells] == ["size", "colour", "is_new", "bought", "weight"]
    assert (shown.text, shown.has_picture, contents.kind) == (None, False, "table")
    values = cells_of(contents, 4)
    assert (values["colour"].value, values["is_new"].value) == ("red", "true")
    assert values["bought"].value == "2024-01-05"


def test_what_is_rare_among_all_rows_is_said() -> None:
    contents = contents_of(mixed_table())
    size = np.asarray(mixed_table()["size"])
    order = np.argsort(size)
    assert cells_of(contents, int(order[-1]))["size"].unusual == "the highest of all rows"
    assert cells_of(contents, int(order[-2]))["size"].unusual == "higher than 99 % of rows"
    assert cells_of(contents, int(order[-5]))["size"].unusual is None
    assert cells_of(contents, int(order[0]))["size"].unusual == "the lowest of all rows"
    assert cells_of(contents, int(order[2]))["size"].unusual == "lower than 98 % of rows"
    assert cells_of(contents, int(order[4]))["size"].unusual is None
    assert cells_of(contents, 197)["colour"].unusual == "no other row has this"
    assert cells_of(contents, 199)["colour"].unusual == "1 % of rows have this"
    assert cells_of(contents, 0)["colour"].unusual is None
    assert cells_of(contents, 199)["is_new"].unusual == "no other row has this"
    assert cells_of(contents, 0)["weight"] == Cell("weight", "", "all other rows have a value here")


def test_shares_agree_with_counting_also_where_values_are_tied() -> None:
    rng = np.random.default_rng(1)
    for values in (rng.integers(0, 4, 300), rng.integers(0, 400, 300), rng.geometric(0.7, 300)):
        contents = contents_of({"x": values, "y2": rng.normal(size=300)})
        for row in range(300):
            below, above = (values < values[row]).sum(), (values > values[row]).sum()
            odd = cells_of(contents, row)["x"].unusual
            is_odd = max(below, above) >= 0.98 * 300
            assert (odd is not None) == is_odd
            if odd is not None and "%" in odd:
                assert f"{100 * max(below, above) // 300} %" in odd


def test_few_rows_have_nothing_unusual() -> None:
    contents = contents_of({"x": [1.0, 2.0, 900.0], "colour": ["red", "red", "blue"]})
    assert {cell.unusual for row in range(3) for cell in contents.content(row).cells} == {None}


def test_columns_of_many_rare_values_call_none_of_them_rare() -> None:
    towns = [f"town {i % 80}" for i in range(4000)]
    contents = contents_of({"town": towns, "x": np.arange(4000) % 7}, categories=["town", "x"])
    assert cells_of(contents, 5)["town"].unusual is None


def test_numbers_written_as_texts_are_compared_as_numbers() -> None:
    prices = [f"{1000 + i:,}" for i in range(100)]
    contents = contents_of({"price": prices, "x": np.arange(100) % 7})
    assert cells_of(contents, 99)["price"] == Cell("price", "1,099", "the highest of all rows")
    header, codes = contents.codes("price")
    assert (header["low"], header["high"], codes[0], codes[99]) == (1000.0, 1099.0, 1, 65535)


def test_text_is_whole_and_stands_apart_from_the_cells() -> None:
    long = "a long text with many words " * 100
    table = {"text": [long, "a second one", None], "stars": [1, 2, 3], "label": ["a", "b", ""]}
    contents = contents_of(table, text=["text"])
    assert contents.kind == "text"
    assert contents.content(0).text == long
    assert contents.content(2).text == ""
    assert [cell.name for cell in contents.content(0).cells] == ["stars"]


def test_texts_beside_embeddings_are_shown_as_texts() -> None:
    texts = [f"this is the text of row {i}" for i in range(30)]
    points = np.random.default_rng(0).normal(size=(30, 4))
    contents = contents_of({"body": texts}, embeddings=points)
    assert (contents.kind, contents.content(7).text) == ("text", texts[7])


def test_vectors_are_shortened() -> None:
    vectors = np.linspace(0, 1, 160).reshape(20, 8)
    contents = contents_of({"v": vectors, "label": [""] * 20})
    shown = "0, 0.00628931, 0.0125786, 0.0188679, … (8 numbers)"
    assert contents.content(0).cells[0].value == shown
    plain = contents_of(vectors)
    assert (plain.kind, plain.content(0).cells[0].name) == ("vectors", "vector")
    assert plain.preview(0).startswith("0, 0.00628931")


def test_tables_of_very_many_columns_say_how_many_are_left_out() -> None:
    contents = contents_of({f"f{i}": np.arange(60) % (i + 2) for i in range(230)})
    assert len(contents.content(0).cells) == 201
    assert contents.content(0).cells[-1] == Cell("…", "30 more columns")


def test_previews_are_one_line_with_an_ellipsis_where_they_are_cut() -> None:
    table = {"text": ["one\n two  three " * 40, "short text of four"], "label": ["a", "b"]}
    contents = contents_of(table, text=["text"])
    assert contents.preview(1) == "short text of four"
    assert contents.preview(0, 20) == "one two three one t…"
    cells = contents_of(mixed_table())
    assert cells.preview(0, 60) == "size: 0.12573, colour: red, is_new: true, bought: 2024-01-01"
    assert cells.preview(1, 60).endswith(", bought: 2024-01…")
    assert cells.previews([3, 1], 30) == [cells.preview(3, 30), cells.preview(1, 30)]


def test_previews_leave_out_what_is_the_same_in_all_rows_and_what_is_empty() -> None:
    table = {"country": ["NZ"] * 30, "size": [None, *range(29)], "colour": ["red", "blue"] * 15}
    contents = contents_of(table)
    assert contents.previews([0, 1]) == ["colour: red", "size: 0, colour: blue"]
    assert [cell.name for cell in contents.content(0).cells] == ["country", "size", "colour"]


def test_colours_come_from_numbers_and_from_categories() -> None:
    contents = contents_of(mixed_table())
    assert dict(contents.colourable) == {
        "size": "numeric",
        "colour": "categorical",
        "is_new": "categorical",
        "bought": "categorical",
        "weight": "numeric",
    }
    header, codes = contents.codes("colour")
    assert header == {"name": "colour", "kind": "categorical", "values": ["red", "mauve", "blue"]}
    assert (codes.dtype, codes[0], codes[197], codes[199]) == (np.uint16, 1, 3, 2)
    header, codes = contents.codes("weight")
    weight = np.array(mixed_table()["weight"], dtype=float)
    assert (header["low"], header["high"]) == (np.nanmin(weight), np.nanmax(weight))
    assert (codes[0], codes[1:].min(), codes.max()) == (0, 1, 65535)
    back = header["low"] + (codes[1:] - 1.0) / 65534 * (header["high"] - header["low"])
    assert np.abs(back - weight[1:]).max() < 1e-4


def test_more_than_a_thousand_categories_colour_nothing() -> None:
    names = [f"n{i}" for i in range(1200) for _ in range(2)]
    table = pa.table({"name": pa.array(names).dictionary_encode(), "x": np.arange(2400) % 5})
    contents = contents_of(table, categories=["name"])
    assert "name" not in dict(contents.colourable)
    few = contents_of(table.slice(0, 900), categories=["name"])
    header, codes = few.codes("name")
    assert len(header["values"]) == 450
    assert codes.max() == 450
    with pytest.raises(InvalidInputError, match="cannot colour a map"):
        contents.codes("name")


def test_search_looks_into_ids_texts_and_categories_in_any_case() -> None:
    table = mixed_table() | {"note": [f"Die STRASSE nach Ürzig, Haus {i}" for i in range(200)]}
    contents = contents_of(table)
    assert contents.search("MAUVE").tolist() == [198, 199]
    assert contents.search("row 19").tolist() == [19, *range(190, 200)]
    assert contents.search("straße").tolist() == []
    assert contents.search("ürzig, haus 77").tolist() == [77]
    assert contents.search("haus", 3).tolist() == [0, 1, 2]
    assert contents.search("  ").tolist() == []
    assert contents.search("(.*").tolist() == []
    assert contents_of({"x": np.arange(30) % 7}).search("17").tolist() == [17]


def test_rows_that_are_not_there_are_refused() -> None:
    contents = contents_of(mixed_table())
    for row in (-1, 200):
        with pytest.raises(InvalidInputError, match=r"there is no row -?\d+"):
            contents.content(row)
        with pytest.raises(InvalidInputError, match=r"there is no row -?\d+"):
            contents.preview(row)
    with pytest.raises(InvalidInputError, match="are no pictures"):
        contents.picture(0, 96)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "pictures"
    for number in range(4):
        kind = place / ("cats" if number % 2 else "dogs")
        kind.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(number).integers(0, 256, (60, 120, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(kind / f"{number}.png")
    return place


def size_of(picture: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(picture)) as image:
        assert image.format == "PNG"
        return image.size


def test_pictures_are_png_with_their_longer_side_as_asked(folder: Path) -> None:
    contents = contents_of(folder, label="folder")
    assert (contents.kind, contents.has_pictures) == ("pictures", True)
    assert contents.content(0).has_picture
    assert size_of(contents.picture(0, 96)) == (96, 48)
    assert size_of(contents.picture(0, 512)) == (120, 60)
    for side in (0, 5000):
        with pytest.raises(InvalidInputError, match="between 1 and"):
            contents.picture(0, side)


def test_a_picture_in_no_folder_of_its_own_shows_no_blank_cell(folder: Path) -> None:
    Image.new("L", (4, 4)).save(folder / "loose.png")
    contents = contents_of(folder)
    shown = {
        contents.table.columns.column("id")[row].as_py(): contents.content(row).cells
        for row in range(contents.table.n_rows)
    }
    assert shown["loose.png"] == ()
    assert all(cells for name, cells in shown.items() if name != "loose.png")


def test_links_that_lead_out_of_the_folder_are_not_shown(folder: Path, tmp_path: Path) -> None:
    Image.new("L", (9, 9)).save(tmp_path / "secret.png")
    (folder / "a-link.png").symlink_to(tmp_path / "secret.png")
    (folder / "b-link.png").symlink_to(folder / "cats" / "1.png")
    contents = contents_of(folder)
    assert [contents.content(row).has_picture for row in (0, 1)] == [False, True]
    with pytest.raises(InvalidInputError, match="leads out of the folder"):
        contents.picture(0, 96)
    assert size_of(contents.picture(1, 96)) == (96, 48)


def test_pictures_that_are_gone_or_changed_are_refused_in_words(folder: Path) -> None:
    contents = contents_of(folder)
    (folder / "cats" / "1.png").unlink()
    assert not contents.content(0).has_picture
    with pytest.raises(InvalidInputError, match="no longer in the folder"):
        contents.picture(0, 96)
    (folder / "cats" / "1.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        contents.picture(0, 96)
    os.mkfifo(folder / "cats" / "pipe.png")
    with pytest.raises(InvalidInputError, match="no longer in the folder"):
        PictureShelf(folder).picture("cats/pipe.png", 96)


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_pictures_that_would_explode_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = contents_of(folder)
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 4000)
    with pytest.raises(InvalidInputError, match="120 x 60 pixels are more than 4,000"):
        contents.picture(0, 96)


def test_transparent_is_white_deep_pixels_are_scaled_and_metadata_is_left_out(
    tmp_path: Path,
) -> None:
    clear = Image.new("RGBA", (40, 40), (0, 0, 0, 0))
    exif = Image.Exif()
    exif[0x010E] = "where I live"
    clear.save(tmp_path / "a.png", exif=exif)
    Image.fromarray(np.full((40, 40), 32768, dtype=np.uint16)).save(tmp_path / "b.png")
    sideways = Image.new("RGB", (40, 20))
    exif[0x0112] = 6
    sideways.save(tmp_path / "c.jpg", exif=exif)
    contents = contents_of(tmp_path)
    with Image.open(io.BytesIO(contents.picture(0, 32))) as image:
        assert image.getpixel((3, 3)) == (255, 255, 255)
        assert not image.info
    with Image.open(io.BytesIO(contents.picture(1, 32))) as image:
        assert image.getpixel((3, 3)) == 127
    assert size_of(contents.picture(2, 32)) == (16, 32)
    assert b"where I live" not in contents.picture(2, 32)


def test_small_pictures_are_kept_up_to_a_limit(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    whole = contents_of(folder)
    one = len(whole.picture(0, 96))

    def counted(folder: Path, path: str, side: int) -> bytes:
        read.append(path)
        return b"x" * one

    monkeypatch.setattr("beltrami.labelling.showing.picture_shelf.read_picture", counted)
    monkeypatch.setattr("beltrami.labelling.showing.picture_shelf._KEPT_BYTES", 2 * one)
    shelf = PictureShelf(folder)
    for path in ("a", "b", "a", "c", "a", "b"):
        shelf.picture(path, 96)
    assert read == ["a", "b", "c", "b"]
    shelf.picture("a", 512)
    shelf.picture("a", 512)
    assert read[4:] == ["a", "a"]
