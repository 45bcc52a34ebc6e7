"""Hindsight (hindsight-api-slim, MIT), as published: its own server on an embedded PostgreSQL, one pair per unit."""
