"""Whether a value meets a JSON schema: the keywords that structured outputs use."""

import json
import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

Json = Any
Schema = Any  # a mapping, or true or false

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "null": (type(None),),
}  # fmt: skip
_DEEPEST = 64  # references followed


def resolve(schema: Schema, root: Schema) -> Schema:
    """Follows ``$ref`` inside the document; what stands beside it still holds."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, Mapping) or not isinstance(schema.get("$ref"), str):
            return schema
        target = root
        for step in schema["$ref"].removeprefix("#").strip("/").split("/"):
            if step:
                key = step.replace("~1", "/").replace("~0", "~")
                target = target.get(key) if isinstance(target, Mapping) else None
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        if target is None or target is schema:
            return beside
        schema = {"allOf": [target, beside]} if beside.keys() - {"description", "title", "default"} else target
    return True


def valid(value: Json, schema: Schema, root: Schema, depth: int = 0) -> bool:
    """Whether ``value`` meets ``schema``. Unknown keywords and malformed ones ask for nothing."""
    schema = resolve(schema, root)
    if not isinstance(schema, Mapping):
        return schema is not False
    if depth > _DEEPEST:
        return True
    return (
        _type_fits(value, schema.get("type"))
        and ("const" not in schema or _same(value, schema["const"]))
        and (not isinstance(schema.get("enum"), list) or any(_same(value, one) for one in schema["enum"]))
        and _combined(value, schema, root, depth + 1)
        and _of_its_type(value, schema, root, depth + 1)
    )


def is_type(value: Json, name: Json) -> bool:
    """Whether ``value`` is of the JSON type ``name``."""
    if name in ("number", "integer"):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and (name == "number" or float(value).is_integer())
    return isinstance(value, _TYPES.get(name, (object,))) if isinstance(name, str) else True


def _type_fits(value: Json, wanted: Json) -> bool:
    return any(is_type(value, name) for name in wanted) if isinstance(wanted, list) else is_type(value, wanted)


def _same(one: Json, other: Json) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _combined(value: Json, schema: Mapping[str, Json], root: Schema, depth: int) -> bool:
    def met(key: str) -> list[bool]:
        branches = schema.get(key)
        return [valid(value, branch, root, depth) for branch in branches] if isinstance(branches, list) else [True]

    return (
        all(met("allOf"))
        and any(met("anyOf"))
        and sum(met("oneOf")) == 1
        and ("not" not in schema or not valid(value, schema["not"], root, depth))
    )


def _of_its_type(value: Json, schema: Mapping[str, Json], root: Schema, depth: int) -> bool:
    if isinstance(value, str):
        return _string_fits(value, schema)
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int | float):
        return _number_fits(value, schema)
    if isinstance(value, list):
        return _array_fits(value, schema, root, depth)
    return _object_fits(value, schema, root, depth)


def _string_fits(value: str, schema: Mapping[str, Json]) -> bool:
    pattern = schema.get("pattern")
    try:
        matches = not isinstance(pattern, str) or re.search(pattern, value) is not None
    except re.error:
        matches = True
    return (
        matches
        and schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
        and (_format_fits(value, schema.get("format")))
    )


def _format_fits(value: str, form: Json) -> bool:
    try:
        if form == "date":
            date.fromisoformat(value)
        elif form == "date-time":
            datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _number_fits(value: float, schema: Mapping[str, Json]) -> bool:
    step = schema.get("multipleOf")
    return (
        value >= schema.get("minimum", value)
        and value <= schema.get("maximum", value)
        and ("exclusiveMinimum" not in schema or value > schema["exclusiveMinimum"])
        and ("exclusiveMaximum" not in schema or value < schema["exclusiveMaximum"])
        and (not step or abs(value / step - round(value / step)) < 1e-9)
    )


def _array_fits(value: list[Json], schema: Mapping[str, Json], root: Schema, depth: int) -> bool:
    first = schema.get("prefixItems")
    first = first if isinstance(first, list) else []
    rest = schema.get("items", True)
    distinct = {json.dumps(item, sort_keys=True) for item in value}
    return (
        schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        and (schema.get("uniqueItems") is not True or len(distinct) == len(value))
        and all(valid(item, one, root, depth) for item, one in zip(value, first, strict=False))
        and all(valid(item, rest, root, depth) for item in value[len(first) :])
    )


def _object_fits(value: dict[str, Json], schema: Mapping[str, Json], root: Schema, depth: int) -> bool:
    known = schema.get("properties")
    known = known if isinstance(known, Mapping) else {}
    others = schema.get("additionalProperties", True)
    required = schema.get("required")
    return (
        all(key in value for key in (required if isinstance(required, list) else ()))
        and schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value))
        and all(valid(item, known.get(key, others), root, depth) for key, item in value.items())
    )
