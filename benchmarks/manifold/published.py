"""What others printed for the same sets, and what ours is asked for.

The numbers are quoted from memory and were not checked against a copy of the source.
"""

from collections.abc import Mapping

JOURNAL = "Belkin, Niyogi and Sindhwani (2006)"
BOOK = "Chapelle, Schoelkopf and Zien (2006), chapter 21"

PRINTED: Mapping[tuple[str, int], Mapping[str, float]] = {
    ("g50c", 50): {"LapRLS": 5.2, "LapSVM": 5.4},
    ("uspst", 50): {"LapRLS": 12.7, "LapSVM": 12.7},
    ("lds_text", 50): {"LapRLS": 10.0, "LapSVM": 10.4},
    ("coil20", 40): {"LapRLS": 4.3, "LapSVM": 4.0},
    ("sslbook_g241c", 10): {"LapRLS": 43.95},
    ("sslbook_g241d", 10): {"LapRLS": 45.68},
    ("sslbook_digit1", 10): {"LapRLS": 5.44},
    ("sslbook_usps", 10): {"LapRLS": 18.99},
    ("sslbook_coil", 10): {"LapRLS": 54.54},
    ("sslbook_bci", 10): {"LapRLS": 48.97},
    ("sslbook_text", 10): {"LapRLS": 33.68},
    ("sslbook_g241c", 100): {"LapRLS": 24.36},
    ("sslbook_g241d", 100): {"LapRLS": 26.46},
    ("sslbook_digit1", 100): {"LapRLS": 2.92},
    ("sslbook_usps", 100): {"LapRLS": 4.68},
    ("sslbook_coil", 100): {"LapRLS": 11.92},
    ("sslbook_bci", 100): {"LapRLS": 31.36},
    ("sslbook_text", 100): {"LapRLS": 23.57},
}
"""Percent wrong on the unlabelled rows, by set and number of labels."""

ASKED: Mapping[tuple[str, int], float] = {
    ("g50c", 50): 6.5,
    ("sslbook_digit1", 100): 3.5,
    ("sslbook_usps", 100): 6.0,
}
"""Most percent wrong that both Laplacian machines may have."""
