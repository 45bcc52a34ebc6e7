"""Figures as files. PNG is looked at pixel by pixel, through a little reader of our own."""

import struct
import sys
import zlib
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from analysed import grid_analysis
from memgauge.errors import MissingExtraError, UnknownNameError
from memgauge.report import export_figures as exported
from memgauge.report.export_figures import FontError, export_figures, file_name, png
from memgauge.report.shell import PageError


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    return grid_analysis(tmp_path_factory.mktemp("grid"))


def pixels(picture):
    """Rows of the bytes of an RGBA picture, unfiltered (PNG specification, §9)."""
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    width, height, depth, kind = struct.unpack(">IIBB", picture[16:26])
    assert (depth, kind) == (8, 6)
    data, place = b"", 8
    while place < len(picture):
        size, name = struct.unpack(">I4s", picture[place : place + 8])
        if name == b"IDAT":
            data += picture[place + 8 : place + 8 + size]
        place += size + 12
    raw, rows, above = zlib.decompress(data), [], bytes(4 * width)
    for row in range(height):
        start = row * (4 * width + 1)
        line, filtered = bytearray(raw[start + 1 : start + 1 + 4 * width]), raw[start]
        for at in range(len(line)):
            left = line[at - 4] if at >= 4 else 0
            corner = above[at - 4] if at >= 4 else 0
            guess = left + above[at] - corner
            nearest = min((left, above[at], corner), key=lambda value: abs(guess - value))
            line[at] = (line[at] + (0, left, above[at], (left + above[at]) // 2, nearest)[filtered]) % 256
        above = bytes(line)
        rows.append(above)
    return rows


def test_every_figure_is_a_file_named_by_what_it_shows(analysis, tmp_path):
    names = [path.name for path in export_figures(analysis, tmp_path)]
    assert len(names) == len(set(names))
    assert {
        "cumulative-low-14x100-tokens.svg", "cumulative-low-12x80-usd-groq-cache.svg", "stages-medium-6x40.svg",
        "held-out-error-low.svg", "break-even-map-low-mem0.svg", "joint-12x80-locomo.svg",
    } <= set(names)  # fmt: skip
    assert sorted(names) == sorted(path.name for path in tmp_path.iterdir())


def test_an_svg_stands_by_itself(analysis, tmp_path):
    for path in export_figures(analysis, tmp_path):
        text = path.read_text()
        ElementTree.fromstring(text)
        assert "var(" not in text
        assert "class=" not in text
        assert "<style" not in text


def test_a_png_is_drawn_with_its_words(analysis, tmp_path):
    pytest.importorskip("resvg_py", reason="resvg-py is not installed: pip install 'memgauge[figures]'")
    joint_only = replace(analysis, curves=())
    path = next(path for path in export_figures(joint_only, tmp_path, "png") if path.name == "joint-12x80-locomo.png")
    rows = pixels(path.read_bytes())
    # The heading stands at 20 to 27 pixels from the top, twice that here, in ink on white.
    heading = b"".join(rows[28:56])
    assert min(heading[0::4]) < 60
    assert heading.count(b"\xff\xff\xff\xff") > len(heading) // 8


def test_a_machine_without_fonts_is_told_so(monkeypatch, analysis, tmp_path):
    monkeypatch.setattr(exported, "png", lambda text: b"the same with and without a letter")
    exported._check_fonts.cache_clear()
    with pytest.raises(FontError, match="no font on this machine to draw text with; install one"):
        export_figures(analysis, tmp_path, "png")
    exported._check_fonts.cache_clear()


def test_png_without_its_package_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'memgauge\[figures\]'"):
        png("<svg/>")


def test_another_kind_is_refused(analysis, tmp_path):
    with pytest.raises(UnknownNameError, match="unknown kind of figure 'pgn'; did you mean 'png'"):
        export_figures(analysis, tmp_path, "pgn")


def test_a_file_that_cannot_be_written_is_named(analysis, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PageError, match=r"cannot write .*file/cumulative-low"):
        export_figures(analysis, tmp_path / "file")


def test_names_are_fit_for_any_file_system():
    assert file_name("cumulative a/b c:d 400 × 200 usd, groq cache") == "cumulative-a-b-c-d-400x200-usd-groq-cache"
