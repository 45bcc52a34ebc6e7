"""Mem0 (mem0ai, Apache-2.0), as published: the 2.x library, and 1.0.x as a variant of its own."""
