"""What each column is and is for: its kind, its role, its labels as they were written."""
