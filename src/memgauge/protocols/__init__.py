"""How a workload is played against a memory."""
