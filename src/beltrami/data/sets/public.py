"""Sets that do not need the data folder: bundled with scikit-learn, or at a public source.

A name enters and a `Dataset` leaves; where the network does not answer, an `OSError` or a
`ValueError` of the library below leaves instead, and the registry turns it into advice.
"""

import warnings
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from beltrami.data.model import Dataset
from beltrami.data.sets.readers import newsgroups

BUNDLED: Mapping[str, str] = MappingProxyType(
    {
        "breast_cancer": "Wisconsin breast cancer: 569 points, 30 features, 2 classes.",
        "diabetes": "Diabetes progression: 442 points, 10 features, a real target.",
        "digits": "Handwritten digits: 1797 images of 8 x 8 pixels with values 0 to 16.",
        "iris": "Fisher's iris flowers: 150 points, 4 features, 3 classes.",
        "wine": "Wine recognition: 178 points, 13 features, 3 classes.",
    }
)


def load_bundled(name: str) -> Dataset:
    """Return a set that scikit-learn carries with it, so no file and no network is needed."""
    import sklearn.datasets

    bunch: Any = getattr(sklearn.datasets, f"load_{name}")()
    targets = np.asarray(bunch.target)
    is_real = targets.dtype.kind == "f"
    names = getattr(bunch, "target_names", None)
    features = getattr(bunch, "feature_names", None)
    return Dataset(
        name=name,
        points=np.asarray(bunch.data, dtype=np.float64),
        targets=targets if is_real else targets.astype(np.int64),
        target_names=None if names is None else tuple(str(value) for value in names),
        extras={} if features is None else {"feature_names": tuple(map(str, features))},
        description=BUNDLED[name] + " Bundled with scikit-learn.",
    )


def _fetch_mnist() -> Dataset:
    """Return MNIST from OpenML, in the official order: 60000 for training, then 10000."""
    from sklearn.datasets import fetch_openml

    parser = "pandas" if find_spec("pandas") else "liac-arff"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # retries on a slow network
        bunch = fetch_openml(
            "mnist_784", version=1, as_frame=False, parser=parser, n_retries=1, delay=0.1
        )
    return Dataset(
        name="mnist",
        points=np.asarray(bunch.data, dtype=np.float32),
        targets=np.asarray(bunch.target).astype(np.int64),
        n_train=60000,
        description="MNIST handwritten digits, fetched from OpenML (mnist_784, version 1).",
    )


def _fetch_newsgroups() -> Dataset:
    """Return the by-date version of 20 Newsgroups from scikit-learn's source.

    It has 18846 posts, without the 1151 posts of the original collection that by-date dropped and
    without some header lines, so numbers differ a little from those on the data folder's file. The
    extras are the same.
    """
    from sklearn.datasets import fetch_20newsgroups

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # retries on a slow network
        bunch = fetch_20newsgroups(subset="all", shuffle=False, n_retries=1, delay=0.1)
    paths = [Path(str(filename)) for filename in bunch.filenames]
    flags = [1 if "train" in path.parent.parent.name else 2 for path in paths]
    return newsgroups(
        texts=tuple(bunch.data),
        groups=np.asarray(bunch.target, dtype=np.int64),
        names=tuple(bunch.target_names),
        flags=np.array(flags, dtype=np.int64),
        articles=np.array([int(path.name) for path in paths], dtype=np.int64),
        name="newsgroups20",
        description="20 Newsgroups, by-date version with headers, fetched by scikit-learn.",
    )


FETCHED: Mapping[str, Callable[[], Dataset]] = MappingProxyType(
    {"mnist": _fetch_mnist, "newsgroups20": _fetch_newsgroups}
)
