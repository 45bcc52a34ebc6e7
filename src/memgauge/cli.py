"""The command line: parse, call, print. Everything heavy is imported by the command that needs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from memgauge import __version__
from memgauge.commands import comparing, installing, reading, verifying
from memgauge.commands.parse import names, option
from memgauge.commands.reading import write_report
from memgauge.errors import UserError

if TYPE_CHECKING:
    from memgauge.customize import Flags
    from memgauge.runner.brake import Brake
    from memgauge.runner.judging import Judged
    from memgauge.runner.run import Outcome
    from memgauge.spec import Experiment

UNIT_FAILED, STOPPED_BY_BUDGET, ENDPOINT_DOWN, INTERRUPTED = 1, 3, 4, 130


def main() -> None:
    """Entry point: a fault of the user is one line and exit code 2."""
    try:
        code = cli.main(standalone_mode=False)
    except click.ClickException as fault:
        fault.show()
        code = fault.exit_code
    except UserError as fault:
        click.echo(f"memgauge: {fault}", err=True)
        code = fault.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("memgauge: stopped; the same command goes on from here", err=True)
        code = INTERRUPTED
    except BrokenPipeError:
        code = 0
    sys.exit(code if isinstance(code, int) else 0)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="memgauge")
def cli() -> None:
    """Measures what an agent's memory costs to serve and how well it remembers.

    Start with: memgauge run quickstart
    """


for _command in (
    reading.report, reading.analyze, reading.reprice, reading.export, installing.install, installing.doctor,
):  # fmt: skip
    cli.add_command(_command)
cli.add_command(comparing.compare)
cli.add_command(verifying.verify)


def experiment_flags(command: Callable[..., Any]) -> Callable[..., Any]:
    """The flags that ``run`` and ``plan`` share."""
    options = (
        click.argument("spec", default="quickstart"),
        click.option("--memories", metavar="A,B", help="Memories to run (memgauge list memories)."),
        click.option("--backbone", help="embedded, endpoint, extractive or constant."),
        click.option("--base-url", help="URL of an OpenAI-compatible server; implies --backbone endpoint."),
        click.option("--model", help="Model at the endpoint."),
        click.option("--api-key-env", metavar="VAR", help="Environment variable that holds the endpoint's key."),
        click.option("--effort", help="Reasoning effort, where the server knows it."),
        click.option("--temperature", type=click.FloatRange(min=0)),
        click.option("--window", type=click.IntRange(min=1), help="Context window of the model, in tokens."),
        click.option("--embedder", help="minilm, hashing or endpoint."),
        click.option("--embedding-model", help="Embedding model at the endpoint; implies --embedder endpoint."),
        click.option("--workload", help="A workload's name, or the path of your own transcript."),
        click.option("-W", "workload_options", multiple=True, metavar="KEY=VALUE", help="Option of --workload."),
        click.option("--protocols", metavar="serve,recall", help="How the workload is played."),
        click.option("--limit", type=click.IntRange(min=1), help="At most so many conversations per workload."),
        click.option("--questions", type=click.IntRange(min=1), help="At most so many questions per conversation."),
        click.option("--reply-tokens", type=click.IntRange(min=1), help="Longest reply to a served turn, in tokens."),
        click.option("--answer-tokens", type=click.IntRange(min=1), help="Longest answer to a question."),
        click.option("--max-output-tokens", type=click.IntRange(min=1), help="Cap on every reply, a product's too."),
        click.option("--prices", metavar="CARD", help="A price card's name or TOML file."),
    )
    for decorate in reversed(options):
        command = decorate(command)
    return command


@cli.command()
@experiment_flags
@click.option("--out", type=click.Path(path_type=Path), help="Run directory (default: runs/NAME).")
@click.option("--concurrency", type=click.IntRange(min=1), help="Calls side by side.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Stop before more tokens than this are spent.")
@click.option("--max-usd", type=click.FloatRange(min=0), help="Stop before more dollars than this are spent.")
@click.option("--unit-max-tokens", type=click.IntRange(min=1), help="The same for each unit; the others go on.")
@click.option("--unit-max-usd", type=click.FloatRange(min=0), help="The same for each unit; the others go on.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def run(
    spec: str,
    out: Path | None,
    concurrency: int | None,
    max_tokens: int | None,
    max_usd: float | None,
    unit_max_tokens: int | None,
    unit_max_usd: float | None,
    as_json: bool,
    **flags: Any,
) -> None:
    """Run SPEC: a preset's name, a TOML file, or a workload's name. Run it again to finish what is missing.

    A workload alone is played as the quickstart plays its own: memories, models and limits are those of that preset.
    """
    from rich.console import Console

    from memgauge.console.live import Live
    from memgauge.customize import default_directory
    from memgauge.metrics.score import score_run
    from memgauge.runner.brake import Brake
    from memgauge.runner.limits import Limits
    from memgauge.runner.run import run as run_experiment

    experiment, changed = _experiment(spec, flags)
    directory = out or default_directory(experiment, changed)
    limits = Limits(concurrency, max_tokens, max_usd, unit_max_tokens, unit_max_usd)
    with Live(Console(stderr=True)) as live:
        brake = Brake()
        outcome: Outcome = _finish(run_experiment(experiment, directory, limits, live, brake), brake)
    score_run(directory)
    write_report(directory, as_json)
    _leave_if_stopped(outcome)
    if outcome.failed:
        click.echo(f"memgauge: {outcome.failed} units failed; the same command tries them again", err=True)
        raise click.exceptions.Exit(UNIT_FAILED)


@cli.command()
@experiment_flags
@click.option("--json", "as_json", is_flag=True, help="Print the estimate as JSON.")
def plan(spec: str, as_json: bool, **flags: Any) -> None:
    """Say what SPEC will use, in calls, tokens, dollars and time, before anything is spent."""
    from rich.console import Console

    from memgauge.console.estimate import print_estimate
    from memgauge.console.live import Live
    from memgauge.runner.foresee import foresee

    experiment, _ = _experiment(spec, flags)
    with Live(Console(stderr=True), lines=False) as live:
        foreseen = _finish(foresee(experiment, live))
    print_estimate(foreseen, as_json)


@cli.command()
@click.argument("directory", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--backbone", default="endpoint", help="The judge: endpoint (a model that can judge), or a local one.")
@click.option("--base-url", help="URL of an OpenAI-compatible server.")
@click.option("--model", help="The judge model at the endpoint.")
@click.option("--api-key-env", metavar="VAR", help="Environment variable that holds the endpoint's key.")
@click.option("--effort", help="Reasoning effort, where the server knows it.")
@click.option("--rubric", "rubrics", multiple=True, metavar="NAME|FILE", help="May be repeated, to compare rubrics.")
@click.option("--repeats", default=1, type=click.IntRange(min=1), help="Judge every answer so many times.")
@click.option("--memories", metavar="A,B", help="Judge only these.")
@click.option("--prices", metavar="CARD", help="A price card's name or TOML file.")
@click.option("--concurrency", type=click.IntRange(min=1), help="Verdicts side by side.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Stop before the run has spent more tokens than this.")
@click.option("--max-usd", type=click.FloatRange(min=0), help="Stop before the run has spent more dollars than this.")
@click.option("--json", "as_json", is_flag=True, help="Print how it ended as JSON.")
def judge(directory: Path, as_json: bool, **flags: Any) -> None:
    """Put the answers of a finished RUN before a judge model; judged answers are not judged again."""
    import msgspec

    from memgauge.metrics.score import score_run
    from memgauge.runner.brake import Brake
    from memgauge.runner.judging import UNFIT, Judging, judge_run
    from memgauge.runner.limits import Limits
    from memgauge.spec import Setting

    setting = Setting(
        backbone=flags["backbone"], base_url=flags["base_url"], model=flags["model"],
        api_key_env=flags["api_key_env"], effort=flags["effort"], temperature=0.0, embedder="hashing",
    )  # fmt: skip
    if setting.backbone in UNFIT:
        click.echo(f"memgauge: {UNFIT[setting.backbone]}", err=True)
    judging = Judging(setting, flags["rubrics"], flags["repeats"], names(flags["memories"]), flags["prices"])
    limits = Limits(flags["concurrency"], flags["max_tokens"], flags["max_usd"])
    brake = Brake()
    judged = _finish(judge_run(directory, judging, limits, _count_verdicts, brake), brake)
    score_run(directory)
    if as_json:
        click.echo(msgspec.json.encode(judged))
    else:
        click.echo(f"{judged.verdicts} verdicts, {judged.errors} of them errors; {judged.skipped} were there already")
    _leave_if_stopped(judged)


@cli.command("list")
@click.argument("what", required=False)
@click.option("--json", "as_json", is_flag=True)
def list_names(what: str | None, as_json: bool) -> None:
    """Name the memories, workloads, backbones and presets. WHAT picks one of these."""
    from memgauge import catalogue
    from memgauge.console.listing import print_catalogue

    print_catalogue(catalogue.entries(what), as_json)


@cli.group()
def data() -> None:
    """The data sets that workloads download."""


@data.command("list")
@click.option("--json", "as_json", is_flag=True)
def data_list(as_json: bool) -> None:
    """Say where each data set comes from, its licence, and whether it is here."""
    from memgauge import catalogue
    from memgauge.console.listing import print_datasets

    print_datasets(catalogue.datasets(), as_json)


@data.command("fetch")
@click.argument("workload")
@click.argument("file", required=False)
@click.option("--path", type=click.Path(path_type=Path), help="Take it from this file instead of the network.")
def data_fetch(workload: str, file: str | None, path: Path | None) -> None:
    """Download a workload's files, verified by SHA-256. FILE names one, which optional ones need."""
    from memgauge.workloads import registry
    from memgauge.workloads.fetch import fetch

    card = registry.card(workload)
    if card.by_hand:
        click.echo(f"{workload} has no pinned files; give its option path: {card.by_hand}")
    elif not card.files:
        click.echo(f"{workload} needs no files")
    for fetched in fetch(card, path, only=file):
        click.echo(fetched)


@data.command("check")
@click.argument("workload", required=False)
def data_check(workload: str | None) -> None:
    """Verify the files that are here; exits 1 where one is damaged."""
    from memgauge import catalogue

    damaged = False
    for dataset in catalogue.datasets():
        if workload in (None, dataset.workload):
            click.echo(f"{dataset.workload}  {dataset.file}  {dataset.state}")
            damaged |= dataset.state == "damaged"
    if damaged:
        raise click.exceptions.Exit(1)


def _experiment(spec: str, flags: dict[str, Any]) -> tuple[Experiment, Flags]:
    from memgauge.customize import Flags, customized
    from memgauge.spec import load, preset_names
    from memgauge.workloads import registry as workloads

    if flags["workload"] is None and spec in set(workloads.names()) - set(preset_names()):
        spec, flags = "quickstart", {**flags, "workload": spec}

    fields = ("backbone", "base_url", "model", "api_key_env", "effort", "temperature", "window", "embedder",
             "embedding_model", "max_output_tokens")  # fmt: skip
    setting = {name: flags[name] for name in fields if flags[name] is not None}
    if "base_url" in setting:
        setting.setdefault("backbone", "endpoint")
    if "embedding_model" in setting:
        setting.setdefault("embedder", "endpoint")
    given = Flags(
        memories=names(flags["memories"]),
        workload=flags["workload"],
        workload_options=dict(map(option, flags["workload_options"])),
        protocols=names(flags["protocols"]),
        limit=flags["limit"],
        questions=flags["questions"],
        reply_tokens=flags["reply_tokens"],
        answer_tokens=flags["answer_tokens"],
        prices=flags["prices"],
        setting=setting,
    )
    return customized(load(spec), given), given


def _leave_if_stopped(ended: Outcome | Judged) -> None:
    """Says why something ended early, and exits with the code for it."""
    if ended.down:
        click.echo(f"memgauge: {ended.stopped}; nothing is lost, the same command goes on from here", err=True)
        raise click.exceptions.Exit(ENDPOINT_DOWN)
    if ended.stopped:
        click.echo(f"memgauge: {ended.stopped}; run it again with a higher limit to go on", err=True)
        raise click.exceptions.Exit(STOPPED_BY_BUDGET)


def _count_verdicts(given: int, wanted: int) -> None:
    if sys.stderr.isatty() and (given % 10 == 0 or given == wanted):
        click.echo(f"\r{given}/{wanted} verdicts", nl=given == wanted, err=True)


def _finish(work: Any, brake: Brake | None = None) -> Any:
    """Runs a coroutine. Ctrl-C and SIGTERM pull its brake; a second one, or one without a brake, cuts it off."""
    import asyncio
    import signal

    async def supervised() -> Any:
        task = asyncio.current_task()
        assert task is not None

        def stop() -> None:
            if brake is None or brake.pulled or not brake.pull():
                task.cancel()
            else:
                click.echo("memgauge: stopping when the calls under way are answered; once more: at once", err=True)

        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop)
        return await work

    try:
        result = asyncio.run(supervised())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
    if brake is not None and brake.pulled:
        raise KeyboardInterrupt
    return result
