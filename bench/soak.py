"""A long haul through the gateway: 100,000 calls over 64 connections, one in twenty spoilt by the upstream.

The gateway, its ledger and meter run here; the upstream (tests/chaos/upstream.py) and the clients in processes of
their own. Half of the calls are streamed; units come and go, but for one that makes a fifth of all calls. Targets:
every call accounted for (one row each, every attempt and every token that the upstream told of), resident memory
after the warm-up (the first two fifths, when every cache is full) grows by less than 5 %, no file descriptor is left
over. ``--json`` prints one object of named figures.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from kills import upstream
from memgauge.backbones.endpoint import Endpoint
from memgauge.embedders.hashing import Hashing
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.meter.gateway import Gateway
from memgauge.meter.meter import Meter, UnitMeter
from memgauge.runner.audit import audit
from memgauge.runner.spends import open_flights
from memgauge.spec import Setting
from support import unit_record

CONNECTIONS = 64
FAULTS = 0.05
CALLS_PER_UNIT = 200
LONG_SHARE = 5  # one call in so many is made by the unit that stays
WARM_UP = 0.4


async def clients(base_url: str, calls: int, keys: list[str]) -> dict[str, int]:
    """Makes the calls, CONNECTIONS at a time; returns how many were answered, refused, and broken off."""
    import aiohttp

    numbers = iter(range(calls))
    ended = {"answered": 0, "refused": 0, "broken_off": 0}
    long_lived, *short_lived = keys

    async def one(session: aiohttp.ClientSession) -> None:
        for number in numbers:
            place = number - number // LONG_SHARE
            key = long_lived if number % LONG_SHARE == 0 else short_lived[place // CALLS_PER_UNIT]
            stream = number % 2 == 0
            body = {
                "model": "any", "max_tokens": 50, "stream": stream,
                "messages": [
                    {"role": "system", "content": "You keep the long-term memory of a personal assistant."},
                    {"role": "user", "content": f"Note {number}: on day {number % 997} we had {number * 7} guests.\n"
                                                f"They came in {number} cars and stayed for {number % 13} nights."},
                ],
            }  # fmt: skip
            headers = {"Authorization": f"Bearer {key}"}
            async with session.post(f"{base_url}/chat/completions", json=body, headers=headers) as answer:
                text = await answer.text()
            if answer.status != 200:
                ended["refused"] += 1
            elif stream and not text.endswith("data: [DONE]\n\n"):
                ended["broken_off"] += 1
            else:
                ended["answered"] += 1

    connector = aiohttp.TCPConnector(limit=CONNECTIONS)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(600)) as session:
        await asyncio.gather(*(one(session) for _ in range(CONNECTIONS)))
    return ended


def resident_mib() -> float:
    """Memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def descriptors() -> int:
    """Open files and sockets of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def soaked(directory: Path, port: int, calls: int) -> dict[str, float]:
    """Runs the gateway under the clients' load; the figures of this process."""
    units = 2 + calls // CALLS_PER_UNIT
    async with AsyncExitStack() as stack:
        ledger = stack.enter_context(Ledger.create(directory / FILE_NAME, {}, fsync=True))
        ledger.add_units(unit_record(number, model="chaos-1", turns=0) for number in range(1, units + 1))
        flights, _ = open_flights(ledger, stack)
        setting = Setting(backbone="endpoint", base_url=f"http://127.0.0.1:{port}/v1", model="chaos-1")
        backbone = Endpoint(setting.base_url or "", "chaos-1", max_connections=CONNECTIONS, first_wait_s=0.01)
        stack.push_async_callback(backbone.close)
        meter = Meter(ledger, setting, backbone, Hashing(), flights=flights)
        gateway = Gateway()
        await gateway.start()
        stack.push_async_callback(gateway.close)
        before = descriptors()
        opened: list[UnitMeter] = []
        for number in range(1, units + 1):
            opened.append(meter.open(number, attempt=ledger.start_unit(number, 0.0)))
            gateway.register(opened[-1])
        keys = json.dumps([unit.key for unit in opened])
        command = [sys.executable, __file__, "--clients", gateway.base_url, "--calls", str(calls)]
        started = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        assert process.stdin is not None
        process.stdin.write(keys.encode())
        process.stdin.close()
        told = asyncio.create_task(process.communicate())
        samples: list[tuple[int, float]] = []
        made = 0
        while not told.done():
            await asyncio.sleep(0.5)
            for place in reversed(range(1, len(opened))):  # a unit that has made its calls is over
                if opened[place]._seq >= CALLS_PER_UNIT:
                    gateway.unregister(opened[place])
                    made += opened.pop(place)._seq
            samples.append((made + sum(unit._seq for unit in opened), resident_mib()))
        seconds = time.perf_counter() - started
        output, _ = await told
        ended = json.loads(output)
        await asyncio.sleep(1)  # for connections to be seen closed
        left = descriptors() - len(backbone._server._pool._idle)
    warm = [mib for done, mib in samples if WARM_UP * calls <= done < (WARM_UP + 0.1) * calls]
    late = [mib for done, mib in samples if done >= 0.9 * calls]
    return {
        **ended, "seconds": seconds, "calls_per_s": calls / seconds,
        "warm_mib": statistics.median(warm), "late_mib": statistics.median(late),
        "growth_percent": 100 * (statistics.median(late) / statistics.median(warm) - 1),
        "descriptors_left_over": left - before,
    }  # fmt: skip


def measured(calls: int) -> dict[str, float]:
    """Soaks, and holds the ledger against the upstream's own count."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        with upstream(directory / "charges", latency_s=0.002, faults=FAULTS) as up:
            figures = asyncio.run(soaked(directory, up.port, calls))
        rows = Frames(directory).table(
            "calls", ("outcome", "attempts", "input_tokens", "cached_tokens", "output_tokens")
        )
        outcomes = dict(rows["outcome"].value_counts().sort("outcome").iter_rows())
        figures |= {f"rows_{outcome}": number for outcome, number in outcomes.items()}
        figures["rows_missing"] = calls - rows.height
        figures["attempts_missing"] = up.served["requests"] - int(rows["attempts"].sum())
        read = int(rows["input_tokens"].sum()) + int(rows["cached_tokens"].sum())
        figures["read_tokens_missing"] = up.served["read_told"] - read
        figures["written_tokens_missing"] = up.served["written_told"] - int(rows["output_tokens"].sum())
        wrong = [finding.what for finding in audit(directory).findings if finding.wrong]
        print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
        figures["wrong_findings"] = len(wrong)
    return figures


def main() -> None:
    """Runs the bench; exits 1 where a call was lost or something leaks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--clients", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.clients:
        print(json.dumps(asyncio.run(clients(arguments.clients, arguments.calls, json.loads(sys.stdin.read())))))
        return
    figures = measured(arguments.calls)
    if arguments.json:
        print(json.dumps(figures))
    else:
        for key, value in figures.items():
            print(f"{key:24} {value:12,.2f}")
    failed = [key for key in figures if key.endswith(("_missing", "_over", "wrong_findings")) and figures[key]]
    if failed or figures["growth_percent"] >= 5:
        sys.exit(1)


if __name__ == "__main__":
    main()
