"""Who stands for all rows: partitions enter, settled representatives and their masses leave."""
