"""Where conversations come from: one file per workload, found by name through ``registry``."""
