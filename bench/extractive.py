"""How fast the extractive backbone answers, and how well: time per call by prompt size, F1 on LoCoMo where it is.

    python bench/extractive.py [--json] [--locomo PATH]

Warm: every part was seen before, only the question is new. The rival is the least that any backbone must do, a
``Constant`` that counts the prompt's tokens.
"""

import argparse
import asyncio
import json
import random
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median

from memgauge.backbones.base import Backbone, ChatRequest
from memgauge.backbones.constant import Constant
from memgauge.backbones.extractive import Extractive
from memgauge.backbones.rules.lines import read
from memgauge.conversation import Turn

_SIZES = (20, 400, 1600)
_SYSTEM = "Answer the question from the conversation below."
_THINGS = ("piano", "bicycle", "garden", "kitchen", "camera", "boat", "violin", "tent", "ladder", "lamp")
_DEEDS = ("bought", "repaired", "sold", "painted", "borrowed", "lost", "found", "cleaned")
_TOWNS = ("Lisbon", "Turin", "Bergen", "Cork", "Ghent", "Split", "Graz", "Tartu")


def lines(count: int) -> list[str]:
    """Made-up turns, none twice."""
    pick, start = random.Random(count), datetime(2023, 5, 8, 13, 56)
    return [
        Turn(
            str(i),
            "Ann" if i % 2 else "Bob",
            f"Yesterday I {pick.choice(_DEEDS)} the {pick.choice(_THINGS)} number {i} in {pick.choice(_TOWNS)}."
            f" It was for my friend {pick.choice(('Carla', 'Dinesh', 'Eva'))}, who likes it. How are you?",
            start + timedelta(hours=i),
        ).line()
        for i in range(count)
    ]


def questions() -> Iterator[str]:
    """Questions without end, each with its own answer."""
    pick = random.Random(7)
    while True:
        who, deed, thing = pick.choice(("Ann", "Bob")), pick.choice(_DEEDS), pick.choice(_THINGS)
        yield pick.choice((f"When was it that {who} {deed} the {thing}?", f"Where was the {thing} {deed} by {who}?"))


async def seconds_per_call(backbone: Backbone, parts: list[str], calls: int = 200) -> float:
    """Median time of a call whose context was sent before."""
    asked = questions()
    times = []
    for _ in range(calls):
        request = ChatRequest.of(_SYSTEM, *parts, f"Question: {next(asked)}")
        started = time.perf_counter()
        await backbone.chat(request)
        times.append(time.perf_counter() - started)
    return median(times)


def parts_per_second(count: int = 4000) -> float:
    """How many parts are read for the first time in a second."""
    parts = lines(count)
    started = time.perf_counter()
    for part in parts:
        read(part)
    return count / (time.perf_counter() - started)


async def quality(path: Path) -> dict[str, float]:
    """Token F1 by category with the evidence turns as context; category 5: the share of abstentions."""
    from memgauge.metrics.answers import token_f1
    from memgauge.workloads.locomo import LoCoMo

    scores: dict[str, list[float]] = {}
    backbone = Extractive()
    workload = LoCoMo(path=str(path))
    for conversation in map(workload.conversation, workload.items()):
        turns = {turn.id: turn.line() for turn in conversation.turns}
        for question in conversation.questions:
            evidence = [turns[turn] for turn in question.evidence if turn in turns]
            if evidence:
                request = ChatRequest.of(_SYSTEM, *evidence, f"Question: {question.text}")
                said = (await backbone.chat(request)).text
                score = token_f1(said, question.answers, question.unanswerable)
                if score is not None:
                    scores.setdefault(str(question.category), []).append(score)
    scores["1-4"] = [score for category in "1234" for score in scores.get(category, [])]
    return {f"locomo_oracle_{name}": sum(each) / len(each) for name, each in sorted(scores.items()) if each}


async def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one object of named figures")
    parser.add_argument("--locomo", type=Path, help="locomo10.json, to score answers as well")
    options = parser.parse_args()
    figures: dict[str, float] = {}
    for size in _SIZES:
        parts = lines(size)
        for name, backbone in (("extractive", Extractive()), ("constant", Constant())):
            await seconds_per_call(backbone, parts, calls=3)
            figures[f"{name}_{size}_parts_ms"] = 1e3 * await seconds_per_call(backbone, parts)
    figures["cold_parts_per_s"] = parts_per_second()
    if options.locomo:
        figures |= await quality(options.locomo)
    if options.json:
        print(json.dumps(figures))
        return
    for size in _SIZES:
        mine, floor = (figures[f"{name}_{size}_parts_ms"] for name in ("extractive", "constant"))
        print(f"{size:5} parts  {mine:7.3f} ms a call, constant {floor:7.3f} ms")
    print(f"cold         {figures['cold_parts_per_s']:,.0f} parts/s read for the first time")
    for name, figure in figures.items():
        if name.startswith("locomo"):
            what = "abstained" if name.endswith("5") else "token F1"
            print(f"LoCoMo, evidence as context, category {name.rpartition('_')[2]:4} {what} {figure:.3f}")


if __name__ == "__main__":
    asyncio.run(main())
