"""ReadAgent: where pages end, what is looked up, and what is recalled of it."""

import asyncio
import json
import pickle
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memgauge import tokens
from memgauge.backbones.base import ChatReply, ChatRequest, Usage
from memgauge.conversation import Turn
from memgauge.ledger.frames import Frames
from memgauge.memories.base import Recalled
from memgauge.memories.readagent import ReadAgent
from memgauge.meter.handles import BackboneHandle
from memgauge.workloads.locomo import LoCoMo
from support import Scripted, new_ledger, open_unit

LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo" / "locomo10.json"
WORDS = "one two three four five six seven eight nine ten"


def turn(number: int, text: str = WORDS) -> Turn:
    """Ten words, unless another text is given."""
    return Turn(f"t{number}", "Ann", text)


def label(number: int) -> str:
    return json.dumps({"label": number})


def pages(*numbers: int) -> str:
    return json.dumps({"pages": numbers})


def page(number: int) -> str:
    return json.dumps({"page": number})


@asynccontextmanager
async def reading(tmp_path: Path, *replies: str, **options: Any) -> AsyncIterator[tuple[ReadAgent, Scripted]]:
    """A ReadAgent with pages of 30 to 60 words, whose backbone gives ``replies`` in turn."""
    backbone = Scripted(*replies)
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, backbone)
        with unit.scope(1, "write"):
            options = {"page_words": 60, "earliest_break": 30, **options}
            yield ReadAgent(BackboneHandle(unit), **options), backbone


async def write(memory: ReadAgent, count: int) -> None:
    """Turn by turn: a page of three closes with the sixth turn and with every third after it."""
    for number in range(1, count + 1):
        await memory.write([turn(number)])


def ids(recalled: Recalled) -> list[tuple[str, ...]]:
    return [item.turn_ids for item in recalled.items]


def texts(recalled: Recalled) -> list[str]:
    return [item.text for item in recalled.items]


def faults(tmp_path: Path) -> list[str]:
    return Frames(tmp_path).table("faults")["what"].to_list()


def turn_ids(first: int, last: int) -> tuple[str, ...]:
    return tuple(f"t{number}" for number in range(first, last + 1))


async def test_a_page_ends_where_the_model_says_and_the_rest_stays_open(tmp_path: Path) -> None:
    async with reading(tmp_path, label(2), "Ann counted.", pages()) as (memory, backbone):
        await write(memory, 5)
        assert backbone.requests == []  # 50 of 60 words
        await memory.write([turn(6)])
        recalled = await memory.read("What did Ann count?")
    # From 30 words on every turn may be the last: labels stand behind the third, fourth, fifth and sixth.
    asked = [part.strip() for part in backbone.requests[0].messages[1].parts]
    said = f"Ann: {WORDS}"
    assert asked == [said, said, said, "[label 1]", said, "[label 2]", said, "[label 3]", said, "[label 4]"]
    assert ids(recalled) == [turn_ids(1, 4), ("t5",), ("t6",)]
    assert texts(recalled) == ["Ann counted.\n", f"{said}\n", f"{said}\n"]


async def test_a_break_that_is_the_only_one_is_not_asked_for(tmp_path: Path) -> None:
    async with reading(tmp_path, "Ann counted.", pages()) as (memory, backbone):
        await memory.write([turn(1, " ".join(["word"] * 70))])
        assert len(backbone.requests) == 1  # the gist
        assert ids(await memory.read("What?")) == [("t1",)]


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (label(9), "page break: there is no label 9"),
        (label(0), "page break: there is no label 0"),
        ("After the third message.", "page break: the reply held no whole JSON object"),
        ('{"label": "the last"}', "page break: the reply gave 'label' in another form"),
    ],
)
async def test_a_label_that_is_not_there_ends_the_page_at_the_last(tmp_path: Path, reply: str, told: str) -> None:
    async with reading(tmp_path, reply, "Ann counted.", pages()) as (memory, _):
        await write(memory, 6)
        assert ids(await memory.read("What?")) == [turn_ids(1, 6)]
    assert faults(tmp_path) == [told]


async def test_a_page_takes_two_calls_at_most(tmp_path: Path) -> None:
    # Label 1 is behind three turns of ten words: pages of three turns, each closed when the sixth is there.
    # Of 18 turns: t1–t3 at t6, t4–t6 at t9, …, t13–t15 at t18: five pages; t16–t18 stay open.
    replies = [reply for number in range(5) for reply in (label(1), f"Gist {number}.")]
    async with reading(tmp_path, *replies, pages()) as (memory, backbone):
        await write(memory, 18)
        assert len(backbone.requests) == 10
        assert memory.state()["pages"] == 5
        assert ids(await memory.read("What?"))[-4:] == [turn_ids(13, 15), ("t16",), ("t17",), ("t18",)]


class Paging:
    """A backbone that closes every page as early as it may; stands in for the handle of a unit as well."""

    def __init__(self) -> None:
        self.breaks = self.gists = 0

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.breaks += "response_format" in request.params
        self.gists += "response_format" not in request.params
        return ChatReply(label(1) if "response_format" in request.params else "A gist.", Usage(), "m")


async def test_on_locomo_a_page_takes_one_gist_and_at_most_one_break() -> None:
    if not LOCOMO.is_file():
        pytest.skip(f"no LoCoMo at {LOCOMO}")
    workload = LoCoMo(path=str(LOCOMO))
    for conversation in map(workload.conversation, workload.items()):
        paging = Paging()
        memory = ReadAgent(paging)  # type: ignore[arg-type]
        for said in conversation.turns:
            await memory.write([said])
        pages = memory.state()["pages"]
        assert paging.gists == pages
        assert paging.breaks <= pages
        words = sum(len(said.text.split()) for said in conversation.turns)
        # A page closed at its first label has at least 280 words; less than 600 stay open.
        assert (words - 600) / 600 <= pages <= words / 280


async def test_gists_of_pages_that_close_in_one_write_are_made_side_by_side() -> None:
    meeting = asyncio.Barrier(2)

    class Waiting(Paging):
        async def chat(self, request: ChatRequest) -> ChatReply:
            if "response_format" not in request.params:
                async with asyncio.timeout(10):
                    await meeting.wait()  # passes when both gists are under way
            return await super().chat(request)

    memory = ReadAgent(Waiting(), page_words=60, earliest_break=30)  # type: ignore[arg-type]
    await memory.write([turn(number) for number in range(1, 10)])
    assert memory.state()["pages"] == 2


async def test_a_turn_longer_than_a_page_is_taken_line_by_line(tmp_path: Path) -> None:
    lines = "\n".join(f"{WORDS} {number}." for number in range(12))  # 12 lines of 11 words
    # The first line has the speaker too: 12 words, then 11 each; 30 are there with the third line, 60 with the sixth.
    async with reading(tmp_path, label(9), "G1", label(9), "G2", pages(2)) as (memory, _):
        await memory.write([turn(1, lines)])
        recalled = await memory.read("What?")
    assert ids(recalled) == [("t1",), ("t1",)]
    assert texts(recalled)[1] == "".join(f"{WORDS} {number}.\n" for number in range(6, 12))


async def test_a_language_without_blanks_fills_pages_too(tmp_path: Path) -> None:
    said = "我们上周搬到了波尔图, 猫很喜欢阳台, 姐姐星期一开始在面包店工作. " * 12
    assert len(said.split()) < 60
    async with reading(tmp_path, "搬家", pages()) as (memory, _):
        await memory.write([turn(1, said)])
        assert texts(await memory.read("猫?")) == ["搬家\n"]


async def test_chosen_pages_stand_in_full_among_the_gists_and_rank_first(tmp_path: Path) -> None:
    replies = [label(1), "G1", label(1), "G2", label(1), "G3", pages(3, 1)]
    async with reading(tmp_path, *replies) as (memory, backbone):
        await write(memory, 12)
        recalled = await memory.read("Which number comes last?", datetime(2024, 3, 1, 9, 30))
    full = f"Ann: {WORDS}\n" * 3
    assert texts(recalled) == [full, "G2\n", full, *[f"Ann: {WORDS}\n"] * 3]
    assert recalled.ranked == (turn_ids(7, 9), turn_ids(1, 3), ("t12",), ("t11",), ("t10",), turn_ids(4, 6))
    asked = backbone.requests[-1].messages[1].parts
    assert asked == (
        "[page 1] G1\n", "[page 2] G2\n", "[page 3] G3\n", "Asked on 1 March 2024, 09:30.\n",
        "Question: Which number comes last?",
    )  # fmt: skip


async def test_paper_two_shows_the_chosen_pages_without_the_gists_of_others(tmp_path: Path) -> None:
    replies = [label(1), "G1", label(1), "G2", pages(2)]
    async with reading(tmp_path, *replies, shown="pages", gist="sentence") as (memory, backbone):
        await write(memory, 9)
        recalled = await memory.read("What?")
    assert ids(recalled) == [turn_ids(4, 6), ("t7",), ("t8",), ("t9",)]
    assert "one sentence" in backbone.requests[1].messages[0].text


async def test_no_more_pages_are_opened_than_allowed(tmp_path: Path) -> None:
    replies = [label(1), "G1", label(1), "G2", label(1), "G3", pages(2, 2, 3, 1)]
    async with reading(tmp_path, *replies, pages=2, shown="pages") as (memory, backbone):
        await write(memory, 12)
        assert ids(await memory.read("What?"))[:2] == [turn_ids(4, 6), turn_ids(7, 9)]
    shape = backbone.requests[-1].params["response_format"]["json_schema"]["schema"]["properties"]["pages"]
    assert shape == {"type": "array", "items": {"type": "integer"}, "maxItems": 2}


async def test_pages_that_do_not_exist_are_left_out_with_a_fault(tmp_path: Path) -> None:
    replies = [label(1), "G1", label(1), "G2", pages(7, 1, 0)]
    async with reading(tmp_path, *replies, shown="pages") as (memory, _):
        await write(memory, 9)
        assert ids(await memory.read("What?"))[0] == turn_ids(1, 3)
    frames = Frames(tmp_path)
    assert faults(tmp_path) == ["look-up: there is no page 7, 0"]
    assert frames.text(frames.table("faults")["reply"][0]) == '{"pages":[7,1,0]}'


@pytest.mark.parametrize("reply", ["The second, I think.", pages(9), '{"pages": "all"}', ""])
async def test_a_look_up_of_no_use_opens_the_newest_pages(tmp_path: Path, reply: str) -> None:
    replies = [label(1), "G1", label(1), "G2", label(1), "G3", reply]
    async with reading(tmp_path, *replies, pages=2, shown="pages") as (memory, _):
        await write(memory, 12)
        recalled = await memory.read("What?")
    assert ids(recalled)[:2] == [turn_ids(4, 6), turn_ids(7, 9)]
    assert len(faults(tmp_path)) == 1


async def test_a_page_without_a_gist_is_its_own(tmp_path: Path) -> None:
    async with reading(tmp_path, label(1), " ", pages()) as (memory, backbone):
        await write(memory, 6)
        recalled = await memory.read("What?")
        # The text is held once: three turns of a page, three open ones.
        assert memory.footprint().bytes == len(f"Ann: {WORDS}\n") * 6
    assert texts(recalled)[0] == f"Ann: {WORDS}\n" * 3
    assert backbone.requests[-1].messages[1].parts[0] == f"[page 1] {texts(recalled)[0]}"
    assert faults(tmp_path) == ["gist: the reply was empty"]


async def test_a_gist_longer_than_its_page_is_none(tmp_path: Path) -> None:
    async with reading(tmp_path, label(1), "and so on " * 40, pages()) as (memory, _):
        await write(memory, 6)
        assert texts(await memory.read("What?"))[0] == f"Ann: {WORDS}\n" * 3
    assert faults(tmp_path) == ["gist: the reply is longer than the page"]


@pytest.mark.parametrize(
    ("replies", "calls", "opened"),
    [
        ([page(2), page(1), page(0)], 3, [2, 1]),
        ([page(0)], 1, []),
        ([page(3), page(3)], 2, [3]),  # what was read is not read again: it stops
        ([page(1), page(2), page(3)], 3, [1, 2, 3]),  # three are allowed, so nobody is asked for a fourth
        ([page(2), page(8)], 2, [2]),
        ([page(2), "I know enough."], 2, [2]),
        ([page(8)], 1, [3, 2, 1]),  # nothing of use: the newest
    ],
)
async def test_in_sequence_one_page_is_read_per_call(
    tmp_path: Path, replies: Sequence[str], calls: int, opened: Sequence[int]
) -> None:
    written = [label(1), "G1", label(1), "G2", label(1), "G3"]
    async with reading(tmp_path, *written, *replies, look_up="sequential", pages=3) as (memory, backbone):
        await write(memory, 12)
        recalled = await memory.read("What?")
    assert len(backbone.requests) - len(written) == calls
    assert recalled.ranked is not None
    assert recalled.ranked[: len(opened)] == tuple(turn_ids(3 * number - 2, 3 * number) for number in opened)
    assert recalled.ranked[len(opened)] == ("t12",)


async def test_in_sequence_what_was_read_stands_behind_the_gists_so_that_a_prefix_stays(tmp_path: Path) -> None:
    replies = [label(1), "G1", label(1), "G2", page(2), page(0)]
    async with reading(tmp_path, *replies, look_up="sequential") as (memory, backbone):
        await write(memory, 9)
        await memory.read("What?")
    first, second = (request.messages[1].parts for request in backbone.requests[-2:])
    assert first == ("[page 1] G1\n", "[page 2] G2\n", "Question: What?")
    full = f"Ann: {WORDS}\n" * 3
    assert second == (*first[:2], f"Read again, [page 2]\n{full}", "Question: What?")


async def test_nothing_is_looked_up_while_no_page_is_closed(tmp_path: Path) -> None:
    async with reading(tmp_path) as (memory, backbone):
        await memory.write([turn(1), turn(2)])
        recalled = await memory.read("What?")
    assert backbone.requests == []
    assert ids(recalled) == [("t1",), ("t2",)]


async def test_where_the_window_is_full_the_oldest_gists_go_first(tmp_path: Path) -> None:
    replies = [reply for _ in range(4) for reply in (label(1), "A gist of some words.")]
    gist, said = tokens.count("A gist of some words.\n"), tokens.count(f"Ann: {WORDS}\n")
    # The last page in full and the open turns fit, and two gists of three: t1–t3 are dropped.
    window = 6 * said + 2 * gist
    async with reading(tmp_path, *replies, pages(4), context_tokens=window) as (memory, _):
        await write(memory, 15)
        recalled = await memory.read("What?")
    assert ids(recalled) == [turn_ids(4, 6), turn_ids(7, 9), turn_ids(10, 12), ("t13",), ("t14",), ("t15",)]
    assert recalled.dropped_turns == 3


async def test_the_look_up_shows_the_newest_gists_that_fit(tmp_path: Path) -> None:
    replies = [reply for _ in range(3) for reply in (label(1), "A gist of some words.")]
    async with reading(tmp_path, *replies, pages(), context_tokens=10_000) as (memory, backbone):
        await write(memory, 12)
        await memory.read("What?")
    request = backbone.requests[-1]
    fixed = tokens.count(request.messages[0].text) + tokens.count("Question: What?") + request.params["max_tokens"]
    window = fixed + 2 * tokens.count("[page 2] A gist of some words.\n")
    (tmp_path / "small").mkdir()
    async with reading(tmp_path / "small", *replies, pages(), context_tokens=window) as (memory, backbone):
        await write(memory, 12)
        await memory.read("What?")
    shown = backbone.requests[-1].messages[1].parts
    assert [part[:8] for part in shown] == ["[page 2]", "[page 3]", "Question"]


async def test_dedup_makes_one_page_of_those_whose_gists_have_the_same_words(tmp_path: Path) -> None:
    replies = [label(1), "Ann counted.", label(1), "Ann slept.", label(1), "ann counted", pages(1)]
    async with reading(tmp_path, *replies, dedup=True) as (memory, backbone):
        await write(memory, 12)
        await memory.manage()
        recalled = await memory.read("What?")
    assert ids(recalled)[:2] == [turn_ids(1, 3) + turn_ids(7, 9), turn_ids(4, 6)]
    assert texts(recalled)[0] == f"Ann: {WORDS}\n" * 6
    assert backbone.requests[-1].messages[1].parts[:2] == ("[page 1] Ann counted.\n", "[page 2] Ann slept.\n")
    assert memory.state()["pages"] == 2


async def test_what_the_footprint_counts_is_enough_to_answer_from(tmp_path: Path) -> None:
    replies = [label(1), "Die Güte.", label(1), "G2", pages(2), pages(2)]
    async with reading(tmp_path, *replies) as (memory, _):
        await write(memory, 9)
        held: tuple[Any, Any] = pickle.loads(pickle.dumps((memory._pages, memory._pager._open)))
        texts_held = [text for page in held[0] for text in (page.full.text, page.gist.text)]
        texts_held += [paragraph.item.text for paragraph in held[1]]
        assert memory.footprint().bytes == sum(len(text.encode()) for text in texts_held)
        other = ReadAgent(memory._backbone, page_words=60, earliest_break=30)
        other._pages, other._pager._open = held
        assert await other.read("What?") == await memory.read("What?")


@pytest.mark.parametrize(
    "options",
    [
        {"look_up": "both"},
        {"gist": "long"},
        {"shown": "none"},
        {"pages": 0},
        {"earliest_break": 700, "page_words": 600},
    ],
)
def test_options_that_mean_nothing_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"look_up|gist|shown|pages"):
        ReadAgent(None, **options)  # type: ignore[arg-type]
