"""How fast workloads load, and how much memory that takes, each against a floor.

    python bench/workloads.py [--json] [--locomo PATH]

LoCoMo is timed where its file is given or fetched; choosing four of its dialogues scores 210 subsets. The floor of
a generated dialogue is the time that counting the tokens of its finished turns takes, since every turn has to be
counted to be held at its length; so is that of cutting a context into chunks. LongMemEval is opened from a made-up
file of S's shape: the floor of its time is hashing the file, and memory is compared with the file's size.
"""

import argparse
import json
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from memgauge import tokens
from memgauge.errors import UserError
from memgauge.workloads import chunks, registry
from memgauge.workloads.grammar import dialogue
from memgauge.workloads.longmemeval import LongMemEval
from memgauge.workloads.synthetic import PAPER_CELLS

T = TypeVar("T")

CELLS = (*PAPER_CELLS, (800, 400))


def timed(work: Callable[[], T], repeats: int = 3) -> tuple[float, T]:
    """The shortest of ``repeats`` runs in seconds, with no token count remembered from an earlier one."""
    best = float("inf")
    for _ in range(repeats):
        tokens._counts.clear()
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def haystacks(path: Path, records: int = 60, sessions: int = 50) -> None:
    """Writes a file of S's shape: per record about 550 kB, in sessions of ten turns."""
    said = [turn.text for turn in dialogue(400, 200, seed=1)]
    with path.open("w", encoding="utf-8") as file:
        for number in range(records):
            texts = said[number:] + said[:number]
            record = {
                "question_id": f"q{number}",
                "question_type": "multi-session",
                "question": "What was said?",
                "answer": number,
                "question_date": "2023/05/30 (Tue) 23:40",
                "haystack_dates": ["2023/05/20 (Sat) 02:21"] * sessions,
                "haystack_session_ids": [f"filler_{index}" for index in range(sessions)],
                "haystack_sessions": [
                    [
                        {"role": ("user", "assistant")[turn % 2], "content": texts[(10 * index + turn) % 400]}
                        for turn in range(10)
                    ]
                    for index in range(sessions)
                ],
                "answer_session_ids": ["filler_0"],
            }
            file.write(f"{'[' if number == 0 else ','}\n{json.dumps(record, indent=4)}")
        file.write("]")


def longmemeval(path: Path) -> dict[str, float]:
    """Opening the file, reading every record, and the most memory that either took."""
    size = path.stat().st_size
    floor, _ = timed(lambda: sha256(path.read_bytes()).hexdigest())
    seconds, workload = timed(lambda: LongMemEval(path=str(path)))
    reading, _ = timed(lambda: [len(workload.conversation(item).turns) for item in workload.items()], 1)
    tracemalloc.start()
    again = LongMemEval(path=str(path))
    for item in again.items():
        again.conversation(item)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return {
        "longmemeval_file_mb": size / 1e6,
        "longmemeval_open_mb_per_s": size / 1e6 / seconds,
        "longmemeval_open_times_floor": seconds / floor,
        "longmemeval_read_mb_per_s": size / 1e6 / reading,
        "longmemeval_peak_of_file": peak / size,
    }


def main() -> None:
    """Measures and prints."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--json", action="store_true", help="print one object of named figures")
    arguments.add_argument("--locomo", metavar="PATH", help="LoCoMo's file, where it has not been fetched")
    given = arguments.parse_args()
    tokens.count("warm")  # loads the vocabulary
    figures: dict[str, float] = {}
    try:
        options = {"path": given.locomo} if given.locomo else {}
        figures["locomo_load_s"], locomo = timed(lambda: registry.create("locomo", options))
        figures["locomo_outlines_s"], _ = timed(lambda: [locomo.outline(item) for item in locomo.items()], 1)
        figures["locomo_subset_of_4_s"], _ = timed(lambda: registry.create("locomo", {**options, "subset": 4}))
    except UserError as fault:
        if not given.json:
            print(f"LoCoMo is left out: {fault}")
    with tempfile.TemporaryDirectory() as folder:
        haystacks(Path(folder) / "longmemeval.json")
        figures |= longmemeval(Path(folder) / "longmemeval.json")
    facts = "".join(
        f"{number}. The capital of country {number * 7919} is town {number % 977}.\n" for number in range(18_332)
    )
    seconds, cut = timed(lambda: chunks.cut(facts, 4096))
    floor, total = timed(lambda: tokens.count_all(facts.splitlines(keepends=True)))
    figures |= {
        "chunks_s": seconds,
        "chunks_tokens_per_s": total / seconds,
        "chunks_times_floor": seconds / floor,
        "chunks": len(cut),
    }
    for turns, length in CELLS:
        seconds, said = timed(lambda: dialogue(turns, length, seed=0))  # noqa: B023
        floor, total = timed(lambda: tokens.count_all(turn.text for turn in said))  # noqa: B023
        name = f"grammar_{turns}x{length}"
        figures[f"{name}_s"] = seconds
        figures[f"{name}_tokens_per_s"] = total / seconds
        figures[f"{name}_times_floor"] = seconds / floor
    if given.json:
        print(json.dumps({name: float(f"{value:.4g}") for name, value in figures.items()}))
    else:
        for name, value in figures.items():
            print(f"{name:34} {value:12,.4g}")


if __name__ == "__main__":
    main()
