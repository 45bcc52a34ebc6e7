"""The record of a run: one SQLite file that the left wing only writes and the right wing only reads."""
