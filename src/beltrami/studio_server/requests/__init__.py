"""What can be asked of the server: requests enter, answers of the desk leave."""
