"""What several tests share: problems, oracles, random inputs, and the command line in a folder."""
