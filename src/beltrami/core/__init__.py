"""Layer 0: types, errors, validation, randomness, threads, memory, progress, files, devices."""
