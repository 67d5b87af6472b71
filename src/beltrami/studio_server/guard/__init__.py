"""Who may enter the studio, and how much is taken on: what stands around its routes."""
