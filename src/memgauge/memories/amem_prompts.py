"""What A-MEM asks of its backbone: our words, and the forms of the replies."""

import msgspec

from memgauge.memories.asking import Prompt

CONSTRUCT = Prompt(
    "construct",
    """You keep the notebook of an assistant that will be asked about a conversation long after it was held. Every
message of the conversation becomes one note. You are given a message, with the time at which it was sent where that
is known, and who sent it. Say what helps to find it again and to understand it on its own:
- keywords: the words that carry it (people, things, places, doings), the most telling first. Leave out the sender and
  the time of sending. At least three, where the message holds as many.
- context: one sentence that says what the message is about, to whom it matters, and what it tells.
- tags: the broad subjects, kinds of event and kinds of text under which one would file it. At least three.
Reply with one JSON object and nothing else:
{"keywords": ["word", "word"], "context": "One sentence.", "tags": ["subject", "subject"]}""",
)

EVOLVE = Prompt(
    "evolve",
    """You look after a notebook in which every note holds one message of a conversation, with a sentence of context,
keywords and tags. A note has just been added. You are given the notes that lie nearest to it, each with its number, and
last the added note. Decide what should be different now that it is there:
- linked_notes: the numbers of those notes that whoever finds the added note should see as well, because one explains,
  continues or contradicts the other.
- tags: all tags that the added note should have beside these neighbours.
- revised_notes: the notes whose context or tags the added note puts in another light. Give the number, the sentence of
  context as it should now read, and all tags that the note should now have.
Use no number that is not shown. Messages and keywords stay as they are. A list stays empty where nothing should change.
Reply with one JSON object and nothing else:
{"linked_notes": [3], "tags": ["subject"], "revised_notes": [{"note": 3, "context": "…", "tags": ["subject"]}]}""",
)

SEARCH = Prompt(
    "search",
    """You are given a question about a conversation that was filed as notes with keywords. Name the words by which the
notes that answer it would be found: names, things, places, doings, and near synonyms.
Reply with one JSON object and nothing else:
{"keywords": ["word", "word"]}""",
)


class Described(msgspec.Struct):
    """What the backbone says of one message."""

    keywords: list[str] = []
    context: str = ""
    tags: list[str] = []


class Revised(msgspec.Struct):
    """How a neighbour should read from now on."""

    note: int = 0
    context: str = ""
    tags: list[str] = []


class Evolution(msgspec.Struct):
    """What an added note changes; empty lists change nothing."""

    linked_notes: list[int] = []
    tags: list[str] = []
    revised_notes: list[Revised] = []


class Keywords(msgspec.Struct):
    """The words to search for."""

    keywords: list[str] = []
