"""What every page is wrapped in: one self-contained HTML file that loads nothing from the network."""

import base64
import json
from collections.abc import Sequence
from hashlib import sha256
from importlib import resources
from pathlib import Path

from memgauge.errors import UserError
from memgauge.report.markup import Markup, Part, element

# The style sheets of a page, in order; figures.css alone also dresses exported figures.
SHEETS = ("page.css", "quality.css", "inside.css", "figures.css")


class PageError(UserError):
    """The page cannot be written."""


def write_html(html: str, path: Path) -> None:
    """Writes a page to ``path``. Raises PageError where that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html, encoding="utf-8", errors="replace")
    except OSError as fault:
        raise PageError(f"cannot write {path}: {fault.strerror or fault}") from None


def document(
    title: str, first: str, header: Part, main: Part, version: str, *, scripts: Sequence[str] = ("page.js",)
) -> str:
    """The page as one text; ``first`` is the id to which one may skip."""
    css, js = ("".join(map(asset, names)) for names in (SHEETS, scripts))
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
        element("title", title),
        element("style", Markup(css)),
    )
    body = element(
        "body",
        element("a", "Skip to the figures", href=f"#{first}", class_="skip"),
        header,
        main,
        element(
            "footer",
            f"Written by memgauge {version} from a ledger; every figure on this page can be recomputed from it."
            " The page loads nothing from the network.",
        ),
        element("div", id="tip", role="status", hidden=""),
        element("script", Markup(js)),
    )
    return f'<!doctype html>\n<html lang="en">{head}{body}</html>\n'


def data(value: object, css: str) -> Markup:
    """JSON for the page's script, which cannot end the element that it stands in."""
    text = json.dumps(value, separators=(",", ":"))
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return element("script", Markup(safe), type="application/json", class_=css)


def asset(name: str) -> str:
    """A file that ships with the report."""
    return (resources.files("memgauge.report") / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
