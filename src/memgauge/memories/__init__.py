"""The systems under test that are built in, one per file."""
