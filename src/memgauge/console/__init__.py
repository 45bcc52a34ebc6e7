"""What the command line draws on a terminal."""
