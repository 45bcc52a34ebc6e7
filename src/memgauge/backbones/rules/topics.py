"""What a text is about, in single words."""

from collections.abc import Iterable

from memgauge.backbones.rules.lines import Block

_MOST = 5


def topics(blocks: Iterable[Block]) -> tuple[str, ...]:
    """The words that carry meaning, most frequent first; numbers and years carry none by themselves."""
    counts: dict[str, int] = {}
    for block in blocks:
        for sentence in block.sentences:
            for word, stem in zip(sentence.words, sentence.stems, strict=True):
                if stem in sentence.terms and len(word) > 3 and not word[0].isdigit():
                    counts[word.lower()] = counts.get(word.lower(), 0) + 1
    return tuple(sorted(counts, key=lambda word: -counts[word])[:_MOST])
