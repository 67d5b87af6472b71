"""Who is believed: candidates enter, are fitted and judged; what they say together leaves."""
