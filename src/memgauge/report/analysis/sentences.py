"""What an analysis says, in sentences: for which memories (L, t) explains the cost, and when each pays."""

from collections.abc import Sequence

from memgauge.analysis.analyze import TOKENS, Analysis
from memgauge.analysis.break_even import REFERENCE
from memgauge.analysis.cost_model import CostModel
from memgauge.analysis.sustained import Sustained
from memgauge.report import words

# A cost model holds where it predicts cells that it has not seen within this error on average. The paper's findings
# leave room for the line: both window strategies stay below 7 %, no memory system below 18 %.
HOLDS = 0.15


def holds(entry: CostModel) -> bool | None:
    """Whether size and depth explain the cost, judged on held-out cells; None where none could be held out."""
    return None if entry.loocv_mape is None else entry.loocv_mape <= HOLDS


def title(analysis: Analysis) -> str:
    """The finding in one line."""
    verdicts: dict[str, list[bool]] = {}
    for entry in analysis.cost_model:
        held = holds(entry)
        if held is not None:
            verdicts.setdefault(entry.memory, []).append(held)
    explained = [memory for memory, held in verdicts.items() if all(held)]
    mixed = [memory for memory, held in verdicts.items() if any(held) and not all(held)]
    not_explained = [memory for memory, held in verdicts.items() if not any(held)]
    if not verdicts:
        return "What memory costs to serve" if analysis.cost_model else "Nothing was served in this run"
    if not explained and not mixed:
        return f"Message size and depth do not explain what {words.listed(not_explained)} cost{_s(not_explained)}"
    start = f"Message size and depth explain what {words.listed(explained or mixed)} cost{_s(explained or mixed)}"
    if explained and mixed:
        start += f", {words.listed(mixed)} under some settings only"
    elif mixed:
        start += " under some settings only"
    return f"{start}, but not what {words.listed(not_explained)} cost{_s(not_explained)}" if not_explained else start


def explains(analysis: Analysis) -> str:
    """How far the fits can be trusted, memory by memory."""
    if not analysis.cost_model:
        return "An analysis of cost needs units of the serve protocol that finished."
    known: dict[str, list[float]] = {}
    for entry in analysis.cost_model:
        if entry.loocv_mape is not None:
            known.setdefault(entry.memory, []).append(entry.loocv_mape)
    if not known:
        return f"{_why_not_held(analysis.cost_model)}."
    parts = [f"{memory} {_range(errors)}" for memory, errors in known.items()]
    return (
        f"Held-out error, the mean over cells that the fit has not seen: {', '.join(parts)}. Up to"
        f" {words.percent(HOLDS)} counts as explained."
    )


def pays(analysis: Analysis) -> dict[str, str]:
    """When each memory becomes cheaper than resending everything, by unit of cost; dollars where they differ."""
    rows = analysis.break_even.rows
    by_cost: dict[str, dict[str, list[Sustained]]] = {}
    controls = {curve.memory for curve in analysis.curves if curve.control}
    for row in rows:
        if row.memory not in controls:
            by_cost.setdefault(row.cost, {}).setdefault(row.memory, []).append(row)
    in_tokens = by_cost.pop(TOKENS, {})
    if not in_tokens:
        return {}
    told = {cost_words(TOKENS): _paying(in_tokens)}
    for cost, by_memory in by_cost.items():
        text = _paying(by_memory)
        if text != _paying({memory: found for memory, found in in_tokens.items() if memory in by_memory}):
            told[cost_words(cost)] = text
    return told


def no_break_even(analysis: Analysis) -> str:
    """Why there is no break-even at all."""
    reasons = dict.fromkeys(missing.reason for missing in analysis.break_even.missing)
    return f"No break-even: {next(iter(reasons), f'it needs {REFERENCE} and another memory in one cell')}."


def cost_words(cost: str) -> str:
    """A unit of cost: ``tokens``, ``dollars``, ``dollars with groq's cache``."""
    if cost.startswith("usd, ") and cost.endswith(" cache"):
        return f"dollars with {cost.removeprefix('usd, ').removesuffix(' cache')}'s cache"
    return "dollars, nothing cached" if cost.startswith("usd") else cost


def turn_words(turn: int | None, last: int) -> str:
    """A break-even turn: ``from the start``, ``turn 82``, ``never in 400``."""
    if turn is None:
        return f"never in {last}"
    return f"turn {turn}" if turn else "from the start"


def _paying(by_memory: dict[str, list[Sustained]]) -> str:
    parts = []
    for memory, rows in by_memory.items():
        turns = sorted(row.turn for row in rows if row.turn is not None)
        cells = words.plural(len(rows), "case" if len({row.setting for row in rows}) > 1 else "cell")
        if not turns:
            parts.append(f"{memory} never ({cells})")
            continue
        among = f"all {cells}" if len(turns) == len(rows) > 1 else f"{len(turns)} of {cells}"
        parts.append(f"{memory} {_from(turns[0], turns[-1])} ({among})")
    return "; ".join(parts)


def _from(first: int, last: int) -> str:
    if first == last:
        return f"from turn {first}" if first else "from the start"
    return f"from turn {first} to {last}" if first else f"from the start or by turn {last}"


def _range(errors: Sequence[float]) -> str:
    low, high = words.error(min(errors)), words.error(max(errors))
    return low if low == high else f"{low} to {high}"


def _why_not_held(models: Sequence[CostModel]) -> str:
    reasons = dict.fromkeys(note for entry in models for note in entry.notes if note.startswith(("no held", "no fit")))
    told = next(iter(reasons), "no cell could be held out")
    return told[0].upper() + told[1:]


def _s(names: Sequence[str]) -> str:
    return "s" if len(names) == 1 else ""
