"""Makes bad files out of a good document: a part replaced or removed, the text cut off, bytes overwritten."""

import copy
import json
from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import strategies as st

from memgauge.errors import UserError

T = TypeVar("T")

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) of a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, part in inner for place in ((value, key), *_places(part))]


@st.composite
def spoilt(draw: st.DrawFn, document: Any) -> bytes:
    """The JSON of ``document`` with one to three faults; it may still be a good file."""
    broken = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 3))):
        if not (places := _places(broken)):
            break
        container, key = draw(st.sampled_from(places))
        if draw(st.booleans()):
            container[key] = draw(_VALUES)
        else:
            del container[key]
    content = json.dumps(broken, ensure_ascii=draw(st.booleans())).encode("utf-8", "surrogatepass")
    cut = draw(st.integers(0, len(content)))
    kind = draw(st.sampled_from(["whole", "whole", "whole", "cut", "overwritten"]))
    if kind == "whole":
        return content
    return content[:cut] + (draw(st.binary(max_size=4)) if kind == "overwritten" else b"")


def unless_refused(load: Callable[[], T]) -> T | None:
    """What ``load`` gives; ``None`` where it refuses in one line that the user can act on. Any other error is a bug."""
    try:
        return load()
    except UserError as fault:
        said = str(fault)
    assert said.splitlines() == [said], "a refusal is one line"
    return None
