"""Mastra Observational Memory (@mastra/memory, Apache-2.0), as published, on a Node of its own."""
