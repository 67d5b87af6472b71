"""How far a job is, told to people: stages and steps enter, lines and events leave."""
