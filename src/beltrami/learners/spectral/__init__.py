"""The eigenfunction learners: labels fitted by the graph's lowest eigenvectors."""
