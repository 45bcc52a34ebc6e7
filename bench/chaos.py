"""What SIGKILL does to a run: the whole process group is killed at random moments, and the same command goes on.

An upstream in a process of its own logs every call that it charges for. Memories: full-history, dense, and an outside
product behind the gateway, served and asked; half of the kills hit runs of one call at a time, half runs of eight.
When a run has finished, its ledger is verified and compared with that of a run which nobody disturbed. Target, over
200 kills: no completed call lost, none paid twice, no difference but for times. Calls in flight at a kill may have
been charged: they stand in the ledger as interrupted. ``--json`` prints one object of named figures.
"""

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kills import campaign, leftovers, spec, upstream


def main() -> None:
    """Kills, and prints the toll; exits 1 where something was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    started = time.perf_counter()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with upstream(place / "charges", latency_s=0.01) as up:
            path = spec(place, up.port)
            for concurrency in (1, 8):
                half = arguments.kills // 2 if concurrency == 1 else arguments.kills - arguments.kills // 2
                toll = campaign(place, up, path, half, 10 * arguments.seed + concurrency, concurrency)
                for key, value in asdict(toll).items():
                    figures[key] = figures.get(key, 0) + (len(value) if isinstance(value, list) else value)
    time.sleep(1)
    figures["leftover_processes"] = len(leftovers())
    figures["seconds"] = time.perf_counter() - started
    if arguments.json:
        print(json.dumps(figures))
    else:
        for key, value in figures.items():
            print(f"{key:22} {value:10,.0f}")
    lost = ("completed_lost", "paid_twice", "unexplained_charges", "unlike", "unsound", "leftover_processes")
    if any(figures[key] for key in lost):
        sys.exit(1)


if __name__ == "__main__":
    main()
