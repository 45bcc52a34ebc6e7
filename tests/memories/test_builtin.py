"""What each built-in memory recalls, worked out by hand."""

from datetime import datetime

import bm25s
import numpy as np
import pytest

from memgauge.conversation import Turn
from memgauge.errors import UnknownNameError, UserError
from memgauge.memories import registry
from memgauge.memories.base import Card, Evidence, Item
from memgauge.memories.bm25 import BM25, STOP_WORDS
from memgauge.memories.dense import Dense
from memgauge.memories.full_history import FullHistory
from memgauge.memories.oracle import Oracle
from memgauge.memories.rolling_window import RollingWindow

TURNS = [Turn(f"t{i}", "Ann", f"word{i} apples") for i in range(1, 13)]


def recalled_ids(recalled) -> list[str]:  # type: ignore[no-untyped-def]
    return [turn_id for item in recalled.items for turn_id in item.turn_ids]


class Axes:
    """Embeds the n-th word along axis n: similarity is chosen by the test."""

    async def embed(self, texts):  # type: ignore[no-untyped-def]
        words = ("red", "green", "blue")
        return np.array([[float(text.count(word)) for word in words] for text in texts], np.float32)


async def test_the_rolling_window_holds_the_last_k() -> None:
    memory = RollingWindow(k=10)
    await memory.write(TURNS)
    assert recalled_ids(await memory.read("anything")) == [f"t{i}" for i in range(3, 13)]


async def test_full_history_drops_whole_oldest_turns_and_counts_them() -> None:
    line = Item.of(TURNS[0]).text
    from memgauge import tokens

    memory = FullHistory(context_tokens=5 * tokens.count(line))
    await memory.write([Turn(f"t{i}", "Ann", "word1 apples") for i in range(1, 9)])
    recalled = await memory.read("anything")
    assert recalled_ids(recalled) == ["t4", "t5", "t6", "t7", "t8"]
    assert recalled.dropped_turns == 3


async def test_full_history_without_a_known_window_drops_nothing() -> None:
    memory = FullHistory()
    await memory.write(TURNS)
    recalled = await memory.read("anything")
    assert (len(recalled.items), recalled.dropped_turns) == (12, 0)


async def test_the_oracle_recalls_the_evidence_and_nothing_else() -> None:
    memory = Oracle(Evidence({"Which?": ("t5", "t2")}))
    await memory.write(TURNS)
    assert recalled_ids(await memory.read("Which?")) == ["t2", "t5"]
    assert recalled_ids(await memory.read("Something else")) == []


async def test_dense_recalls_the_nearest_in_reading_order_and_ranks_by_similarity() -> None:
    memory = Dense(Axes(), k=2)  # type: ignore[arg-type]
    await memory.write([Turn("a", "Ann", "red green"), Turn("b", "Ann", "blue"), Turn("c", "Ann", "red")])
    recalled = await memory.read("red")
    assert recalled_ids(recalled) == ["a", "c"]
    assert recalled.ranked == (("c",), ("a",))


async def test_dense_counts_its_vectors() -> None:
    memory = Dense(Axes())  # type: ignore[arg-type]
    await memory.write([Turn("a", "Ann", "red")])
    # "Ann: red\n" is 9 bytes, its vector three float32.
    assert memory.footprint().bytes == 9 + 12


async def test_bm25_scores_equal_those_of_a_reference_implementation() -> None:
    said = ["the red fox jumps", "a red red barn", "foxes and hens", "the barn door", "red fox red fox"]
    memory = BM25()
    await memory.write([Turn(str(i), "", text) for i, text in enumerate(said)])
    reference = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    corpus = bm25s.tokenize(said, stopwords=list(STOP_WORDS), show_progress=False)
    reference.index(corpus, show_progress=False)

    for query in ("red fox", "barn", "hens red", "door door"):
        terms = bm25s.tokenize([query], stopwords=list(STOP_WORDS), show_progress=False, return_ids=False)[0]
        scores = memory.scores(query)
        ours = [scores.get(i, 0.0) for i in range(len(said))]
        assert ours == pytest.approx(reference.get_scores(list(terms)).tolist(), abs=1e-5)


async def test_bm25_answers_a_query_of_stop_words_only() -> None:
    memory = BM25()
    await memory.write([Turn("a", "Ann", "to be or not to be"), Turn("b", "Ben", "red fox")])
    assert recalled_ids(await memory.read("to be")) == ["a"]


async def test_turns_are_dated_for_the_reader() -> None:
    turn = Turn("a", "Ann", "Hello", datetime(2023, 5, 8, 13, 56))
    assert Item.of(turn).text == "[8 May 2023, 13:56] Ann: Hello\n"


def test_an_unknown_memory_or_option_names_the_closest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'dense'"):
        registry.check("densee", {})
    with pytest.raises(UserError, match="no option 'kk'; did you mean 'k'"):
        registry.check("dense", {"kk": 3})


def test_a_memory_that_is_no_control_may_not_ask_for_the_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    class Cheat(Oracle):
        card = Card("cheat", "Cheat", "asks for what it may not see")

    monkeypatch.setattr(registry, "_load", lambda name: Cheat)
    services = registry.Services(None, None, None, Evidence({}))  # type: ignore[arg-type]
    with pytest.raises(UserError, match="only a control may see"):
        registry.create("cheat", {}, services)
