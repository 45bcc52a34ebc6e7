"""A long text is cut into chunks that hold every character, stay within their size, and end where it reads well."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge import tokens
from memgauge.workloads.chunks import Chunk, cut, holding


def texts(text: str, most: int) -> list[str]:
    return [chunk.text for chunk in cut(text, most)]


def test_a_list_keeps_one_fact_per_line() -> None:
    facts = "".join(f"{n}. The capital of country {n} is St. Town {n} D.C..\n" for n in range(200))
    chunks = cut(f"Here are facts:\n{facts}", 128)
    assert len(chunks) > 10
    for chunk in chunks:
        assert chunk.text.startswith(("Here are facts:\n0. ", *(f"{n}. The capital" for n in range(200))))
        assert chunk.text.endswith("D.C..")
    assert "\n".join(chunk.text for chunk in chunks) == f"Here are facts:\n{facts}".strip()


def test_an_example_stays_with_its_label() -> None:
    examples = "\n\n".join(f"Where is my card number {n}?\nlabel: {n}" for n in range(200))
    for text in texts(examples, 128):
        assert text.startswith("Where is my card")
        assert text.split()[-2] == "label:"


def test_a_long_line_is_cut_between_sentences() -> None:
    line = "Dr. J. Lee met Mrs. Doe at No. 7 then. They spoke of 3.5 miles, e.g. by foot! Was it far? No. " * 20
    for text in texts(line, 32):
        assert text.startswith(("Dr. J.", "They spoke", "Was it", "No."))
        assert text.endswith(("then.", "foot!", "far?", "No."))


def test_a_sentence_that_fits_no_chunk_is_cut_between_words() -> None:
    words = [f"word{n}" for n in range(300)]
    found = texts(" ".join(words), 64)
    assert len(found) > 5
    assert " ".join(found).split() == words


def test_a_word_that_fits_no_chunk_is_cut_inside() -> None:
    word = "".join(chr(0x4E00 + 7 * n) for n in range(200))
    found = texts(f"before {word} after", 16)
    assert "".join(found).replace(" ", "") == f"before{word}after"


def test_chunks_are_filled_before_the_next_is_begun() -> None:
    # A line is five tokens: "line", " ", "12", ".", "\n" or fewer; a chunk of 64 holds at least 12 of them.
    lines = "".join(f"line {n}.\n" for n in range(100))
    sizes = [tokens.count(text) for text in texts(lines, 64)]
    assert all(size > 56 for size in sizes[:-1])


def test_a_text_that_fits_is_one_chunk_and_a_blank_one_none() -> None:
    assert cut(" Hello.\n\nYou.\n", 16) == (Chunk(0, 14, "Hello.\n\nYou."),)
    assert cut("", 16) == cut(" \n\n ", 16) == ()


def test_the_chunks_that_a_stretch_lies_in_are_found() -> None:
    chunks = (Chunk(0, 10, "a"), Chunk(10, 20, "b"), Chunk(20, 30, "c"))
    assert [chunk.text for chunk in holding(chunks, 3, 5)] == ["a"]
    assert [chunk.text for chunk in holding(chunks, 3, 10)] == ["a"]
    assert [chunk.text for chunk in holding(chunks, 3, 11)] == ["a", "b"]
    assert [chunk.text for chunk in holding(chunks, 10, 30)] == ["b", "c"]


@settings(max_examples=150, deadline=None)
@given(
    text=st.lists(st.sampled_from(["word ", "Mr. ", "end. ", "\n", "\n\n", "1. ", "é¥", "ünïcode", "?!", " ", "\t"]))
    .map("".join)
    .map(lambda text: text * 5)
    | st.text(max_size=200),
    most=st.integers(16, 64),
)
def test_every_character_is_in_one_chunk_and_none_is_too_long(text: str, most: int) -> None:
    chunks = cut(text, most)
    assert "".join("".join(chunk.text.split()) for chunk in chunks) == "".join(text.split())
    for chunk in chunks:
        assert tokens.count(chunk.text) <= most
        assert chunk.text.strip() == text[chunk.start : chunk.end].strip()
    assert [chunk.start for chunk in chunks] == sorted(chunk.start for chunk in chunks)


@pytest.mark.parametrize("text", ["1. " * 20_000, "a" * 60_000, ". " * 20_000, "Mr. " * 20_000])
def test_monotonous_texts_are_cut_as_any_other(text: str) -> None:
    assert "".join("".join(chunk.text.split()) for chunk in cut(text, 4096)) == "".join(text.split())
