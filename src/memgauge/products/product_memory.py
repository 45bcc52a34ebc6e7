"""A memory that is an outside product: a sidecar in the product's own environment."""

from collections.abc import Mapping
from typing import Any, ClassVar

from memgauge.products.environment import Environment, Product
from memgauge.products.sidecar import SidecarMemory


class ProductMemory(SidecarMemory):
    """A product is a subclass that knows its environment, its command and its options."""

    product: ClassVar[Product]

    @classmethod
    def require(cls, options: Mapping[str, Any]) -> None:
        """Raises MissingExtraError where the product is not installed, UserError where it is not as locked."""
        cls.environment()

    @classmethod
    def environment(cls) -> Environment:
        """Where the product's interpreter is; raises as ``require`` does."""
        return Environment(cls.product).require()
