"""What the papers published, for comparison side by side."""
