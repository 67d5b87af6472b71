"""Beltrami against its peers: the same answer first, then the clocks."""
