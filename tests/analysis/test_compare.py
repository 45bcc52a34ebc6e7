import msgspec
import pytest

from ledger_fixtures import call_record, sample_ledger, unit_record
from memgauge.analysis.bounds import BoundError
from memgauge.analysis.compare import DIRECTIONS, bound, compare
from memgauge.errors import UnknownNameError, UserError
from memgauge.ledger.frames import Frames
from memgauge.ledger.writer import FILE_NAME, Ledger
from memgauge.metrics.score import METRICS
from recalled_ledgers import Asked, Said, recalled_ledger

RIGHT, WRONG, FAILED = Said("Pepper"), Said("Ginger"), Said(None)


def _two(directory, before, after, **options):
    """Compares two runs of one memory that gave these answers to the same questions of one conversation."""
    a, b = (recalled_ledger(directory / name, Asked(said)) for name, said in (("a", before), ("b", after)))
    return compare(a, b, **options)


def _metric(compared, name):
    (comparison,) = compared.comparisons
    return next(entry for entry in comparison.metrics if entry.metric == name)


def test_the_same_memory_of_two_runs(tmp_path):
    found = _two(tmp_path, [RIGHT, RIGHT, WRONG, RIGHT], [RIGHT, WRONG, RIGHT, WRONG], names=("main", "branch"))
    (comparison,) = found.comparisons
    assert (comparison.a.run, comparison.b.run, comparison.b.memory) == ("main", "branch", "bm25")
    assert (comparison.questions, comparison.conversations, comparison.decided_by) == (4, 1, "rule")
    exact = _metric(found, "exact_match")
    assert (exact.paired.a, exact.paired.b, exact.paired.change.value) == (0.75, 0.5, -0.25)
    assert (exact.better, exact.worse) == (1, 2)
    # one better, two worse: twice the chance of at most 1 head in 3 tosses is 1
    assert exact.mcnemar == 1


def test_what_flipped_is_listed_both_ways(tmp_path):
    (comparison,) = _two(tmp_path, [RIGHT, RIGHT, WRONG], [RIGHT, WRONG, RIGHT]).comparisons
    assert [(flip.question, flip.a, flip.b, flip.better) for flip in comparison.flips] == [
        ("q2", "Pepper", "Ginger", False),
        ("q3", "Ginger", "Pepper", True),
    ]
    assert comparison.flips[0].golds == ("Pepper",)


def test_two_memories_of_one_run(tmp_path):
    one = recalled_ledger(tmp_path, Asked([RIGHT, WRONG], "bm25"), Asked([RIGHT, RIGHT], "dense"))
    (comparison,) = compare(one, one, memories=[("bm25", "dense")]).comparisons
    assert (comparison.a.memory, comparison.b.memory) == ("bm25", "dense")
    assert [flip.better for flip in comparison.flips] == [True]


def test_without_names_every_memory_that_both_runs_have_is_compared_but_no_control(tmp_path):
    frames = Frames(sample_ledger(tmp_path))
    found = compare(frames, frames)
    assert [entry.a.memory for entry in found.comparisons] == ["full-history", "rolling-window", "dense", "bm25"]
    changes = [entry.paired.change.value for comparison in found.comparisons for entry in comparison.metrics]
    assert set(changes) == {0}


def test_questions_that_one_side_did_not_answer_are_in_no_mean_and_listed(tmp_path):
    found = _two(tmp_path, [RIGHT, WRONG, RIGHT], [RIGHT, RIGHT, FAILED])
    (comparison,) = found.comparisons
    assert (comparison.errors_a, comparison.errors_b) == (0, 1)
    exact = _metric(found, "exact_match")
    # q3 has no score on side B: 1 and 0 against 1 and 1
    assert (exact.paired.n, exact.paired.a, exact.paired.b) == (2, 0.5, 1)
    assert exact.lost == pytest.approx(1 / 3)
    assert [(entry.question, entry.answered, entry.why) for entry in comparison.one_sided] == [
        ("q3", "A", "HTTP 500 from the upstream")
    ]
    assert _metric(found, "error_share").paired.change.value == pytest.approx(1 / 3)


def test_a_question_that_only_one_run_asked_is_listed(tmp_path):
    (comparison,) = _two(tmp_path, [RIGHT, RIGHT], [RIGHT]).comparisons
    assert (comparison.questions, [entry.why for entry in comparison.one_sided]) == (1, ["not asked"])


def test_a_question_that_a_failed_unit_never_came_to_is_an_error(tmp_path):
    a = recalled_ledger(tmp_path / "a", Asked([RIGHT, RIGHT]))
    b = recalled_ledger(tmp_path / "b", Asked([RIGHT], status="failed", unit={"questions": 2}))
    (comparison,) = compare(a, b).comparisons
    assert (comparison.questions, comparison.errors_b) == (2, 1)
    assert comparison.one_sided[0].why == "the upstream went away"


def test_a_question_asked_twice_is_paired_in_order(tmp_path):
    twice = [Said("Pepper", question="q"), Said("Ginger", question="q")]
    (comparison,) = _two(tmp_path, twice, twice).comparisons
    assert (comparison.questions, comparison.flips) == (2, ())


def test_the_judge_decides_flips_only_where_both_sides_were_judged(tmp_path):
    judged = [Said("It was the dog", verdicts={"standard-1": "C"})]
    other = [Said("The cat", verdicts={"standard-1": "W"})]
    (comparison,) = _two(tmp_path / "1", judged, other).comparisons
    assert (comparison.decided_by, len(comparison.flips)) == ("judge", 1)
    (comparison,) = _two(tmp_path / "2", judged, [Said("The cat")]).comparisons
    assert (comparison.decided_by, len(comparison.flips)) == ("rule", 0)


def test_a_planted_regression_breaks_its_bound(tmp_path):
    before, after = [RIGHT] * 20, [RIGHT] * 18 + [WRONG] * 2
    found = _two(tmp_path / "1", before, after, bounds=[bound("token_f1=-0.05"), bound("sub_em=-0.1")])
    # a fall of 0.1 is beyond 0.05, and exactly the 0.1 that is allowed
    assert [(broken.bound, broken.memory, broken.workload) for broken in found.broken] == [
        ("token_f1=-0.05", "bm25", "sample")
    ]
    assert found.broken[0].why.startswith("token_f1 went from 1 to 0.9 (-0.1, 95 % of ")
    assert _two(tmp_path / "2", before, after, bounds=[bound("token_f1=-5%")]).broken
    assert not _two(tmp_path / "3", after, before, bounds=[bound("token_f1=-0")]).broken


def test_with_certain_the_whole_interval_must_be_beyond(tmp_path):
    before, after = [RIGHT] * 20, [RIGHT] * 18 + [WRONG] * 2
    bounds = [bound("token_f1=-0.05")]
    # 2 of 20 questions: the interval of the fall reaches up to no change at all
    assert not _two(tmp_path / "1", before, after, bounds=bounds, certain=True).broken
    assert _two(tmp_path / "2", before, [WRONG] * 20, bounds=bounds, certain=True).broken


def test_a_crash_does_not_pass_as_quality(tmp_path):
    # what is left after the errors is as good as before, but 10 % of the questions have no score any more
    (broken,) = _two(tmp_path, [RIGHT] * 20, [RIGHT] * 18 + [FAILED] * 2, bounds=[bound("token_f1=-0.02")]).broken
    assert broken.why == "B has no token_f1 of 10 % of the questions that A has"


def test_a_total_crash_breaks_every_bound_even_beside_a_memory_that_holds(tmp_path):
    other = Asked([RIGHT] * 4, "dense")
    a = recalled_ledger(tmp_path / "a", Asked([RIGHT] * 4), other)
    crashed = Asked([], status="failed", unit={"questions": 4})
    b = recalled_ledger(tmp_path / "b", crashed, other)
    found = compare(a, b, bounds=[bound("token_f1=-0.02"), bound("store_bytes=+5%")])
    assert [(broken.memory, broken.why) for broken in found.broken] == [
        ("bm25", "B has no token_f1 of 100 % of the questions that A has"),
        ("bm25", "B has no store_bytes of 100 % of the conversations that A has"),
    ]


def test_a_run_that_was_stopped_has_not_answered(tmp_path):
    a = recalled_ledger(tmp_path / "a", Asked([RIGHT, RIGHT]))
    b = recalled_ledger(tmp_path / "b", Asked([RIGHT], status="interrupted", unit={"questions": 2}))
    assert compare(a, b, bounds=[bound("sub_em=-0.5")]).broken[0].why.startswith("B has no sub_em of 50 %")


def test_a_bound_on_errors(tmp_path):
    found = _two(tmp_path, [RIGHT] * 50, [RIGHT] * 49 + [FAILED], bounds=[bound("error_share=+0.01")])
    assert found.broken[0].why.startswith("error_share went from 0 to 0.02")
    again = _two(tmp_path / "2", [RIGHT] * 50, [RIGHT] * 49 + [FAILED], bounds=[bound("error_share=+5%")])
    assert again.broken  # from nothing, any growth is beyond every share


def test_a_bound_that_nothing_can_check_is_a_fault(tmp_path):
    with pytest.raises(BoundError, match="no comparison has judge on both sides"):
        _two(tmp_path, [RIGHT], [RIGHT], bounds=[bound("judge=-0.02")])


def _served(directory, tokens):
    """Six conversations of ten turns, whose answers took so many input tokens each."""
    directory.mkdir()
    with Ledger.create(directory / FILE_NAME, {"spec": "{}"}) as ledger:
        for unit in range(1, 7):
            ledger.add_units([unit_record(unit, "bm25", "serve", f"talk-{unit}", turns=10)])
            ledger.start_unit(unit, 0.0)
            for turn in range(1, 11):
                ledger.add_call(call_record(unit, turn, turn, "answer", input_tokens=tokens + unit))
            ledger.end_unit(unit, "done", now=1.0, wall_s=1.0, store=(1000, 100))
    return Frames(directory)


def test_costs_are_compared_per_turn_and_gated_as_shares(tmp_path):
    a, b = _served(tmp_path / "a", 100), _served(tmp_path / "b", 110)
    found = compare(a, b, bounds=[bound("input_tokens_per_turn=+5%"), bound("store_bytes=+5%")], certain=True)
    (comparison,) = found.comparisons
    costs = {entry.cost: entry.paired for entry in comparison.costs}
    # a mean of 103.5 and one of 113.5 over sixty turns
    assert (costs["input_tokens_per_turn"].a, costs["input_tokens_per_turn"].b) == (103.5, 113.5)
    assert costs["input_tokens_per_turn"].relative.value == pytest.approx(10 / 103.5)
    assert costs["store_bytes"].change.value == 0
    assert [broken.bound for broken in found.broken] == ["input_tokens_per_turn=+5%"]
    assert (comparison.questions, comparison.metrics) == (0, ())


def test_settings_are_matched_by_name_or_must_be_named(tmp_path):
    low, high = ({"setting": name} for name in ("low", "high"))
    a = recalled_ledger(tmp_path / "a", Asked([RIGHT], unit=low), Asked([WRONG], unit=high))
    b = recalled_ledger(tmp_path / "b", Asked([RIGHT], unit={"setting": "other"}))
    assert [entry.a.setting for entry in compare(a, a).comparisons] == ["low", "high"]
    (comparison,) = compare(a, b, settings=("high", "other")).comparisons
    assert (comparison.a.setting, comparison.b.setting) == ("high", "other")
    with pytest.raises(UserError, match="no setting in common; name one of each: low, high and other"):
        compare(a, b)
    with pytest.raises(UnknownNameError, match="setting"):
        compare(a, b, settings=("hgih", "other"))


def test_runs_that_share_nothing_are_a_fault(tmp_path):
    a = recalled_ledger(tmp_path / "a", Asked([RIGHT], "bm25", item="one"))
    b = recalled_ledger(tmp_path / "b", Asked([RIGHT], "dense", item="two"))
    with pytest.raises(UserError, match="no memory in common; name one of each: bm25 and dense"):
        compare(a, b)
    with pytest.raises(UserError, match="no question and no finished conversation in common"):
        compare(a, b, memories=[("bm25", "dense")])
    with pytest.raises(UnknownNameError, match="did you mean 'dense'"):
        compare(a, b, memories=[("bm25", "dens")])


def test_every_metric_has_a_direction_for_bounds():
    assert set(METRICS) < set(DIRECTIONS)
    assert (DIRECTIONS["judge"], DIRECTIONS["usd_per_turn"], DIRECTIONS["error_share"]) == (True, False, False)


def test_the_whole_can_be_sent_as_json(tmp_path):
    told = msgspec.json.decode(msgspec.json.encode(_two(tmp_path, [RIGHT, WRONG], [WRONG, RIGHT])))
    assert told["comparisons"][0]["flips"][0]["question"] == "q1"
