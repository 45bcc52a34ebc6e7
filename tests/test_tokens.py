"""Token counts equal tiktoken's on any text, and the counts of pieces add up."""

import gzip
import os
from pathlib import Path

import bpe_openai
import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st

from memgauge import tokens

# tiktoken looks for o200k_base under the SHA-1 of its address.
_CACHED_AS = "fb374d419588a4632f3f557e76b4b70aebbca790"


@pytest.fixture(scope="session")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> tiktoken.Encoding:
    """tiktoken with the vocabulary file that the bpe-openai package carries: no download."""
    cache = tmp_path_factory.mktemp("tiktoken")
    ranks = gzip.decompress((Path(bpe_openai.__file__).parent / "data" / "o200k_base.tiktoken.gz").read_bytes())
    (cache / _CACHED_AS).write_bytes(ranks)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(cache)
    return tiktoken.get_encoding("o200k_base")


TEXTS = st.one_of(
    st.text(max_size=300),
    st.text(st.characters(), max_size=60),  # any code point, lone surrogates included
    st.text(st.sampled_from(" \n\r\t/ab1.,'[]:éß漢🦊\u200d\ud800\udfff"), max_size=80),
)


CHOSEN = (
    "", " ", "hello world", "[8 May 2023, 13:56] Ann: Hello\n", "<|endoftext|> and <|im_start|>", "a\ud800b",
    "\ud83e\udd8a", "👩‍👩‍👧‍👦", "   \n\n  x", "x" * 5000, "don't we'll I'D", "１２３ 123456", "\r\n\r\n/",
    "def f(x):\n\treturn x\n",
)  # fmt: skip


@pytest.mark.parametrize("text", CHOSEN)
def test_chosen_texts(oracle: tiktoken.Encoding, text: str) -> None:
    assert tokens.count(text) == len(oracle.encode_ordinary(text))


@settings(max_examples=400, deadline=None)
@given(text=TEXTS)
def test_any_text(oracle: tiktoken.Encoding, text: str) -> None:
    assert tokens.count(text) == len(oracle.encode_ordinary(text))


@settings(max_examples=400, deadline=None)
@given(text=TEXTS)
def test_pieces_join_to_the_text_and_their_counts_add_up(text: str) -> None:
    assert "".join(tokens.pieces(text)) == text
    assert tokens.count_all(tokens.pieces(text)) == tokens.count(text)
