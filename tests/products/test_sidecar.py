"""A sidecar does what a memory does; what it does wrong is told with its last words and leaves nothing behind."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memgauge import tokens
from memgauge.conversation import Turn
from memgauge.embedders.hashing import Hashing
from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.memories import registry
from memgauge.memories.base import Footprint, GatewayAccess
from memgauge.meter.gateway import Gateway
from memgauge.meter.meter import Meter
from memgauge.products import process
from memgauge.products.process import NotSettledError, RefusedError, SidecarError
from memgauge.products.sidecar import AnySidecar
from memgauge.spec import Setting
from support import Scripted, new_ledger, unit_record

SCRIPT = Path(__file__).parent.parent / "scripted_sidecar.py"
NOWHERE = GatewayAccess("http://127.0.0.1:9/v1", "key", "model-1", "embedder-1", 4)
ANN = Turn("t1", "Ann", "I live in Porto.", datetime(2024, 5, 8, 13, 56), session="s1")
BEN = Turn("t2", "Ben", "Lovely!")


@asynccontextmanager
async def sidecar(
    directory: Path, how: str = "well", access: GatewayAccess = NOWHERE, limits_s: Mapping[str, float] | None = None
) -> AsyncIterator[AnySidecar]:
    unit = directory / "unit"
    unit.mkdir(exist_ok=True)
    memory = AnySidecar(access, unit, [sys.executable, str(SCRIPT), how], limits_s=limits_s)
    try:
        yield memory
    finally:
        await memory.close()
        assert not (directory / "unit.sidecar").exists()


def alive(pid: int) -> bool:
    """Whether a process runs: neither gone, nor dead and only waiting to be noticed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def gone(pid: int) -> bool:
    for _ in range(300):
        if not alive(pid):
            return True
        await asyncio.sleep(0.1)
    return False


async def test_what_was_written_is_recalled_with_its_turns(tmp_path: Path) -> None:
    async with sidecar(tmp_path) as memory:
        await memory.start()
        await memory.write([ANN, BEN])
        await memory.manage()
        recalled = await memory.read("Where does Ann live?")
        assert [(item.text, item.turn_ids) for item in recalled.items] == [
            ("[8 May 2024, 13:56] Ann: I live in Porto.\n", ("t1",)),
            ("Ben: Lovely!\n", ("t2",)),
        ]
        assert recalled.ranked is None
        # The bytes are the sidecar's word; the tokens are counted on our side.
        assert memory.footprint() == Footprint(1000, tokens.count(ANN.line().rstrip()) + tokens.count("Ben: Lovely!"))
        assert memory.state() == {"turns": 2.0, "lost_writes": 0.0, "lost_turns": 0.0}
        assert (memory.lost(), memory.all_lost()) == (None, None)


async def test_scores_rank_the_items_without_moving_them(tmp_path: Path) -> None:
    async with sidecar(tmp_path, "ranks") as memory:
        await memory.write([ANN, BEN])
        recalled = await memory.read("x")
        assert [item.turn_ids for item in recalled.items] == [("t1",), ("t2",)]
        assert recalled.ranked == (("t2",), ("t1",))


async def test_lone_surrogates_and_line_separators_survive_the_wire(tmp_path: Path) -> None:
    async with sidecar(tmp_path) as memory:
        await memory.write([Turn("t1", "Zoë", "lone \ud800, separator \u2028, fox 🦊,\nnew line")])
        [item] = (await memory.read("\udfff")).items
        assert item.text == "Zoë: lone \ufffd, separator \u2028, fox 🦊,\nnew line\n"


async def test_an_answer_may_be_very_long(tmp_path: Path) -> None:
    async with sidecar(tmp_path, "says much") as memory:
        [item] = (await memory.read("x")).items
        assert item.text == "漢字 🦊 \u2028" * 1_000_000 + "\n"


async def test_it_sees_nothing_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENROUTER_API_KEY", "HTTPS_PROXY", "PYTHONHOME"):
        monkeypatch.setenv(name, "stray")
    async with sidecar(tmp_path, "shows its environment") as memory:
        [item] = (await memory.read("x")).items
    seen: dict[str, str] = json.loads(item.text)
    unit = str(tmp_path / "unit")
    assert seen.pop("PATH") == os.environ["PATH"]
    assert len(seen.pop("MEMGAUGE_SIDECAR")) == 32
    assert seen.pop("PYTHONPATH").endswith("products/beside")
    assert {key: value for key, value in seen.items() if key != "LC_CTYPE"} == {
        "cwd": unit, "HOME": f"{unit}/home", "TMPDIR": f"{unit}/tmp", "LANG": "C.UTF-8", "TZ": "UTC",
        "PYTHONHASHSEED": "0",
    }  # fmt: skip


async def test_what_is_printed_to_its_output_is_no_answer(tmp_path: Path) -> None:
    async with sidecar(tmp_path, "prints to its output") as memory:
        await memory.write([ANN])
        await memory.manage()
        assert len((await memory.read("x")).items) == 1


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("crashes at start", "sidecar ended with exit code 1 during 'open'; its last words: no licence file"),
        ("refuses to open", "sidecar: open failed: RuntimeError: the licence has run out"),
        ("answers in prose", "sidecar answered 'open' with neither an object as 'ok' nor an 'error'"),
    ],
)
async def test_one_that_cannot_start_says_why(how: str, words: str, tmp_path: Path) -> None:
    async with sidecar(tmp_path, how) as memory:
        with pytest.raises(SidecarError) as caught:
            await memory.start()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("crashes in write", "sidecar ended with exit code 9 during 'write'; its last words: reading pages | torn"),
        ("is killed in write", "sidecar was ended by SIGKILL during 'write'; it left no word"),
        ("hangs in write", "sidecar gave no answer to 'write' within 0.5 s; its last words: waiting for a lock"),
    ],
)  # fmt: skip
async def test_one_that_ends_or_hangs_at_work_is_told_with_its_last_words(how: str, words: str, tmp_path: Path) -> None:
    async with sidecar(tmp_path, how, limits_s={"write": 0.5} if "hangs" in how else None) as memory:
        await memory.start()
        with pytest.raises(SidecarError) as caught:
            await memory.write([ANN])
        assert str(caught.value) == words
        with pytest.raises(SidecarError):
            await memory.read("x")


async def test_background_work_without_end_has_a_name(tmp_path: Path) -> None:
    async with sidecar(tmp_path, "never settles", limits_s={"settle": 0.2}) as memory:
        await memory.write([ANN])
        with pytest.raises(NotSettledError, match=r"^sidecar did not settle within 0\.2 s"):
            await memory.manage()


async def test_an_error_of_one_request_leaves_the_sidecar_usable(tmp_path: Path) -> None:
    async with sidecar(tmp_path, "fails in write") as memory:
        with pytest.raises(RefusedError, match="sidecar: write failed: ValueError: no room left"):
            await memory.write([ANN])
        await memory.manage()
        assert memory.footprint().bytes == 1000


@pytest.mark.parametrize(
    ("how", "words"), [("recalls what nobody wrote", "turn 't99' was never written"), ("recalls nonsense", "'text'")]
)
async def test_items_that_cannot_be_are_refused(how: str, words: str, tmp_path: Path) -> None:
    async with sidecar(tmp_path, how) as memory:
        await memory.write([ANN])
        with pytest.raises(SidecarError, match=words):
            await memory.read("x")


async def test_a_lost_write_is_counted_and_told_and_the_rest_stands(tmp_path: Path) -> None:
    async with sidecar(tmp_path, "loses the second write") as memory:
        for turn in (ANN, BEN):
            await memory.write([turn])
            await memory.manage()
        assert memory.state() == {"turns": 2.0, "lost_writes": 1.0, "lost_turns": 1.0}
        assert memory.lost() == "sidecar lost 1 of 2 turns in 1 writes; the last: the reply was prose"
        assert memory.all_lost() is None


async def test_where_all_was_lost_the_memory_says_so(tmp_path: Path) -> None:
    async with sidecar(tmp_path, "loses all") as memory:
        assert memory.all_lost() is None
        for turn in (ANN, BEN):
            await memory.write([turn])
        assert memory.all_lost() == "sidecar lost 2 of 2 turns in 2 writes; the last: the reply was empty"


async def test_two_side_by_side_do_not_meet(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    async with sidecar(tmp_path / "a") as one, sidecar(tmp_path / "b") as other:
        await asyncio.gather(one.write([ANN]), other.write([BEN]))
        found = await asyncio.gather(one.read("x"), other.read("x"))
    assert [[item.turn_ids for item in recalled.items] for recalled in found] == [[("t1",)], [("t2",)]]


@pytest.mark.parametrize("how", ["will not die", "hangs and will not die"])
async def test_one_that_will_not_die_is_killed(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_GRACE_S", 0.2)
    async with sidecar(tmp_path, how, limits_s={"write": 0.2}) as memory:
        await memory.start()
        assert memory._process is not None
        pid = memory._process._trace.pid
        if how.startswith("hangs"):
            with pytest.raises(SidecarError):
                await memory.write([ANN])
        await memory.close()
        assert await gone(pid)


async def test_a_child_in_a_session_of_its_own_goes_with_it(tmp_path: Path) -> None:
    async with sidecar(tmp_path, "has a child") as memory:
        await memory.write([ANN])
        [item, _] = (await memory.read("x")).items
        child = int(item.text)
        assert alive(child)
        await memory.close()
        assert await gone(child)


async def test_cancelling_at_work_ends_it(tmp_path: Path) -> None:
    async with sidecar(tmp_path, "hangs in write") as memory:
        await memory.start()
        assert memory._process is not None
        pid = memory._process._trace.pid
        write = asyncio.create_task(memory.write([ANN]))
        await asyncio.sleep(0.2)
        write.cancel()
        with pytest.raises(asyncio.CancelledError):
            await write
        await memory.close()
        assert await gone(pid)


HARNESS = """
import asyncio, sys
from pathlib import Path
from memgauge.memories.base import GatewayAccess
from memgauge.products.sidecar import AnySidecar

async def main():
    access = GatewayAccess("http://127.0.0.1:9/v1", "key", "m", "e", 4)
    memory = AnySidecar(access, Path(sys.argv[1]), sys.argv[2:])
    await memory.start()
    print(memory._process._trace.pid, flush=True)
    await asyncio.sleep(3600)

asyncio.run(main())
"""


async def killed_harness(directory: Path, how: str) -> int:
    """The pid of a sidecar whose harness was killed without warning."""
    directory.mkdir(exist_ok=True)
    command = [sys.executable, "-c", HARNESS, str(directory), sys.executable, str(SCRIPT), how]
    harness = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert harness.stdout is not None
    pid = int(await harness.stdout.readline())
    assert alive(pid)
    harness.send_signal(signal.SIGKILL)
    await harness.wait()
    return pid


async def test_it_does_not_outlive_a_killed_harness(tmp_path: Path) -> None:
    assert await gone(await killed_harness(tmp_path / "unit", "well"))


async def test_what_outlived_a_killed_harness_is_ended_by_the_next_start(tmp_path: Path) -> None:
    pid = await killed_harness(tmp_path / "unit", "will not die")
    await asyncio.sleep(0.5)
    assert alive(pid)
    async with sidecar(tmp_path) as memory:
        await memory.start()
        assert await gone(pid)
        await memory.write([ANN])


HELPED = """
import os, sys
from memgauge_sidecar import serve

class Memory:
    def open(self, directory, **rest):
        print("opening", directory)
        os.write(1, b"a C library prints, too\\n")
        self.turns = []
    def write(self, turns):
        if not turns:
            raise ValueError("nothing to write")
        self.turns += turns
    def read(self, query, time):
        return {"items": [{"text": turn["text"], "turns": [turn["id"]]} for turn in self.turns]}
    def close(self):
        print("closed", file=open("closed", "w"))

serve(Memory())
"""


async def test_the_helper_for_python_keeps_the_protocol_apart_from_what_is_printed(tmp_path: Path) -> None:
    script = tmp_path / "helped.py"
    script.write_text(HELPED)
    unit = tmp_path / "unit"
    unit.mkdir()
    memory = AnySidecar(NOWHERE, unit, [sys.executable, str(script)])
    await memory.write([ANN])
    await memory.manage()  # operations that it has no method for
    with pytest.raises(RefusedError, match="ValueError: nothing to write"):
        await memory.write([])
    assert [item.text for item in (await memory.read("x")).items] == ["I live in Porto.\n"]
    await memory.close()
    assert (unit / "closed").read_text() == "closed\n"
    said = (unit / "stderr.log").read_text()
    assert f"opening {unit}\n" in said
    assert "a C library prints, too" in said


async def test_its_calls_fall_under_the_stage_they_are_made_in_or_name(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite", [unit_record()]) as ledger:
        ledger.start_unit(1, 0.0)
        unit = Meter(ledger, Setting(), Scripted(), Hashing()).open(1)
        gateway = Gateway()
        await gateway.start()
        gateway.register(unit)
        access = GatewayAccess(gateway.base_url, unit.key, unit.model, unit.embedding_model)
        async with sidecar(tmp_path, "works in the background", access) as memory:
            with unit.scope(7, "write"):
                await memory.write([ANN])
            with unit.scope(7, "manage"):
                await memory.manage()
        await gateway.close()
        calls = Frames(tmp_path).calls()
    assert calls.select("turn", "stage", "background").rows() == [(7, "write", 0), (7, "manage", 0), (7, "write", 0)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "needs the option command"),
        ({"command": "python3 x.py"}, "needs the option command: a list"),
        ({"command": ["no-such-program"]}, "there is no program 'no-such-program'"),
        ({"comand": ["python3"]}, "did you mean 'command'"),
    ],
)
def test_a_command_that_cannot_be_is_refused_before_anything_runs(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        registry.check("sidecar", options)


def test_an_unknown_time_limit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such time limit: wirte"):
        AnySidecar(NOWHERE, tmp_path, [sys.executable], limits_s={"wirte": 1})
