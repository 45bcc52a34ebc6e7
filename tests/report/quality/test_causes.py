"""What became of every question, as bars and as numbers."""

import re

from memgauge.analysis.quality import quality
from memgauge.report.quality.causes import cause_bars, causes_table, key, outcomes
from recalled_ledgers import Asked, Said, recalled_ledger
from tags import Tags

ANSWERS = [
    Said("Pepper"),
    Said("salt", recalled=[]),
    Said("salt", recalled=[]),
    Said("No information available."),
    Said(None),
]


def _memories(directory, *answers):
    (table,) = quality(recalled_ledger(directory, Asked(answers))).workloads
    return table.memories


def test_outcomes_follow_the_chain_and_add_up(tmp_path):
    (memory,) = _memories(tmp_path, *ANSWERS)
    assert list(outcomes(memory.failures).items()) == [
        ("right", 1),
        ("stored but not retrieved", 2),
        ("retrieved but not used", 1),
        ("no answer: an error", 1),
    ]


def test_the_parts_of_a_bar_are_as_wide_as_their_share_and_can_be_looked_up(tmp_path):
    drawn = cause_bars(_memories(tmp_path, *ANSWERS), "sample · default", {"bm25": "c0"}, 820)
    Tags(drawn)
    widths = [float(width) for width in re.findall(r'<rect x="[\d.]+" y="\d+" width="([\d.]+)"', drawn)]
    # a pixel between parts: 1, 2, 1, 1 fifths of what is left beside the name
    assert [round((width + 1) / (sum(widths) + 4) * 5, 1) for width in widths] == [1, 2, 1, 1]
    assert 'data-cause="stored but not retrieved" data-group="sample · default"' in drawn
    assert 'aria-label="bm25: 2 of 5 (40 %) stored but not retrieved"' in drawn


def test_the_key_names_what_occurs_and_nothing_else(tmp_path):
    shown = key(_memories(tmp_path, Said("Pepper"), Said(None)))
    assert re.findall(r"</span>([^<]+)</span>", shown) == ["right", "no answer: an error"]


def test_the_same_in_numbers_with_who_gave_up(tmp_path):
    text = re.sub(r"<[^>]+>", "|", causes_table(_memories(tmp_path, *ANSWERS)))
    assert "|stored but not retrieved||2 · 40 %|" in text
    assert "|gave up, though it was answerable||1, 1 with the evidence before it|" in text


def test_a_memory_without_any_answer_has_a_column_of_its_own_and_no_share(tmp_path):
    failed = Asked([], "dead", status="failed", unit={"questions": 5})
    (table,) = quality(recalled_ledger(tmp_path, Asked([Said("Pepper")]), failed)).workloads
    text = re.sub(r"<[^>]+>", "|", causes_table(table.memories))
    assert "bm25||dead" in text
    assert "right||1 · 100 %||–|" in text
