"""Figures as files: SVG that stands by itself, or PNG of it."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from memgauge.analysis.analyze import Analysis
from memgauge.errors import MissingExtraError, UnknownNameError, UserError
from memgauge.report.analysis.drawings import Drawing, drawings
from memgauge.report.shell import PageError
from memgauge.report.standalone import standalone

KINDS = ("svg", "png")
SCALE = 2.0  # pixels of a PNG per pixel of the drawing


class FontError(UserError):
    """A PNG cannot be drawn here, as there is no font for its words."""

    def __init__(self) -> None:
        super().__init__("no font on this machine to draw text with; install one (fonts-dejavu), or export as svg")


def export_figures(analysis: Analysis, directory: Path, kind: str = "svg") -> list[Path]:
    """Writes every figure that the analysis has data for; returns the files, named by what they show.

    Raises UnknownNameError for another kind than KINDS, MissingExtraError where PNG needs a package that is not
    installed, FontError where this machine has no font, PageError where a file cannot be written.
    """
    if kind not in KINDS:
        raise UnknownNameError("kind of figure", kind, KINDS)
    if kind == "png":
        _check_fonts()
    return list(_written(drawings(analysis), directory, kind))


def _written(found: Iterable[Drawing], directory: Path, kind: str) -> Iterable[Path]:
    for drawing in found:
        text = standalone(drawing.draw(drawing.width), drawing.title, drawing.text)
        path = directory / f"{file_name(drawing.name)}.{kind}"
        try:
            directory.mkdir(parents=True, exist_ok=True)
            path.write_bytes(png(text) if kind == "png" else text.encode())
        except OSError as fault:
            raise PageError(f"cannot write {path}: {fault.strerror or fault}") from None
        yield path


def png(text: str) -> bytes:
    """The picture of an SVG text."""
    try:
        import resvg_py
    except ImportError:
        raise MissingExtraError("resvg-py, which draws PNG", "pip install 'memgauge[figures]'") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=text, zoom=SCALE))


def file_name(text: str) -> str:
    """``text`` as a file may be called everywhere: ``cumulative-low-400x200-tokens``."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", text.replace(" × ", "x")).strip("-.").lower()


@cache
def _check_fonts() -> None:
    """Draws a letter and looks whether it is there: without a font, text is left out without a word."""
    sheet = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20">{}</svg>'
    letter = '<text x="2" y="16" font-size="16">M</text>'
    if png(sheet.format(letter)) == png(sheet.format("")):
        raise FontError
