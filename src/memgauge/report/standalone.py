"""A drawing that stands by itself: its style sheet worked into plain attributes, in the light palette.

What reads SVG outside a browser (resvg, editors, office programs) knows neither custom properties nor, often, style
sheets. figures.css is kept to rules that can be applied here: compounds of one tag and classes, one inside another.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import TypeAlias
from xml.etree import ElementTree

from memgauge.report.shell import asset

FONTS = "Inter, 'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
MARGIN, HEADING = 20, 58  # pixels around the drawing, and for its title above

_SVG = "http://www.w3.org/2000/svg"
_Node: TypeAlias = "ElementTree.Element[str]"

# Properties that are attributes as well; what is not among them (cursor, outline) matters to a page only.
_ATTRIBUTES = frozenset({
    "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin",
    "opacity", "font-size", "font-weight", "letter-spacing", "paint-order", "shape-rendering",
})  # fmt: skip

_KEPT = frozenset({"role", "viewBox", "xmlns"})


def standalone(drawing: str, title: str, text: str) -> str:
    """``drawing`` with a heading above it, on a white sheet, as the text of an SVG file."""
    root = ElementTree.fromstring(drawing)
    _, _, width, height = (float(part) for part in root.attrib["viewBox"].split())
    _apply(root, [])
    inside = "".join(ElementTree.tostring(child, encoding="unicode") for child in root)
    inside = inside.replace(f' xmlns:ns0="{_SVG}"', "").replace("ns0:", "")
    palette = _palette()
    whole = (width + 2 * MARGIN, height + HEADING + MARGIN)
    return (
        f'<svg xmlns="{_SVG}" width="{whole[0]:g}" height="{whole[1]:g}" viewBox="0 0 {whole[0]:g} {whole[1]:g}"'
        f' font-family="{escape(FONTS)}" font-size="12" role="img">'
        f"<title>{escape(title)}</title>"
        f'<rect width="100%" height="100%" fill="{palette["sheet"]}"/>'
        f'<text x="{MARGIN}" y="27" font-size="16" font-weight="600" fill="{palette["ink"]}">{escape(title)}</text>'
        f'<text x="{MARGIN}" y="45" font-size="11.5" fill="{palette["soft"]}">{escape(text)}</text>'
        f'<g transform="translate({MARGIN} {HEADING})">{inside}</g></svg>\n'
    )


@dataclass(frozen=True, slots=True)
class _Rule:
    """A selector as compounds from the outermost inwards, each a tag (or none) and classes."""

    selector: tuple[tuple[str, frozenset[str]], ...]
    declared: Mapping[str, str]

    @property
    def weight(self) -> tuple[int, int]:
        """The specificity: how many classes, then how many tags."""
        return sum(len(classes) for _, classes in self.selector), sum(bool(tag) for tag, _ in self.selector)

    def fits(self, path: Sequence[_Node]) -> bool:
        """Whether the last of ``path``, nodes from the root inwards, is selected."""
        *outer, last = self.selector
        if not _matches(path[-1], last):
            return False
        place = len(path) - 1
        for compound in reversed(outer):
            place = next((at for at in range(place - 1, -1, -1) if _matches(path[at], compound)), -1)
            if place < 0:
                return False
        return True


def _apply(node: _Node, above: list[_Node]) -> None:
    path = [*above, node]
    declared: dict[str, str] = {}
    for rule in _rules():
        if rule.fits(path):
            declared |= rule.declared
    for child in list(node):
        if _name(child) == "title" or "hover" in _classes(child):
            node.remove(child)
        else:
            _apply(child, path)
    if _name(node) == "text" and node.get("dy") == "0.35em":
        # Not every reader knows em in an attribute.
        node.attrib.pop("dy")
        size = float(declared.get("font-size", "12px").removesuffix("px"))
        node.set("y", f"{float(node.get('y', '0')) + 0.35 * size:.5g}")
    found = {name: _value(value, path) for name, value in declared.items() if name in _ATTRIBUTES}
    for name in [name for name in node.attrib if not _plain(name)]:
        if name not in _KEPT:
            del node.attrib[name]
    for name, value in found.items():
        node.set(name, value)


def _plain(name: str) -> bool:
    """Whether an attribute belongs to the drawing and not to the page."""
    return not (name in ("class", "role", "tabindex") or name.startswith(("aria-", "data-")))


def _value(value: str, path: Sequence[_Node]) -> str:
    """``value`` with its custom properties replaced: of the palette, or of the nearest node that sets one."""
    while found := re.search(r"var\(--([\w-]+)(?:,\s*([^()]*(?:\([^()]*\))?))?\)", value):
        name, otherwise = found.groups()
        set_near = _nearest(name, path) or _palette().get(name) or otherwise or "none"
        value = value[: found.start()] + set_near + value[found.end() :]
    return value.removesuffix("px") if re.fullmatch(r"-?[\d.]+px", value) else value


def _nearest(name: str, path: Sequence[_Node]) -> str | None:
    for place in range(len(path), 0, -1):
        for rule in reversed(_rules()):
            if f"--{name}" in rule.declared and rule.fits(path[:place]):
                return rule.declared[f"--{name}"]
    return None


@cache
def _rules() -> tuple[_Rule, ...]:
    """The rules of figures.css, weaker ones first."""
    return tuple(sorted(_parsed(asset("figures.css")), key=lambda rule: rule.weight))


def _parsed(css: str) -> Iterator[_Rule]:
    plain = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    for selectors, body in re.findall(r"([^{}]+)\{([^{}]*)\}", plain):
        declared = {
            name.strip(): value.strip() for name, _, value in (line.partition(":") for line in body.split(";")) if value
        }
        for selector in selectors.split(","):
            if ":" not in selector:
                yield _Rule(tuple(_compound(part) for part in selector.split()), declared)


def _compound(text: str) -> tuple[str, frozenset[str]]:
    tag, *classes = text.split(".")
    return tag, frozenset(classes)


@cache
def _palette() -> Mapping[str, str]:
    """The light colours: the first block of page.css."""
    found = re.search(r":root \{(.*?)\}", asset("page.css"), flags=re.DOTALL)
    assert found
    return dict(re.findall(r"--([\w-]+):\s*([^;]+);", found.group(1)))


def _matches(node: _Node, compound: tuple[str, frozenset[str]]) -> bool:
    tag, classes = compound
    return (not tag or tag == _name(node)) and classes <= _classes(node)


def _classes(node: _Node) -> frozenset[str]:
    return frozenset(node.get("class", "").split())


def _name(node: _Node) -> str:
    return node.tag.rpartition("}")[2]
