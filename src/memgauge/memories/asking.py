"""How a memory asks the backbone for something it needs, and what happens where the reply is of no use.

A reply that cannot be used (prose where a form was asked for, cut off, empty, refused, a prompt that does not fit the
window) is a fault: it is entered in the ledger with the reply, and the memory gets what could be saved of it, or None,
and goes on with the text that it was given. An upstream that does not answer at all is no such fault: it is raised.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin

import msgspec

from memgauge.backbones.base import ChatRequest, UpstreamError
from memgauge.found_json import objects
from memgauge.meter.handles import BackboneHandle

Form = TypeVar("Form", bound=msgspec.Struct)

# The upstream answered, with something that is no completion of this prompt; it would do so again.
_ABOUT_THE_PROMPT = ("malformed", "refused", "context")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text of ours that tells the backbone what to do with the text that follows it, and how long a reply may be.

    It ends in a line break, so that token counts of a prompt's parts add up.
    """

    name: str
    text: str
    max_tokens: int = 1000

    def __post_init__(self) -> None:
        if not self.text.endswith("\n"):
            object.__setattr__(self, "text", f"{self.text}\n")


class Asker:
    """Puts a memory's prompts to its backbone."""

    def __init__(self, backbone: BackboneHandle) -> None:
        self._backbone = backbone
        self._knows_schemas = True

    async def text(self, prompt: Prompt, *said: str, **params: Any) -> str | None:
        """The reply, without blanks around it; None, with a fault, where there is none."""
        reply = await self._reply(prompt, said, params)
        if reply is None:
            return None
        text, cut = reply
        if cut:
            self._backbone.fault(f"{prompt.name}: the reply was cut off at its token limit", text)
        if not text.strip():
            self._backbone.fault(f"{prompt.name}: the reply was empty", text)
            return None
        return text.strip()

    async def form(self, prompt: Prompt, form: type[Form], *said: str, **params: Any) -> Form | None:
        """The reply as a filled form, every field of which has a default.

        A field that is missing, or not of its type, takes its default, and of a list the entries that fit are kept,
        with a fault for the whole; None, with a fault, where no field could be read.
        """
        reply = await self._reply(prompt, said, params, form)
        if reply is None:
            return None
        text, cut = reply
        filled, why = read_form(text, form)
        if why:
            ending = ", and was cut off at its token limit" if cut else ""
            self._backbone.fault(f"{prompt.name}: the reply {why}{ending}", text)
        return filled

    async def _reply(
        self, prompt: Prompt, said: tuple[str, ...], params: dict[str, Any], form: type[msgspec.Struct] | None = None
    ) -> tuple[str, bool] | None:
        """The reply's text, and whether it was cut off at its token limit."""
        wanted = {"max_tokens": prompt.max_tokens, **params}
        schema = {"response_format": _response_format(form)} if form and self._knows_schemas else {}
        try:
            reply = await self._backbone.chat(ChatRequest.of(prompt.text, *said, **wanted, **schema))
        except UpstreamError as fault:
            if fault.status in (400, 422) and fault.kind == "http" and schema:
                # Not every server knows JSON schemas; our prompts describe the same form in words.
                self._knows_schemas = False
                return await self._reply(prompt, said, params, form)
            if fault.kind not in _ABOUT_THE_PROMPT:
                raise
            self._backbone.fault(f"{prompt.name}: {fault}")
            return None
        return reply.text, reply.finish_reason == "length"


def read_form(text: str, form: type[Form]) -> tuple[Form | None, str]:
    """The form as filled in by a reply, and what was wrong with it, if anything.

    The last object that fills any field counts: models think before they answer.
    """
    found = objects(text)
    if not found:
        return None, "held no whole JSON object" if text.strip() else "was empty"
    last = ""
    for value in reversed(found):
        filled, why = _filled(value, form)
        if filled is not None:
            return filled, why
        last = last or why
    return None, last


def _filled(value: Mapping[str, Any], form: type[Form]) -> tuple[Form | None, str]:
    good: dict[str, Any] = {}
    bad: list[str] = []
    for field in msgspec.structs.fields(form):
        if field.encode_name not in value:
            bad.append(f"lacked {field.encode_name!r}")
            continue
        found, spoilt = _read(value[field.encode_name], field.type)
        if spoilt:
            bad.append(f"gave {field.encode_name!r} in another form")
        if found is not msgspec.UNSET:
            good[field.name] = found
    return (form(**good) if good else None), " and ".join(bad)


def _read(value: Any, kind: Any) -> tuple[Any, bool]:
    """``value`` as ``kind``, or UNSET; and whether anything of it had to be left out."""
    try:
        return msgspec.convert(value, kind, strict=False), False
    except (msgspec.ValidationError, UnicodeEncodeError):  # the latter: half a letter, compared with known words
        pass
    if get_origin(kind) is Annotated:  # a list that is too long keeps all that it holds
        kind = get_args(kind)[0]
    if isinstance(value, Mapping) and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _filled(value, kind)[0] or msgspec.UNSET, True
    if isinstance(value, list) and get_origin(kind) is list:
        entries = [_read(entry, get_args(kind)[0])[0] for entry in value]
        return [entry for entry in entries if entry is not msgspec.UNSET], True
    return msgspec.UNSET, True


@cache
def _response_format(form: type[msgspec.Struct]) -> dict[str, Any]:
    """The form as OpenAI's strict JSON schema: every field required, no other allowed, no references."""
    [schema], parts = msgspec.json.schema_components([form], ref_template="{name}")
    name = form.__name__.lower()
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": _plain(schema, parts)}}


def _plain(schema: Any, parts: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_plain(entry, parts) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _plain(parts[schema["$ref"]], parts)
    plain = {key: _plain(value, parts) for key, value in schema.items() if key != "default"}
    if plain.get("type") == "object":
        plain.pop("description", None)  # our docstrings are not for the model
        plain.pop("title", None)
    if isinstance(plain.get("properties"), dict):
        plain |= {"required": list(plain["properties"]), "additionalProperties": False}
    return plain
