"""Figures drawn from many units: costs per turn, break-even, intervals, models."""
