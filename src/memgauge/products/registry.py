"""Finds outside products by name, ours and those of other packages, through the entry points ``memgauge.products``."""

from importlib.metadata import entry_points

from memgauge.errors import UnknownNameError
from memgauge.products.environment import Product

GROUP = "memgauge.products"


def names() -> list[str]:
    """Every product that can be installed."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def product(name: str) -> Product:
    """A product by its name on the command line. Raises UnknownNameError."""
    points = {point.name: point for point in entry_points(group=GROUP)}
    if name not in points:
        raise UnknownNameError("product", name, points)
    found: Product = points[name].load()
    return found
