"""What an analysis measures and how, and what its figures must not be confused with."""

from memgauge.report.analysis.sentences import HOLDS
from memgauge.report.markup import Markup
from memgauge.report.notes import definitions

_NOTES = (
    ("Cost of a turn, C",
     "Every model input token billed at the turn, in reading, answering, writing and managing; cached input is input."
     " Questions asked after the dialogue are no part of it. A turn with a call that did not report its tokens is"
     " left out and counted, a turn that cost nothing enters as log(0 + 1) and is counted."),
    ("Cost model",
     "log(C + 1) = a + p·log(L + 1) + q·log(t + 1), least squares over every turn of every finished run, L the cell's"
     " tokens per message and t the turn. p ≈ q ≈ 1 is content that adds up, q ≈ 0 a bounded context. R² is of the"
     " logarithms; the rivals beside it know only the whole content N·L, or the content so far t·L."),
    ("Held-out error",
     "Each cell is left out in turn, the rest is fitted, and the mean cost per turn of the cell is predicted; the error"
     f" is a share of what was measured. Its mean is LOOCV-MAPE. Up to {HOLDS * 100:.0f} % this page calls the cost"
     " explained. A high R² alone does not show it: the paper's best fitted memory system predicts worst."),
    ("Intervals of p and q",
     "95 %. Shown first: CR2 with Bell and McCaffrey's degrees of freedom, clusters being whole runs; it keeps its"
     " level also with few runs. Beside it, as in the paper, percentiles of 1,000 bootstrap draws of whole runs."),
    ("Pays",
     "The smallest turn from which the cumulative cost, averaged over repeats, stays below full history's until the"
     " last measured turn. From the start: it always was. Never: at the last measured turn it still was not. The"
     " interval is the middle 95 % of resampled repeats. Where full history was cut off, what is beyond is fitted, and"
     " marked so."),
    ("Dollars, nothing cached",
     "Every prompt token at the full input price of the card. With a provider's cache, the part of each prompt that"
     " repeats an earlier one of the same conversation is billed as that provider's policy on the card would have it."
     " A price that is not known leaves a total out, and is never 0."),
    ("Map",
     "A forecast from two fits, memory and full history: cumulative cost of a conversation of N turns of L tokens."
     " It knows no more than the fits do; look at their held-out error first. Marked cells were measured."),
    ("γ and ζ",
     "γ is output, reasoning included, over input of all stages. ζ is reasoning over visible output of the answers or"
     " of what a memory writes. Unknown where no call reported reasoning."),
    ("Joint matrix",
     "Accuracy is from the recalled questions, cost from served conversations of the reference cell: two measurements"
     " of one memory. On the front: no other is at least as cheap and as accurate, and better in one."),
    ("Inside and outside",
     "Where our interval is known, whether the paper's figure lies in it; else whether ours lies in the paper's"
     " interval or range over its four settings. Figures of another model, or scored otherwise, are shown and not"
     " judged, except for full history and the window in table 1, whose cost the transcript sets."),
)  # fmt: skip


def notes() -> Markup:
    """The definitions, as a list."""
    return definitions(_NOTES)
