"""The studio: a page on this machine on which people label and the data answer."""
