"""memgauge: what an agent's memory costs to serve, and how well it remembers."""

__version__ = "0.1.0"
