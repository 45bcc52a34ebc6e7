"""The command that checks a ledger: verify."""

from pathlib import Path

import click

from memgauge.commands.reading import AS_JSON, RUN


@click.command()
@RUN
@click.option("--prices", metavar="CARD", help="A price card's name or TOML file (default: prices of the day).")
@AS_JSON
def verify(directory: Path, prices: str | None, as_json: bool) -> None:
    """Check that RUN's ledger is whole: sums, hashes, references, every call once. Exits 1 where it is not."""
    import msgspec

    from memgauge.prices import load_card
    from memgauge.runner.audit import audit

    found = audit(directory, load_card(prices) if prices else None)
    if as_json:
        click.echo(msgspec.json.encode(found))
    else:
        for finding in found.findings:
            click.echo(f"{'wrong' if finding.wrong else 'note'}: {finding.what}")
        verdict = "sound" if found.sound else "NOT sound"
        click.echo(f"{verdict}: {found.units:,} units, {found.calls:,} calls, {found.texts:,} texts")
    if not found.sound:
        raise click.exceptions.Exit(1)
