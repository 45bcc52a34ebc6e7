"""What a run found: the one structure that the terminal, the page and ``--json`` show."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime

import polars as pl

from memgauge.analysis.break_even import REFERENCE, NoReferenceError, break_even
from memgauge.analysis.choice import Choice, Known, choose
from memgauge.analysis.harness import Harness, harness_of
from memgauge.analysis.losses import Losses, losses
from memgauge.analysis.memory_rows import MemoryRow, Played, memory_row, served_costs
from memgauge.analysis.money import Money, bill
from memgauge.analysis.quality import Quality, quality_of
from memgauge.analysis.read import Read, read
from memgauge.analysis.turn_costs import billed_input
from memgauge.ledger.frames import Frames
from memgauge.metrics.efficiency import FIGURES, efficiency_of
from memgauge.metrics.score import JUDGE, TOKEN_F1
from memgauge.prices import PriceCard

# What must stand beside the figures of a backbone that is no full-grown model, and the verdicts of such a judge,
# by how the names of their models begin.
CAVEATS = {
    "extractive": "extractive: rules, no model; figures show mechanics, not quality",
    "constant": "constant: replies at once with one text; figures show mechanics, not quality",
    "embedded": "embedded: 135M model: proves the pipeline; no basis for claims about answer quality",
}
JUDGE_CAVEATS = {
    "extractive": "judged by extractive: rules that fill in a form; its verdicts are no judgement",
    "constant": "judged by constant: it says the same of every answer; its verdicts are no judgement",
    "smollm2-135m": "judged by a 135M model: its verdicts prove the pipeline; no basis for claims about answer quality",
}
GROUP_KEYS = ("workload", "setting", "cell_turns", "cell_tokens")


@dataclass(frozen=True, slots=True)
class SettingRow:
    """A column of the grid as it was run."""

    setting: str
    backbone: str
    model: str
    effort: str | None
    embedder: str
    embedding_model: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A unit that did not finish, and why."""

    memory: str
    protocol: str
    item: str
    error: str


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls, model tokens and dollars. ``unknown`` calls did not report their tokens, which the sums then lack."""

    calls: int
    input_tokens: int
    output_tokens: int
    embedding_tokens: int
    unknown: int
    money: Money


@dataclass(frozen=True, slots=True)
class Spend:
    """All that was ever sent: in the attempts that ended the units, before them and reused, before them and lost."""

    fresh: Spent
    replayed: Spent
    lost: Spent


@dataclass(frozen=True, slots=True)
class Ran:
    """What was run, on what, when, by which memgauge. ``started`` and ``finished`` are ISO 8601, UTC.

    ``judges`` are the models that judged its answers.
    """

    name: str
    memories: tuple[str, ...]
    settings: tuple[SettingRow, ...]
    judges: tuple[str, ...]
    workloads: tuple[str, ...]
    protocols: tuple[str, ...]
    items: int
    turns: int
    questions: int
    units: dict[str, int]
    failures: tuple[Failure, ...]
    started: str | None
    finished: str | None
    memgauge_version: str
    spec_hash: str
    provenance: dict[str, str]


@dataclass(frozen=True, slots=True)
class Efficiency:
    """The efficiency figures of one memory and protocol, by the names of metrics.efficiency.FIGURES."""

    memory: str
    protocol: str
    figures: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Group:
    """Memories that can be compared: same workload, setting and, in the cost grid, same cell.

    ``per_turn`` says whether costs are counted per turn (something was served), else per question. ``metric`` is
    the score that counts as accuracy: the judge's where all that compete were judged, else token F1. ``caveat`` is
    what holds for every figure of its backbone or judge, ``break_even_note`` why there is no break-even, where
    there is none.
    """

    workload: str
    setting: str
    cell: tuple[int, int] | None
    per_turn: bool
    metric: str
    items: int
    seeds: int
    caveat: str | None
    rows: tuple[MemoryRow, ...]
    efficiency: tuple[Efficiency, ...]
    choice: Choice | None
    break_even_note: str | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """Every figure that a report shows, all of them from the ledger."""

    ran: Ran
    spend: Spend
    groups: tuple[Group, ...]
    quality: Quality
    harness: Harness
    losses: tuple[Losses, ...]
    caveats: tuple[str, ...]


def summarize(frames: Frames) -> Summary:
    """Computes the summary of a ledger, also of a run that is still going on: its finished units count."""
    return summary_of(read(frames))


def summary_of(found: Read) -> Summary:
    """The same, of a ledger read already."""
    played, card = found.played, found.card
    units, calls = played.units, played.calls
    spend = Spend(
        fresh=_spent(calls.filter(pl.col("replays") == 0), card),
        replayed=_spent(calls.filter(pl.col("replays") > 0), card),
        lost=_spent(found.lost, card),
    )
    groups = tuple(_group(played.only(members), card) for _, members in units.group_by(GROUP_KEYS, maintain_order=True))
    known = quality_of(units, played.answers, found.verdicts, played.scores)
    return Summary(
        ran=_ran(units, found.meta, _judges(calls)),
        spend=spend,
        groups=groups,
        quality=known,
        harness=harness_of(played, found.meta, known),
        losses=losses(found),
        caveats=(*backbone_caveats(units), *_judge_caveats(calls), *found.notes, *_unfinished(units)),
    )


def backbone_caveats(units: pl.DataFrame) -> list[str]:
    """What holds for every figure of these units' backbones."""
    return [CAVEATS[name] for name in units["backbone"].unique(maintain_order=True) if name in CAVEATS]


def _judges(calls: pl.DataFrame) -> tuple[str, ...]:
    return tuple(calls.filter(pl.col("stage") == "judge")["model"].unique(maintain_order=True))


def _judge_caveats(calls: pl.DataFrame) -> list[str]:
    return [told for name, told in JUDGE_CAVEATS.items() if any(model.startswith(name) for model in _judges(calls))]


def what_ran(frames: Frames) -> Ran:
    """What was run, without any figure."""
    return _ran(frames.units(), frames.meta(), ())


def _group(played: Played, card: PriceCard | None) -> Group:
    units = played.units
    first = units.row(0, named=True)
    per_turn = bool((units["protocol"] == "serve").any())
    rows, costs, each = [], {}, {}
    for _, members in units.group_by("memory", maintain_order=True):
        mine = played.only(members)
        series = served_costs(mine)
        row = memory_row(mine, series, card, per_turn)
        rows.append(row)
        costs[row.memory] = series
        each[row.memory] = mine
    metric = _accuracy(rows)
    rows = [replace(row, metric=metric) for row in rows]
    note = None
    served = any(costs.values())
    for place, row in enumerate(rows):
        if row.reference or not costs[row.memory]:
            continue
        try:
            rows[place] = replace(row, break_even=break_even(costs[row.memory], costs.get(REFERENCE, {})))
        except NoReferenceError as fault:
            note = str(fault)
    return Group(
        workload=first["workload"],
        setting=first["setting"],
        cell=None if first["cell_turns"] is None else (first["cell_turns"], first["cell_tokens"]),
        per_turn=per_turn,
        metric=metric,
        items=units["item"].n_unique(),
        seeds=units["seed"].n_unique(),
        caveat=CAVEATS.get(first["backbone"]) or next(iter(_judge_caveats(played.calls)), None),
        rows=tuple(rows),
        efficiency=_efficiency(played),
        choice=choose(rows, {memory: _known(mine, metric) for memory, mine in each.items()}),
        break_even_note=note if served else "no break-even: nothing was served turn by turn (protocol serve)",
    )


def _accuracy(rows: Iterable[MemoryRow]) -> str:
    """The judge's verdicts where it has seen every memory that competes, else token F1."""
    asked = [row.quality.scores for row in rows if row.quality and row.quality.answered and not row.control]
    return JUDGE if asked and all(JUDGE in scores for scores in asked) else TOKEN_F1


def _efficiency(played: Played) -> tuple[Efficiency, ...]:
    found = efficiency_of(played.units, played.calls, played.steps)
    return tuple(
        Efficiency(row["memory"], row["protocol"], {name: row[name] for name in FIGURES})
        for row in found.iter_rows(named=True)
    )


def _known(played: Played, metric: str) -> Known:
    if not len(played.answers):
        return {}
    answers = played.answers.join(played.units.select("unit", "item", "seed"), on="unit")
    values = played.scores.filter(pl.col("metric") == metric).drop_nulls("value")
    rows = answers.join(values, on=["unit", "ordinal"]).select("item", "seed", "question", "value").iter_rows()
    return {(item, seed, question): value for item, seed, question, value in rows}


def _spent(calls: pl.DataFrame, card: PriceCard | None) -> Spent:
    read = calls.select(billed_input()).to_series()
    written = calls.select(pl.sum_horizontal("output_tokens", "reasoning_tokens")).to_series()
    return Spent(
        calls=len(calls),
        input_tokens=int(read.sum()),
        output_tokens=int(written.sum()),
        embedding_tokens=int(calls["embedding_tokens"].sum()),
        unknown=read.null_count(),
        money=bill(calls, card),
    )


def _ran(units: pl.DataFrame, meta: Mapping[str, str], judges: tuple[str, ...]) -> Ran:
    items = units.unique(["workload", "item"])
    questions = units.group_by("workload", "item").agg(pl.col("questions").max())["questions"]
    failed = units.filter(pl.col("status") == "failed")
    spec = json.loads(meta.get("spec", "{}"))
    names = [field.name for field in fields(SettingRow)]
    return Ran(
        name=str(spec.get("name", "run")),
        memories=tuple(units["memory"].unique(maintain_order=True)),
        settings=tuple(SettingRow(*row) for row in units.select(names).unique(maintain_order=True).iter_rows()),
        judges=judges,
        workloads=tuple(units["workload"].unique(maintain_order=True)),
        protocols=tuple(units["protocol"].unique(maintain_order=True)),
        items=len(items),
        turns=int(items["turns"].sum()),
        questions=int(questions.sum()),
        units=dict(units.group_by("status", maintain_order=True).len().iter_rows()),
        failures=tuple(
            Failure(memory, protocol, item, error or "no reason was recorded")
            for memory, protocol, item, error in failed.select("memory", "protocol", "item", "error").iter_rows()
        ),
        started=_iso(units["started_at"].min()),
        finished=_iso(units["finished_at"].max()),
        memgauge_version=meta.get("memgauge_version", "unknown"),
        spec_hash=meta.get("spec_hash", "unknown"),
        provenance=_provenance(meta),
    )


def _unfinished(units: pl.DataFrame) -> list[str]:
    """What the reader must know where not every planned unit is done."""
    counts = dict(units.group_by("status").len().iter_rows())
    missing = {status: counts[status] for status in ("failed", "interrupted", "running", "planned") if status in counts}
    if not missing:
        return []
    told = ", ".join(f"{count} {status}" for status, count in missing.items())
    return [f"{told} of {len(units)} units: cost figures cover finished units only, errors count the failed ones"]


def _provenance(meta: Mapping[str, str]) -> dict[str, str]:
    """What the runner noted of the models and of itself."""
    noted = {key.removeprefix("provenance."): value for key, value in meta.items() if key.startswith("provenance.")}
    return noted | {key: meta[key] for key in ("python_version", "prompts_version") if key in meta}


def _iso(seconds: object) -> str | None:
    if not isinstance(seconds, float):
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
