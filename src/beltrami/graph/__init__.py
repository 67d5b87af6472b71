"""Layer 2: points become a weighted graph with a certificate."""
