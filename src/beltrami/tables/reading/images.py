"""A folder of images: pictures enter, rows of grey pixels leave."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.memory import require_memory
from beltrami.core.progress import track
from beltrami.core.spelling import is_utf8
from beltrami.core.types import FloatMatrix
from beltrami.tables.model import Table, few_of

SIDE = 16
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP")  # Pillow starts programs for others
_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")


def read_images(folder: Path) -> Table:
    """Return the images under a folder as rows of 16 x 16 grey pixels between 0 and 1.

    Every picture is stretched to a square, so shapes and not sizes are compared; transparent parts
    count as white, and of a moving picture the first frame is taken. Raw pixels tell apart digits,
    letters and centred objects; for photographs give embeddings in a side file. Subfolders are
    searched, too; names that begin with a dot are not.

    The columns are "id" (path below the folder), by which rows are sorted, and "folder" (name of
    the folder that holds the picture, "" at the top).
    """
    import pyarrow as pa

    paths = _image_paths(folder)
    require_memory(
        4.0 * len(paths) * SIDE * SIDE,
        what=f"the pixels of {len(paths)} images",
        instead="Take a sample of the images.",
    )
    pixels = np.empty((len(paths), SIDE * SIDE), dtype=np.float32)
    broken: list[str] = []
    with track("reading images", total=len(paths)) as advance:
        for row, path in enumerate(paths):
            try:
                pixels[row] = _grey(_require_file(folder / path)).ravel()
            except Exception as error:  # noqa: BLE001 - decoders raise whatever they like
                broken.append(f"{path} ({error})")
            advance(1)
    if broken:
        raise InvalidInputError(
            f"{len(broken)} of {len(paths)} images in {folder.name or folder} cannot be read: "
            f"{few_of(broken, 3)}. Remove or replace them."
        )
    parents = [Path(path).parent.name for path in paths]
    columns = pa.table({"id": pa.array(paths), "folder": pa.array(parents)})
    return Table(folder.name or str(folder), columns, pixels)


def _image_paths(folder: Path) -> list[str]:
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.suffix.lower() in _SUFFIXES and not path.is_dir()
    )
    paths = [path for path in names if not any(part.startswith(".") for part in path.split("/"))]
    if not paths:
        raise InvalidInputError(
            f"the folder {str(folder)!r} holds no image ({', '.join(_SUFFIXES)}). Give a folder of "
            "images, or one file."
        )
    strange = [path for path in paths if not is_utf8(path)]
    if strange:
        raise InvalidInputError(
            f"{len(strange)} of {len(paths)} images in {folder.name or folder} have names that are "
            f"not in UTF-8: {few_of(strange, 3)}. Rename them; names serve as ids."
        )
    return paths


def _require_file(path: Path) -> Path:
    if path.is_file():
        return path
    raise OSError("a link that leads nowhere" if path.is_symlink() else "no regular file")


def _grey(path: Path) -> FloatMatrix:
    from PIL import Image, ImageOps

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks on metadata; what cannot be read still raises
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        with Image.open(path, formats=_FORMATS) as image:
            image.draft("L", (4 * SIDE, 4 * SIDE))
            upright = ImageOps.exif_transpose(image)
            grey = _on_white(upright)
    small = grey.resize((SIDE, SIDE), Image.Resampling.BOX, reducing_gap=None)
    top = 65535.0 if np.asarray(grey).max() > 255 else 255.0
    pixels: FloatMatrix = np.asarray(small, dtype=np.float32) / np.float32(top)
    return np.clip(pixels, 0.0, 1.0)


def _on_white(image: Any) -> Any:
    """Return one channel of floats, with what is transparent in white."""
    from PIL import Image

    if image.mode in ("I", "F") or image.mode.startswith("I;"):  # 16 bits and more
        return Image.fromarray(np.asarray(image, dtype=np.float32))
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        layer = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
    return image.convert("L").convert("F")
