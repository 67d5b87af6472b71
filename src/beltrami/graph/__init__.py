"""Points become a weighted graph with a certificate."""
