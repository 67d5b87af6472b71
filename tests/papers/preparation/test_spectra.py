import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from beltrami.core.errors import InvalidInputError
from beltrami_papers.preparation import frame_centers, log_spectra


def test_a_tone_peaks_at_its_frequency_in_every_frame() -> None:
    wave = np.sin(2 * np.pi * 1000 * np.arange(16000) / 16000)
    spectra = log_spectra(wave)
    # 512-point transform at 16 kHz: 31.25 Hz a bin, so 1 kHz is bin 32.
    assert spectra.shape == (1 + (16000 - 480) // 80, 256)
    assert (spectra.argmax(axis=1) == 32).all()


def test_values_are_logs_of_the_windowed_transform() -> None:
    wave = np.random.default_rng(0).standard_normal(700)
    frame = wave[80 : 80 + 480] * np.hamming(480)
    k = np.arange(256)[:, None]
    direct = np.abs((frame * np.exp(-1j * np.pi * k * np.arange(480) / 256)).sum(axis=1))
    assert_allclose(log_spectra(wave)[1], np.log(direct), rtol=1e-8)


def test_silence_stays_finite_a_hundred_decibels_below_the_peak() -> None:
    wave = np.zeros(2000, dtype=np.int16)
    assert np.isfinite(log_spectra(wave)).all()
    wave[:480] = 1000
    spectra = log_spectra(wave)
    assert_allclose(spectra.max() - spectra.min(), np.log(1e5))
    assert (spectra[-1] == spectra.min()).all()


def test_centres_match_the_frames() -> None:
    centers = frame_centers(16000)
    assert centers.size == log_spectra(np.ones(16000)).shape[0]
    assert_array_equal(centers[:3], [240, 320, 400])
    assert frame_centers(480).tolist() == [240]


@pytest.mark.parametrize(
    ("wave", "options", "message"),
    [
        (np.zeros(479), {}, "479 samples and one window takes 480"),
        (np.zeros((2, 900)), {}, "one channel"),
        (np.array(["a"]), {}, "vector of numbers"),
        (np.full(900, np.nan), {}, "900 NaN"),
        (np.zeros(900), {"n_frequencies": 100}, "at least 240 frequencies"),
        (np.zeros(900), {"window_s": 0.0}, "window_s"),
        (np.zeros(900), {"step_s": 1e-6}, "at least one"),
        (np.zeros(900), {"sample_rate": -1}, "sample_rate"),
    ],
)
def test_impossible_recordings_and_windows_are_refused(
    wave: np.ndarray, options: dict[str, float], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        log_spectra(wave, **options)  # type: ignore[arg-type]
