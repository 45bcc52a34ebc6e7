"""Paper 1's cost model: log(C+1) = a + p·log(L+1) + q·log(t+1), one fit per memory and setting.

C is the input tokens billed at turn t, L the tokens per message of the conversation. p ≈ q ≈ 1 is cumulative
content, q ≈ 0 a bounded context.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from memgauge.analysis.bootstrap import RESAMPLES, percentile_interval, resample
from memgauge.analysis.moments import Array, Moments
from memgauge.analysis.robust import spread
from memgauge.analysis.runs import Run, Series

_P, _Q = 1, 2  # places among the coefficients


@dataclass(frozen=True, slots=True)
class Exponent:
    """A fitted exponent with two 95 % intervals.

    ``bootstrap`` is the paper's (percentile, whole runs drawn), ``interval`` the one to read: CR2 with Bell
    and McCaffrey's degrees of freedom, which holds its 95 % also for few runs. None where a single run was
    fitted.
    """

    value: float
    interval: tuple[float, float] | None
    bootstrap: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class HeldOut:
    """One cell left out: its mean cost per turn, what the fit of the others predicted, and the error as a share."""

    cell: str
    actual: float
    predicted: float
    ape: float


@dataclass(frozen=True, slots=True)
class Fit:
    """The fitted plane.

    ``rival_r2`` is the R² of the single predictor log(N·L + 1), the whole dialogue's content; the paper calls it
    cumulative, so ``rival_turn_r2`` takes the content so far, log(t·L + 1), beside it.
    """

    a: float
    p: Exponent
    q: Exponent
    r2: float
    rival_r2: float | None
    rival_turn_r2: float | None
    resamples: int

    def predict(self, message_tokens: float, turns: Array) -> Array:
        """C at each of ``turns``, counted from 1: exp of the fitted logarithm, less 1."""
        logs = self.a + self.p.value * np.log1p(message_tokens) + self.q.value * np.log1p(turns)
        return np.asarray(np.expm1(logs))


@dataclass(frozen=True, slots=True)
class CostModel:
    """What the model makes of one memory under one setting.

    ``fit`` is None where there is none, ``loocv_mape`` and ``max_ape`` where no cell could be held out;
    ``notes`` say why. ``turns`` is the rows fitted, ``zero_turns`` how many of them cost nothing and entered
    as log(0+1), ``unknown_turns`` how many were left out because a call did not report its tokens.
    """

    memory: str
    setting: str
    model: str
    effort: str | None
    runs: int
    cells: int
    turns: int
    zero_turns: int
    unknown_turns: int
    fit: Fit | None
    loocv_mape: float | None
    max_ape: float | None
    held_out: tuple[HeldOut, ...]
    notes: tuple[str, ...]


def cost_model(
    runs: Sequence[Run], costs: Mapping[int, Series], *, resamples: int = RESAMPLES, seed: int = 0
) -> CostModel:
    """Fits all ``runs``, of one memory and setting, on C(t) of every turn (``costs``, by unit)."""
    rows = _Rows(runs, costs)
    held_out, notes = rows.leave_one_cell_out()
    fit, why_not = rows.fit(resamples, seed)
    errors = [cell.ape for cell in held_out]
    head = runs[0]
    return CostModel(
        head.memory, head.setting, head.model, head.effort,
        runs=len(runs),
        cells=len(rows.cells),
        turns=len(rows.response),
        zero_turns=rows.zero_turns,
        unknown_turns=rows.unknown_turns,
        fit=fit,
        loocv_mape=float(np.mean(errors)) if errors else None,
        max_ape=max(errors) if errors else None,
        held_out=held_out,
        notes=(*why_not, *notes, *rows.oddities()),
    )  # fmt: skip


def cost_models(
    runs: Sequence[Run], costs: Mapping[int, Series], *, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[CostModel, ...]:
    """One per memory and setting, in the order in which they first occur."""
    pairs: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        pairs.setdefault((run.memory, run.setting), []).append(run)
    return tuple(cost_model(group, costs, resamples=resamples, seed=seed) for group in pairs.values())


class _Rows:
    """The regression's rows, one per turn with a known cost, run after run."""

    def __init__(self, runs: Sequence[Run], costs: Mapping[int, Series]) -> None:
        series = [costs[run.unit] for run in runs]
        known = [np.isfinite(cost) for cost in series]
        kept = [place for place, here in enumerate(known) if here.any()]
        self.runs = [runs[place] for place in kept]
        self.costs = [series[place][known[place]] for place in kept]
        self.depths = [np.flatnonzero(known[place]) + 1.0 for place in kept]
        self.unknown_turns = sum(int((~here).sum()) for here in known)
        self.zero_turns = sum(int((cost == 0).sum()) for cost in self.costs)
        self.lengths = [len(cost) for cost in self.costs]
        self.response = np.log1p(np.concatenate(self.costs)) if kept else np.empty(0)
        self.cells = dict.fromkeys(run.group for run in self.runs)
        if kept:
            sizes = np.log1p(np.repeat([run.message_tokens for run in self.runs], self.lengths))
            depths = np.log1p(np.concatenate(self.depths))
            self.moments = Moments.of(np.column_stack((sizes, depths)), self.response, self.lengths)

    def fit(self, resamples: int, seed: int) -> tuple[Fit | None, tuple[str, ...]]:
        if not self.runs:
            return None, ("no fit: no turn has a known cost",)
        whole = self.moments.fit(np.ones((1, len(self.runs))))
        if not whole.solvable[0]:
            return None, (self._why_not(),)
        a, p, q = whole.coefficients[0]
        several = len(self.runs) > 1
        drawn = resample(self.moments, resamples, seed) if several else None
        around = spread(self.moments, whole.slopes[0])

        def exponent(place: int, value: float) -> Exponent:
            return Exponent(
                float(value),
                around.interval(place - 1, float(value)) if around else None,
                percentile_interval(drawn.coefficients[:, place]) if drawn else None,
            )

        used = int(drawn.solvable.sum()) if drawn else 0
        sizes = np.repeat([run.message_tokens for run in self.runs], self.lengths)
        whole_content = np.repeat([run.turns for run in self.runs], self.lengths) * sizes
        fit = Fit(
            float(a),
            exponent(_P, p),
            exponent(_Q, q),
            float(whole.r2[0]),
            self._single_r2(whole_content),
            self._single_r2(np.concatenate(self.depths) * sizes),
            used,
        )
        return fit, () if several else ("no intervals: a single run; add seeds",)

    def leave_one_cell_out(self) -> tuple[tuple[HeldOut, ...], tuple[str, ...]]:
        """Drops each cell in turn and predicts its mean cost per turn from a fit of the others."""
        if len(self.cells) < 3:
            return (), (f"no held-out error: it needs at least 3 cells, the ledger has {len(self.cells)}",)
        cell_of = np.array([list(self.cells).index(run.group) for run in self.runs])
        kept = (cell_of[None, :] != np.arange(len(self.cells))[:, None]).astype(np.float64)
        fits = self.moments.fit(kept)
        held_out: list[HeldOut] = []
        notes: list[str] = []
        for place, cell in enumerate(self.cells):
            if not fits.solvable[place]:
                notes.append(f"cell {cell.label} not held out: the others differ in L or in N only")
                continue
            mine = np.flatnonzero(cell_of == place)
            actual = float(np.concatenate([self.costs[run] for run in mine]).mean())
            if actual == 0:
                notes.append(f"cell {cell.label} not held out: it cost nothing, which no share can be taken of")
                continue
            a, p, q = fits.coefficients[place]
            predicted = np.concatenate(
                [
                    np.expm1(a + p * np.log1p(self.runs[run].message_tokens) + q * np.log1p(self.depths[run]))
                    for run in mine
                ]
            )
            mean = float(predicted.mean())
            held_out.append(HeldOut(cell.label, actual, mean, abs(mean - actual) / actual))
        return tuple(held_out), tuple(notes)

    def oddities(self) -> tuple[str, ...]:
        """What the reader must know of the rows."""
        notes = []
        if self.zero_turns:
            cells = {run.group.label for run, cost in zip(self.runs, self.costs, strict=True) if (cost == 0).any()}
            notes.append(
                f"{self.zero_turns:,} of {len(self.response):,} turns cost nothing and enter as log(0 + 1)"
                f" (cell {', '.join(sorted(cells))})"
            )
        if self.unknown_turns:
            notes.append(f"{self.unknown_turns:,} turns left out: a call did not report its tokens")
        return tuple(notes)

    def _single_r2(self, content: Array) -> float | None:
        rival = Moments.of(np.log1p(content)[:, None], self.response, self.lengths)
        fit = rival.fit(np.ones((1, len(self.runs))))
        return float(fit.r2[0]) if fit.solvable[0] else None

    def _why_not(self) -> str:
        sizes = {run.message_tokens for run in self.runs}
        if len(sizes) == 1:
            return (
                f"no fit: all conversations have messages of {sizes.pop():g} tokens, so the effect of their size"
                " cannot be told; add cells of another L"
            )
        return "no fit: size and depth of the turns vary in step; add cells"
