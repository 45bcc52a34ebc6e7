"""How the fixed parts of a prompt move the exponents of the two reference strategies (paper 1, table 6).

Without noise: C(t) = F + (L + o) · turns in sight, on the paper's eight cells, with F tokens of answer prompt and o
tokens around every message. Prints p, q and the held-out error for a range of both, beside what our own prompts
have and what the paper measured. ``--json`` prints one object of named figures.
"""

import argparse
import json
from collections.abc import Callable

import numpy as np

from memgauge import tokens
from memgauge.conversation import Turn
from memgauge.protocols.prompts import reply_messages

CELLS = ((15, 50), (15, 200), (40, 250), (100, 100), (200, 50), (400, 25), (400, 50), (400, 200))
WINDOW = 11  # ten remembered turns and the one in hand
FIXED = (60, 90, 120, 150)
PER_MESSAGE = (0, 3, 6)
PAPER = {"full-history": "p 0.95–0.97  q 0.94–0.97", "rolling-window": "p 0.85–0.92  q 0.10–0.12"}


def fit(cost: Callable[[np.ndarray, int], np.ndarray], cells: tuple[tuple[int, int], ...] = CELLS) -> np.ndarray:
    """Least squares of log(C + 1) on log(L + 1) and log(t + 1): a, p, q."""
    rows, targets = [], []
    for turns, size in cells:
        depth = np.arange(1, turns + 1)
        rows.append(np.column_stack([np.ones(turns), np.full(turns, np.log(size + 1)), np.log(depth + 1)]))
        targets.append(np.log(cost(depth, size) + 1))
    return np.linalg.lstsq(np.vstack(rows), np.concatenate(targets), rcond=None)[0]


def held_out(cost: Callable[[np.ndarray, int], np.ndarray]) -> float:
    """Mean relative error of a cell's mean cost, predicted from the other cells (METRICS, LOOCV-MAPE)."""
    errors = []
    for cell in CELLS:
        a, p, q = fit(cost, tuple(other for other in CELLS if other != cell))
        depth = np.arange(1, cell[0] + 1)
        predicted = np.exp(a + p * np.log(cell[1] + 1) + q * np.log(depth + 1)) - 1
        actual = cost(depth, cell[1]).mean()
        errors.append(abs(predicted.mean() - actual) / actual)
    return float(np.mean(errors))


def ours() -> tuple[int, int]:
    """Tokens of our answer prompt (chat format included), and around every message."""
    fixed = sum(tokens.count(message.text) + 3 for message in reply_messages(("",), "")) + 3
    turn = Turn("t", "Daphne", "It has been a while.")
    return fixed, tokens.count(turn.line()) - tokens.count(turn.text)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    fixed, around = ours()
    figures: dict[str, float] = {"our_fixed_tokens": fixed, "our_tokens_per_message": around}
    for size in sorted({*FIXED, fixed}):
        for extra in sorted({*PER_MESSAGE, around}):
            strategies = {
                "full-history": lambda t, length, f=size, o=extra: f + (length + o) * t,
                "rolling-window": lambda t, length, f=size, o=extra: f + (length + o) * np.minimum(t, WINDOW),
            }
            for name, cost in strategies.items():
                _, p, q = fit(cost)
                key = f"{name} F={size} o={extra}"
                figures |= {f"{key} p": p, f"{key} q": q, f"{key} held_out": held_out(cost)}
    if arguments.json:
        print(json.dumps(figures))
        return
    print(f"our answer prompt: {fixed} tokens; around every message: {around} tokens")
    for name, paper in PAPER.items():
        print(f"\n{name}, paper: {paper}\n    F    o      p      q  held out")
        for size in sorted({*FIXED, fixed}):
            for extra in sorted({*PER_MESSAGE, around}):
                p, q, error = (figures[f"{name} F={size} o={extra} {what}"] for what in ("p", "q", "held_out"))
                mark = "  <- ours" if (size, extra) == (fixed, around) else ""
                print(f"{size:5} {extra:4} {p:6.3f} {q:6.3f} {error:9.3f}{mark}")


if __name__ == "__main__":
    main()
