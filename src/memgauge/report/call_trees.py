"""Where each memory spends its calls: unit → turn → stage → call, to be opened; all that models said is text."""

from collections.abc import Iterator, Mapping, Sequence

from memgauge.analysis.call_trees import STAGES, Call, CallTree, Place, Stage, Tokens
from memgauge.report import words
from memgauge.report.columns import Styles, badge, named
from memgauge.report.markup import Markup, Part, element, joined

_PLAYED = {"serve": "served", "recall": "asked about"}


def call_trees_section(trees: Sequence[CallTree], styles: Styles) -> Markup | None:
    """None where nothing finished."""
    if not trees:
        return None
    sampled = any(len(tree.told) < tree.places for tree in trees)
    which = "the first, the median and the costliest turn and question" if sampled else "every turn that made a call"
    told = (
        f"The longest finished unit of each memory; {which}. Beside a stage: calls × mean tokens in → out."
        " Of a call: its tokens, how its prompt begins and ends, and what came back."
    )
    return element(
        "section",
        element("h2", "Where each memory spends its calls"),
        element("p", told, class_="sub"),
        element("div", *(_tree(tree, styles) for tree in trees), class_="trees"),
        id="calls",
    )


def _tree(tree: CallTree, styles: Styles) -> Markup:
    played = f"{_PLAYED.get(tree.protocol, tree.protocol)} {tree.item}"
    head = element(
        "summary",
        element(
            "span",
            named(tree.memory, styles),
            element("small", f" {played}"),
            class_="who",
            title=words.plural(tree.turns, "turn"),
        ),
        _chips(tree.stages),
    )
    left = tree.places - len(tree.told)
    rest = f"{words.plural(left, 'further turn')} or question{'s' * (left > 1)} made calls." if left else None
    return element(
        "details", head, *map(_place, tree.told), element("p", rest, class_="faint") if rest else None,
        class_=f"tree {styles[tree.memory]}",
    )  # fmt: skip


def _chips(stages: Mapping[str, Tokens]) -> Markup:
    """The stages side by side, each at its place, so that memories can be compared down the page."""
    cells = []
    for stage in STAGES:
        spent = stages.get(stage)
        cells.append(
            element("span", element("b", stage), " ", _tokens(spent) if spent else words.UNKNOWN,
                    class_="chip" if spent else "chip none")
        )  # fmt: skip
    return element("span", *cells, class_="chips")


def _tokens(spent: Tokens) -> str:
    """``22 × 10k → 88``: calls, tokens in, tokens out; embeddings where there are no calls."""
    if spent.chats:
        return f"{spent.chats:,} × {words.count(spent.input / spent.chats)} → {words.count(spent.output / spent.chats)}"
    return f"{words.plural(spent.embeddings, 'embedding')}"


def _place(place: Place) -> Markup:
    what = f"Question {place.question}" if place.question is not None else f"Turn {place.turn}"
    why = badge(place.why, "of the turns and of the questions, by tokens in and out") if place.why else None
    head = element(
        "summary",
        element("span", what, why, class_="who"),
        _chips({stage.stage: stage.spent for stage in place.stages}),
    )
    return element("details", head, *map(_stage, place.stages), class_="place")


def _stage(stage: Stage) -> Markup:
    spent = stage.spent
    parts = []
    if spent.chats:
        parts.append(
            f"{words.plural(spent.chats, 'call')}, {words.count(spent.input)} in, {words.count(spent.output)} out"
        )
    if spent.embeddings:
        parts.append(f"{words.plural(spent.embeddings, 'embedding')}, {words.count(spent.embedded)} tokens")
    left = spent.chats + spent.embeddings - len(stage.calls)
    more = element("li", f"and {left:,} more", class_="faint") if left else None
    return element(
        "div",
        element("p", element("b", stage.stage), f" {'; '.join(parts)}", class_="faint"),
        element("ol", *map(_call, stage.calls), more),
        class_="stage",
    )


def _call(call: Call) -> Markup:
    chat = call.kind == "chat"
    tokens = (
        f"{words.count(call.input)} → {words.count(call.output)}" if chat else f"{words.count(call.embedded)} embedded"
    )
    facts = [tokens, words.seconds(call.seconds) if call.seconds is not None else "from the record"]
    facts += ["background"] * call.background
    return element("li", element("span", " · ".join(facts), class_="faint"), joined(_said(call)), class_="call")


def _said(call: Call) -> Iterator[Part]:
    prompt = [call.ending] if call.ending.startswith(call.opening) else [call.opening, call.ending]
    yield element("p", *(part for text in prompt for part in (element("q", text), " ")), class_="prompt")
    if call.error:
        yield element("p", call.error, class_="reply lost")
    elif call.reply:
        yield element("p", call.reply, class_="reply")
