"""What must never happen: false certificates, lost labels, half-written files."""
