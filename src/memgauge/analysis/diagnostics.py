"""Token accounting per memory and setting: what goes out for what goes in, how much is thought, and where."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from memgauge.analysis.runs import Run

_CLASSES = (
    "input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens",
    "embedding_tokens",
)  # fmt: skip
_INGEST = ("write", "manage")
_STAGES = ("write", "manage", "read", "answer")


@dataclass(frozen=True, slots=True)
class StageTokens:
    """Tokens of one stage by class, over all runs; ``input_share`` is its part of all prompt tokens.

    ``unknown_calls`` did not report their tokens, which the sums then lack.
    """

    stage: str
    calls: int
    input_tokens: int
    cached_tokens: int
    cache_write_tokens: int
    output_tokens: int
    reasoning_tokens: int
    embedding_tokens: int
    unknown_calls: int
    input_share: float | None


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Paper 1 §3.3, table 7.

    ``gamma`` is output over input tokens of all stages, output as it is billed, with reasoning;
    ``gamma_visible`` leaves the reasoning out. ``zeta_answer`` and ``zeta_ingest`` are reasoning over visible
    output in that stage (above 1 is legal: providers count the two apart). None where a stage made no model
    call, wrote nothing visible, or no call of it reported reasoning.
    """

    memory: str
    setting: str
    model: str
    effort: str | None
    gamma: float | None
    gamma_visible: float | None
    zeta_answer: float | None
    zeta_ingest: float | None
    stages: tuple[StageTokens, ...]


def diagnostics(runs: Sequence[Run], serving: pl.DataFrame) -> tuple[Diagnostics, ...]:
    """One per memory and setting; ``serving`` are the calls of ``runs`` (memgauge.analysis.runs)."""
    pairs: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        pairs.setdefault((run.memory, run.setting), []).append(run)
    return tuple(
        _diagnostics(group[0], serving.filter(pl.col("unit").is_in([run.unit for run in group])))
        for group in pairs.values()
    )


def _diagnostics(head: Run, calls: pl.DataFrame) -> Diagnostics:
    chat = calls.filter(pl.col("kind") == "chat")
    prompt = _sum(chat, "input_tokens", "cached_tokens", "cache_write_tokens")
    visible, reasoning = _sum(chat, "output_tokens"), _sum(chat, "reasoning_tokens")
    return Diagnostics(
        head.memory, head.setting, head.model, head.effort,
        gamma=(visible + reasoning) / prompt if prompt else None,
        gamma_visible=visible / prompt if prompt else None,
        zeta_answer=_zeta(chat, ("answer",)),
        zeta_ingest=_zeta(chat, _INGEST),
        stages=tuple(_stage(name, calls, prompt) for name in _STAGES if name in calls["stage"]),
    )  # fmt: skip


def _zeta(chat: pl.DataFrame, stages: Sequence[str]) -> float | None:
    of_stage = chat.filter(pl.col("stage").is_in(stages) & pl.col("output_tokens").is_not_null())
    visible = _sum(of_stage, "output_tokens")
    if not visible or of_stage["reasoning_tokens"].null_count() == len(of_stage):
        return None
    return _sum(of_stage, "reasoning_tokens") / visible


def _stage(name: str, calls: pl.DataFrame, prompt: int) -> StageTokens:
    mine = calls.filter(pl.col("stage") == name)
    chat = mine.filter(pl.col("kind") == "chat")
    share = _sum(chat, "input_tokens", "cached_tokens", "cache_write_tokens") / prompt if prompt else None
    unknown = mine.select(
        pl.when(pl.col("kind") == "embed").then("embedding_tokens").otherwise("input_tokens").is_null().sum()
    ).item()
    tokens = {column: _sum(mine, column) for column in _CLASSES}
    return StageTokens(name, len(mine), **tokens, unknown_calls=unknown, input_share=share)


def _sum(calls: pl.DataFrame, *columns: str) -> int:
    return sum(int(calls[column].sum()) for column in columns)
