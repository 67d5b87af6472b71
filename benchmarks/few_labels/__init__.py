"""The contest of few-label learners: accuracy, seconds and peak memory, ours beside the peers."""
