"""A folder of images: pictures enter, rows of grey pixels leave, or one picture to be shown."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from beltrami.core.errors import InvalidInputError
from beltrami.core.machine.memory import require_memory
from beltrami.core.spelling import is_utf8
from beltrami.core.telling.progress import track
from beltrami.core.types import FloatMatrix
from beltrami.tables.model import Table, few_of

SIDE = 16
_FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP")  # Pillow starts programs for others
_MOST_PIXELS = 2**27  # where Pillow names no limit of its own
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
    with track("reading images", total=len(paths)) as advance, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # remarks on metadata; what cannot be read still raises
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
    return Table(folder.name or str(folder), columns, pixels, pictures=folder.resolve())


def holds_images(folder: Path) -> bool:
    """Say whether a path is a folder with an image somewhere below."""
    return folder.is_dir() and any(one.suffix.lower() in _SUFFIXES for one in folder.rglob("*"))


def picture_place(folder: Path, path: str) -> Path:
    """Return where an image of a folder lies; raise where a link leads out of the folder."""
    place = (folder / path).resolve()
    if not place.is_relative_to(folder.resolve()):
        raise InvalidInputError(
            f"the image {path!r} is a link that leads out of the folder {folder.name!r}, so it is "
            "not shown. Put the picture itself into the folder."
        )
    if not place.is_file():
        raise InvalidInputError(f"the image {path!r} is no longer in the folder {folder.name!r}.")
    return place


def read_picture(folder: Path, path: str, side: int) -> bytes:
    """Return an image of a folder as PNG, upright, its longer side at most `side`.

    What is transparent is white, and nothing but the pixels is kept: no place, no camera.
    """
    place = picture_place(folder, path)
    try:
        with _opened(place, side) as image:
            small = _in_eight_bits(image)
            small.thumbnail((side, side))
    except Exception as error:  # decoders raise whatever they like
        raise InvalidInputError(f"the image {path!r} cannot be read ({error}).") from error
    from PIL import Image

    sink = io.BytesIO()
    Image.fromarray(np.asarray(small)).save(sink, "PNG", optimize=True)
    return sink.getvalue()


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
    from PIL import Image

    with _opened(path, SIDE, mode="L") as image:
        grey = _on_white(image)
    small = grey.resize((SIDE, SIDE), Image.Resampling.BOX, reducing_gap=None)
    top = 65535.0 if np.asarray(grey).max() > 255 else 255.0
    pixels: FloatMatrix = np.asarray(small, dtype=np.float32) / np.float32(top)
    return np.clip(pixels, 0.0, 1.0)


@contextmanager
def _opened(path: Path, side: int, mode: str | None = None) -> Iterator[Any]:
    """Open a picture of the formats that are meant, upright, and refuse one that would explode."""
    from PIL import Image, ImageOps

    with Image.open(path, formats=_FORMATS) as image:
        most = Image.MAX_IMAGE_PIXELS or _MOST_PIXELS
        if image.width * image.height > most:
            raise Image.DecompressionBombError(
                f"{image.width} x {image.height} pixels are more than {most:,}"
            )
        image.draft(mode, (4 * side, 4 * side))
        yield ImageOps.exif_transpose(image)


def _on_white(image: Any) -> Any:
    """Return one channel of floats, with what is transparent in white."""
    from PIL import Image

    if _is_deep(image):
        return Image.fromarray(np.asarray(image, dtype=np.float32))
    return _without_gaps(image).convert("L").convert("F")


def _in_eight_bits(image: Any) -> Any:
    """Return grey or coloured pixels of eight bits a channel, with what is transparent in white."""
    from PIL import Image

    if _is_deep(image):
        pixels = np.asarray(image, dtype=np.float32)
        top = 65535.0 if pixels.max() > 255 else 255.0
        return Image.fromarray(np.uint8(np.clip(pixels * (255 / top), 0, 255)))
    return _without_gaps(image).convert("L" if image.mode in ("1", "L", "LA") else "RGB")


def _is_deep(image: Any) -> bool:
    """Say whether a channel has 16 bits or more."""
    return image.mode in ("I", "F") or image.mode.startswith("I;")


def _without_gaps(image: Any) -> Any:
    """Return a picture in which what is transparent is white."""
    from PIL import Image

    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        layer = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)
    return image
