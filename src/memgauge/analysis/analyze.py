"""The whole of paper 1's analysis, from a ledger alone."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from memgauge.analysis.bootstrap import RESAMPLES
from memgauge.analysis.break_even import REFERENCE
from memgauge.analysis.cost_model import CostModel, cost_models
from memgauge.analysis.curves import Curve, StageCosts, curves, stage_costs
from memgauge.analysis.diagnostics import Diagnostics, diagnostics
from memgauge.analysis.joint import JointRow, answered, joint_matrix
from memgauge.analysis.money import card_of
from memgauge.analysis.reprice import Billing, Caching, billed, without_local
from memgauge.analysis.runs import (
    CALL_COLUMNS,
    Excluded,
    Group,
    Run,
    Series,
    Served,
    by_turn,
    input_series,
    served,
    serving_calls,
)
from memgauge.analysis.side_by_side import SideBySide, side_by_side
from memgauge.analysis.summary import backbone_caveats
from memgauge.analysis.sustained import Comparisons, Costs, compare
from memgauge.analysis.turn_costs import billed_input
from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.metrics.score import scores_frame
from memgauge.prices import PriceCard
from memgauge.published import total_recall

REFERENCE_CELLS = ((100, 100), (400, 200))  # paper 1, tables 3 and 4

TOKENS = "tokens"
UNCACHED = "usd uncached"


class AnalysisError(UserError):
    """An analysis was asked for something that the ledger does not have."""


@dataclass(frozen=True, slots=True)
class Analysis:
    """Every table of the paper, and what its figures are drawn from.

    ``excluded`` counts what is in none of them; ``notes`` say what could not be done.
    """

    cost_model: tuple[CostModel, ...]
    diagnostics: tuple[Diagnostics, ...]
    break_even: Comparisons
    joint: tuple[JointRow, ...]
    side_by_side: tuple[SideBySide, ...]
    curves: tuple[Curve, ...]
    stage_costs: tuple[StageCosts, ...]
    excluded: tuple[Excluded, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """What may be chosen about an analysis.

    ``providers`` (shares of a route) and ``models`` (price one model as another) as in Billing. ``cells`` are
    the reference cells of the joint matrix (N, L): the paper's two where the ledger has them, else all.
    ``metric`` names the score that counts as accuracy. ``measured_size`` fits on the measured tokens per
    message in place of the cell's L.
    """

    providers: Mapping[str, float] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    cells: Sequence[tuple[int, int]] = ()
    metric: str | None = None
    measured_size: bool = False
    resamples: int = RESAMPLES
    seed: int = 0


def analyze(frames: Frames, card: PriceCard | None = None, choices: Choices | None = None) -> Analysis:
    """Computes every table.

    Dollars are by ``card``, else by the card that the run's spec names, else by genai-prices on the day of each
    call. Raises UserError where a card or a cell that was asked for is not there.
    """
    chosen = choices or Choices()
    card = card or card_of(frames.meta())
    units, calls = frames.units(), frames.calls(CALL_COLUMNS)
    runs = served(units, calls, measured_size=chosen.measured_size)
    every = (*runs.runs, *runs.cut_off)
    serving = serving_calls(calls, every)
    tokens = input_series(serving, every)
    models = cost_models(runs.runs, tokens, resamples=chosen.resamples, seed=chosen.seed)
    accounting = diagnostics(runs.runs, serving)

    dollars = _Dollars(serving, units, card, chosen)
    costs, unpriced = dollars.costs(every, tokens)
    fits = {entry.setting: entry.fit for entry in models if entry.memory == REFERENCE and entry.fit}
    break_evens = compare(runs.runs, runs.cut_off, costs, fits, tokens, resamples=chosen.resamples, seed=chosen.seed)
    scores = frames.scores()
    joint = joint_matrix(
        runs.runs,
        _reference_cells(runs.runs, chosen.cells),
        _per_unit(dollars.billed(Caching.SERVED, chosen.providers).select("unit", value="cost_usd")),
        _per_unit(serving.select("unit", value=billed_input())),
        answered(units, scores if len(scores) else scores_frame(frames), chosen.metric),
        seed=chosen.seed,
    )
    table = side_by_side(total_recall.load(), models, accounting, joint, break_evens.rows)
    notes = (*backbone_caveats(units), *_notes(runs, break_evens), *unpriced)
    return Analysis(
        models,
        accounting,
        break_evens,
        joint,
        table,
        curves(runs.runs, runs.cut_off, costs, fits, tokens),
        stage_costs(runs.runs, serving),
        runs.excluded,
        notes,
    )


class _Dollars:
    """The serving calls under every bill that the analysis needs."""

    def __init__(self, serving: pl.DataFrame, units: pl.DataFrame, card: PriceCard | None, chosen: Choices) -> None:
        self._serving, self._units, self._card, self._chosen = serving, units, card, chosen

    def billed(self, caching: Caching, providers: Mapping[str, float]) -> pl.DataFrame:
        """The calls and their ``cost_usd``; local embeddings cost nothing."""
        billing = Billing(caching.value, self._card, caching, providers, self._chosen.models)
        return without_local(billed(self._serving, billing), self._units)

    def costs(self, runs: Sequence[Run], tokens: Mapping[int, Series]) -> tuple[list[Costs], list[str]]:
        """Tokens, dollars without caching, and dollars with the cache of each provider on the card."""
        uncached = self.billed(Caching.NONE, self._chosen.providers)
        chat = (pl.col("kind") == "chat") & pl.col("cost_usd").is_not_null()
        known = set(uncached.filter(chat)["unit"])
        costs = [Costs(TOKENS, tokens)]
        if priced := [run for run in runs if run.unit in known]:
            costs.append(_series(UNCACHED, uncached, priced))
        for provider, units in self._caches().items():
            mine = [run for run in runs if run.unit in units]
            cached = self.billed(Caching.POLICY, {provider: 1.0})
            costs.append(_series(f"usd, {provider} cache", cached, mine))
        strangers = dict.fromkeys(run.model for run in runs if run.unit not in known)
        return costs, [
            f"no dollars for {model}: no price is known; give a price card, or name the model to price it as"
            for model in strangers
        ]

    def _caches(self) -> dict[str, set[int]]:
        """Units that each caching provider on the card could have served: it has all their chat models."""
        card = self._card
        if card is None:
            return {}
        named = pl.col("model").replace(dict(self._chosen.models))
        chat = self._serving.filter(pl.col("kind") == "chat").select("unit", named)
        units: dict[str, set[int]] = {}
        for unit, models in chat.group_by("unit", maintain_order=True).agg(pl.col("model").unique()).iter_rows():
            offers = [
                {price.provider for price in card.of_model(model) if price.cache and price.provider} for model in models
            ]
            for provider in set.intersection(*offers):
                units.setdefault(provider, set()).add(unit)
        return dict(sorted(units.items()))


def _series(name: str, priced: pl.DataFrame, runs: Sequence[Run]) -> Costs:
    return Costs(name, by_turn(priced.select("unit", "turn", value="cost_usd"), runs))


def _reference_cells(runs: Sequence[Run], asked: Sequence[tuple[int, int]]) -> list[Group]:
    groups = list(dict.fromkeys(run.group for run in runs))
    if asked:
        found = [group for cell in asked for group in groups if (group.turns, group.tokens) == cell]
        missing = [f"({turns}, {tokens})" for turns, tokens in asked if not _has(groups, (turns, tokens))]
        if missing:
            raise AnalysisError(f"no finished run in cell {missing[0]}; the ledger has {_labels(groups)}")
        return found
    papers = [group for group in groups if (group.turns, group.tokens) in REFERENCE_CELLS]
    return sorted(papers, key=lambda group: group.turns) or groups


def _has(groups: Iterable[Group], cell: tuple[int, int]) -> bool:
    return any((group.turns, group.tokens) == cell for group in groups)


def _labels(groups: Iterable[Group]) -> str:
    return ", ".join(group.label for group in groups) or "none"


def _per_unit(values: pl.DataFrame) -> pl.DataFrame:
    """Sum of ``value`` per unit, null where a part is unknown."""
    return values.group_by("unit", maintain_order=True).agg(
        value=pl.when(pl.col("value").null_count() == 0).then(pl.col("value").sum())
    )


def _notes(runs: Served, break_evens: Comparisons) -> list[str]:
    notes = [
        f"{entry.units} {entry.status} unit{'s' * (entry.units > 1)} of {entry.memory} ({entry.setting},"
        f" {entry.where}) left out" + (f": {entry.error}" if entry.error else "")
        for entry in runs.excluded
    ]
    if not runs.runs:
        notes.append("no finished serve run: there is no serving cost to analyse; run the serve protocol")
    with_reference = {run.setting for run in (*runs.runs, *runs.cut_off) if run.memory == REFERENCE}
    notes += [
        f"no break-even for {setting}: {REFERENCE} is missing; add it to the memories"
        for setting in dict.fromkeys(run.setting for run in runs.runs)
        if setting not in with_reference
    ]
    extended = {row.cell: row.extended for row in break_evens.rows if row.extended}
    notes += [
        f"{cell}: {REFERENCE} was cut off after turn {found.measured_turns}; beyond it break-even is extended"
        " by the fitted model and marked so"
        for cell, found in extended.items()
    ]
    return notes
