"""The page of an analysis: whole, safe, and saying why where it has nothing to show."""

import re

import pytest

from analysed import grid_ledger
from ledger_fixtures import sample_ledger
from memgauge.analysis.analyze import Choices, analyze
from memgauge.analysis.summary import what_ran
from memgauge.ledger.frames import Frames
from memgauge.prices import load_card
from memgauge.report.analysis.page import analysis_page, write_analysis_page
from memgauge.report.shell import PageError
from served_ledgers import Memory, served_ledger
from tags import Tags

FEW = Choices(providers={"groq": 1.0}, resamples=20)


def shown(frames, card=None):
    return analysis_page(analyze(frames, card, FEW), what_ran(frames))


def words_of(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    return shown(grid_ledger(tmp_path_factory.mktemp("grid")), load_card("total-recall"))


def test_it_is_whole_and_loads_nothing(html):
    found = Tags(html).found
    assert not [a for _, a in found if a.keys() & {"src", "srcset", "action", "onclick", "style"}]
    assert not [tag for tag, _ in found if tag in ("link", "img", "iframe", "object")]
    policy = next(a["content"] for _, a in found if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_no_two_elements_share_an_id_and_every_label_has_its_button(html):
    found = Tags(html).found
    ids = [a["id"] for _, a in found if "id" in a]
    assert len(ids) == len(set(ids))
    assert {a["for"] for tag, a in found if tag == "label"} <= set(ids)


def test_it_has_every_table_of_the_paper_and_every_figure(html):
    text = words_of(html)
    for heading in (
        "What a conversation costs", "What explains the cost", "When each memory pays", "Where the tokens go",
        "Accuracy for its price", "Beside the paper", "What was left out",
    ):  # fmt: skip
        assert f" {heading} " in text
    assert {f"Table {n}:" in text for n in (1, 2, 3, 4, 6, 7, 8)} == {True}
    for figure in ("chart lines", "chart bars", "chart strip", "chart map", "chart scatter"):
        assert f'class="{figure}"' in html


def test_what_was_left_out_is_counted_with_its_reason(html):
    text = words_of(html)
    assert "2 units in no fit and no mean." in text
    assert "1 unit of full-history (low, 14 × 100), failed: HTTP 400: prompt rejected" in text


def test_turns_that_cost_nothing_are_told(html):
    # The control costs nothing at its first turn in each of its three conversations.
    assert "none, low : 3 of 24 turns cost nothing and enter as log(0 + 1)" in words_of(html)


def test_where_full_history_was_cut_off_the_page_says_what_is_fitted(html):
    assert "full-history was cut off after turn 10; beyond it break-even is extended by the fitted" in words_of(html)
    assert 'class="curve fitted"' in html


def test_without_full_history_it_says_which_memory_is_missing(tmp_path):
    frames = served_ledger(tmp_path, [Memory("mem0", lambda size, turn, seed: 400, ((6, 40), (6, 160), (12, 80)))])
    text = words_of(shown(frames))
    assert "No break-even: no finished full-history here; add it to the memories." in text
    assert "No map: it needs a cost model of full-history (which finished no run)." in text


def test_with_two_cells_it_says_why_nothing_was_held_out(tmp_path):
    frames = served_ledger(
        tmp_path, [Memory("full-history", lambda size, turn, seed: size * turn, ((6, 40), (9, 160)))]
    )
    assert "No held-out error: it needs at least 3 cells, the ledger has 2." in words_of(shown(frames))


def test_a_ledger_in_which_nothing_was_served_is_a_page_too(tmp_path):
    text = words_of(shown(served_ledger(tmp_path, [])))
    assert "Nothing was served in this run" in text
    assert "No cost model: no run of the serve protocol finished." in text


def test_a_conversation_that_is_no_cell_is_shown_under_its_name(tmp_path):
    html = shown(Frames(sample_ledger(tmp_path)))
    text = words_of(html)
    assert "sample-1" in text
    assert "135M model: proves the pipeline; no basis for claims about answer quality" in text
    Tags(html)


def test_names_from_a_ledger_are_never_markup(tmp_path):
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    frames = served_ledger(
        tmp_path,
        [
            Memory(name, lambda size, turn, seed: 10 * turn, ((6, 40), (6, 160), (12, 80)), setting=evil,
                   unit={"model": evil, "workload": evil})
            for name in (evil, "full-history")
        ],
    )  # fmt: skip
    found = Tags(shown(frames)).found
    assert not [tag for tag, _ in found if tag == "img"]
    kinds = [a.get("type") for tag, a in found if tag == "script"]
    assert [kind for kind in kinds if kind != "application/json"] == [None]  # our own, and no other


def test_a_page_that_cannot_be_written_says_where(tmp_path):
    frames = served_ledger(tmp_path, [])
    (tmp_path / "file").write_text("")
    with pytest.raises(PageError, match=r"cannot write .*analysis\.html"):
        write_analysis_page(analyze(frames), what_ran(frames), tmp_path / "file" / "analysis.html")
