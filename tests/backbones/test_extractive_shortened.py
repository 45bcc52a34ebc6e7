"""What the rules make of a text that is to be shortened."""

from memgauge.backbones.base import ChatRequest
from memgauge.backbones.extractive import Extractive

TOLD = (
    "[8 May 2023, 13:56] Ann: I moved to Porto with my sister Clara.\n",
    "[8 May 2023, 13:57] Ben: Oh, nice!\n",
    "[9 May 2023, 10:00] Ann: I bought a blue sailing boat and repaired its mast in the harbour.\n",
)


async def shortened(asked: str, *parts: str) -> str:
    return (await Extractive().chat(ChatRequest.of(asked, *parts))).text


async def test_a_summary_keeps_what_says_most_and_says_it_on_its_own() -> None:
    said = await shortened("Summarise these lines.", *TOLD)
    assert said == "Ann bought a blue sailing boat and repaired its mast in the harbour (9 May 2023)."


async def test_a_summary_is_no_longer_than_it_may_be() -> None:
    # The fact that says most has fifteen words; a text without a fact is cut where the words end.
    assert len((await shortened("Summarise these lines in at most 15 words.", *TOLD)).split()) == 15
    assert await shortened("Summarise this in at most 3 words.", "Oh! Really? Why not?") == "Oh! Really? Why"
