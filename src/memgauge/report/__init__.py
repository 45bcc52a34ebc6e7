"""What a run found, in the terminal and on a page."""
