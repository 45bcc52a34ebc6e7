"""The embedders by name. Each is imported only when it is made."""

from memgauge.embedders.base import Embedder
from memgauge.errors import UnknownNameError, UserError

_NAMES = ("endpoint", "hashing", "minilm")


def names() -> tuple[str, ...]:
    """Every name that ``create`` knows."""
    return _NAMES


def create(name: str, *, base_url: str | None = None, api_key: str | None = None, model: str | None = None) -> Embedder:
    """Makes the embedder ``name``. Address, key and model are for ``endpoint``; the others have none."""
    match name:
        case "minilm":
            from memgauge.embedders.minilm import MiniLM

            return MiniLM()
        case "hashing":
            from memgauge.embedders.hashing import Hashing

            return Hashing()
        case "endpoint":
            if not base_url or not model:
                raise UserError("the embedder 'endpoint' needs a base URL and a model")
            from memgauge.embedders.endpoint import EndpointEmbedder

            return EndpointEmbedder(base_url, model, api_key=api_key)
        case _:
            raise UnknownNameError("embedder", name, _NAMES)
