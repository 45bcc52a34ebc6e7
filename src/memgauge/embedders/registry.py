"""The embedders by name. Each is imported only when it is made."""

from memgauge.embedders.base import Embedder
from memgauge.errors import UnknownNameError, UserError
from memgauge.keys import api_key
from memgauge.spec import Setting

_NAMES = ("endpoint", "hashing", "minilm")


def names() -> tuple[str, ...]:
    """Every name that ``create`` knows."""
    return _NAMES


def check(setting: Setting) -> None:
    """Raises UserError where the setting names what does not exist or lacks what it needs."""
    if setting.embedder not in _NAMES:
        raise UnknownNameError("embedder", setting.embedder, _NAMES)
    if setting.embedder == "endpoint" and not (_base_url(setting) and setting.embedding_model):
        raise UserError("the embedder 'endpoint' needs base_url and embedding_model (flag --embedding-model)")
    api_key(setting.embedding_api_key_env)


def create(setting: Setting) -> Embedder:
    """The embedder of a setting that ``check`` has passed.

    An ``endpoint`` shares address and key with the backbone unless the setting gives it its own.
    """
    match setting.embedder:
        case "minilm":
            from memgauge.embedders.minilm import MiniLM

            return MiniLM()
        case "hashing":
            from memgauge.embedders.hashing import Hashing

            return Hashing()
        case _:
            from memgauge.embedders.endpoint import EndpointEmbedder

            key = api_key(setting.embedding_api_key_env or setting.api_key_env)
            return EndpointEmbedder(_base_url(setting) or "", setting.embedding_model or "", api_key=key)


def _base_url(setting: Setting) -> str | None:
    return setting.embedding_base_url or setting.base_url
