"""Speed, exactness and coverage of paper 1's analysis.

Fits, bootstrap (B = 1000) and held-out error of all 20 (memory, setting) pairs of the paper's grid, against a
straightforward statsmodels implementation in the same run (target: at most 1 s, at least 100 times faster, equal
to 1e-9 on the same resamples). By default statsmodels refits ``--rival-resamples`` of the thousand and its time
is scaled up; ``--full`` runs them all.

``--coverage`` simulates grids with run-level effects and counts how often 95 % intervals hold the truth (target:
93-97 % for the interval that the report shows). ``--million`` analyses a ledger of a million calls in a process
of its own (target: at most 10 s and 1.5 GB). ``--json`` prints one object of named figures.

statsmodels is needed for the comparison only: pip install statsmodels.
"""

import argparse
import json
import multiprocessing
import resource
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memgauge.analysis.analyze import analyze
from memgauge.analysis.bootstrap import RESAMPLES, draws, percentile_interval, resample
from memgauge.analysis.cost_model import cost_models
from memgauge.analysis.moments import Moments
from memgauge.analysis.robust import spread
from memgauge.analysis.runs import Group, Run
from memgauge.ledger.frames import Frames
from memgauge.ledger.records import UnitRecord
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.prices import load_card

Array = NDArray[np.float64]

FIVE = ((15, 50), (15, 200), (100, 100), (400, 50), (400, 200))
GRIDS = {
    "reference": [(cell, 2) for cell in (*FIVE, (40, 250), (200, 50), (400, 25))],
    "memory": [(cell, 8) for cell in FIVE],
    "seven-cell": [(cell, 8) for cell in FIVE] + [((800, 200), 3), ((800, 400), 3)],
}
MEMORIES = {
    "full-history": "reference",
    "rolling-window": "reference",
    "mem0": "memory",
    "hindsight": "memory",
    "mastra-om": "seven-cell",
}
SETTINGS = ("a-low", "a-medium", "b-low", "b-medium")

# Simulated coverage: spread of the level and of the slope over depth between runs, and of single turns. The first
# is a shift of the whole run only, the last mixes both as served dialogues do.
EFFECTS = {"level": (0.1, 0.0, 0.3), "strong level": (0.3, 0.0, 0.1), "level and depth": (0.1, 0.1, 0.2)}


def paper_grid(seed: int = 0) -> tuple[list[Run], dict[int, Array]]:
    """Runs and costs per turn of all 20 pairs."""
    rng = np.random.default_rng(seed)
    runs: list[Run] = []
    costs: dict[int, Array] = {}
    for memory, grid in MEMORIES.items():
        for setting in SETTINGS:
            for (turns, size), repeats in GRIDS[grid]:
                group = Group("synthetic", turns, size)
                for _ in range(repeats):
                    unit = len(runs) + 1
                    runs.append(Run(unit, memory, setting, "model", None, False, group, float(size), turns, turns))
                    costs[unit] = _costs(memory, size, turns, rng)
    return runs, costs


def _costs(memory: str, size: int, turns: int, rng: np.random.Generator) -> Array:
    depth = np.arange(1, turns + 1)
    match memory:
        case "full-history":
            base = size * depth + 90.0
        case "rolling-window":
            base = size * np.minimum(depth, 10) + 90.0
        case "mastra-om":
            base = 500.0 + size * (depth % 150)
        case _:
            base = 900.0 + 2 * size + np.where(depth % 10 == 0, 2500.0, 0.0)
    return np.round(base * rng.lognormal(0, 0.1) * rng.lognormal(0, 0.15, turns))


def compare_with_statsmodels(resamples: int) -> dict[str, float]:
    """Seconds of both, their ratio, and the largest difference of a coefficient or R² on the same resamples."""
    import statsmodels.api as sm

    runs, costs = paper_grid()
    cost_models(runs, costs, resamples=10)
    seconds = min(_timed(lambda: cost_models(runs, costs)) for _ in range(3))
    pairs: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        pairs.setdefault((run.memory, run.setting), []).append(run)
    once = rest = worst = 0.0
    for mine in pairs.values():
        began = time.perf_counter()
        rows = [_rows(run, costs[run.unit]) for run in mine]
        whole = sm.OLS(np.concatenate([y for _, y in rows]), np.concatenate([x for x, _ in rows])).fit()
        for cell in dict.fromkeys(run.group for run in mine):
            kept = [row for row, run in zip(rows, mine, strict=True) if run.group != cell]
            sm.OLS(np.concatenate([y for _, y in kept]), np.concatenate([x for x, _ in kept])).fit()
        once += time.perf_counter() - began
        counts = draws(len(mine), RESAMPLES)[:resamples]
        began = time.perf_counter()
        theirs = []
        for count in counts:
            taken = np.repeat(np.arange(len(mine)), count.astype(int))
            x, y = np.concatenate([rows[i][0] for i in taken]), np.concatenate([rows[i][1] for i in taken])
            fit = sm.OLS(y, x).fit()
            theirs.append((*fit.params, fit.rsquared))
        rest += time.perf_counter() - began
        moments = Moments.of(
            np.concatenate([x[:, 1:] for x, _ in rows]), np.concatenate([y for _, y in rows]), [len(y) for _, y in rows]
        )
        ours = moments.fit(np.vstack((np.ones(len(mine)), counts)))
        expected = np.vstack(((*whole.params, whole.rsquared), *theirs))
        worst = max(worst, float(np.abs(np.column_stack((ours.coefficients, ours.r2)) - expected).max()))
    rival = once + rest * RESAMPLES / resamples
    return {
        "pairs": len(pairs),
        "seconds": seconds,
        "statsmodels_seconds": rival,
        "statsmodels_resamples_run": resamples,
        "times_faster": rival / seconds,
        "largest_difference": worst,
    }


def _rows(run: Run, cost: Array) -> tuple[Array, Array]:
    depth = np.log1p(np.arange(1, run.turns + 1))
    return np.column_stack((np.ones(run.turns), np.full(run.turns, np.log1p(run.message_tokens)), depth)), np.log1p(
        cost
    )


def coverage(grids: int, resamples: int = 399) -> dict[str, float]:
    """Share of simulated grids whose 95 % interval holds the true exponent, by grid, effects and method."""
    figures: dict[str, float] = {}
    truth = (5.0, 0.5, 0.3)
    for name, cells in GRIDS.items():
        shapes = [cell for cell, repeats in cells for _ in range(repeats)]
        predictors = [
            np.column_stack((np.full(n, np.log1p(size)), np.log1p(np.arange(1, n + 1)))) for n, size in shapes
        ]
        x, lengths = np.concatenate(predictors), [n for n, _ in shapes]
        for effects, (level, slope, noise) in EFFECTS.items():
            rng = np.random.default_rng(1)
            held = np.zeros((2, 2))
            for _ in range(grids):
                y = truth[0] + x @ truth[1:] + rng.normal(0, noise, len(x))
                y += np.repeat(rng.normal(0, level, len(shapes)), lengths)
                y += np.repeat(rng.normal(0, slope, len(shapes)), lengths) * (x[:, 1] - x[:, 1].mean())
                held += _held(Moments.of(x, y, lengths), truth, resamples)
            for place, exponent in enumerate("pq"):
                for method, share in zip(("shown", "percentile"), held[place] / grids, strict=True):
                    figures[f"coverage {name}, {effects}: {exponent} {method}"] = float(share)
    return figures


def _held(moments: Moments, truth: tuple[float, ...], resamples: int) -> Array:
    """1 where the interval holds the truth: rows p and q, columns the shown interval and the percentile one."""
    fit = moments.fit(np.ones((1, len(moments.n))))
    around = spread(moments, fit.slopes[0])
    drawn = resample(moments, resamples)
    assert around is not None
    held = np.zeros((2, 2))
    for place in (1, 2):
        percentile = percentile_interval(drawn.coefficients[:, place])
        assert percentile is not None
        for column, (low, high) in enumerate((around.interval(place - 1, fit.coefficients[0, place]), percentile)):
            held[place - 1, column] = low <= truth[place] <= high
    return held


def million_calls(directory: Path, calls_per_turn: int = 7) -> int:
    """Writes a ledger of the paper's grid with a million calls; returns how many there are."""
    runs, costs = paper_grid()
    path = directory / FILE_NAME
    with Ledger.create(path, {"spec": "{}"}) as ledger:
        ledger.add_units(_unit(run) for run in runs)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE units SET status = 'done'")
    names = (
        "unit, seq, attempt, turn, stage, background, kind, model, provider, request_key, prompt_keep, prompt_new,"
        " params, input_tokens, cached_tokens, output_tokens, reasoning_tokens, usage_source, counted_tokens,"
        " prefix_tokens, prefix_turns_ago, started_at, latency_s, attempts, outcome"
    )
    stages = ("read", "answer", "write", "manage")
    key = b"k" * 16
    rows = (
        (run.unit, turn * calls_per_turn + i, 1, turn, stages[i % 4], 0, "chat", "openai/gpt-oss-20b", "Groq", key,
         0, b"n" * 16, 1, int(cost) // calls_per_turn, 0, 20, 9, "upstream", int(cost) // calls_per_turn,
         int(cost) // (2 * calls_per_turn), 1, 1.79e9, 0.5, 1, "ok")
        for run in runs
        for turn, cost in enumerate(costs[run.unit], 1)
        for i in range(calls_per_turn)
    )  # fmt: skip
    connection.executemany(f"INSERT INTO calls ({names}) VALUES ({', '.join('?' * 25)})", rows)
    connection.commit()
    count = connection.execute("SELECT count(*) FROM calls").fetchone()[0]
    connection.close()
    return int(count)


def _unit(run: Run) -> UnitRecord:
    return UnitRecord(
        unit=run.unit, key=str(run.unit), memory=run.memory, memory_options="{}", control=False, write_every=10,
        setting=run.setting, backbone="endpoint", model="openai/gpt-oss-20b", effort="low", embedder="endpoint",
        embedding_model="e", workload="synthetic", item=f"{run.unit}", protocol="serve", seed=run.unit,
        cell_turns=run.group.turns, cell_tokens=run.group.tokens, turns=run.turns,
        mean_turn_tokens=run.message_tokens, questions=0,
    )  # fmt: skip


def analyse_in_child(directory: str) -> dict[str, float]:
    """Seconds and peak memory of an analysis in a process of its own."""
    began, cpu = time.perf_counter(), time.process_time()
    found = analyze(Frames(Path(directory)), load_card("total-recall"))
    assert len(found.cost_model) == 20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    return {
        "million_calls_seconds": time.perf_counter() - began,
        "million_calls_cpu_seconds": time.process_time() - cpu,
        "million_calls_peak_mib": peak,
    }


def _timed(work) -> float:  # type: ignore[no-untyped-def]
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> None:
    """Runs what was asked for and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rival-resamples", type=int, default=50)
    parser.add_argument("--full", action="store_true", help="let statsmodels refit all 1,000 resamples")
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--grids", type=int, default=1000, help="grids simulated for --coverage")
    parser.add_argument("--million", action="store_true")
    arguments = parser.parse_args()
    figures: dict[str, float] = {}
    if arguments.coverage:
        figures |= coverage(arguments.grids)
    if arguments.million:
        with tempfile.TemporaryDirectory() as directory:
            figures["calls"] = million_calls(Path(directory))
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                figures |= pool.apply(analyse_in_child, (directory,))
    if not (arguments.coverage or arguments.million):
        figures |= compare_with_statsmodels(RESAMPLES if arguments.full else arguments.rival_resamples)
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:58} {value:14,.3g}" if abs(value) < 1e-3 and value else f"{name:58} {value:14,.3f}")


if __name__ == "__main__":
    main()
