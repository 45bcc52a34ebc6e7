"""Commands that read a ledger: report, analyze, reprice, export."""

from pathlib import Path
from typing import Any

import click

from memgauge.commands.parse import cells, pairs, shares

RUN = click.argument("directory", metavar="RUN", type=click.Path(path_type=Path))
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
PROVIDERS = click.option(
    "--provider",
    "providers",
    multiple=True,
    metavar="NAME[=SHARE]",
    help="Price as served by it; repeatable.",
)
PRICED_AS = click.option(
    "--price-as", "models", multiple=True, metavar="MODEL=OTHER", help="Price one model as another; repeatable."
)


def write_report(directory: Path, as_json: bool, out: Path | None = None) -> None:
    """Writes the page of a run and prints its summary."""
    import msgspec

    from memgauge.analysis.insides import insides
    from memgauge.analysis.question_rows import question_rows
    from memgauge.analysis.read import read
    from memgauge.analysis.summary import summary_of
    from memgauge.console.quality import print_quality
    from memgauge.console.screen import wide_console
    from memgauge.ledger.frames import Frames
    from memgauge.report.page import write_page
    from memgauge.report.terminal import print_summary

    found = read(Frames(directory))
    summary = summary_of(found)
    page = out or _beside(directory, "report.html")
    write_page(summary, page, question_rows(found), insides(found))
    if as_json:
        click.echo(msgspec.json.encode({"run": str(directory), "page": str(page), "summary": summary}))
    else:
        print_summary(summary, wide_console())
        print_quality(summary.quality, wide_console())
        click.echo(f"page: {page}")


@click.command()
@RUN
@click.option("--out", type=click.Path(path_type=Path), help="Where the page goes (default: RUN/report.html).")
@AS_JSON
def report(directory: Path, out: Path | None, as_json: bool) -> None:
    """Write the page of a finished or running RUN, and print its summary."""
    write_report(directory, as_json, out)


@click.command()
@RUN
@click.option("--prices", metavar="CARD", help="A price card's name or TOML file (default: the run's own).")
@PROVIDERS
@PRICED_AS
@click.option("--cell", "reference", multiple=True, metavar="NxL", help="Reference cell of the joint matrix.")
@click.option("--metric", help="The score that counts as accuracy (default: judge, else sub_em).")
@click.option("--measured-size", is_flag=True, help="Fit on the measured tokens per message, not the cell's.")
@click.option("--figures", type=click.Path(path_type=Path), help="Also write every figure as a file, here.")
@click.option("--format", "kind", default="svg", help="Of the figure files: svg or png.")
@click.option("--out", type=click.Path(path_type=Path), help="Where the page goes (default: RUN/analysis.html).")
@AS_JSON
def analyze(directory: Path, as_json: bool, **flags: Any) -> None:
    """Fit what memory costs in RUN, find when it pays, and put it beside the paper (Total Recall at What Cost?)."""
    import msgspec

    from memgauge.analysis.analyze import Choices
    from memgauge.analysis.analyze import analyze as analyze_ledger
    from memgauge.analysis.harness import harness
    from memgauge.analysis.summary import what_ran
    from memgauge.console.analysis import print_analysis
    from memgauge.console.screen import wide_console
    from memgauge.ledger.frames import Frames
    from memgauge.prices import load_card
    from memgauge.report.analysis.page import write_analysis_page
    from memgauge.report.export_figures import export_figures

    frames = Frames(directory)
    card = load_card(flags["prices"]) if flags["prices"] else None
    choices = Choices(
        providers=shares(flags["providers"]),
        models=pairs(flags["models"], "--price-as"),
        cells=cells(flags["reference"]),
        metric=flags["metric"],
        measured_size=flags["measured_size"],
    )
    analysis = analyze_ledger(frames, card, choices)
    page = flags["out"] or _beside(directory, "analysis.html")
    write_analysis_page(analysis, what_ran(frames), page)
    if as_json:
        tables = harness(frames)
        click.echo(msgspec.json.encode({**msgspec.to_builtins(analysis), "harness": msgspec.to_builtins(tables)}))
    else:
        print_analysis(analysis, wide_console())
        click.echo(f"page: {page}")
    if flags["figures"]:
        for path in export_figures(analysis, flags["figures"], flags["kind"]):
            click.echo(path, err=as_json)


@click.command()
@RUN
@click.option("--prices", metavar="CARD", required=True, help="A price card's name or TOML file.")
@click.option(
    "--cache", "caching", default="served", type=click.Choice(["served", "none", "policy"]),
    help="Prompt caching: as it was served, none at all, or by the policies on the card.",
)  # fmt: skip
@PROVIDERS
@PRICED_AS
@AS_JSON
def reprice(directory: Path, prices: str, caching: str, as_json: bool, **flags: Any) -> None:
    """Price a RUN's calls again under another card, cache policy or provider mix; offline, nothing is run."""
    import msgspec

    from memgauge.analysis.reprice import Billing, Caching, before_and_after
    from memgauge.console.repricing import print_repricing
    from memgauge.console.screen import wide_console
    from memgauge.ledger.frames import Frames
    from memgauge.prices import load_card

    card = load_card(prices)
    providers, models = shares(flags["providers"]), pairs(flags["models"], "--price-as")
    billing = Billing(card.name, card, Caching(caching), providers, models)
    before, after = before_and_after(Frames(directory), billing)
    if as_json:
        click.echo(msgspec.json.encode({"before": before, "after": after}))
    else:
        print_repricing(before, after, wide_console())


@click.command()
@RUN
@click.option("--format", "kind", default="parquet", help="parquet or csv.")
@click.option("--out", type=click.Path(path_type=Path), help="Where the files go (default: RUN/export).")
def export(directory: Path, kind: str, out: Path | None) -> None:
    """Write a RUN's ledger as Parquet or CSV files, one per table."""
    from memgauge.ledger.export import export as export_tables
    from memgauge.ledger.frames import Frames

    for path in export_tables(Frames(directory), out or directory / "export", kind):
        click.echo(path)


def _beside(directory: Path, name: str) -> Path:
    return (directory if directory.is_dir() else directory.parent) / name
