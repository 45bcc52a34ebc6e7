"""The quality tables: each workload by its own metrics, and what was neither right nor wrong."""

import re

from memgauge.analysis.quality import quality
from memgauge.report.quality.section import quality_section
from memgauge.report.quality.tables import best_first, category_tables, lines, own, retrieval_table, scores_table
from recalled_ledgers import Asked, Said, recalled_ledger
from tags import Tags

STYLES = {"bm25": "c0", "dense": "c1", "none": "control k0"}


def _only(directory, *units):
    (table,) = quality(recalled_ledger(directory, *units)).workloads
    return table


def _text(markup):
    Tags(markup)
    return " ".join(re.sub(r"<[^>]+>", " ", markup).split())


def _heads(markup):
    return re.findall(r'<button type="button"[^>]*>(.*?)</button>', markup)


def test_locomo_goes_by_number_and_one_to_four_stand_together(tmp_path):
    answers = [Said("Pepper", category="1"), Said("Ginger", category="4"),
               Said("no", category="5", unanswerable=True)]  # fmt: skip
    table = _only(tmp_path, Asked(answers, workload="locomo"))
    assert [line.name for line in lines(table)] == ["1", "4", "5", "1 to 4", "all"]
    assert [line.asked for line in lines(table)] == [1, 1, 1, 2, 3]
    assert 'title="multi-hop"' in category_tables(table, STYLES, "x")


def test_longmemeval_is_task_averaged_and_abstention_stands_apart(tmp_path):
    answers = [
        Said("x", category="multi-session", verdicts={"longmemeval-1": "C"}),
        Said("x", category="temporal-reasoning", verdicts={"longmemeval-1": "W"}),
        Said("x", category="temporal-reasoning", unanswerable=True, verdicts={"longmemeval-1": "W"}),
    ]
    table = _only(tmp_path, Asked(answers, workload="longmemeval"))
    names = [line.name for line in lines(table)]
    assert names == ["multi-session", "temporal-reasoning", "abstention", "answerable", "all", "task-averaged"]
    assert _heads(scores_table(table, STYLES))[1:4] == ["judge accuracy", "task-averaged", "abstention"]
    # 1 of 3 over all, (1/1 + 0/2) / 2 by task
    cells = re.findall(r'<td data-value="([\d.]+)">', scores_table(table, STYLES))
    assert cells[:3] == ["0.333333333", "0.5", "0"]


def test_memoryagentbenchs_official_figure_stands_beside_the_corrected_one(tmp_path):
    answers = [Said("Iran", golds=["Iran"], category=f"factconsolidation_sh_{size}k") for size in (32, 6, 262)]
    table = _only(tmp_path, Asked(answers, workload="memoryagentbench"))
    assert _heads(scores_table(table, STYLES))[1:3] == ["MemoryAgentBench, corrected", "MemoryAgentBench, official"]
    assert [line.name.rpartition("_")[2] for line in lines(table)] == ["6k", "32k", "262k", "all", "mean of tasks"]
    assert "1.00 official 1.00" in _text(category_tables(table, STYLES, "x"))


def test_an_error_is_a_third_outcome(tmp_path):
    answers = [
        Said("Pepper", category="4", verdicts={"standard-1": "C"}),
        Said("Pepper", category="4", verdicts={"standard-1": "E"}),
        Said(None, category="4"),
    ]
    table = _only(tmp_path, Asked(answers, workload="locomo"))
    # one answer was judged, and of one there is no interval; two were scored without the judge
    assert "bm25 not ranked 1.00 1.00 [1.00, 1.00]" in _text(scores_table(table, STYLES))
    assert _text(scores_table(table, STYLES)).endswith("3 2 1 no answer, 1 no verdict")
    assert "1 no answer, 1 no verdict" in _text(category_tables(table, STYLES, "x"))


def test_the_best_stands_first_and_controls_last(tmp_path):
    right, wrong = [Said("Pepper")], [Said("Ginger")]
    table = _only(tmp_path, Asked(wrong, "bm25"), Asked(right, "none", unit={"control": True}), Asked(right, "dense"))
    assert [memory.memory for memory in best_first(table)] == ["dense", "bm25", "none"]
    assert "control" in _text(scores_table(table, STYLES))


def test_retrieval_stands_apart_from_answers(tmp_path):
    table = _only(tmp_path, Asked([Said("Pepper")]))
    assert own(table)[0] == "token_f1"
    assert _heads(retrieval_table(table, STYLES))[1] == "evidence recalled"
    nothing = _only(tmp_path / "b", Asked([Said("Pepper", evidence=())]))
    assert retrieval_table(nothing, STYLES) is None


def test_where_nothing_was_asked_there_is_no_section(tmp_path):
    assert quality_section(quality(recalled_ledger(tmp_path, Asked([]))), STYLES) is None


def test_where_nothing_was_judged_the_page_says_what_is_right_instead(tmp_path):
    text = _text(quality_section(quality(recalled_ledger(tmp_path, Asked([Said("Pepper")]))), STYLES))
    assert "1 question about 1 conversation. Best first by token F1. Not judged" in text
    assert "judge can be trusted" not in text
