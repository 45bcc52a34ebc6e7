"""The extractive backbone where records on lines are wanted, many texts are to be one, and context comes as JSON."""

from memgauge.backbones.base import ChatRequest, Message
from memgauge.backbones.extractive import Extractive

FORM = """Write one record per line, in these forms:
thing<|#|><thing_name><|#|><thing_type><|#|><thing_description>
link<|#|><source_thing><|#|><target_thing><|#|><link_keywords><|#|><link_description>
<|DONE|>
"""
TEXT = """Here is what to read.

```
[1 May 2024, 09:30] Ann: I moved to Porto in May. How are you?
[1 May 2024, 09:31] Ben: I adopted a kitten<|#|>yesterday.
```

Nothing else: Begin now.
"""


async def reply(*messages: Message) -> str:
    answered = await Extractive().chat(ChatRequest(messages, {}))
    return answered.text


def system(text: str) -> Message:
    return Message("system", (text,))


def user(*parts: str) -> Message:
    return Message("user", parts)


async def test_records_name_who_spoke_and_of_what_and_end_as_shown() -> None:
    text = await reply(system(FORM), user(TEXT))
    moved = "Ann moved to Porto in May 2024."
    adopted = "Ben adopted a kitten on 30 April 2024."
    assert text.split("\n") == [
        f"thing<|#|>Ann<|#|>person<|#|>{moved}",
        f"thing<|#|>Porto<|#|>concept<|#|>{moved}",
        f"thing<|#|>Ben<|#|>person<|#|>{adopted}",
        f"thing<|#|>Kitten<|#|>concept<|#|>{adopted}",
        f"link<|#|>Ann<|#|>Porto<|#|>moved<|#|>{moved}",
        f"link<|#|>Ben<|#|>Kitten<|#|>kitten, adopted<|#|>{adopted}",
        "<|DONE|>",
    ]


async def test_asked_again_it_gives_only_what_it_has_not_given() -> None:
    first = await reply(system(FORM), user(TEXT))
    kept = "\n".join(line for line in first.split("\n") if "Porto" not in line)
    again = await reply(system(FORM), user(TEXT), Message("assistant", (kept,)), user("What was missed?"))
    assert again.split("\n") == [line for line in first.split("\n") if "Porto" in line or line == "<|DONE|>"]


async def test_texts_listed_as_json_become_one_in_which_each_has_its_say() -> None:
    listed = '{"Description": "Ann likes tea. Ann drinks it daily."}\n{"Description": "Ann has a cat."}'
    asked = f"Summarise what is listed.\n\n```\n{listed}\n```\n\nSummary:\n"
    assert await reply(user(asked)) == "Ann likes tea. Ann drinks it daily. Ann has a cat."
    assert "Ann" not in await reply(user(f"Count what is listed.\n\n```\n{listed}\n```\n"))


async def test_a_context_of_json_lines_is_read_like_the_texts_in_it() -> None:
    context = (
        '{"entity": "Ann", "type": "person", "description": "Ann likes tea.<SEP>Ann moved to Porto in May 2024."}\n',
        '{"reference_id": "1", "content": "[1 May 2024, 09:30] Ben: My kitten is called Miso.\\nBen: It sleeps."}\n',
    )
    assert await reply(user(*context, "\nQuestion: Where did Ann move to in May 2024?")) == "Porto"
    assert await reply(user(*context, "\nQuestion: What is Ben's kitten called?")) == "Miso"
