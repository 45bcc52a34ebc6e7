"""How much two sequences share at their start, found without looking at every element."""

from collections.abc import Sequence


def common_prefix(left: Sequence[object], right: Sequence[object]) -> int:
    """How many leading elements are equal.

    Prompts mostly grow at their tail, so single elements are probed back from the end, and what lies before the
    first equal one is compared at one go. Where that guess is wrong, bisection finds the place.
    """
    length = min(len(left), len(right))
    if length == 0 or (left[length - 1] == right[length - 1] and left[:length] == right[:length]):
        return length
    step = 1
    while step < length and left[length - 1 - step] != right[length - 1 - step]:
        step *= 2
    guess = max(0, length - step)
    if left[:guess] != right[:guess]:
        return _bisected(left, right, guess)
    while left[guess] == right[guess]:
        guess += 1
    return guess


def _bisected(left: Sequence[object], right: Sequence[object], high: int) -> int:
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
