"""Turns an experiment into units, and plays them."""
