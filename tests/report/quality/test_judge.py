"""What the page says of the judge."""

import re

from memgauge.analysis.agreement import judge_reliability
from memgauge.report.quality.judge import judge_section, sensitivity_words
from recalled_ledgers import Asked, Said, recalled_ledger
from tags import Tags


def _judged(directory, *verdicts):
    answers = [Said("x", verdicts=dict(zip(("standard-1", "strict-1"), votes, strict=False))) for votes in verdicts]
    return judge_reliability(recalled_ledger(directory, Asked(answers)))


def test_what_the_prompt_alone_changes(tmp_path):
    (found,) = _judged(tmp_path, ("C", "C"), ("C", "W"), ("C", "W"), ("W", "W")).prompts
    assert sensitivity_words(found, several=False) == (
        "2 rubrics judged the same 4 answers. The prompt alone moves accuracy by 0.50, from 0.25 (strict-1) to 0.75"
        " (standard-1), and turns 2 answers from right to wrong. Krippendorff's α between them is 0.12."
        " By every rubric bm25 is best."
    )


def test_rubrics_that_agree(tmp_path):
    (found,) = _judged(tmp_path, ("C", "C"), ("W", "W")).prompts
    assert "All give 0.50. Krippendorff's α between them is 1.00." in sensitivity_words(found, several=False)


def test_the_tables_of_rubrics_and_repeats(tmp_path):
    shown = judge_section(_judged(tmp_path, ("CC", "C"), ("CW", "W"), ("WE", "W")), {"bm25": "c0"})
    Tags(shown)
    text = " ".join(re.sub(r"<[^>]+>", " ", shown).split())
    assert "standard-1 counts" in text
    # of two answers with two verdicts one pair agrees; one repeat of six was an error
    assert text.endswith("standard-1 2 5 50 % 0.00 1 1")


def test_one_verdict_each_says_nothing_of_the_judge(tmp_path):
    assert judge_section(_judged(tmp_path, ("C",)), {"bm25": "c0"}) is None
