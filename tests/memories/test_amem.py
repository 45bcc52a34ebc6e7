"""What A-MEM makes of turns, how its notes change each other, and what that costs, worked out by hand."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memgauge import tokens
from memgauge.backbones.base import ChatReply, ChatRequest, Usage
from memgauge.backbones.extractive import Extractive
from memgauge.conversation import Turn
from memgauge.embedders.hashing import Hashing
from memgauge.errors import UserError
from memgauge.ledger.frames import Frames
from memgauge.memories import registry
from memgauge.memories.amem import AMem
from memgauge.memories.base import Evidence, Recalled
from memgauge.meter.handles import BackboneHandle, EmbedderHandle
from memgauge.meter.meter import Meter
from memgauge.spec import Setting
from memgauge.workloads.locomo import LoCoMo
from support import Scripted, new_ledger, open_unit, unit_record

LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo" / "locomo10.json"
COLOURS = ("red", "green", "blue")


def turns(*texts: str) -> list[Turn]:
    return [Turn(f"t{i}", "Ann", text) for i, text in enumerate(texts, start=1)]


def ids(recalled: Recalled) -> list[str]:
    return [turn_id for item in recalled.items for turn_id in item.turn_ids]


def ranked(recalled: Recalled) -> list[str]:
    return [turn_id for group in recalled.ranked or () for turn_id in group]


class Colours:
    """Embeds by the colours that a text names: similarity is chosen by the test. Keeps what it was given."""

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> Any:
        self.calls.append(list(texts))
        return np.array([[float(text.count(word)) for word in COLOURS] for text in texts], np.float32)


class Notebook:
    """A backbone that gives every message the same tags and answers evolutions from a list, then with no change."""

    def __init__(self, *evolutions: Any, tags: Sequence[str] = ()) -> None:
        self.evolutions = list(evolutions)
        self.tags = list(tags)
        self.asked: list[str] = []
        self.shown: list[str] = []
        self.faults: list[str] = []
        self.under_way = self.most = 0

    async def chat(self, request: ChatRequest) -> ChatReply:
        name = request.params["response_format"]["json_schema"]["name"]
        self.asked.append(name)
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        reply: Any = {"keywords": [], "context": "", "tags": self.tags}
        if name == "evolution":
            self.shown.append(request.messages[-1].text)
            reply = {"linked_notes": [], "tags": [], "revised_notes": []} | (
                self.evolutions.pop(0) if self.evolutions else {}
            )
        elif name == "keywords":
            reply = {"keywords": ["green"]}
        return ChatReply(json.dumps(reply), Usage(), "notebook")

    def fault(self, what: str, reply: str | None = None) -> None:
        self.faults.append(what)


def amem(notebook: Notebook, colours: Colours | None = None, **options: Any) -> AMem:
    return AMem(notebook, colours or Colours(), **options)  # type: ignore[arg-type]


async def told(memory: AMem, *texts: str) -> AMem:
    for turn in turns(*texts):
        await memory.write([turn])
        await memory.manage()
    return memory


async def test_a_note_shows_the_message_as_said_and_what_the_backbone_made_of_it(tmp_path: Path) -> None:
    described = '{"keywords": ["Porto", " move ", "Porto"], "context": "Ann tells\\nof her move.", "tags": ["home"]}'
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted(described))
        memory = AMem(BackboneHandle(unit), EmbedderHandle(unit))
        with unit.scope(1, "write"):
            await memory.write([Turn("t1", "Ann", "I moved to Porto.", datetime(2024, 3, 1, 9, 30))])
        with unit.scope(1, "read"):
            [item] = (await memory.read("Porto")).items
    assert item.turn_ids == ("t1",)
    assert item.text == (
        "[1 March 2024, 09:30] Ann: I moved to Porto.\n"
        "  context: Ann tells of her move.\n  keywords: Porto, move\n  tags: home\n"
    )


async def test_a_turn_takes_one_call_in_write_and_one_in_manage_but_for_the_first_of_a_conversation() -> None:
    notebook = Notebook()
    memory = amem(notebook)
    await memory.write(turns("red", "green", "blue"))
    assert notebook.asked == ["described"] * 3
    await memory.manage()
    assert notebook.asked == ["described"] * 3 + ["evolution"] * 2
    await memory.manage()
    assert len(notebook.asked) == 2 * 3 - 1


async def test_the_messages_of_one_write_are_described_side_by_side_and_evolve_one_after_the_other() -> None:
    notebook = Notebook()
    memory = amem(notebook)
    await memory.write(turns("red", "green", "blue", "red blue"))
    assert notebook.most == 4
    notebook.most = 0
    await memory.manage()
    assert notebook.most == 1


async def test_the_ledger_of_a_recall_run_holds_the_calls_by_stage(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite", [unit_record(memory="amem")]) as ledger:
        unit = Meter(ledger, Setting(), Extractive(), Hashing()).open(1, attempt=ledger.start_unit(1, 0.0))
        services = registry.Services(BackboneHandle(unit), EmbedderHandle(unit), None, Evidence({}))
        memory = registry.create("amem", {"reembed_every": 3}, services)
        for number, turn in enumerate(turns(*(f"My cat met dog {i} in town {i % 3}." for i in range(7))), start=1):
            with unit.scope(number, "write"):
                await memory.write([turn])
            with unit.scope(number, "manage"):
                await memory.manage()
        with unit.scope(7, "read"):
            await memory.read("Whom did the cat meet?")
    calls = Frames(tmp_path).calls()
    # 7 notes, 6 evolutions, all of which change something: vectors are renewed after the third and the sixth.
    assert Counter(zip(calls["stage"], calls["kind"], strict=True)) == {
        ("write", "chat"): 7, ("write", "embed"): 7, ("manage", "chat"): 6, ("manage", "embed"): 2,
        ("read", "embed"): 1,
    }  # fmt: skip


async def test_locomo_takes_two_calls_a_turn_less_one_a_dialogue() -> None:
    if not LOCOMO.is_file():
        pytest.skip(f"no LoCoMo at {LOCOMO}")
    asked: Counter[str] = Counter()
    said = 0
    workload = LoCoMo(path=str(LOCOMO))
    for conversation in map(workload.conversation, workload.items()):
        notebook = Notebook()
        memory = amem(notebook)
        for turn in conversation.turns:
            await memory.write([turn])
            await memory.manage()
        asked.update(notebook.asked)
        said += len(conversation.turns)
    # 5,882 turns in 10 dialogues: 2 · 5,882 − 10 = 11,754, what LightMem's authors count for A-MEM.
    assert said == 5882
    assert asked == {"described": 5882, "evolution": 5872}
    assert asked.total() == 11_754


async def test_an_evolution_is_shown_the_nearest_notes_by_their_numbers_and_last_the_added_one() -> None:
    notebook = Notebook()
    await told(amem(notebook, neighbours=2), "red", "green", "red green", "red red green")
    # cosine with (2, 1, 0): red 2/√5 = 0.89, green 1/√5 = 0.45, red green 3/√10 = 0.95
    assert notebook.shown[-1] == (
        "Note 3:\nAnn: red green\nNote 1:\nAnn: red\nAdded note:\nAnn: red red green\n"
    )  # fmt: skip


async def test_notes_of_one_write_are_neighbours_of_those_after_them_only() -> None:
    notebook = Notebook()
    memory = amem(notebook)
    await memory.write(turns("red", "red red", "red red red"))
    await memory.manage()
    assert notebook.shown == [
        "Note 1:\nAnn: red\nAdded note:\nAnn: red red\n",
        # all have the same direction: of equal similarities the later one is the nearer
        "Note 2:\nAnn: red red\nNote 1:\nAnn: red\nAdded note:\nAnn: red red red\n",
    ]


async def test_a_link_leads_from_the_note_that_is_found_to_one_that_is_not() -> None:
    notebook = Notebook({}, {"linked_notes": [1]})
    memory = await told(amem(notebook, k=1), "blue", "green", "red")
    recalled = await memory.read("red")
    assert ids(recalled) == ["t1", "t3"]  # as they were said
    assert ranked(recalled) == ["t3", "t1"]  # the one found, then the one linked
    assert ids(await memory.read("blue")) == ["t1"]  # links lead back in time, from the note that was added


async def test_at_most_k_linked_notes_are_appended_and_none_is_recalled_twice() -> None:
    notebook = Notebook({}, {}, {"linked_notes": [1, 2, 3]}, {"linked_notes": [4, 1, 2, 3]})
    memory = await told(amem(notebook, k=2), "blue", "green", "green blue", "red blue", "red")
    # found: t5 (1), t4 (0.71); linked by t5: t4 (found itself), t1, t2, t3, of which two fit
    assert ranked(await memory.read("red")) == ["t5", "t4", "t1", "t2"]


async def test_notes_that_do_not_fit_the_window_are_left_out_the_nearest_first_to_stay() -> None:
    notebook = Notebook({}, {"linked_notes": [1]})
    texts = ("blue", "green", "red")
    window = sum(tokens.count(f"Ann: {text}\n") for text in ("red", "blue")) - 1
    memory = await told(amem(notebook, k=1, context_tokens=window), *texts)
    recalled = await memory.read("red")
    assert (ids(recalled), recalled.dropped_turns) == (["t3"], 1)


async def test_evolution_gives_the_added_note_tags_and_neighbours_another_context_and_tags() -> None:
    evolution = {"tags": ["moving"], "revised_notes": [{"note": 1, "context": "It is sold now.", "tags": ["house"]}]}
    memory = await told(amem(Notebook(evolution)), "red house", "red house sold")
    [first, second] = (await memory.read("red")).items
    assert first.text == "Ann: red house\n  context: It is sold now.\n  tags: house\n"
    assert second.text == "Ann: red house sold\n  tags: moving\n"
    assert (first.turn_ids, second.turn_ids) == (("t1",), ("t2",))  # hearsay is no evidence


async def test_numbers_stay_with_their_notes_however_the_neighbours_are_ordered() -> None:
    # The eighth note's neighbours are 6 and 7; to rewrite number 6 is to rewrite the sixth note, not the first shown.
    notebook = Notebook(*[{}] * 6, {"revised_notes": [{"note": 6, "context": "Sixth.", "tags": []}]})
    memory = await told(
        amem(notebook, neighbours=2), "red", "green", "red", "green", "red", "blue", "blue green", "blue blue green"
    )
    assert notebook.shown[-1].startswith("Note 7:\nAnn: blue green\nNote 6:\nAnn: blue\n")
    changed = {item.turn_ids: item.text for item in (await memory.read("blue")).items if "context" in item.text}
    assert changed == {("t6",): "Ann: blue\n  context: Sixth.\n"}


async def test_empty_fields_take_nothing_away() -> None:
    evolutions = (
        {"revised_notes": [{"note": 1, "context": "Known.", "tags": ["one"]}]},
        {"revised_notes": [{"note": 1, "context": " ", "tags": [""]}], "tags": []},
    )
    memory = await told(amem(Notebook(*evolutions, tags=["own"])), "red", "green", "blue")
    assert [item.text for item in (await memory.read("red")).items] == [
        "Ann: red\n  context: Known.\n  tags: one\n", "Ann: green\n  tags: own\n", "Ann: blue\n  tags: own\n",
    ]  # fmt: skip
    assert memory.state()["evolutions"] == 1  # the second changed nothing


async def test_notes_that_were_not_shown_are_not_touched_and_the_reply_is_a_fault() -> None:
    evolution = {
        "linked_notes": [1, 2, 0, -1, 9],  # note 2 is the added one itself
        "revised_notes": [{"note": 9, "context": "Nobody.", "tags": []}, {"note": 1, "context": "Good.", "tags": []}],
    }
    notebook = Notebook(evolution)
    memory = await told(amem(notebook), "red", "green")
    assert notebook.faults == ["evolve: the reply named notes that were not shown: -1, 0, 2, 9"]
    assert [item.text for item in (await memory.read("red")).items] == [
        "Ann: red\n  context: Good.\n", "Ann: green\n",
    ]  # fmt: skip
    assert memory.state() == {"notes": 2, "links": 1, "evolutions": 1, "stale": 1}


async def test_a_note_that_exists_but_was_not_shown_is_left_alone() -> None:
    notebook = Notebook({}, {"linked_notes": [1], "revised_notes": [{"note": 1, "context": "Far.", "tags": []}]})
    memory = await told(amem(notebook, neighbours=1), "red", "green", "green")
    assert notebook.shown[-1] == "Note 2:\nAnn: green\nAdded note:\nAnn: green\n"
    assert notebook.faults == ["evolve: the reply named notes that were not shown: 1"]
    assert memory.state() == {"notes": 3, "links": 0, "evolutions": 0, "stale": 0}


async def test_changed_notes_are_found_by_their_old_text_until_enough_evolutions_renew_them_all_at_once() -> None:
    to_blue = {"revised_notes": [{"note": 1, "context": "blue", "tags": []}]}
    tagged = {"tags": ["noted"]}
    colours = Colours()
    memory = amem(Notebook(to_blue, {}, tagged), colours, k=1, reembed_every=2)
    await told(memory, "red", "green", "green")
    assert ids(await memory.read("red")) == ["t1"]
    assert memory.state()["stale"] == 1  # one evolution so far: the second call changed nothing
    colours.calls.clear()

    await memory.write([Turn("t4", "Ann", "green")])
    await memory.manage()
    assert colours.calls == [["Ann: green\n"], ["Ann: red\n  context: blue\n", "Ann: green\n  tags: noted\n"]]
    assert memory.state() == {"notes": 4, "links": 0, "evolutions": 2, "stale": 0}
    assert ids(await memory.read("blue")) == ["t1"]


async def test_many_changed_notes_are_embedded_in_several_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memgauge.memories.amem._AT_ONCE", 2)
    revised = [{"note": number, "context": f"{number}", "tags": []} for number in (1, 2)]
    colours = Colours()
    await told(amem(Notebook({}, {"tags": ["new"], "revised_notes": revised}), colours, reembed_every=1), *COLOURS)
    assert [len(texts) for texts in colours.calls] == [1, 1, 1, 2, 1]  # three writes, then three notes renewed


async def test_a_question_can_be_searched_by_keywords_of_the_backbone() -> None:
    notebook = Notebook()
    memory = await told(amem(notebook, k=1, query_keywords=True), "red", "green")
    assert ids(await memory.read("red")) == ["t2"]  # the backbone's only keyword is green
    assert notebook.asked[-1] == "keywords"


async def test_keywords_that_cannot_be_used_leave_the_question_as_it_was(tmp_path: Path) -> None:
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = open_unit(ledger, Scripted(*["no"] * 4))
        memory = AMem(BackboneHandle(unit), Colours(), k=1, query_keywords=True)  # type: ignore[arg-type]
        with unit.scope(2, "write"):
            await memory.write(turns("red", "green"))
        with unit.scope(2, "read"):
            assert ids(await memory.read("red")) == ["t1"]
    assert "search: the reply held no whole JSON object" in Frames(tmp_path).table("faults")["what"].to_list()


async def test_links_by_similarity_need_no_word_of_the_backbone() -> None:
    notebook = Notebook()
    memory = await told(amem(notebook, k=1, neighbours=1, links="similarity"), "red", "blue", "red green")
    assert ids(await memory.read("red green")) == ["t1", "t3"]
    assert memory.state()["links"] == 2


async def test_a_detector_asks_for_evolution_only_where_something_is_near_enough() -> None:
    notebook = Notebook()
    await told(amem(notebook, neighbours=1, evolve_from=1.0), "red", "red blue", "red")
    # red blue is at 1/√2 = 0.71 from red, the second red at 1 from the first
    assert notebook.shown == ["Note 1:\nAnn: red\nAdded note:\nAnn: red\n"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"k": 0}, "at least 1"),
        ({"reembed_every": 0}, "at least 1"),
        ({"links": "cosine"}, "by 'model' or by 'similarity', not by 'cosine'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], why: str) -> None:
    services = registry.Services(None, None, None, Evidence({}))  # type: ignore[arg-type]
    with pytest.raises(UserError, match=why):
        registry.create("amem", options, services)


# What another process needs to answer: texts, links and vectors, which the footprint counts, and nothing else.
ELSEWHERE = """
import asyncio, json, sys
import numpy as np
from memgauge.embedders.hashing import Hashing
held = json.load(sys.stdin)
vectors = np.frombuffer(bytes.fromhex(held["vectors"]), np.float32).reshape(len(held["texts"]), -1)
query = asyncio.run(Hashing().embed([held["query"]])).vectors[0]
best = np.argsort(-(vectors @ query), kind="stable")[: held["k"]].tolist()
linked = [link for place in best for link in held["links"][place] if link not in best]
found = best + list(dict.fromkeys(linked))[: held["k"]]
print(json.dumps([held["texts"][place] for place in sorted(found)]))
"""


async def test_another_process_recalls_the_same_from_what_the_footprint_counts(tmp_path: Path) -> None:
    query = "Which dog did the cat meet in Ghent?"
    with new_ledger(tmp_path / "ledger.sqlite") as ledger:
        unit = Meter(ledger, Setting(), Extractive(), Hashing()).open(1, attempt=ledger.start_unit(1, 0.0))
        memory = AMem(BackboneHandle(unit), EmbedderHandle(unit), k=2)
        with unit.scope(1, "write"):
            await told(
                memory, *(f"In {town} my cat met the dog {town[::-1]}." for town in ("Porto", "Ghent", "Graz", "Ulm"))
            )
            recalled = await memory.read(query)

    texts = [note.text for note in memory._notes]
    links = [note.links for note in memory._notes]
    vectors = memory._nearest.vectors.tobytes()

    held = {"texts": texts, "links": links, "vectors": vectors.hex(), "query": query, "k": 2}
    there = await asyncio.create_subprocess_exec(sys.executable, "-c", ELSEWHERE, stdin=PIPE, stdout=PIPE)
    answer, _ = await there.communicate(json.dumps(held).encode())
    assert json.loads(answer) == [item.text for item in recalled.items]
    assert sum(map(len, links)) > 0
    size = sum(len(text.encode()) for text in texts) + 4 * sum(map(len, links)) + len(vectors)
    assert memory.footprint().bytes == size
