"""The extractive backbone where a prompt shows a tagged section that the reply must hold."""

from memgauge.backbones.base import ChatRequest, Message
from memgauge.backbones.extractive import Extractive

INSTRUCTIONS = """Write down what is worth keeping.

<notes>
Date: Dec 4, 2025
* ! (14:30) User keeps bees

Date: Dec 5, 2025
* ? (09:15) User may sell honey
</notes>
"""


async def reply(system: str, *user: Message) -> str:
    return (await Extractive().chat(ChatRequest((Message("system", (system,)), *user), {}))).text


def told(*parts: str) -> Message:
    return Message("user", parts)


async def test_facts_are_listed_as_the_section_lists_them_under_the_days_they_were_said() -> None:
    said = told(
        "## New messages\n\n",
        "May 8 2023:\nUser (9:30 AM): Ann: I moved to Porto.",
        "Assistant: Ben: I like my tea green.",
        "May 9 2023:\nUser (7:00 PM): Ann: I bought two bees. Do you like honey?",
    )
    assert await reply(INSTRUCTIONS, told("Earlier notes: Ann is from Faro."), said) == (
        "<notes>\n"
        "Date: May 8, 2023\n* ! Ann moved to Porto (8 May 2023).\n* ! Ben likes Ben's tea green (8 May 2023).\n"
        "Date: May 9, 2023\n* ! Ann bought two bees (9 May 2023).\n"
        "</notes>"
    )


async def test_of_entries_that_stand_there_already_half_are_kept() -> None:
    listed = told(
        "Notes to condense:\n\nDate: May 8, 2023\n* ! Ann moved to Porto.\n* ! Ann went.\n"
        "\nDate: May 9, 2023\n* ! Ben sat.\n\nDate: May 10, 2023\n* ! Ben slept.\n\nMake it shorter."
    )
    # 23 + 13 + 12 + 14 characters in entries, of which 31 may stay: the first, which says most, and nothing beside it.
    assert await reply(INSTRUCTIONS, listed) == "<notes>\nDate: May 8, 2023\n* ! Ann moved to Porto.\n</notes>"


async def test_a_section_that_is_not_a_list_or_not_in_the_instructions_is_not_asked_for() -> None:
    question = told("Ann: I moved to Porto.\n", "Where does Ann live?")
    assert "<" not in await reply("<rules>\nBe short.\n</rules>", question)
    assert "<" not in await reply("Be short.", told(INSTRUCTIONS), question)
