"""A ledger keeps every text once, gives prompts back whole, can be read while it is written, and exported."""

import sqlite3
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.backbones.base import ChatRequest, Message
from memgauge.errors import UserError
from memgauge.ledger.export import export
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import Ledger, LedgerError
from support import Scripted, new_ledger, open_unit


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["red\n", "green\n", "blue\n", "last"]), max_size=6), min_size=1, max_size=8))
async def test_prompts_come_back_as_they_were_sent(tmp_path_factory, prompts: list[list[str]]) -> None:  # type: ignore[no-untyped-def]
    directory = tmp_path_factory.mktemp("ledger")
    with new_ledger(directory / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted())
        for turn, parts in enumerate(prompts, start=1):
            with unit.scope(turn, ("read", "answer")[turn % 2]):
                await unit.chat(ChatRequest((Message("user", tuple(parts)),)))

    frames = Frames(directory)
    for call, parts in zip(frames.calls()["call"], prompts, strict=True):
        assert frames.prompt(call) == ["\x02user", *parts]


async def test_a_growing_prompt_is_stored_as_what_it_adds(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted())
        history: tuple[str, ...] = ()
        for turn in range(1, 51):
            with unit.scope(turn, "answer"):
                await unit.chat(ChatRequest((Message("user", (*history, f"question {turn}")),)))
            history = (*history, f"turn {turn}\n")

    calls = Frames(tmp_path).calls()
    # Each prompt adds the turn before it and its own question: two ids of eight bytes.
    assert calls["prompt_new"].bin.size().to_list()[1:] == [16] * 49
    assert calls["prompt_keep"].to_list() == [0, *range(1, 50)]


def test_a_text_is_stored_once(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        assert ledger.add_text("hello") == ledger.add_text("hello")
        assert ledger.add_text("lone \ud800") == ledger.add_text("lone \ufffd")
    assert Frames(tmp_path).table("texts")["body"].to_list().count("hello") == 1


def test_vectors_come_back_in_order(tmp_path: Path) -> None:
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        ledger.add_vectors("m", ["a", "b", "c"], vectors)
        assert ledger.vectors("m", ["c", "a"]).tolist() == [[4.0, 5.0], [0.0, 1.0]]


async def test_a_reader_follows_a_run_that_goes_on(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted())
        frames = Frames(tmp_path)
        for expected in (1, 2, 3):
            await unit.chat(ChatRequest.of("s", "u"))
            assert frames.calls().height == expected


def test_what_is_no_ledger_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="no ledger at"):
        Frames(tmp_path)
    (tmp_path / "ledger.sqlite").write_text("this is no database at all, but long enough to look at " * 20)
    with pytest.raises(LedgerError, match="not a ledger"):
        Frames(tmp_path)


def test_another_version_is_refused_and_named(tmp_path: Path) -> None:
    new_ledger(tmp_path / "ledger.sqlite").close()
    with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    connection.close()
    with pytest.raises(LedgerError, match="version 99"):
        Ledger.open(tmp_path / "ledger.sqlite")


async def test_a_full_disk_is_one_line_and_loses_nothing_that_was_committed(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted())
        await unit.chat(ChatRequest.of("s", "u"))
        pages = ledger._db.execute("PRAGMA page_count").fetchone()[0]
        ledger._db.execute(f"PRAGMA max_page_count = {pages}")

        async def fill() -> None:
            for i in range(2000):
                await unit.chat(ChatRequest.of("s", f"{i} " + "filler " * 200))

        with pytest.raises(LedgerError, match="full"):
            await fill()
        ledger._db.execute("PRAGMA max_page_count = 1000000")

    assert Frames(tmp_path).calls().height >= 1


@pytest.mark.parametrize("kind", ["parquet", "csv"])
async def test_every_table_is_exported(tmp_path: Path, kind: str) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        await open_unit(ledger, Scripted("hi")).chat(ChatRequest.of("s", "u"))

    files = list(export(Frames(tmp_path), tmp_path / "out", kind))

    assert sorted(file.stem for file in files) == [
        "answers", "calls", "faults", "scores", "states", "steps", "texts", "units", "verdicts",
    ]  # fmt: skip
    read = pl.read_parquet if kind == "parquet" else pl.read_csv
    calls = read(tmp_path / "out" / f"calls.{kind}")
    assert calls["input_tokens"].to_list() == [100]
    assert calls["request_key"].dtype == (pl.Binary if kind == "parquet" else pl.String)


def test_an_unknown_export_format_names_the_known_ones(tmp_path: Path) -> None:
    new_ledger(tmp_path / "ledger.sqlite").close()
    with pytest.raises(UserError, match="unknown format 'parket'; did you mean 'parquet'"):
        list(export(Frames(tmp_path), tmp_path, "parket"))
