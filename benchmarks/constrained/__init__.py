"""k-means with bounds on sizes: how fast it is alone, and beside k-means-constrained."""
