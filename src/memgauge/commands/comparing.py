"""The command that holds two runs, or two memories of one, against each other: compare."""

from pathlib import Path

import click

from memgauge.commands.parse import names
from memgauge.commands.reading import AS_JSON
from memgauge.errors import UserError

BOUND_BROKEN = 1

_RUN = click.Path(path_type=Path)


@click.command()
@click.argument("a", metavar="A", type=_RUN)
@click.argument("b", metavar="[B]", type=_RUN, required=False)
@click.option("--memories", metavar="X,Y", help="Of two runs, those to compare (X, or X=Y); of one, X with Y.")
@click.option("--settings", metavar="X,Y", help="Setting X of A with setting Y of B.")
@click.option(
    "--fail-if", "bounds", multiple=True, metavar="FIGURE=CHANGE",
    help="Exit 1 where a figure changed for worse than this: token_f1=-0.02, input_tokens_per_turn=+5%.",
)  # fmt: skip
@click.option("--certain", is_flag=True, help="A bound is broken only where the whole 95 % interval is beyond it.")
@AS_JSON
def compare(
    a: Path,
    b: Path | None,
    memories: str | None,
    settings: str | None,
    bounds: tuple[str, ...],
    certain: bool,
    as_json: bool,
) -> None:
    """Compare run B with run A, or two memories of run A: what changed, how sure that is, what flipped."""
    import msgspec

    from memgauge.analysis.compare import bound
    from memgauge.analysis.compare import compare as compare_ledgers
    from memgauge.console.compare import print_compared
    from memgauge.console.screen import wide_console
    from memgauge.ledger.frames import Frames

    left = Frames(a)
    found = compare_ledgers(
        left,
        Frames(b) if b else left,
        memories=_pairs(memories, of_one_run=b is None),
        settings=_two(settings, "--settings") if settings else None,
        bounds=[bound(text) for text in bounds],
        certain=certain,
        names=(str(a), str(b or a)),
    )
    if as_json:
        click.echo(msgspec.json.encode(found))
    else:
        print_compared(found, wide_console())
    for broken in found.broken:
        click.echo(f"memgauge: {broken.memory} on {broken.workload}: {broken.why}", err=True)
    if found.broken:
        raise click.exceptions.Exit(BOUND_BROKEN)


def _pairs(text: str | None, *, of_one_run: bool) -> list[tuple[str, str]]:
    """Which memory of A stands against which of B; empty for all that both runs have."""
    if of_one_run:
        if text is None:
            raise UserError("give a second run, or two memories of this one: --memories X,Y")
        return [_two(text.replace("=", ","), "--memories")]
    found = []
    for name in names(text):
        one, equals, other = name.partition("=")
        if equals and not (one and other):
            raise UserError(f"--memories {name}: expected a memory, or ONE=OTHER")
        found.append((one, other or one))
    return found


def _two(text: str, flag: str) -> tuple[str, str]:
    found = names(text)
    if len(found) != 2:
        raise UserError(f"{flag} {text}: expected two names, X,Y")
    return found[0], found[1]
