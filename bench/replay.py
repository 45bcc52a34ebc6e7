"""How fast a unit that was paid for is played again: 400 served turns of full history, replayed from the ledger.

The upstream answers after 50 ms (in a process of its own). The unit is played, entered as interrupted, as if the
process had died at its very end, and played again. Target: the replay takes at most a twentieth of the time, and asks
the upstream nothing. ``--json`` prints one object of named figures.
"""

import argparse
import asyncio
import json
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kills import spec, upstream
from memgauge.ledger.writer import FILE_NAME
from memgauge.runner.limits import Limits
from memgauge.runner.run import run
from memgauge.spec import Experiment, MemoryUse, WorkloadUse, load

LATENCY_S = 0.05


def played(experiment: Experiment, out: Path) -> float:
    """Seconds that it takes."""
    started = time.perf_counter()
    outcome = asyncio.run(run(experiment, out, Limits(concurrency=1)))
    assert outcome.done == 1
    return time.perf_counter() - started


def measured(turns: int) -> dict[str, float]:
    """Plays, and plays again."""
    with tempfile.TemporaryDirectory() as name, upstream(Path(name) / "charges", LATENCY_S) as up:
        whole = load(str(spec(Path(name), up.port, turns, questions=0)))
        experiment = Experiment(
            name="replay", memories=(MemoryUse(name="full-history"),), settings=whole.settings,
            workloads=(WorkloadUse(name=whole.workloads[0].name, protocols=("serve",)),),
        )  # fmt: skip
        out = Path(name) / "run"
        fresh = played(experiment, out)
        charged = up.charges()
        with closing(sqlite3.connect(out / FILE_NAME)) as connection:
            connection.execute("UPDATE units SET status = 'interrupted'")
            connection.commit()
        again = played(experiment, out)
        return {
            "turns": turns, "fresh_seconds": fresh, "replay_seconds": again, "times_faster": fresh / again,
            "calls_charged_again": up.charges() - charged,
        }  # fmt: skip


def main() -> None:
    """Runs the bench and prints its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--turns", type=int, default=400)
    arguments = parser.parse_args()
    figures = measured(arguments.turns)
    if arguments.json:
        print(json.dumps(figures))
    else:
        for key, value in figures.items():
            print(f"{key:20} {value:10.3f}")
    if figures["times_faster"] < 20 or figures["calls_charged_again"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
