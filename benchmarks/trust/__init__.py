"""What the front door's promises are worth on sets that had no part in fitting them."""
