"""A small analysed grid: three memories and a control in two settings, judged answers, a dialogue that was cut off."""

from pathlib import Path

from ledger_fixtures import call_record
from memgauge.analysis.analyze import Analysis, Choices, analyze
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.prices import load_card
from served_ledgers import Memory, asked, full_history, served_ledger

CELLS = ((6, 40), (6, 160), (12, 80))
CUT_OFF = (14, 100)  # full history was measured to turn 10
GROQ = Choices(providers={"groq": 1.0}, resamples=50)


def flat(size: int, turn: int, seed: int) -> int:
    """The same at every turn, whatever was said."""
    return 400 + 4 * seed


def nothing(size: int, turn: int, seed: int) -> int:
    """A memory that costs nothing at first."""
    return 0 if turn == 1 else 50


def grid_ledger(directory: Path) -> Frames:
    """Writes the grid; mem0 also writes at every turn under ``low``."""
    frames = served_ledger(
        directory,
        [
            memory
            for setting in ("low", "medium")
            for memory in (
                Memory("full-history", full_history, CELLS, 2, setting=setting),
                Memory("full-history", full_history, [CUT_OFF], 1, dies_after=10, setting=setting),
                Memory("mem0", flat, [*CELLS, CUT_OFF], 2, setting=setting),
                Memory("none", nothing, CELLS, 1, setting=setting, unit={"control": True}),
            )
        ],
    )
    units = frames.units().filter(memory="mem0", setting="low")
    with Ledger.open(directory / FILE_NAME) as ledger:
        for unit, turns in units.select("unit", "turns").iter_rows():
            for turn in range(1, turns + 1):
                usage = {"model": "gpt-oss-20b", "input_tokens": 100, "output_tokens": 5, "reasoning_tokens": 0}
                ledger.add_call(call_record(unit, 1000 + turn, turn, "write", **usage))
        asked(ledger, 900, "full-history", "conv-1", [1.0] * 5 + [0.0] * 5)
        asked(ledger, 901, "mem0", "conv-1", [1.0] * 8 + [0.0] * 2)
        ledger.set_meta("spec", '{"name": "grid", "memories": []}')
    return frames


def grid_analysis(directory: Path) -> Analysis:
    """Its analysis, priced by the paper's card at Groq."""
    return analyze(grid_ledger(directory), load_card("total-recall"), GROQ)
