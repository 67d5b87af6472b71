"""A library of static embedding models that knows three words, where the real one is not."""

import os
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WORDS = ("red", "green", "blue")


class FakeModel:
    """Counts three words; knows no others."""

    dim = len(WORDS)
    seen: dict[str, Any]

    @classmethod
    def from_pretrained(cls, path: str) -> "FakeModel":
        if not (Path(path) / "config.json").exists():
            raise FileNotFoundError("no config.json")
        cls.seen = {"path": path, "offline": os.environ.get("HF_HUB_OFFLINE")}
        return cls()

    def encode(self, texts: list[str], **options: Any) -> np.ndarray:
        assert options == {"max_length": None, "use_multiprocessing": False}
        return np.array([[text.split().count(word) for word in WORDS] for text in texts], float)


def install_fake_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the library in the place of the real one, and a model of it into a folder."""
    library = types.ModuleType("model2vec")
    library.StaticModel = FakeModel  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "model2vec", library)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    return folder
