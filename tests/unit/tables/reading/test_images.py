import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from beltrami.core.errors import InvalidInputError
from beltrami.tables import TableOptions, guess_roles, label_column, read_table


def save(path: Path, image: Image.Image) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image.save(path)


def test_folders_and_paths_become_columns(tmp_path: Path) -> None:
    for name in ("cats/a.png", "dogs/deep/b.jpg", "c.bmp", "dogs/d.GIF", "e.webp", "f.tif"):
        save(tmp_path / name, Image.new("L", (20, 30), 128))
    (tmp_path / "notes.txt").write_text("no image")
    save(tmp_path / ".hidden" / "x.png", Image.new("L", (2, 2)))
    table = read_table(tmp_path)
    assert table.columns.to_pydict() == {
        "id": ["c.bmp", "cats/a.png", "dogs/d.GIF", "dogs/deep/b.jpg", "e.webp", "f.tif"],
        "folder": ["", "cats", "dogs", "deep", "", ""],
    }
    assert table.matrix.shape == (6, 256)
    assert table.matrix.dtype == np.float32
    assert np.abs(table.matrix - 128 / 255).max() < 0.02
    roles = guess_roles(table, TableOptions(label="folder"))
    assert (roles.id, roles.uses_matrix) == ("id", True)
    labels = label_column(table, roles).values
    assert labels.tolist() == [None, "cats", "dogs", "deep", None, None]


def test_pixels_are_means_of_boxes(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (32, 64), dtype=np.uint8)
    save(tmp_path / "a.png", Image.fromarray(pixels))
    means = pixels.reshape(16, 2, 16, 4).mean(axis=(1, 3)).ravel() / 255
    assert read_table(tmp_path).matrix[0] == pytest.approx(means, abs=1e-5)


def test_sixteen_bits_transparency_and_colour_maps(tmp_path: Path) -> None:
    deep = np.full((16, 16), 32768, dtype=np.uint16)
    save(tmp_path / "1.png", Image.fromarray(deep))
    save(tmp_path / "2.png", Image.new("RGBA", (16, 16), (0, 0, 0, 0)))
    save(tmp_path / "3.png", Image.new("L", (16, 16), 51).convert("P"))
    save(tmp_path / "4.png", Image.new("1", (16, 16), 1))
    assert read_table(tmp_path).matrix[:, 0] == pytest.approx([0.5, 1.0, 0.2, 1.0], abs=1e-4)


def test_unreadable_images_are_counted_and_named(tmp_path: Path) -> None:
    save(tmp_path / "a.png", Image.new("L", (9, 9)))
    (tmp_path / "b.png").write_bytes(b"no picture")
    (tmp_path / "c.png").write_bytes((tmp_path / "a.png").read_bytes()[:40])
    with pytest.raises(InvalidInputError, match=r"2 of 3 images.*b\.png"):
        read_table(tmp_path)


def test_folder_without_images_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="holds no image"):
        read_table(tmp_path)


POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n"


def test_only_the_formats_that_are_meant_are_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def started(*command: object, **_: object) -> None:
        raise AssertionError(f"a program was started: {command}")

    monkeypatch.setattr("subprocess.Popen", started)
    monkeypatch.setattr("PIL.EpsImagePlugin.gs_binary", "gs")
    (tmp_path / "a.png").write_bytes(POSTSCRIPT)
    with pytest.raises(InvalidInputError, match=r"1 of 1 images.*cannot identify image file"):
        read_table(tmp_path)


def test_links_that_lead_nowhere_and_pipes_are_counted_and_named(tmp_path: Path) -> None:
    save(tmp_path / "a.png", Image.new("L", (9, 9)))
    (tmp_path / "b.png").symlink_to(tmp_path / "b.png")
    (tmp_path / "c.png").symlink_to(tmp_path / "gone.png")
    os.mkfifo(tmp_path / "d.png")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "up").symlink_to(tmp_path)
    with pytest.raises(InvalidInputError, match=r"3 of 4 images.*b\.png \(a link that leads no"):
        read_table(tmp_path)


def test_names_that_are_not_utf8_are_counted_and_named(tmp_path: Path) -> None:
    save(tmp_path / "a.png", Image.new("L", (9, 9)))
    odd = os.fsencode(tmp_path) + b"/odd\xe9.png"
    Path(os.fsdecode(odd)).write_bytes((tmp_path / "a.png").read_bytes())
    with pytest.raises(InvalidInputError, match=r"1 of 2 images.*not in UTF-8.*Rename"):
        read_table(tmp_path)
