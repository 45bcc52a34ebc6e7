"""Choices between things of which one is shown at a time; they work without a script."""

from collections.abc import Sequence

from memgauge.report.markup import Markup, Part, element

Choice = tuple[str, Part]  # what it is called, and what is shown


def tabs(name: str, choices: Sequence[Choice], about: str, *, kind: str = "") -> Markup:
    """One radio button per choice, and what it shows; only what it shows where there is no choice.

    ``name`` is the page's own name for this group of buttons. Groups of one ``kind`` (``cell``) follow each other
    within a section where the page's script runs.
    """
    if len(choices) == 1:
        return element("div", choices[0][1])
    parts: list[Part] = [element("span", about, class_="of", aria_hidden="true")] if kind else []
    for place, (label, shown) in enumerate(choices):
        identity = f"{name}-{place}"
        parts.append(
            element(
                "input", type="radio", name=name, id=identity, checked="" if place == 0 else None,
                data_kind=kind or None, data_choice=label if kind else None,
            )
        )  # fmt: skip
        parts.append(element("label", label, for_=identity))
        parts.append(element("div", shown, class_="panel"))
    return element("div", *parts, class_="tabs", role="group", aria_label=about)
