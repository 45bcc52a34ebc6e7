"""How fast workloads load: LoCoMo from disk, and the grammar against the floor of counting its tokens.

    python bench/workloads.py [--json] [--locomo PATH]

LoCoMo is timed where its file is given or fetched. The floor of a generated dialogue is the time that counting
the tokens of its finished turns takes, since every turn has to be counted to be held at its length.
"""

import argparse
import json
import time
from collections.abc import Callable
from typing import TypeVar

from memgauge import tokens
from memgauge.errors import UserError
from memgauge.workloads import registry
from memgauge.workloads.grammar import dialogue
from memgauge.workloads.synthetic import PAPER_CELLS

T = TypeVar("T")

CELLS = (*PAPER_CELLS, (800, 400))


def timed(work: Callable[[], T], repeats: int = 3) -> tuple[float, T]:
    """The shortest of ``repeats`` runs in seconds, with no token count remembered from an earlier one."""
    best = float("inf")
    for _ in range(repeats):
        tokens.count.cache_clear()
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


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
    except UserError as fault:
        if not given.json:
            print(f"LoCoMo is left out: {fault}")
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
