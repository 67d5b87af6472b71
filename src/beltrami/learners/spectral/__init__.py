"""The eigenfunction learner: labels fitted by the graph's lowest eigenvectors."""
