"""The tokens in which LightRAG counts by default (o200k), from a package instead of a download."""

from typing import Any

import bpe_openai


class O200k:
    """The tokenizer that LightRAG takes by default, without fetching it; copies of LightRAG's settings share it."""

    def __init__(self) -> None:
        encoding = bpe_openai.get_encoding("o200k_base")
        self.encode = encoding.encode_ordinary
        self.decode = encoding.decode

    def __deepcopy__(self, _: Any) -> "O200k":
        return self
