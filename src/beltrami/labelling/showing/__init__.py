"""What people see of rows: a table enters; texts, cells, pictures and the page leave."""
