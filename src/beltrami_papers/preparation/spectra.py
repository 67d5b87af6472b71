"""Speech as points: the logarithms of short-time spectra.

A recording enters, one row per short window of it leaves.
"""

import numpy as np
from numpy.typing import ArrayLike

from beltrami.core.errors import InvalidInputError
from beltrami.core.types import FloatMatrix, IndexVector
from beltrami.core.validation import check_count, check_positive

_FLOOR = 1e-5  # 100 dB below the loudest coefficient


def log_spectra(
    wave: ArrayLike,
    sample_rate: float = 16000,
    *,
    window_s: float = 0.030,
    step_s: float = 0.005,
    n_frequencies: int = 256,
) -> FloatMatrix:
    r"""Return the logarithms of the short-time Fourier coefficients of a recording.

    Frame i starts at sample :math:`i h`, has m samples, and becomes

    .. math:: x_{ik} = \log \max\bigl(|F_{ik}|, \epsilon \max|F|\bigr), \qquad
              F_{ik} = \sum_{j<m} g_j\, w_{ih+j}\, e^{-\pi i jk/K}, \qquad 0 \le k < K,

    with g the Hamming window and K = `n_frequencies` from 0 up to, not including, half the sample
    rate. Belkin (2003), Section 2.6.4, takes windows of 30 ms every 5 ms and 256 logarithms; it
    does not name the window function or the transform's length, which are ours. The floor of
    1e-5 times the largest coefficient of the recording (100 dB) keeps digital silence finite.

    Parameters
    ----------
    wave : array-like of shape (n_samples,)
        The recording.
    sample_rate : float, default=16000
        Samples per second.
    window_s : float, default=0.030
        Length of a window in seconds; at most 2 K samples.
    step_s : float, default=0.005
        Time between the starts of two windows in seconds.
    n_frequencies : int, default=256
        How many coefficients, K.

    Returns
    -------
    ndarray of shape (n_frames, n_frequencies)
        One row per window that lies wholly in the recording.

    Raises
    ------
    InvalidInputError
        When the recording is shorter than a window, or the window has more than 2 K samples.

    Examples
    --------
    >>> import numpy as np
    >>> from beltrami_papers.preparation import log_spectra
    >>> tone = np.sin(2 * np.pi * 1000 * np.arange(1600) / 16000)  # 1000 Hz for a tenth of a second
    >>> spectra = log_spectra(tone, sample_rate=16000)
    >>> spectra.shape, int(spectra[0].argmax()) * 16000 / 512
    ((15, 256), 1000.0)
    """
    samples = np.asarray(wave)
    if samples.ndim != 1 or samples.dtype.kind not in "fiu":
        raise InvalidInputError(
            f"wave must be a vector of numbers and has shape {samples.shape} and dtype "
            f"{samples.dtype}; pass one channel."
        )
    samples = samples.astype(np.float64)
    if not np.isfinite(samples).all():
        raise InvalidInputError(
            f"wave has {int((~np.isfinite(samples)).sum())} NaN or infinite samples, and one "
            "spoils every window that holds it; cut them out first."
        )
    width, step = _window_samples(sample_rate, window_s, step_s)
    n_frequencies = check_count(n_frequencies, name="n_frequencies")
    if width > 2 * n_frequencies:
        raise InvalidInputError(
            f"a window of {width} samples needs at least {(width + 1) // 2} frequencies and "
            f"n_frequencies={n_frequencies}; raise it or shorten window_s."
        )
    if samples.size < width:
        raise InvalidInputError(
            f"wave has {samples.size} samples and one window takes {width}; shorten window_s."
        )
    frames = np.lib.stride_tricks.sliding_window_view(samples, width)[::step]
    spectra = np.fft.rfft(frames * np.hamming(width), n=2 * n_frequencies, axis=1)
    magnitudes = np.abs(spectra[:, :n_frequencies])
    floor = max(_FLOOR * float(magnitudes.max()), float(np.finfo(np.float64).tiny))
    return np.log(np.maximum(magnitudes, floor))


def frame_centers(
    n_samples: int,
    sample_rate: float = 16000,
    *,
    window_s: float = 0.030,
    step_s: float = 0.005,
) -> IndexVector:
    """Return the middle sample of each row of `log_spectra`, to look up its phone segment.

    Examples
    --------
    >>> from beltrami_papers.preparation import frame_centers
    >>> frame_centers(640, sample_rate=16000).tolist()
    [240, 320, 400]
    """
    width, step = _window_samples(sample_rate, window_s, step_s)
    n_samples = check_count(n_samples, name="n_samples", minimum=width)
    return np.arange(0, n_samples - width + 1, step) + width // 2


def _window_samples(sample_rate: float, window_s: float, step_s: float) -> tuple[int, int]:
    rate = check_positive(sample_rate, name="sample_rate")
    width = round(check_positive(window_s, name="window_s") * rate)
    step = round(check_positive(step_s, name="step_s") * rate)
    if width < 1 or step < 1:
        raise InvalidInputError(
            f"window_s={window_s} and step_s={step_s} at {rate:g} samples per second are {width} "
            f"and {step} samples; both must be at least one."
        )
    return width, step
