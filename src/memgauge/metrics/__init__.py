"""Figures of quality and efficiency, computed from a ledger alone."""
