"""What the contests share: how they are asked for, run, measured, kept and written."""
