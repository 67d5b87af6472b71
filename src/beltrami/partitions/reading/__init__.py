"""How partitions are read and what is in them: sources enter; columns, counts and labels leave."""
