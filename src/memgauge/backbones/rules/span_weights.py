"""What each mark of a span weighs (see spans.py).

Fitted once by gradient ascent on the expected token F1 of a softmax over spans, on the questions of every other
LoCoMo dialogue with their evidence turns as context; rounded, small ones dropped. Kinds of words are those of
``spans.kind``; ``comma``, ``quote`` and ``stop`` are punctuation.
"""

COVERAGE = 5.0  # how much of the question the sentence covers, from 0 to 1

# fmt: off
# The word or punctuation before the span.
BEFORE = {
    "quote": 2.9, "ed": 2.1, "to": 1.9, "poss": 1.6, "det": 0.6, "prep": 0.4, "adv": 0.3, "word": 0.2, "pron": 0.2,
    "ing": -0.4, "time": -0.4, "stop": -1.0, "conj": -1.0, "num": -1.1, "ly": -1.2, "cap": -1.4, "comma": -1.8,
    "aux": -1.8, "hey": -2.9,
}
# The first word.
FIRST = {
    "cap": 4.1, "ing": 1.4, "num": 1.0, "det": 0.7, "word": -0.2, "ly": -0.5, "hey": -0.7, "time": -0.7, "ed": -0.9,
    "aux": -1.0, "pron": -1.2, "adv": -1.5, "to": -2.1, "prep": -2.1, "poss": -2.5, "conj": -3.1,
}
# Each word that the question lacks.
NEW = {
    "cap": 2.8, "word": 1.8, "ing": 1.7, "ed": 1.3, "num": 0.9, "conj": -0.3, "prep": -0.5, "hey": -0.7, "adv":
    -0.7, "to": -1.2, "det": -1.3, "poss": -1.6, "pron": -2.3, "aux": -2.4, "ly": -2.4, "time": -2.5,
}
# Each word that the question has too.
ASKED = {
    "num": 0.3, "word": -0.7, "ed": -1.0, "ly": -1.1, "ing": -1.2, "time": -1.6, "cap": -2.0,
}
# The last word.
LAST = {
    "cap": 2.4, "ing": 0.8, "adv": 0.8, "ly": -0.3, "num": -0.6, "word": -0.8, "ed": -1.1, "time": -1.5, "pron":
    -2.8,
}
# The word or punctuation after the span.
NEXT = {
    "time": 3.8, "comma": 1.9, "aux": 1.9, "adv": 1.7, "quote": 1.3, "stop": 1.1, "to": 1.0, "ed": 0.5, "ly": -0.3,
    "conj": -1.0, "ing": -1.3, "prep": -1.6, "cap": -1.7, "num": -1.7, "poss": -1.9, "word": -2.2, "det": -2.2,
    "pron": -3.2,
}
# The word or punctuation before, by kind of question, on top of BEFORE.
BEFORE_BY_GROUP = {
    "thing": {
        "quote": 2.9, "ed": 2.1, "prep": 1.2, "det": 1.0, "adv": 0.7, "poss": 0.7, "word": 0.6, "ing": -0.2, "stop":
        -0.4, "pron": -0.4, "num": -0.4, "time": -0.4, "cap": -0.4, "conj": -0.9, "to": -1.2, "ly": -1.2, "hey":
        -1.9, "aux": -2.2, "comma": -2.4,
    },
    "person": {
        "comma": 2.4, "word": 0.9, "aux": 0.2, "det": 0.2, "pron": -0.2, "conj": -0.3, "hey": -0.4, "cap": -0.5,
        "prep": -1.0, "stop": -1.0,
    },
    "place": {
        "ed": 1.1, "to": 1.1, "det": 0.7, "aux": 0.6, "prep": 0.3, "pron": -0.2, "comma": -0.3, "poss": -0.3, "cap":
        -0.5, "hey": -0.6, "word": -0.7,
    },
    "reason": {
        "to": 2.6, "poss": 2.2, "pron": 1.0, "conj": 0.5, "ing": -0.3, "num": -0.3, "ed": -0.4, "det": -0.9, "word":
        -1.0, "prep": -2.1,
    },
}
# To begin after a form of "to be" that follows a word of the question ("my favourite colour is …"); set by hand, as
# the dialogues fitted on hardly speak so.
TOLD = 7.0
# How many words ago the last word stood that the question has too; the end is for more, and for none.
ASKED_AGO = (0.0, 1.9, 2.8, 2.4, -2.7)
# The number of words, from none.
LENGTH = {
    "thing": (0.0, -2.4, 1.1, 1.2, 2.0, 0.8, 0.0, -0.5, 0.3, 0.4),
    "person": (0.0, 0.5, 2.1, 0.0, -0.6, -0.5, 0.0, -0.3, -0.8, -0.3),
    "place": (0.0, 2.0, -0.3, 0.6, -1.5, -0.6, 1.4, 0.8, -2.0, -0.8),
    "reason": (0.0, -2.1, -1.3, -1.8, 0.0, 0.8, 1.7, -0.7, 2.1, 1.7),
}
# fmt: on
