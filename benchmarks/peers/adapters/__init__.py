"""One module a peer: each returns an `Answer` from the arrays of a `Problem`."""
