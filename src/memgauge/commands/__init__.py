"""The commands of the command line, by what they do with a run."""
