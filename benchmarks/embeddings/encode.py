"""Vectors of the posts by a sentence transformer, made where its libraries are.

The model is a folder on this machine; nothing is fetched. The file is read by the contest.

Run: python -m benchmarks.embeddings.encode FOLDER minilm.npy --posts 3000
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np

from benchmarks.embeddings.posts import POSTS, sample_posts


def main(arguments: list[str] | None = None) -> None:
    """Encode the posts and save the vectors, of length one, in their order."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--posts", type=int, default=POSTS)
    asked = parser.parse_args(arguments)
    os.environ["HF_HUB_OFFLINE"] = "1"
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    texts, _ = sample_posts(asked.posts)
    started = time.perf_counter()
    model = SentenceTransformer(str(asked.model.resolve()), device="cpu")
    vectors = model.encode(texts, normalize_embeddings=True)
    np.save(asked.out, np.asarray(vectors, dtype=np.float32))
    seconds = time.perf_counter() - started
    print(f"{vectors.shape[0]} posts, {vectors.shape[1]} numbers each, {seconds:.0f} s")


if __name__ == "__main__":
    main()
