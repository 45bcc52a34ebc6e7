"""The page: one self-contained HTML file. No network, nothing trusted of what a model or a data set said."""

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from importlib import resources
from pathlib import Path

from memgauge.analysis.summary import Group, Ran, SettingRow, Summary
from memgauge.errors import UserError
from memgauge.report import figures, headline, words
from memgauge.report.answer_list import answer_list
from memgauge.report.columns import swatch
from memgauge.report.markup import Markup, Part, element, joined
from memgauge.report.notes import notes
from memgauge.report.tables import category_table, detail_table, efficiency_tables, summary_table
from memgauge.report.terminal import group_title, spent_words

WIDE, HALF, NARROW = 820, 540, 350  # widths in which figures are drawn, in pixels
COLOURS = 8  # classes c0 … c7 in page.css; further memories start again, dashed

Draw = Callable[[Group, Mapping[str, str], float], str]


class PageError(UserError):
    """The page cannot be written."""


def write_page(summary: Summary, path: Path) -> None:
    """Writes the page to ``path``. Raises PageError where that is not possible."""
    html = page(summary)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html, encoding="utf-8", errors="replace")
    except OSError as fault:
        raise PageError(f"cannot write {path}: {fault.strerror or fault}") from None


def page(summary: Summary) -> str:
    """The page as one text."""
    css, js = _asset("page.css"), _asset("page.js")
    styles = memory_styles(summary)
    policy = (
        f"default-src 'none'; style-src '{_digest(css)}'; script-src '{_digest(js)}';"
        " base-uri 'none'; form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", f"{summary.ran.name} · memgauge"),
        element("style", Markup(css)),
    )
    several = len(summary.groups) > 1
    body = element(
        "body",
        element("a", "Skip to the figures", href="#g0", class_="skip"),
        _header(summary, styles),
        element(
            "main",
            *(_group(group, place, styles, several) for place, group in enumerate(summary.groups)),
            _spend(summary),
            _notes(summary),
        ),
        element(
            "footer",
            f"Written by memgauge {summary.ran.memgauge_version} from a ledger; every figure on this"
            " page can be recomputed from it. The page loads nothing from the network.",
        ),
        element("div", id="tip", role="status", hidden=""),
        element("script", Markup(js)),
    )
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def memory_styles(summary: Summary) -> dict[str, str]:
    """One class per memory, the same everywhere: the reference in ink, controls in grey, the others coloured."""
    styles: dict[str, str] = {}
    controls = coloured = 0
    for row in (row for group in summary.groups for row in group.rows):
        if row.memory in styles:
            continue
        if row.reference:
            styles[row.memory] = "ref"
        elif row.control:
            styles[row.memory] = f"control k{controls % 2}"
            controls += 1
        else:
            again = " again" if coloured >= COLOURS else ""
            styles[row.memory] = f"c{coloured % COLOURS}{again}"
            coloured += 1
    return styles


def _header(summary: Summary, styles: Mapping[str, str]) -> Markup:
    ran = summary.ran
    parts: list[Part] = [
        element("p", element("span", "memgauge", class_="brand"), element("span", ran.name, class_="run"),
                class_="over"),
    ]  # fmt: skip
    if len(summary.groups) == 1:
        group = summary.groups[0]
        parts.append(element("h1", _title(group, styles)))
        parts.append(element("p", headline.knows(group), class_="lead"))
        if pays := headline.pays(group):
            parts.append(element("p", pays, class_="lead"))
    else:
        parts.append(
            element(
                "h1",
                f"{words.plural(len(ran.memories), 'memory').capitalize()},"
                f" {words.plural(len(summary.groups), 'comparison')}",
            )
        )
        links = [
            element("li", element("a", group_title(group), href=f"#g{place}"), ": ", _title(group, styles), ".")
            for place, group in enumerate(summary.groups)
        ]
        parts.append(element("ul", *links, class_="contents"))
    if summary.caveats:
        caveats = [element("li", caveat) for caveat in summary.caveats]
        parts.append(element("aside", element("ul", *caveats), class_="caveats", aria_label="Caveats"))
    parts.append(_provenance(ran))
    return element("header", *parts)


def _title(group: Group, styles: Mapping[str, str]) -> Markup:
    start, chosen, rest = headline.title(group)
    name = element("span", chosen, class_=f"named {styles[chosen]}") if chosen else None
    return joined([start, name, rest])


def _provenance(ran: Ran) -> Markup:
    done, planned = ran.units.get("done", 0), sum(ran.units.values())
    facts = [
        ("Workload", f"{', '.join(ran.workloads)}: {words.plural(ran.items, 'conversation')},"
         f" {words.plural(ran.turns, 'turn')}, {words.plural(ran.questions, 'question')}"),
        ("Played as", " and ".join(ran.protocols)),
        ("Model", _listed(_model(setting) for setting in ran.settings)),
        ("Embedder", _listed(f"{setting.embedder} ({setting.embedding_model})" for setting in ran.settings)),
        ("Units", f"{done} of {planned} done"),
        ("When", _when(ran)),
        ("memgauge", f"{ran.memgauge_version}, spec {ran.spec_hash[:12]}"),
        *((term.replace("_", " ").replace(".", ", ").capitalize(), fact) for term, fact in ran.provenance.items()),
    ]  # fmt: skip
    items = [element("div", element("dt", term), element("dd", fact)) for term, fact in facts if fact]
    return element("dl", *items, class_="facts")


def _model(setting: SettingRow) -> str:
    effort = f", effort {setting.effort}" if setting.effort else ""
    return f"{setting.model} ({setting.backbone}{effort})"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))


def _when(ran: Ran) -> str:
    if ran.started is None:
        return "not started"
    return f"{ran.started[:10]} {ran.started[11:16]} UTC"


def _group(group: Group, place: int, styles: Mapping[str, str], several: bool) -> Markup:
    parts: list[Part] = []
    if several:
        parts.append(element("p", group_title(group), class_="over"))
        parts.append(element("h2", _title(group, styles)))
        parts.append(element("p", headline.knows(group), class_="lead"))
        if pays := headline.pays(group):
            parts.append(element("p", pays, class_="lead"))
    parts.append(summary_table(group, styles))
    parts.append(element("p", _unranked(group), class_="faint") if _unranked(group) else None)
    parts.append(
        element(
            "details",
            element("summary", "Further figures: other metrics, token F1 by category, efficiency E1 to E15"),
            detail_table(group, styles),
            category_table(group, styles),
            *efficiency_tables(group, styles),
            class_="more",
        )
    )
    parts.append(_legend(group, styles))
    parts.append(_cumulative(group, place, styles))
    parts.append(_pair(group, styles))
    if group.questions:
        shown, asked = len(group.questions), group.questions_asked
        note = f"{shown} of {asked}, spread evenly over all." if shown < asked else f"All {asked}."
        parts.append(
            element(
                "section",
                element("h3", "Question by question"),
                element(
                    "p",
                    f"{note} Open one to read the answers. ",
                    element("button", "Open all", type="button", class_="plain open-all"),
                    class_="sub",
                ),
                answer_list(group, styles),
            )
        )
    return element("section", *parts, id=f"g{place}", class_="group")


def _cumulative(group: Group, place: int, styles: Mapping[str, str]) -> Part:
    drawn = {
        (scale, width): figures.cumulative(group, styles, width, log=scale == "log")
        for scale in ("linear", "log")
        for width in (WIDE, NARROW)
    }
    if not any(drawn.values()):
        return None
    choices = joined(
        joined(
            [
                element(
                    "input",
                    type="radio",
                    name=f"scale{place}",
                    id=f"scale{place}{scale}",
                    class_=scale,
                    checked="" if scale == "linear" else None,
                ),
                element("label", scale, for_=f"scale{place}{scale}"),
            ]
        )
        for scale in ("linear", "log")
    )
    pictures = [
        element("div", Markup(picture), class_=f"{scale} {'wide' if width == WIDE else 'narrow'}")
        for (scale, width), picture in drawn.items()
    ]
    data = {
        row.memory: {"css": styles[row.memory], "costs": [round(cost, 1) for cost in row.serving.cumulative]}
        for row in group.rows
        if row.serving
    }
    return element(
        "figure",
        element(
            "figcaption",
            element("h3", "The bill as the dialogue goes on"),
            element(
                "p",
                "Cumulative model input tokens. A dot marks the turn from which a memory stays cheaper"
                " than full history.",
                class_="sub",
            ),
        ),
        element("div", choices, *pictures, class_="scales"),
        element("script", Markup(_json(data)), type="application/json", class_="series"),
    )


def _pair(group: Group, styles: Mapping[str, str]) -> Markup:
    """Cost by stage and accuracy against cost, side by side; one that has nothing to show leaves its room."""
    told = [
        ("What a turn costs", _stages_text(group), figures.by_stage),
        ("Accuracy against cost", "Up and to the left is better. Whiskers are 95 % intervals; the dotted line joins"
         " the memories that none beats on both.", figures.accuracy),
    ]  # fmt: skip
    drawn = [figure for figure in told if figure[2](group, styles, WIDE)]
    width = HALF if len(drawn) > 1 else WIDE
    return element("div", *(_figure(*figure, group, styles, width) for figure in drawn), class_="pair")


def _figure(title: str, text: str, draw: Draw, group: Group, styles: Mapping[str, str], width: float) -> Markup:
    caption = element("figcaption", element("h3", title), element("p", text, class_="sub"))
    wide = element("div", Markup(draw(group, styles, width)), class_="wide")
    narrow = element("div", Markup(draw(group, styles, NARROW)), class_="narrow")
    return element("figure", caption, wide, narrow)


def _stages_text(group: Group) -> str:
    used = {
        stage for row in group.rows if row.serving for stage, tokens in row.serving.input_by_stage.items() if tokens
    }
    if used <= {"answer"}:
        return "Mean model input per turn. These memories call the model only to answer."
    return "Mean model input per turn by stage: solid is the answer, lighter is what the memory sends itself."


def _legend(group: Group, styles: Mapping[str, str]) -> Markup:
    buttons = [
        element(
            "button", swatch(row.memory, styles), row.memory, type="button", aria_pressed="true", data_memory=row.memory
        )
        for row in group.rows
    ]
    return element("div", *buttons, class_="legend", role="group", aria_label="Memories shown in the figures")


def _unranked(group: Group) -> str:
    told = [f"{row.memory} is not ranked: {row.unranked}." for row in group.rows if row.unranked and not row.control]
    return " ".join(told)


def _spend(summary: Summary) -> Markup:
    spend = summary.spend
    facts = [("In the attempts that finished", spend.fresh)]
    if spend.replayed.calls:
        facts.append(("Paid earlier and reused", spend.replayed))
    if spend.lost.calls:
        facts.append(("Lost with attempts that died", spend.lost))
    items = [element("div", element("dt", term), element("dd", spent_words(spent))) for term, spent in facts]
    failures = [
        element("li", element("b", f"{failed.memory}, {failed.protocol}, {failed.item}"), f": {failed.error}")
        for failed in summary.ran.failures
    ]
    broken = [element("h3", "What failed"), element("ul", *failures, class_="failures")] if failures else []
    return element("section", element("h2", "What the run spent"), element("dl", *items, class_="facts"), *broken)


def _notes(summary: Summary) -> Markup:
    return element("section", element("h2", "How to read this"), notes())


def _json(value: object) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _asset(name: str) -> str:
    return (resources.files("memgauge.report") / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
