"""Whether a limit holds: random runs of 32 units side by side against an upstream that keeps its own till.

Prompts, prices in tiers, caching, faults charged and not told of, retries, runs stopped in the middle and resumed are
drawn at random (tests/spendthrift.py). Target: in 1,000 runs the till never holds more than the limit. Prints
also how much of the limit is used where a run is stopped by it, and how loose the bound on a prompt's tokens is on
the sample conversation. ``--json`` prints one object of named figures.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from memgauge import tokens
from memgauge.backbones.base import Message
from memgauge.meter.bound import of_chat
from memgauge.workloads import registry
from spendthrift import spree


def looseness() -> float:
    """The bound of a prompt that holds the sample conversation, as a multiple of its o200k tokens."""
    workload = registry.create("sample", {})
    lines = tuple(turn.line() for turn in workload.conversation(workload.items()[0]).turns)
    return of_chat([Message("user", lines)], lines, {"max_tokens": 1}).input / tokens.count_all(lines)


def main() -> None:
    """Spends, and prints the figures; exits 1 where a limit was passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=1000)
    arguments = parser.parse_args()
    started = time.perf_counter()
    passed = calls = 0
    used = []
    for seed in range(arguments.runs):
        with tempfile.TemporaryDirectory() as name:
            till, limits, made = asyncio.run(spree(Path(name), seed))
        calls += made
        shares = [till.tokens / limits.max_tokens] if limits.max_tokens else []
        shares += [till.usd / limits.max_usd] if limits.max_usd else []
        used.append(max(shares))
        passed += max(shares) > 1 + 1e-9
    figures = {
        "runs": arguments.runs,
        "calls": calls,
        "limits_passed": passed,
        "highest_use_of_limit": max(used),
        "median_use_of_limit": statistics.median(used),
        "bound_to_o200k_on_sample": looseness(),
        "seconds": time.perf_counter() - started,
    }
    if arguments.json:
        print(json.dumps(figures))
    else:
        for key, value in figures.items():
            print(f"{key:26} {value:12,.3f}")
    if passed:
        sys.exit(1)


if __name__ == "__main__":
    main()
