"""What goes over the wire: requests in; frames, states and rows out, to every open page."""
