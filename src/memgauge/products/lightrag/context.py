"""The context that LightRAG gives a generator, cut into one item per record, and ranked."""

from itertools import zip_longest
from typing import Any

SEPARATOR = "<SEP>"  # between the chunks that an entity or relation came from


def items(context: str, data: "dict[str, Any]") -> "list[dict[str, Any]]":
    """Blocks that make up ``context``: up to and with each entity, relation or chunk; the last takes what follows.

    ``chunks`` names those behind a block. ``score`` ranks the blocks as LightRAG merges its lists, round-robin:
    the first chunk, entity and relation, then the second of each.
    """
    kinds = [data["entities"], data["relationships"], data["chunks"]]
    blocks: list[dict[str, Any]] = []
    lines: list[str] = []
    records = iter([record for kind in kinds for record in kind])
    for line in context.split("\n"):
        lines.append(line)
        if _is_record(line) and (record := next(records, None)) is not None:
            blocks.append({"text": "\n".join(lines), "chunks": _chunks(record)})
            lines = []
    if blocks:
        blocks[-1]["text"] = "\n".join([blocks[-1]["text"], *lines])
    for rank, place in enumerate(_round_robin([len(kind) for kind in kinds])):
        if place < len(blocks):
            blocks[place]["score"] = -rank
    return blocks


def _is_record(line: str) -> bool:
    return line.startswith(('{"entity": ', '{"entity1": ', '{"reference_id": '))


def _chunks(record: "dict[str, Any]") -> "list[str]":
    if "chunk_id" in record:
        return [record["chunk_id"]]
    return [chunk for chunk in record["source_id"].split(SEPARATOR) if chunk]


def _round_robin(sizes: "list[int]") -> "list[int]":
    """Places of three adjoining lists, taken one from each in turn: the last list first."""
    entities, relations, chunks = sizes
    lists = [
        range(entities + relations, entities + relations + chunks),
        range(entities),
        range(entities, entities + relations),
    ]
    return [place for row in zip_longest(*lists) for place in row if place is not None]
