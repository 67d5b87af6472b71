"""One file a command: its words and options, and the one call of the library that it makes."""
