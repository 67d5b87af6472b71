"""What people ask of labelled partitions: a folder of results enters; rows and verdicts leave."""
