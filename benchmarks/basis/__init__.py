"""The eigenbasis that the learners stand on: time, growth and memory."""
