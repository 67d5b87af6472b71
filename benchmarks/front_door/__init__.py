"""The front door beside single methods and peers: accuracy, queries, reviews, layouts."""
