"""What of a ranking fits the backbone's window."""

from collections.abc import Iterable

from memgauge import tokens
from memgauge.memories.base import Item, Recalled

Place = tuple[int, ...]  # where an item stands in reading order


def recalled_within(window: int | None, ranking: Iterable[tuple[Place, Item]]) -> Recalled:
    """What fits of the ranking, taken best first, in the order of the places.

    Where several items have one place, the first that fits is shown. Turns that are on no item shown count as dropped.
    """
    shown: dict[Place, Item] = {}
    missing: set[str] = set()
    left = window
    for place, item in ranking:
        if place in shown:
            continue
        if left is not None and (size := tokens.count(item.text)) > left:
            missing.update(item.turn_ids)
            continue
        left = None if left is None else left - size
        shown[place] = item
    missing.difference_update(*(item.turn_ids for item in shown.values()))
    return Recalled(
        tuple(shown[place] for place in sorted(shown)),
        ranked=tuple(item.turn_ids for item in shown.values()),
        dropped_turns=len(missing),
    )
