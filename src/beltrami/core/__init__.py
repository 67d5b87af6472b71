"""Types, errors, validation, randomness, threads, memory, progress, files, devices."""
