"""What ReadAgent asks of its backbone: where a page ends, what it says in short, and which pages to read again.

Labels and page numbers stand in brackets (``[label 3]``, ``[page 7]``), each on the line of what it numbers.
"""

from functools import cache
from typing import Annotated, cast

import msgspec

from memgauge.memories.asking import Prompt


class Break(msgspec.Struct):
    """The label at which a page ends."""

    label: int = 0


class Chosen(msgspec.Struct):
    """Numbers of the pages to read again, the most useful first."""

    pages: list[int] = []


@cache
def chosen(most: int) -> type[Chosen]:
    """The same of at most ``most`` pages, which ends the list where a model would count on and on."""
    pages = Annotated[list[int], msgspec.Meta(max_length=most)]
    form = msgspec.defstruct("Chosen", [("pages", pages, msgspec.field(default_factory=list))], bases=(Chosen,))
    return cast(type[Chosen], form)


class Next(msgspec.Struct):
    """Number of the one page to read next; 0: none."""

    page: int = 0


BREAK = Prompt(
    "page break",
    "You divide a long conversation into pages, as a reader who pauses where it is natural. What follows is the next"
    " stretch of it. Numbered labels such as [label 1] stand at the places where the page may end. Choose the label"
    " where one subject, sitting or exchange is over and another begins; of several such labels take the last.\n"
    'Reply with a JSON object: {"label": the number of the label}',
)

GIST = Prompt(
    "gist",
    "Shorten the page of a conversation that follows. Keep who did, said, felt and planned what, with names, places,"
    " numbers and reasons; write dates out, counted from the date in brackets before the message. Leave out greetings,"
    " thanks and small talk. Reply with the shortened page alone, in plain sentences.",
)

ONE_SENTENCE_GIST = Prompt(
    "gist",
    "Shorten the page of a conversation that follows to one sentence, which says who spoke, when, and what about, with"
    " the names and facts that somebody would look for later. Reply with the sentence alone.",
)


def look_up(most: int) -> Prompt:
    """Asks for up to ``most`` pages at once."""
    return Prompt(
        "look-up",
        "You have read a long conversation and remember of each of its pages what follows it in short. A new message or"
        " a question comes last. Before it is answered you may read pages again in full. Choose those whose full text"
        f" would help: none if what you remember is enough, at most {most}, the most useful first.\n"
        'Reply with a JSON object: {"pages": [the numbers of the pages]}',
    )


def next_look_up(most: int) -> Prompt:
    """Asks for one page more, after those that have been read again."""
    return Prompt(
        "look-up",
        "You have read a long conversation and remember of each of its pages what follows it in short. A new message or"
        " a question comes last; before it stand the pages that you have read again so far. Before it is answered you"
        f" may read one page more in full, and up to {most} in all. Choose the page that would help most, or 0 to stop"
        " if you know enough.\n"
        'Reply with a JSON object: {"page": the number of the page, or 0}',
    )
