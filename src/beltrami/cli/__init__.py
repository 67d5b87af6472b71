"""Layer 8: the command line; it parses, calls one library function and prints."""
