"""Belkin, Niyogi and Sindhwani (2004), manifold regularisation: figures 1 to 3."""
