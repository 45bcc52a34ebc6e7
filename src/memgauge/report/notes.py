"""What is measured and how: the part of the page that says what its figures must not be confused with."""

from collections.abc import Iterable

from memgauge.analysis.choice import STILL_KNOWS
from memgauge.analysis.intervals import ENOUGH, RESAMPLES
from memgauge.analysis.memory_rows import MOST_ERRORS
from memgauge.report.markup import Markup, element

_NOTES = (
    ("A turn",
     "In serve every turn of the dialogue, of either speaker, is a query: the memory is read, the model answers"
     " from what was recalled and the turn, and then the turn is written. The dialogue is scripted and the same for"
     " every memory; generated answers are not fed back. In recall everything is written first, then every question"
     " is asked."),
    ("Input tokens per turn",
     "Everything the model was sent for a turn, in writing, managing, reading and answering. Cached input counts as"
     " input. Output and embedding tokens are kept apart. A token count that no server reported is unknown, never 0;"
     " a figure that lacks some is marked with ?."),
    ("Break-even",
     "The first turn from which a memory's cumulative input stays below that of full history, which resends"
     " everything. Measured costs, averaged over the conversations and seeds that both have played, in tokens and"
     " without a discount for cached prompts."),
    ("Judge accuracy",
     "A judge model reads question, gold and answer and says right or wrong, by a rubric that is named with every"
     " figure, since the judge's prompt alone can move it from a third to nine tenths. Where every memory that competes"
     " was judged it is the accuracy that ranks; else token F1. A verdict that cannot be read is asked for again, and"
     " then an error: neither right nor wrong."),
    ("Token F1",
     "Answer and gold are lower-cased and stripped of punctuation and articles; F1 of the words they share, counted"
     " with repetition; the best gold counts. Where the conversation holds no answer, an answer that says so scores"
     " 1 and any other 0. Exact match asks for equality, SubEM for the gold inside the answer."),
    ("Evidence recalled",
     "The share of the turns that hold the answer that the memory handed over. @k looks at the first k recalled"
     " items only. Full history and a window do not rank, so @k there follows the order of the dialogue."),
    ("Intervals",
     f"95 %: percentile bootstrap over whole conversations"
     f" ({RESAMPLES:,} resamples), since questions about one conversation are not independent; with fewer than"
     f" {ENOUGH} conversations over their questions as well, and with a single one over its questions alone, which"
     " tells nothing of other conversations. A score's title says how its interval was drawn, and gives Wilson's"
     " beside it where every answer is right or wrong."),
    ("Where an answer went wrong",
     "The first link of the chain that broke, told from the ids of the turns that hold the answer. Retrieved: all of"
     " them were recalled for this question. Stored: each was recalled for some question, or the store holds as many"
     " tokens as were written. For a memory that forgets, not stored is exact; for one that rewrites what it is given"
     " it is an upper bound, and not retrieved a lower one."),
    ("Still knows",
     f"The cheapest ranked memory whose accuracy reaches {STILL_KNOWS * 100:.0f} % of the best ranked one's."
     " A control (none, oracle) bounds the table and competes with nobody."),
    ("Errors",
     f"A third outcome, neither right nor wrong, and never dropped. A memory is not ranked when more than"
     f" {MOST_ERRORS * 100:.0f} % of its questions got no answer, or of its served turns belong to units that failed."),
    ("Latency",
     "Seconds of the model calls from read to answer, without queueing and without retries; calls served from an"
     " earlier attempt's record are left out, since a replayed call has no latency. What was waited, queueing"
     " included, is among the further figures."),
    ("Dollars",
     "Priced from the recorded tokens by a dated price card. A model that runs on this machine has no price, which"
     " is not a price of 0: its cost is shown in tokens."),
    ("E1 to E15",
     "The efficiency figures of “Harness the Memory”, over the finished units. E8 and E9 are given with the answer's"
     " own call (all), as the paper defines them, and without it (aux), as its text counts them. E12 (tokens of every"
     " stage), E13 (calls besides the answers), E14 (seconds of all units) and E15 (E14 per question) are named but not"
     " defined by their source, and P7 is missing there: they are our reading. The paper's figures beside ours are"
     " judged only where both mean the same."),
)  # fmt: skip


def notes() -> Markup:
    """The definitions, as a list."""
    return definitions(_NOTES)


def definitions(told: Iterable[tuple[str, str]]) -> Markup:
    """Terms and what they mean."""
    items = [element("div", element("dt", term), element("dd", meaning)) for term, meaning in told]
    return element("dl", *items, class_="notes")
