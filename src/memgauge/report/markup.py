"""HTML from parts, with every text escaped unless it is markup already."""

from collections.abc import Iterable
from html import escape


class Markup(str):
    """A text that is HTML already."""

    __slots__ = ()


Part = str | Markup | None


def markup(part: Part) -> str:
    """``part`` as HTML: escaped, unless it is Markup; nothing for None."""
    if part is None:
        return ""
    return part if isinstance(part, Markup) else escape(part, quote=True)


def element(name: str, /, *children: Part, **attributes: str | int | float | None) -> Markup:
    """An element. ``_`` in attribute names stands for ``-`` (``class_`` for ``class``); None leaves one out."""
    written = "".join(
        f' {key.strip("_").replace("_", "-")}="{escape(str(value), quote=True)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{''.join(map(markup, children))}</{name}>")


def joined(parts: Iterable[Part]) -> Markup:
    """The parts one after the other."""
    return Markup("".join(map(markup, parts)))


_VOID = frozenset({"input", "meta", "br", "hr"})
