"""What was run, on what and when: the facts at the head of a page."""

from collections.abc import Iterable

from memgauge.analysis.summary import Ran, SettingRow
from memgauge.report import words
from memgauge.report.markup import Markup, element


def provenance(ran: Ran) -> Markup:
    """The facts as a list of terms."""
    done, planned = ran.units.get("done", 0), sum(ran.units.values())
    facts = [
        ("Workload", f"{', '.join(ran.workloads)}: {words.plural(ran.items, 'conversation')},"
         f" {words.plural(ran.turns, 'turn')}, {words.plural(ran.questions, 'question')}"),
        ("Played as", " and ".join(ran.protocols)),
        ("Model", _listed(_model(setting) for setting in ran.settings)),
        ("Embedder", _listed(f"{setting.embedder} ({setting.embedding_model})" for setting in ran.settings)),
        ("Judge", _listed(ran.judges)),
        ("Units", f"{done} of {planned} done"),
        ("When", _when(ran)),
        ("memgauge", f"{ran.memgauge_version}, spec {ran.spec_hash[:12]}"),
        *((term.replace("_", " ").replace(".", ", ").capitalize(), fact) for term, fact in ran.provenance.items()),
    ]  # fmt: skip
    items = [element("div", element("dt", term), element("dd", fact)) for term, fact in facts if fact]
    return element("dl", *items, class_="facts")


def caveats(told: Iterable[str]) -> Markup | None:
    """What must be known before the figures are believed; None where there is nothing."""
    items = [element("li", caveat) for caveat in told]
    return element("aside", element("ul", *items), class_="caveats", aria_label="Caveats") if items else None


def _model(setting: SettingRow) -> str:
    effort = f", effort {setting.effort}" if setting.effort else ""
    return f"{setting.model} ({setting.backbone}{effort})"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _when(ran: Ran) -> str:
    if ran.started is None:
        return "not started"
    return f"{ran.started[:10]} {ran.started[11:16]} UTC"
