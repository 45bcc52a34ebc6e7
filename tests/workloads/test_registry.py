"""Workloads are found by name, and their options are checked before anything is loaded."""

import subprocess
import sys
from pathlib import Path

import pytest

from memgauge.errors import UnknownNameError, UserError
from memgauge.workloads import registry
from memgauge.workloads.base import Outline
from memgauge.workloads.transcript import Transcript


def test_every_name_has_a_card_that_carries_it() -> None:
    assert registry.names() == (
        "locomo",
        "longmemeval",
        "memoryagentbench",
        "multiwoz",
        "sample",
        "synthetic",
        "transcript",
    )
    assert [registry.card(name).name for name in registry.names()] == list(registry.names())


def test_every_protocol_of_a_card_is_known() -> None:
    assert {p for name in registry.names() for p in registry.card(name).protocols} == {"serve", "recall"}


def test_a_misspelt_name_suggests_the_right_one() -> None:
    with pytest.raises(UnknownNameError, match="unknown workload 'sampel'; did you mean 'sample'"):
        registry.create("sampel", {})


def test_a_path_is_a_transcript(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text('{"speaker": "Ann", "text": "Hello"}\n')
    workload = registry.create(str(file), {})
    assert isinstance(workload, Transcript)
    assert workload.items() == ("chat",)
    assert registry.card("some/folder/chat").name == "transcript"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("synthetic", {"sedes": 3}, "no option 'sedes'; did you mean 'seeds'"),
        ("synthetic", {"zzz": 3}, "no option 'zzz'; known: cells, seeds, writer, cache_dir"),
        ("synthetic", {"seeds": "three"}, "option 'seeds': Expected int | array, got str"),
        ("synthetic", {"cells": [[15, "x"]]}, "option 'cells': Expected int, got str at [0][1]"),
        ("synthetic", {"writer": "llm"}, "option 'writer': Invalid enum value 'llm'"),
        ("locomo", {"captions": "yes"}, "option 'captions': Expected bool, got str"),
        ("locomo", {"subset": 1.5}, "option 'subset': Expected int | str | null, got float"),
        ("locomo", {"audit": 3}, "option 'audit': Expected bool | str | null, got int"),
        ("longmemeval", {"variant": "xl"}, "option 'variant': Invalid enum value 'xl'"),
        ("longmemeval", {"types": ["geography"]}, "option 'types': Invalid enum value 'geography' at [0]"),
        ("memoryagentbench", {"split": "XX"}, "option 'split': Invalid enum value 'XX'"),
        ("multiwoz", {}, "needs the option 'path'"),
        ("sample", {"seeds": 3}, "no option 'seeds'; it has none"),
        ("transcript", {}, "needs the option 'path'"),
    ],
)
def test_an_option_that_does_not_fit_is_refused_in_one_line(
    name: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(UserError) as caught:
        registry.create(name, options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_workload_is_imported_only_when_asked_for() -> None:
    code = (
        "import sys; from memgauge.workloads import registry; registry.names();"
        "print([m for m in sys.modules if m.startswith('memgauge.workloads.')])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "['memgauge.workloads.base', 'memgauge.workloads.registry']"


def test_an_outline_counts_turns_tokens_and_questions(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    # "Hello there" is two tokens and "Hi" one: 1.5 on average.
    file.write_text(
        '{"speaker": "Ann", "text": "Hello there"}\n{"speaker": "Bo", "text": "Hi"}\n'
        '{"question": "Who was greeted?", "answer": "Bo"}\n'
    )
    assert registry.create(str(file), {}).outline("chat") == Outline(2, 1.5, 1)


def test_every_card_says_where_its_data_comes_from_and_under_which_licence() -> None:
    for name in registry.names():
        card = registry.card(name)
        assert card.source
        assert card.revision
        assert card.licence
        assert card.citation
        for file in card.files:
            assert len(file.sha256) == 64
            assert file.bytes > 0
            assert card.revision in file.url or file.optional, "pinned, not the newest"
