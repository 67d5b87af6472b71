"""What commands leave behind when they are killed."""
