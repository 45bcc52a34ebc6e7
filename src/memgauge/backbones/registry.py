"""The backbones by name. Each is imported only when it is made."""

from memgauge.backbones.base import Backbone
from memgauge.errors import UnknownNameError, UserError
from memgauge.keys import api_key
from memgauge.spec import Setting

# Name -> what it is, as ``memgauge list`` prints it.
SUMMARIES = {
    "embedded": "SmolLM2-135M-Instruct on this machine's CPU; a real model, too small for claims about quality",
    "endpoint": "any OpenAI-compatible server, such as OpenRouter, vLLM or Ollama: --base-url, --model, --api-key-env",
    "extractive": "no model: picks answers from the context by rule; exact token usage, deterministic, fast",
    "constant": "no model: always replies the same; the floor of speed and the always-wrong control",
}


def names() -> tuple[str, ...]:
    """Every name that ``create`` knows."""
    return tuple(SUMMARIES)


def check(setting: Setting) -> None:
    """Raises UserError where the setting names what does not exist or lacks what it needs."""
    if setting.backbone not in SUMMARIES:
        raise UnknownNameError("backbone", setting.backbone, SUMMARIES)
    if setting.backbone == "endpoint":
        if not setting.base_url:
            raise UserError(
                "the backbone 'endpoint' needs base_url (flag --base-url), such as http://localhost:8000/v1"
            )
        if not setting.model:
            raise UserError("the backbone 'endpoint' needs a model (flag --model)")
    api_key(setting.api_key_env)


def create(setting: Setting, *, max_connections: int = 64) -> Backbone:
    """The backbone of a setting that ``check`` has passed."""
    match setting.backbone:
        case "embedded":
            from memgauge.backbones.embedded import Embedded

            return Embedded() if setting.window is None else Embedded(window=setting.window)
        case "extractive":
            from memgauge.backbones.extractive import Extractive

            return Extractive()
        case "constant":
            from memgauge.backbones.constant import Constant

            return Constant()
        case _:
            from memgauge.backbones.endpoint import Endpoint

            return Endpoint(
                setting.base_url or "",
                setting.model or "",
                api_key=api_key(setting.api_key_env),
                window=setting.window,
                max_connections=max_connections,
            )
