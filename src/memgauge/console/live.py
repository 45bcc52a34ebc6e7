"""Progress on a terminal, with the spend so far; elsewhere one line per unit of a run."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from memgauge.runner.plan import Unit
from memgauge.runner.progress import State


class Live:
    """A runner.progress.Listener that draws; use as a context manager.

    Without ``lines`` nothing but warnings and failures is told where there is no terminal.
    """

    def __init__(self, console: Console, *, lines: bool = True) -> None:
        self._console = console
        self._lines = lines
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[spend]}"),
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._whole: TaskID | None = None
        self._bars: dict[int, TaskID] = {}

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def warned(self, word: str) -> None:
        """Prints a line."""
        self._console.print(word, style="yellow", markup=False, highlight=False, soft_wrap=True)

    def started(self, unit: Unit, state: State) -> None:
        """Draws a bar for the unit."""
        if self._whole is None:
            self._whole = self._progress.add_task("units", total=state.units, completed=state.skipped, spend="")
        record = unit.record
        total = record.turns + (record.questions if record.protocol == "recall" else 0)
        self._bars[record.unit] = self._progress.add_task(_name(unit), total=total, spend="")

    def stepped(self, unit: Unit, state: State) -> None:
        """Moves the unit's bar, and says what was spent."""
        number = unit.record.unit
        self._progress.update(self._bars[number], completed=state.doing[number])
        if self._whole is not None:
            self._progress.update(self._whole, spend=_spend(state))

    def ended(self, unit: Unit, state: State, error: str | None) -> None:
        """Removes the unit's bar; off a terminal, and for a failure anywhere, prints a line."""
        self._progress.remove_task(self._bars.pop(unit.record.unit))
        finished = state.skipped + state.done + state.failed
        if self._whole is not None:
            self._progress.update(self._whole, completed=finished, spend=_spend(state))
        if error is not None:
            told = f"failed: {_name(unit)}: {error}"
            self._console.print(told, style="red", markup=False, highlight=False, soft_wrap=True)
        elif self._lines and not self._console.is_terminal:
            self._console.print(
                f"[{finished}/{state.units}] {_name(unit)}, {_spend(state)}", markup=False, highlight=False
            )


def _name(unit: Unit) -> str:
    record = unit.record
    return f"{record.workload}/{record.item} {record.protocol} {record.memory}"


def _spend(state: State) -> str:
    money = f", ${state.usd:.4f}" if state.usd else ""
    return f"{state.tokens:,} tokens{money}"
