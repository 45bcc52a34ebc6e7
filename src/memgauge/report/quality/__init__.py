"""How well the memories remember: the section of the page that shows it."""
