"""Time and memory of the two pages on a ledger of a million calls.

The ledger is the paper's grid (20 memories and settings, every cell and repeat) with seven calls a turn, and each of
the 20 asked 2,000 questions. `summarize` and `write_page`, and `analyze` and `write_analysis_page`, each run in a
process of their own (target: at most 10 s and 1.5 GB each). ``--json`` prints one object of named figures.
"""

import argparse
import json
import multiprocessing
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from analysis import million_calls
from memgauge.ledger.writer import FILE_NAME

CONVERSATIONS, QUESTIONS = 10, 200  # of every memory and setting
TARGET_S, TARGET_MIB = 10.0, 1500.0


def ledger(directory: Path) -> int:
    """Writes the ledger; returns how many calls it has."""
    million_calls(directory)
    with sqlite3.connect(directory / FILE_NAME) as connection:
        _add_questions(connection)
        _add_steps(connection)
        return int(connection.execute("SELECT count(*) FROM calls").fetchone()[0])


def _add_questions(connection: sqlite3.Connection) -> None:
    """One recall unit per memory, setting and conversation, a call and an answer per question."""
    pairs = connection.execute("SELECT memory, setting FROM units GROUP BY memory, setting").fetchall()
    names = [row[1] for row in connection.execute("PRAGMA table_info(units)")]
    model = dict(zip(names, connection.execute("SELECT * FROM units LIMIT 1").fetchone(), strict=True))
    units = []
    first = connection.execute("SELECT max(unit) FROM units").fetchone()[0] + 1
    for memory, setting in pairs:
        for conversation in range(CONVERSATIONS):
            number = first + len(units)
            units.append(model | {
                "unit": number, "key": str(number), "memory": memory, "setting": setting, "workload": "locomo",
                "item": f"conv-{conversation}", "protocol": "recall", "cell_turns": None, "cell_tokens": None,
                "turns": 400, "questions": QUESTIONS, "seed": 0, "status": "done", "wall_s": 60.0,
            })  # fmt: skip
    _insert(connection, "units", units)
    asked = [(unit["unit"], number) for unit in units for number in range(1, QUESTIONS + 1)]
    _insert(connection, "answers", [
        {"unit": unit, "ordinal": number, "question": f"q{number}", "text": f"Question {number}?",
         "category": f"kind {number % 5}", "golds": '["the blue pot", "a pot that is blue"]', "evidence": '["t1"]',
         "unanswerable": 0, "answer": f"I think it is the blue pot of number {number}" if number % 3 else "no idea",
         "outcome": "ok"}
        for unit, number in asked
    ])  # fmt: skip
    names = [row[1] for row in connection.execute("PRAGMA table_info(calls)") if row[1] != "call"]
    call = dict(zip(names, connection.execute(f"SELECT {', '.join(names)} FROM calls LIMIT 1").fetchone(), strict=True))
    _insert(connection, "calls", [
        call | {"unit": unit, "seq": number, "turn": 400, "question": f"q{number}", "stage": "answer"}
        for unit, number in asked
    ])  # fmt: skip


def _add_steps(connection: sqlite3.Connection) -> None:
    """What the protocol timed: reading, answering and writing at every turn."""
    steps = []
    for unit, turns in connection.execute("SELECT unit, turns FROM units WHERE protocol = 'serve'").fetchall():
        for turn in range(1, turns + 1):
            for place, stage in enumerate(("read", "answer", "write")):
                steps.append({"unit": unit, "step": 3 * turn + place, "turn": turn, "question": None, "stage": stage,
                              "turns": 1, "tokens": 100, "seconds": 0.01})  # fmt: skip
    _insert(connection, "steps", steps)


def _insert(connection: sqlite3.Connection, table: str, rows: list[dict[str, object]]) -> None:
    names = list(rows[0])
    query = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    connection.executemany(query, (tuple(row.values()) for row in rows))


def report(directory: Path) -> int:
    """The page of the run."""
    from memgauge.analysis.summary import summarize
    from memgauge.ledger.frames import Frames
    from memgauge.report.page import write_page

    write_page(summarize(Frames(directory)), directory / "report.html")
    return (directory / "report.html").stat().st_size


def analysis(directory: Path) -> int:
    """The page of its analysis."""
    from memgauge.analysis.analyze import analyze
    from memgauge.analysis.summary import what_ran
    from memgauge.ledger.frames import Frames
    from memgauge.prices import load_card
    from memgauge.report.analysis.page import write_analysis_page

    frames = Frames(directory)
    write_analysis_page(analyze(frames, load_card("total-recall")), what_ran(frames), directory / "analysis.html")
    return (directory / "analysis.html").stat().st_size


def measured(work: Callable[[Path], int], directory: Path) -> dict[str, float]:
    """Seconds, CPU seconds, peak memory and size of the page."""
    began, cpu = time.perf_counter(), time.process_time()
    size = work(directory)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    return {
        f"{work.__name__}_seconds": time.perf_counter() - began,
        f"{work.__name__}_cpu_seconds": time.process_time() - cpu,
        f"{work.__name__}_peak_mib": peak,
        f"{work.__name__}_page_mb": size / 1e6,
    }


def main() -> None:
    """Runs the bench and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--keep", type=Path, help="write the ledger here, or use the one that is there")
    arguments = parser.parse_args()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        directory = arguments.keep or Path(scratch)
        directory.mkdir(parents=True, exist_ok=True)
        if not (directory / FILE_NAME).exists():
            figures["calls"] = ledger(directory)
        for work in (report, analysis):
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                figures |= pool.apply(measured, (work, directory))
    for name in ("report", "analysis"):
        figures[f"{name}_seconds_of_target"] = figures[f"{name}_seconds"] / TARGET_S
        figures[f"{name}_memory_of_target"] = figures[f"{name}_peak_mib"] / TARGET_MIB
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:28} {value:14,.3f}")


if __name__ == "__main__":
    main()
