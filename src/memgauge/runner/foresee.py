"""What an experiment will use, before anything is spent: calls, tokens, dollars and time."""

from dataclasses import dataclass

from memgauge.prices import PriceCard, load_card, worst_case
from memgauge.runner.plan import check, load, plan
from memgauge.runner.progress import Listener
from memgauge.runner.rehearse import Estimate, rehearse
from memgauge.spec import Experiment, Setting

# Seconds per call, and tokens read and written per second, as seen on two cores (embedded) and as is usual for
# hosted models. They only serve to say whether to wait for a run or to come back.
_PACE = {
    "embedded": (0.02, 250.0, 40.0),
    "endpoint": (0.4, 5000.0, 80.0),
    "extractive": (0.002, float("inf"), float("inf")),
    "constant": (0.0005, float("inf"), float("inf")),
}


@dataclass(frozen=True, slots=True)
class Foreseen:
    """One line of a plan.

    ``usd`` is what it costs without caching when replies are as long as in the rehearsal, ``usd_at_most`` when
    every reply is as long as it may be; None where no price is known.
    """

    estimate: Estimate
    usd: float | None
    usd_at_most: float | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Foresight:
    """One line per memory, workload and cell, and what is left out, in words."""

    lines: tuple[Foreseen, ...]
    left_out: tuple[str, ...]


async def foresee(experiment: Experiment, listener: Listener | None = None) -> Foresight:
    """Rehearses ``experiment``, which takes products the time it takes. Raises UserError where it cannot be run."""
    check(experiment)
    loaded = load(experiment)
    for _, workload in loaded.workloads:
        await workload.prepare(None)
    names = {
        name: (setting.model or setting.backbone, setting.embedder) for name, setting in experiment.settings.items()
    }
    estimates = await rehearse(plan(experiment, names, loaded), listener)
    card = load_card(experiment.prices) if experiment.prices else None
    lines = tuple(_priced(estimate, experiment, card) for estimate in estimates)
    return Foresight(lines, loaded.left_out)


def _priced(estimate: Estimate, experiment: Experiment, card: PriceCard | None) -> Foreseen:
    setting = experiment.settings[estimate.setting]
    per_call, reading, writing = _PACE[setting.backbone]
    longest = max(estimate.output_tokens, estimate.calls * _longest(experiment, estimate.protocol, setting))
    # A local runtime keeps the prompt that it has read; a server may, and is taken not to.
    read = estimate.input_tokens - (estimate.prefix_tokens if setting.backbone == "embedded" else 0)
    seconds = estimate.calls * per_call + read / reading + estimate.output_tokens / writing
    usd, at_most = (
        worst_case(estimate.input_tokens, written, setting.model, card=card) if setting.model else None
        for written in (estimate.output_tokens, longest)
    )
    return Foreseen(estimate, usd, at_most, seconds)


def _longest(experiment: Experiment, protocol: str, setting: Setting) -> int:
    cap = setting.max_output_tokens
    wanted = experiment.reply_tokens if protocol == "serve" else experiment.answer_tokens
    return wanted if cap is None else min(wanted, cap)
