"""Speed of scoring and of the statistics on it, at the size of LoCoMo: ten conversations, 1,986 questions.

    python bench/metrics.py [--json]

Answers are the gold, another turn, or the gold in a sentence; what was recalled is 10, 20 or 600 turns. Targets:
every answer by every metric in at most 2 s, a paired bootstrap of 10,000 resamples over all questions and all
metrics in at most 1 s. Each stands beside its floor: splitting and counting the words of the same answers, and
drawing the same conversations' questions one resample at a time as a plain loop would (100 of them, scaled up).
"""

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
import polars as pl

from memgauge.analysis.paired import RESAMPLES, paired_means
from memgauge.metrics import answers, locomo, overlap, porter
from memgauge.metrics.score import score_answers

CONVERSATIONS, QUESTIONS, TURNS = 10, 1986, 588
VOCABULARY = 4000
WORKLOADS = {
    "locomo": ("1", "2", "3", "4", "5"),
    "longmemeval": ("multi-session",),
    "memoryagentbench": ("eventqa_full",),
}


def answered(workload: str, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Answers and units as a ledger's frames have them."""
    draw = random.Random(seed)
    words = ["".join(draw.choices("aeinorstlu", k=draw.randint(2, 9))) for _ in range(VOCABULARY)]

    def said(least: int, most: int) -> str:
        return " ".join(draw.choices(words, k=draw.randint(least, most)))

    rows = []
    for place in range(QUESTIONS):
        gold = said(1, 8)
        answer = draw.choice((gold, said(10, 60), f"It is {gold}, as she said.", "No information available."))
        recalled = [
            [f"s{draw.randint(1, 40)}/t{turn}"] for turn in draw.sample(range(TURNS), draw.choice((10, 20, 500)))
        ]
        evidence = [turn for item in draw.sample(recalled, 2) for turn in item]
        category = draw.choice(WORKLOADS[workload])
        unit, ordinal = place % CONVERSATIONS + 1, place // CONVERSATIONS + 1
        rows.append((unit, ordinal, category, json.dumps([gold]), int(category == "5"), answer, "ok",
                     json.dumps(evidence), json.dumps(recalled)))  # fmt: skip
    names = ["unit", "ordinal", "category", "golds", "unanswerable", "answer", "outcome", "evidence", "recalled"]
    units = pl.DataFrame({"unit": range(1, CONVERSATIONS + 1), "workload": [workload] * CONVERSATIONS})
    return pl.DataFrame(rows, schema=names, orient="row"), units


def scoring(workload: str) -> dict[str, float]:
    """Seconds for every answer by every metric of ``workload``, caches empty, and times the floor."""
    told, units = answered(workload)
    texts = [(row["answer"], json.loads(row["golds"])[0]) for row in told.iter_rows(named=True)]
    for cached in (answers._normalized, overlap._stemmed, locomo._stemmed, porter.stem):
        cached.cache_clear()
    seconds = timed(lambda: score_answers(told, units))
    floor = timed(lambda: [(Counter(said.split()), Counter(gold.split())) for said, gold in texts])
    return {f"score_{workload}_s": seconds, f"score_{workload}_times_floor": seconds / floor}


def bootstrap(conversations: int, figures: int) -> dict[str, float]:
    """Seconds of the paired bootstrap over ``conversations``, and how often faster than a loop over resamples."""
    draw = np.random.default_rng(0)
    a, b = draw.random((QUESTIONS, figures)), draw.random((QUESTIONS, figures))
    clusters = [place % conversations for place in range(QUESTIONS)]
    members = [np.flatnonzero(np.array(clusters) == place) for place in range(conversations)]

    def loop() -> None:
        for _ in range(100):
            drawn = draw.integers(0, conversations, conversations)
            taken = np.concatenate([draw.choice(members[place], len(members[place])) for place in drawn])
            (b[taken] - a[taken]).mean(axis=0)

    seconds = timed(lambda: paired_means(a, b, clusters))
    name = f"paired_bootstrap_{conversations}_conversations"
    return {f"{name}_s": seconds, f"{name}_loop_over_ours": timed(loop) * RESAMPLES / 100 / seconds}


def timed(work: Callable[[], object]) -> float:
    """Seconds that ``work`` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    """Runs everything and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one object of named figures")
    given = parser.parse_args()
    figures: dict[str, float] = {"questions": QUESTIONS, "resamples": RESAMPLES}
    for workload in WORKLOADS:
        figures |= scoring(workload)
    for conversations in (10, 3, 1):
        figures |= bootstrap(conversations, figures=10)
    if given.json:
        print(json.dumps({name: float(f"{value:.4g}") for name, value in figures.items()}))
        return
    for name, value in figures.items():
        print(f"{name:50} {value:12,.4g}")


if __name__ == "__main__":
    main()
