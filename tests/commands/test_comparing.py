"""memgauge compare, as a step of a build uses it: exit code 1 where a stated bound is broken."""

import json

import pytest
from click.testing import CliRunner

from memgauge.cli import cli
from memgauge.errors import UserError
from recalled_ledgers import Asked, Said, recalled_ledger

RIGHT, WRONG = Said("Pepper"), Said("Ginger")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A good run of two memories, and one in which bm25 was made to fail on 5 of 40 questions."""
    directory = tmp_path_factory.mktemp("runs")
    dense = Asked([RIGHT] * 20 + [WRONG] * 20, "dense")
    recalled_ledger(directory / "main", Asked([RIGHT] * 40), dense)
    recalled_ledger(directory / "branch", Asked([RIGHT] * 35 + [WRONG] * 5), dense)
    return directory


def compare(runs, *arguments):
    named = [str(runs / argument) if argument in ("main", "branch") else argument for argument in arguments]
    return CliRunner().invoke(cli, ["compare", *named])


def test_a_planted_regression_is_caught(runs):
    done = compare(runs, "main", "branch", "--fail-if", "token_f1=-0.02", "--fail-if", "sub_em=-0.2")
    assert done.exit_code == 1
    # 5 of 40: a fall of 0.125, beyond 0.02 and within 0.2
    (line,) = done.stderr.splitlines()
    assert line.startswith("memgauge: bm25 on sample: token_f1 went from 1 to 0.875 (-0.125, 95 % of ")
    assert line.endswith("allowed is -0.02")
    assert "5 questions right → wrong:" in done.stdout


def test_a_bound_that_holds_exits_with_nothing_said(runs):
    done = compare(runs, "branch", "main", "--fail-if", "token_f1=-0.02")
    assert (done.exit_code, done.stderr) == (0, "")


def test_a_run_compared_with_itself_finds_nothing(runs):
    done = compare(runs, "main", "main", "--fail-if", "token_f1=-0", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert [entry["a"]["memory"] for entry in found["comparisons"]] == ["bm25", "dense"]
    for entry in found["comparisons"]:
        assert entry["flips"] == []
        assert {metric["paired"]["change"]["value"] for metric in entry["metrics"]} == {0}


def test_two_memories_of_one_run(runs):
    done = compare(runs, "main", "--memories", "dense,bm25", "--json")
    (found,) = json.loads(done.stdout)["comparisons"]
    assert (found["a"]["memory"], found["b"]["memory"]) == ("dense", "bm25")
    assert len(found["flips"]) == 20


def test_the_memories_of_two_runs_can_be_picked_or_crossed(runs):
    def compared(memories):
        found = json.loads(compare(runs, "main", "branch", "--memories", memories, "--json").stdout)
        return [(entry["a"]["memory"], entry["b"]["memory"]) for entry in found["comparisons"]]

    assert compared("dense") == [("dense", "dense")]
    assert compared("dense=bm25,bm25") == [("dense", "bm25"), ("bm25", "bm25")]


def test_with_certain_the_whole_interval_must_be_beyond(runs):
    bound = ("--fail-if", "token_f1=-0.1")
    assert compare(runs, "main", "branch", *bound).exit_code == 1
    assert compare(runs, "main", "branch", *bound, "--certain").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["main"], "give a second run, or two memories of this one: --memories X,Y"),
        (["main", "--memories", "bm25"], "--memories bm25: expected two names, X,Y"),
        (["main", "nowhere"], "no ledger at nowhere"),
        (["main", "branch", "--memories", "bm52"], "unknown memory"),
        (["main", "branch", "--memories", "=bm25"], "--memories =bm25: expected a memory, or ONE=OTHER"),
        (["main", "branch", "--settings", "low"], "--settings low: expected two names, X,Y"),
        (["main", "branch", "--fail-if", "token_f1"], "expected FIGURE=CHANGE"),
        (["main", "branch", "--fail-if", "token_f=-1"], "did you mean 'token_f1'?"),
        (["main", "branch", "--fail-if", "token_f1=+1"], "token_f1 is better when higher"),
        (["main", "branch", "--fail-if", "usd_per_turn=+5%"], "no comparison has usd_per_turn"),
    ],
)
def test_a_mistake_is_one_line_with_exit_code_two(runs, arguments, message):
    done = compare(runs, *arguments)
    assert isinstance(done.exception, UserError)  # which main prints on one line
    assert done.exception.exit_code == 2
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)
