"""The command line; it parses, calls one library function and prints."""
