"""A spec says what is wrong with it: the file, the place, and what was meant."""

from pathlib import Path

import pytest

from memgauge.errors import UserError
from memgauge.spec import Experiment, load, parse, preset_names

GOOD = """
name = "x"
memories = ["bm25", { name = "dense", label = "dense k=5", options = { k = 5 } }]
[settings.a]
backbone = "extractive"
[[workloads]]
name = "sample"
"""


def test_a_spec_in_full() -> None:
    experiment = parse(GOOD, "x.toml")
    assert [use.title for use in experiment.memory_uses()] == ["bm25", "dense k=5"]
    assert experiment.settings["a"].backbone == "extractive"
    assert experiment.workloads[0].protocols == ("recall",)


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_can_be_loaded(name: str) -> None:
    assert isinstance(load(name), Experiment)


def test_the_hash_tells_experiments_apart() -> None:
    assert parse(GOOD, "a").hash() == parse(GOOD, "b").hash()
    assert parse(GOOD, "a").hash() != parse(GOOD.replace("k = 5", "k = 6"), "a").hash()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "x.toml: malformed TOML"),
        (GOOD.replace('name = "x"', 'nam = "x"'), "unknown field 'nam' in the spec; did you mean 'name'"),
        (GOOD.replace("backbone", "backbonne"), "did you mean 'backbone'"),
        (GOOD.replace('name = "x"', 'name = "../x"'), "must be 1-64 letters"),
        (GOOD.replace('label = "dense k=5"', 'label = "bm25"'), "'bm25' is named twice"),
        (GOOD + 'protocols = ["serv"]', "unknown protocol 'serv'; did you mean 'serve'"),
        (GOOD + 'memories = ["dence k=5"]', "did you mean 'dense k=5'"),
        (GOOD + "limit = 0", "limit of workload 'sample' must be at least 1"),
        (GOOD.replace('["bm25", {', '[{ name = "bm25", write_every = 0 }, {'), "write_every of 'bm25'"),
        ('name = "x"\nmemories = []\nworkloads = []', "memories is empty"),
        (GOOD.replace('"extractive"', "3"), "Expected `str`, got `int`"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_line(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(text, "x.toml")
    said = str(caught.value)
    assert "\n" not in said
    assert said.startswith("x.toml: ")
    assert message in said


def test_an_unknown_preset_names_the_closest() -> None:
    with pytest.raises(UserError, match="unknown preset 'quickstrat'; did you mean 'quickstart'"):
        load("quickstrat")


def test_a_missing_or_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.toml: No such file"):
        load(str(tmp_path / "none.toml"))
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(UserError, match="not UTF-8"):
        load(str(tmp_path / "latin.toml"))
