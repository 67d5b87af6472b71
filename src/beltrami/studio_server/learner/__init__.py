"""The learner's thread: saved labels enter; answers, doubts and a map leave."""
