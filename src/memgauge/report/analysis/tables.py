"""The tables of an analysis: cost models, token accounting, break-even, joint matrix."""

from collections.abc import Callable, Iterable, Sequence

from memgauge.analysis.analyze import Analysis
from memgauge.analysis.break_even import REFERENCE
from memgauge.analysis.cost_model import CostModel, Exponent, Fit
from memgauge.analysis.diagnostics import Diagnostics, StageTokens
from memgauge.analysis.joint import JointRow
from memgauge.analysis.sustained import Sustained
from memgauge.metrics.score import METRICS
from memgauge.report import words
from memgauge.report.analysis.sentences import HOLDS, cost_words, holds, turn_words
from memgauge.report.columns import Column, Row, Styles, badge, bounded, named, sortable_table
from memgauge.report.markup import Markup, Part, element, joined

Bounds = tuple[float, float]


def cost_model_table(analysis: Analysis, styles: Styles) -> Markup:
    """Paper 1's tables 1 and 6: exponents with both intervals, R² and its rivals, held-out error."""
    rows = analysis.cost_model
    columns: list[Column[CostModel]] = [
        *_settings(rows, lambda row: row.setting),
        _exponent("p", "size: how the cost of a turn grows with the tokens per message L"),
        _exponent("q", "depth: how it grows with the turn t"),
        _r2("R²", "of the plane in log(L+1) and log(t+1)", lambda fit: fit.r2),
        _r2("R², N·L alone", "of the single predictor log(N·L+1), the whole dialogue's content",
            lambda fit: fit.rival_r2),
        _r2("R², t·L alone", "of the single predictor log(t·L+1), the content so far", lambda fit: fit.rival_turn_r2),
        Column("Held-out error", "LOOCV-MAPE: mean error of a cell's mean cost per turn, predicted from the others;"
               " worst: max APE, of a single cell", _held_out, lambda row: row.loocv_mape),
        Column.of_number("Folds", "cells that were held out", lambda row: len(row.held_out), better="high"),
        Column.of_number("Runs", "conversations fitted", lambda row: row.runs, better="high"),
    ]  # fmt: skip
    caption = "log(C + 1) = a + p·log(L + 1) + q·log(t + 1), one fit per memory and setting"
    return sortable_table(
        rows, _memory(styles, lambda row: row.memory), columns, caption, lambda row: styles[row.memory]
    )


def diagnostics_table(analysis: Analysis, styles: Styles) -> Markup:
    """Paper 1's table 7, with each stage's share of the prompt tokens."""
    rows = analysis.diagnostics
    stages = list(dict.fromkeys(stage.stage for row in rows for stage in row.stages if stage.input_share))
    columns: list[Column[Diagnostics]] = [
        *_settings(rows, lambda row: row.setting),
        Column.of_number("γ", "output, reasoning included, over input", lambda row: row.gamma, _small),
        Column.of_number("γ visible", "visible output over input", lambda row: row.gamma_visible, _small),
        Column.of_number("ζ answer", "reasoning over visible output while answering", lambda row: row.zeta_answer,
                         words.decimal),
        Column.of_number("ζ ingest", "reasoning over visible output while writing and managing",
                         lambda row: row.zeta_ingest, words.decimal),
        *(
            Column.of_number(f"input in {stage}", "share of all prompt tokens", _share_of(stage), words.percent)
            for stage in stages
        ),
    ]  # fmt: skip
    caption = "What goes out for what goes in, and where"
    return sortable_table(
        rows, _memory(styles, lambda row: row.memory), columns, caption, lambda row: styles[row.memory]
    )


def composition_table(analysis: Analysis, styles: Styles) -> Markup:
    """Tokens by class, per memory, setting and stage, over all runs."""
    rows = [(entry, stage) for entry in analysis.diagnostics for stage in entry.stages]

    def tokens(
        name: str, find: Callable[[StageTokens], float], meaning: str
    ) -> Column[tuple[Diagnostics, StageTokens]]:
        return Column.of_number(name, meaning, lambda row: find(row[1]))

    columns: list[Column[tuple[Diagnostics, StageTokens]]] = [
        *_settings(rows, lambda row: row[0].setting),
        Column.of_text("Stage", "why the call was made", lambda row: row[1].stage),
        tokens("Calls", lambda stage: stage.calls, "chat and embedding calls"),
        tokens("Input", lambda stage: stage.input_tokens, "at full price: neither cached nor written to a cache"),
        tokens("Cached", lambda stage: stage.cached_tokens, "served from the provider's cache"),
        tokens("Cache-write", lambda stage: stage.cache_write_tokens, "written to the provider's cache"),
        tokens("Output", lambda stage: stage.output_tokens, "visible"),
        tokens("Reasoning", lambda stage: stage.reasoning_tokens, "thought, billed as output"),
        tokens("Embedded", lambda stage: stage.embedding_tokens, "given to the embedding model"),
        tokens("Unknown", lambda stage: stage.unknown_calls, "calls that did not report their tokens"),
    ]
    return sortable_table(
        rows, _memory(styles, lambda row: row[0].memory), columns, "Tokens by stage and class, over all runs",
        lambda row: styles[row[0].memory],
    )  # fmt: skip


def break_even_table(analysis: Analysis, styles: Styles, setting: str) -> Markup:
    """Paper 1's table 8 under one setting: the turn from which each memory stays cheaper, in every unit of cost."""
    found = {(row.memory, row.cell, row.cost): row for row in analysis.break_even.rows if row.setting == setting}
    rows = list(dict.fromkeys(key[:2] for key in found))
    columns: list[Column[tuple[str, str]]] = [
        Column("Cell", "turns N × tokens per message L", lambda key: key[1], lambda key: key[1], "text")
    ]
    for cost in dict.fromkeys(row.cost for row in found.values()):
        columns += _break_even_columns(cost, found)
    caption = f"The turn from which cumulative cost stays below {REFERENCE}'s"
    return sortable_table(rows, _memory(styles, lambda key: key[0]), columns, caption, lambda key: styles[key[0]])


def joint_table(analysis: Analysis, styles: Styles, cell: str) -> Markup:
    """Paper 1's tables 2 to 4 at one reference cell: accuracy, cost per conversation, cost per right answer."""
    rows = [row for row in analysis.joint if row.cell == cell]
    priced = any(row.cost.usd is not None for row in rows)
    money: list[Column[JointRow]] = [
        Column("Dollars", "Ĉ: mean per conversation, with a 95 % t interval over runs",
               lambda row: _money(row.cost.usd, row.cost.interval, f"{row.cost.runs} runs"), lambda row: row.cost.usd),
        Column("Dollars / right answer", "Ĉ over accuracy; the interval carries the uncertainty of both",
               lambda row: _money(row.usd_per_correct, row.usd_per_correct_interval, "both drawn"),
               lambda row: row.usd_per_correct),
    ]  # fmt: skip
    columns: list[Column[JointRow]] = [
        *_settings(rows, lambda row: row.setting),
        *_several(rows, "Questions of", "the workload that was asked", _workload),
        Column("Accuracy", "share of right answers, with an interval over whole conversations", _accuracy,
               lambda row: row.accuracy.value if row.accuracy else None, "high"),
        Column("Wilson", "the interval that treats questions as independent, as published",
               lambda row: _bounds(row.accuracy.wilson if row.accuracy else None, words.percent), lambda row: None),
        Column.of_number("Errors", "questions without a verdict, in neither count",
                         lambda row: row.accuracy.errors if row.accuracy else None),
        Column.of_number("Input tokens", "mean model input per conversation", lambda row: row.cost.input_tokens),
        *(money if priced else ()),
        Column("Front", "no other beats it on both cost and accuracy", _front,
               lambda row: None if row.on_front is None else float(row.on_front), "high"),
    ]  # fmt: skip
    metric = next((metric_words(row.accuracy.metric) for row in rows if row.accuracy), "accuracy")
    caption = f"{metric[0].upper()}{metric[1:]} and cost per conversation of {cell}"
    head: Column[JointRow] = _memory(styles, lambda row: row.memory, lambda row: row.control)
    return sortable_table(rows, head, columns, caption, lambda row: styles[row.memory])


def metric_words(name: str) -> str:
    """A score's name for readers: ``SubEM``, ``judge``."""
    return METRICS[name].title if name in METRICS else name


def interval_words(low: int | None, high: int | None) -> str:
    """The turns between which break-even lies: ``[0, 13]``, ``[60, never]``, ``[never]``."""
    if low is high is None:
        return "[never]"
    return f"[{'never' if low is None else low}, {'never' if high is None else high}]"


def _memory(
    styles: Styles, name: Callable[[Row], str], control: Callable[[Row], bool] = lambda row: False
) -> Column[Row]:
    def show(row: Row) -> Part:
        marked = badge("control", "bounds the table, competes with nobody") if control(row) else None
        return joined([named(name(row), styles), marked])

    return Column("Memory", "by name", show, name, "text")


def _settings(rows: Sequence[Row], find: Callable[[Row], str]) -> list[Column[Row]]:
    return _several(rows, "Setting", "backbone, effort and limits", find)


def _several(rows: Sequence[Row], title: str, meaning: str, find: Callable[[Row], str]) -> list[Column[Row]]:
    """A column of names, only where not all are the same."""
    return [Column.of_text(title, meaning, find)] if len(set(map(find, rows))) > 1 else []


_CR2 = "95 %, CR2 with Bell and McCaffrey's degrees of freedom"
_BOOTSTRAP = "95 % as in the paper: percentiles of a bootstrap over whole runs; too narrow where runs are few"


def _exponent(name: str, meaning: str) -> Column[CostModel]:
    def find(row: CostModel) -> Exponent | None:
        return getattr(row.fit, name) if row.fit else None

    def value(row: CostModel) -> float | None:
        return found.value if (found := find(row)) else None

    def shown(row: CostModel) -> Part:
        found = find(row)
        if found is None:
            return element("span", words.UNKNOWN, title="; ".join(row.notes))
        read = bounded(words.decimal(found.value), _bounds(found.interval, words.decimal), _CR2)
        paper = element(
            "small", f"bootstrap {_bounds(found.bootstrap, words.decimal)}", class_="figure", title=_BOOTSTRAP
        )
        return joined([read, paper])

    return Column(name, meaning, shown, value)


def _held_out(row: CostModel) -> Part:
    held = holds(row)
    if held is None:
        return element("span", words.UNKNOWN, title="; ".join(row.notes))
    mark = None if held else badge("not explained", f"above {words.percent(HOLDS)} on average", "warn")
    worst = bounded(words.error(row.loocv_mape), f"worst {words.error(row.max_ape)}", "LOOCV-MAPE and max APE")
    return joined([worst, mark])


def _share_of(stage: str) -> Callable[[Diagnostics], float | None]:
    return lambda row: next((found.input_share for found in row.stages if found.stage == stage), None)


def _break_even_columns(cost: str, found: dict[tuple[str, str, str], Sustained]) -> Iterable[Column[tuple[str, str]]]:
    def of(key: tuple[str, str]) -> Sustained | None:
        return found.get((*key, cost))

    def turn(key: tuple[str, str]) -> float | None:
        row = of(key)
        if row is None:
            return None
        best = row.turn if row.turn is not None or row.extended is None else row.extended.turn
        return float("inf") if best is None else float(best)

    def ratio(key: tuple[str, str]) -> float | None:
        return row.ratio if (row := of(key)) else None

    name = cost_words(cost)
    meaning = "with the middle 95 % of resampled repeats; never: still dearer at the last measured turn"
    yield Column(f"Pays, in {name}", meaning, lambda key: _turn_cell(of(key)), turn)
    over = "cumulative cost over full history's at the last measured turn"
    yield Column.of_number("ratio", f"{over}, in {name}", ratio, words.ratio)


def _turn_cell(row: Sustained | None) -> Part:
    if row is None:
        return words.UNKNOWN
    told = turn_words(row.turn, row.last_turn)
    how = f"{words.plural(row.runs, 'run')} against {row.reference_runs}"
    shown: Part = told
    if row.repeats:
        never = f", never in {words.percent(row.repeats.never)} of resamples" if row.repeats.never else ""
        shown = bounded(told, interval_words(row.repeats.low, row.repeats.high), f"{how}, 95 % over repeats{never}")
    if row.extended and (row.turn is None or row.extended.turn != row.turn):
        fitted = turn_words(row.extended.turn, row.extended.last_turn)
        meaning = f"full history was measured to turn {row.extended.measured_turns} and is fitted beyond"
        return joined([shown, badge(f"fitted: {fitted}", meaning)])
    return shown


def _workload(row: JointRow) -> str:
    return row.accuracy.workload if row.accuracy else ""


def _accuracy(row: JointRow) -> Part:
    found = row.accuracy
    if found is None:
        return element("span", words.UNKNOWN, title="no question was answered and scored under this setting")
    over = words.plural(found.conversations, "conversation")
    how = f"{metric_words(found.metric)}, {words.plural(found.questions, 'question')} of {over}"
    return bounded(words.percent(found.value), _bounds(found.interval, words.percent), how)


def _money(value: float | None, interval: Bounds | None, how: str) -> Part:
    if value is None:
        return element("span", words.UNKNOWN, title="a call has no known price, or nothing was right")
    return bounded(words.usd(value), _bounds(interval, words.usd), how) if interval else words.usd(value)


def _front(row: JointRow) -> Part:
    return words.UNKNOWN if row.on_front is None else "✓" if row.on_front else ""


def _bounds(found: Bounds | None, told: Callable[[float | None], str]) -> str:
    return f"[{told(found[0])}, {told(found[1])}]" if found else words.UNKNOWN


def _small(value: float | None) -> str:
    return words.decimal(value, 2 if value is None or value >= 0.1 else 4)


def _r2(title: str, meaning: str, find: Callable[[Fit], float | None]) -> Column[CostModel]:
    def value(row: CostModel) -> float | None:
        return find(row.fit) if row.fit else None

    return Column.of_number(title, meaning, value, lambda value: words.decimal(value, 3), "high")
