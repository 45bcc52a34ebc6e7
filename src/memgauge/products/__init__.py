"""Memories that run outside this process: outside products, and any program that speaks the sidecar protocol."""
