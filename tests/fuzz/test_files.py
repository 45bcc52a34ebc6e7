"""Whatever stands in a file that a user names: it is read, or refused in one line."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge.commands.parse import cells, option, pairs, shares
from memgauge.errors import UserError
from memgauge.prices import load_card
from memgauge.runner.plan import check
from memgauge.spec import Experiment, parse

NAMES = st.sampled_from(["bm25", "dense", "none", "bm52", "../x", ""]) | st.text(max_size=10)
SCALAR = st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=True) | NAMES
OPTIONS = st.dictionaries(
    st.sampled_from(["k", "path", "label", "command", "x"]), SCALAR | st.lists(SCALAR, max_size=2), max_size=3
)
MEMORY = NAMES | st.fixed_dictionaries(
    {"name": NAMES | SCALAR},
    optional={"label": SCALAR, "write_every": SCALAR, "options": OPTIONS | SCALAR, "kind": SCALAR},
)
SETTING = st.fixed_dictionaries(
    {}, optional={"backbone": st.sampled_from(["extractive", "constant", "endpoint", "x"]) | SCALAR, "model": SCALAR,
                  "base_url": SCALAR | st.sampled_from(["http://[::1", "http://a:b@c/v1"]), "temperature": SCALAR,
                  "window": SCALAR, "embedder": SCALAR, "provider": SCALAR | OPTIONS, "max_output_tokens": SCALAR},
)  # fmt: skip
WORKLOAD = st.fixed_dictionaries(
    {"name": st.sampled_from(["sample", "locomo", "synthetic", "/etc", "x.jsonl"]) | SCALAR},
    optional={"protocols": st.lists(st.sampled_from(["serve", "recall", "act"]) | SCALAR, max_size=2) | SCALAR,
              "limit": SCALAR, "questions": SCALAR, "options": OPTIONS, "memories": st.lists(NAMES, max_size=2)},
)  # fmt: skip
SPEC = st.fixed_dictionaries(
    {"name": st.sampled_from(["x", "../../x", "a/b", "."]) | SCALAR, "memories": st.lists(MEMORY, max_size=3) | SCALAR,
     "workloads": st.lists(WORKLOAD, max_size=2) | SCALAR},
    optional={"settings": st.dictionaries(st.text(max_size=5), SETTING, max_size=2) | SCALAR,
              "seeds": st.lists(SCALAR, max_size=2), "prices": SCALAR, "answer_tokens": SCALAR},
)  # fmt: skip


def toml(value: Any) -> str:
    """A value as inline TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(str(key))} = {toml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = "".join(c if c.isalnum() and c.isascii() else f"\\U{ord(c):08x}" for c in value)
        return f'"{escaped}"'
    return str(value)


def one_line(fault: UserError) -> None:
    assert str(fault)
    assert "\n" not in str(fault).strip()


@settings(max_examples=300, deadline=None)
@given(SPEC)
def test_any_spec_is_an_experiment_or_refused_in_one_line(spec: dict[str, Any]) -> None:
    text = "\n".join(f"{key} = {toml(value)}" for key, value in spec.items())
    try:
        experiment = parse(text, "fuzz.toml")
        check(experiment)
    except UserError as fault:
        one_line(fault)
    else:
        assert isinstance(experiment, Experiment)
        assert experiment.hash() == parse(text, "again.toml").hash()
        assert Path(experiment.name).name == experiment.name  # a default directory is runs/NAME


@given(st.text() | st.binary().map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_a_spec_or_refused_in_one_line(text: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(text, "fuzz.toml")
    one_line(caught.value)


PRICE_FIELDS = ("model", "provider", "input", "output", "cached_input", "cache_write", "embedding", "above_tokens",
                "aliases", "cache", "x")  # fmt: skip
PRICE = st.fixed_dictionaries({}, optional=dict.fromkeys(PRICE_FIELDS, SCALAR))


@settings(max_examples=200, deadline=None)
@given(st.lists(PRICE, max_size=3), st.sampled_from(["2026-01-01", "2026-01-01T00:00:00", '"soon"', "7", "2026-13-01"]))
def test_any_card_is_a_card_or_refused_in_one_line(tmp_path_factory, prices, date) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path_factory.mktemp("card") / "card.toml"
    lines = [f"date = {date}"]
    for price in prices:
        lines += ["[[price]]", *(f"{key} = {toml(value)}" for key, value in price.items())]
    path.write_text("\n".join(lines), encoding="utf-8")
    try:
        load_card(path)
    except UserError as fault:
        one_line(fault)


@given(st.text(max_size=20))
def test_any_flag_is_understood_or_refused_in_one_line(text: str) -> None:
    for read in (option, lambda t: pairs([t], "--x"), lambda t: shares([t, t]), lambda t: cells([t])):
        try:
            read(text)
        except UserError as fault:
            one_line(fault)
