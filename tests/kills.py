"""Kills runs at random moments, and holds what becomes of them against a run that nobody disturbed."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from memgauge.ledger.frames import Frames
from memgauge.ledger.schema import TIMES
from memgauge.runner.audit import audit

HERE = Path(__file__).parent / "chaos"
_STARTUP_S = 1.2  # of the command, about
_HANGS_S = 120
_KILLS_A_ROUND = 12

SPEC = """
name = "chaos"
memories = [
  "full-history", "dense",
  {{ name = "sidecar", label = "product", options = {{ command = ["{python}", "{product}"] }} }},
]
answer_tokens = 20
reply_tokens = 20

[settings.chaos]
backbone = "endpoint"
base_url = "http://127.0.0.1:{port}/v1"
model = "chaos-1"
embedder = "endpoint"
embedding_model = "chaos-embed"

[[workloads]]
name = "{transcript}"
protocols = ["serve", "recall"]
"""


@dataclass
class Upstream:
    """A running upstream: its port, the file of its charges, and when it has ended what it served."""

    port: int
    log: Path
    served: dict[str, int] = field(default_factory=dict)
    _read: int = 0
    _charges: int = 0

    def charges(self) -> int:
        """How many requests it has charged for."""
        if self.log.exists():
            with self.log.open("rb") as log:
                log.seek(self._read)
                news = log.read()
            self._read += len(news)
            self._charges += news.count(b"\n")
        return self._charges


@contextmanager
def upstream(log: Path, latency_s: float, faults: float = 0.0) -> Iterator[Upstream]:
    """An upstream in a process of its own."""
    command = [sys.executable, str(HERE / "upstream.py"), str(log), str(latency_s), str(faults)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        up = Upstream(int(process.stdout.readline()), log)
        try:
            yield up
        finally:
            process.stdin.close()
            up.served.update(json.loads(process.stdout.readline() or "{}"))


def spec(directory: Path, port: int, turns: int = 12, questions: int = 4) -> Path:
    """Writes a spec and a transcript of its own into ``directory``."""
    lines: list[dict[str, object]] = [
        {"id": f"t{i}", "speaker": "Ann" if i % 2 else "Ben", "text": f"On day {i} I met {i * 7} people at the quay."}
        for i in range(1, turns + 1)
    ]
    lines += [
        {"question": f"How many people on day {i}?", "answer": str(i * 7), "evidence": [f"t{i}"]}
        for i in range(1, questions + 1)
    ]
    directory.mkdir(parents=True, exist_ok=True)
    transcript = directory / "transcript.jsonl"
    transcript.write_text("\n".join(map(json.dumps, lines)))
    path = directory / "chaos.toml"
    path.write_text(SPEC.format(python=sys.executable, product=HERE / "product.py", port=port, transcript=transcript))
    return path


class Job:
    """``memgauge run`` in a process group of its own."""

    def __init__(self, spec: Path, out: Path, concurrency: int) -> None:
        command = [
            sys.executable, "-c", "from memgauge.cli import main; main()", "run", str(spec), "--out", str(out),
            "--concurrency", str(concurrency), "--json",
        ]  # fmt: skip
        with out.with_suffix(".log").open("ab") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
            )
        self._log = out.with_suffix(".log")

    def kill(self) -> None:
        """SIGKILL to the whole group."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def over(self) -> bool:
        """Whether it has ended by itself; raises where it ended badly."""
        code = self.process.poll()
        if code not in (None, 0):
            raise AssertionError(f"the run ended with {code}: {self._log.read_text()[-2000:]}")
        return code == 0

    def finish(self) -> None:
        """Waits for its end."""
        self.process.wait(_HANGS_S)
        self.over()


@dataclass
class Toll:
    """What a number of kills did.

    ``uncertain`` calls were in flight at a kill: only the upstream knows whether it charged for them. A charge that
    is neither for a completed call nor for one of these is unexplained.
    """

    kills: int = 0
    rounds: int = 0
    calls: int = 0
    charged: int = 0
    uncertain: int = 0
    uncertain_charged: int = 0
    unexplained_charges: int = 0
    completed_lost: int = 0
    paid_twice: int = 0
    unlike: list[str] = field(default_factory=list)
    unsound: list[str] = field(default_factory=list)


def undisturbed(spec: Path, out: Path) -> Path:
    """A run that is left alone; the directory of its ledger."""
    Job(spec, out, 1).finish()
    return out


def campaign(place: Path, up: Upstream, spec: Path, kills: int, seed: int, concurrency: int = 1) -> Toll:
    """Starts runs and kills them at random moments, ``kills`` times in all; each is then let finish and looked at."""
    chance, toll = random.Random(seed), Toll()
    whole = undisturbed(spec, place / f"whole-{seed}")
    while toll.kills < kills:
        _round(place / f"killed-{seed}-{toll.rounds}", up, spec, whole, kills - toll.kills, chance, concurrency, toll)
    return toll


def _round(
    out: Path, up: Upstream, spec: Path, whole: Path, kills: int, chance: random.Random, concurrency: int, toll: Toll
) -> None:
    before = up.charges()
    for _ in range(min(kills, _KILLS_A_ROUND)):
        job = Job(spec, out, concurrency)
        if not _reaches(job, up, chance):
            break
        job.kill()
        toll.kills += 1
    else:
        Job(spec, out, concurrency).finish()
    calls = _every_call(out)
    completed = calls.filter(outcome="ok")
    charged = up.charges() - before
    toll.rounds += 1
    toll.calls += completed.height
    toll.charged += charged
    # Every call that stands there as completed was charged for once. More of these than in the undisturbed run are
    # calls that were asked again although their answer was on disk.
    toll.paid_twice += completed.height - _every_call(whole).filter(outcome="ok").height
    toll.completed_lost += completed.filter(claimed=0).height
    uncertain = calls.filter(outcome="interrupted").height
    toll.uncertain += uncertain
    toll.uncertain_charged += charged - completed.height
    toll.unexplained_charges += max(0, charged - completed.height - uncertain)
    toll.unlike += unlike(whole, out, ordered=concurrency == 1)
    toll.unsound += [finding.what for finding in audit(out).findings if finding.wrong]


def _reaches(job: Job, up: Upstream, chance: random.Random) -> bool:
    """Waits for a random moment of the run; False where the run is over before it."""
    if chance.random() < 0.25:
        return _lasts(job, chance.uniform(0, 2 * _STARTUP_S))
    goal = up.charges() + chance.randint(1, 25)
    give_up = time.monotonic() + _HANGS_S
    while up.charges() < goal:
        if not _lasts(job, 0.002):
            return False
        if time.monotonic() > give_up:
            job.kill()
            raise AssertionError("the run hangs")
    return _lasts(job, chance.uniform(0, 0.03))


def _lasts(job: Job, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if job.over():
            return False
        time.sleep(min(0.01, seconds))
    return not job.over()


def _every_call(run: Path) -> pl.DataFrame:
    return Frames(run).table("calls", ("outcome", "claimed"))


def unlike(one: Path, other: Path, *, ordered: bool) -> list[str]:
    """The tables in which two ledgers differ, but for times, and for what counts the attempts.

    Calls are compared with the prompts that they stand for, whatever delta they are stored as. Where units and
    questions ran side by side (not ``ordered``), so are calls and steps, whatever their order.
    """
    left, right = (_content(Frames(run), ordered) for run in (one, other))
    return [name for name in left if left[name] != right[name]]


def _content(frames: Frames, ordered: bool) -> dict[str, list[tuple[object, ...]]]:
    content = {}
    for name in ("units", "steps", "states", "answers", "scores", "texts", "vectors"):
        frame = frames.table(name)
        hidden = {*TIMES, *(() if ordered else ("step",))}
        content[name] = sorted(frame.drop([c for c in frame.columns if c in hidden]).rows(), key=repr)
    calls = frames.calls()
    prompts = ["".join(frames.prompt(call)) for call in calls["call"]]
    hidden = {*TIMES, "call", "claimed", "prompt_base", "prompt_keep", "prompt_new"}
    if not ordered:
        hidden |= {"seq", "prefix_tokens", "prefix_turns_ago"}
    shown = calls.drop([c for c in calls.columns if c in hidden])
    content["calls"] = [(*row, prompt) for row, prompt in zip(shown.rows(), prompts, strict=True)]
    if not ordered:
        content["calls"].sort(key=repr)
    return content


def leftovers() -> list[int]:
    """Processes of products that nobody owns any more."""
    left = []
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if entry.name.isdigit() and str(HERE / "product.py").encode() in words:
            left.append(int(entry.name))
    return left
