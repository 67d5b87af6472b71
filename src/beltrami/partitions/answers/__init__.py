"""Every row answered: what was learned enters, files of answers leave."""
