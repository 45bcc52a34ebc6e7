"""Prompt caching after the fact: what a provider's cache would have served of every prompt.

The ledger knows, for each call, how many leading tokens equal an earlier call's of the same unit and model, and
how many turns ago that was. A policy (memgauge.prices.CachePolicy) turns this into cached and written tokens.
"""

import polars as pl

from memgauge.prices import CachePolicy

# Seconds between two turns where a policy's time to live is in seconds: a benchmark replays a dialogue as fast as
# the model answers, the person who held it would have needed about this long.
SECONDS_PER_TURN = 60.0


def under_policy(
    calls: pl.DataFrame,
    policy: CachePolicy | None,
    *,
    hit_share: float = 1.0,
    seconds_per_turn: float = SECONDS_PER_TURN,
) -> pl.DataFrame:
    """``calls`` with input, cached and cache-write tokens as they would have been billed under ``policy``.

    Every prompt keeps its tokens; only their classes change. The ledger counts prefixes with one tokenizer for
    all models, so a prefix is taken as the same share of the prompt as billed. ``hit_share`` is how often the
    provider that holds the prefix is also the one that is asked: with fallback routing, below 1; token counts
    are then expectations, not whole numbers. Without a policy nothing is cached.
    """
    prompt = pl.col("input_tokens") + pl.col("cached_tokens").fill_null(0) + pl.col("cache_write_tokens").fill_null(0)
    if policy is None:
        cached, written = pl.lit(0.0), pl.lit(0.0)
    else:
        cached = _served(prompt, policy, seconds_per_turn) * hit_share
        cacheable = pl.lit(policy.writes) & (prompt >= policy.min_tokens)
        written = pl.when(cacheable).then(prompt - cached).otherwise(0.0)
    chat = pl.col("kind") == "chat"
    return calls.with_columns(
        input_tokens=pl.when(chat).then(prompt - cached - written).otherwise("input_tokens"),
        cached_tokens=pl.when(chat).then(cached).otherwise("cached_tokens"),
        cache_write_tokens=pl.when(chat).then(written).otherwise("cache_write_tokens"),
    )


def _served(prompt: pl.Expr, policy: CachePolicy, seconds_per_turn: float) -> pl.Expr:
    counted = pl.col("counted_tokens")
    scale = pl.when(counted > 0).then(prompt / counted).otherwise(0.0)
    prefix = pl.min_horizontal((pl.col("prefix_tokens") * scale).round(6), prompt)
    whole = (prefix // policy.granularity) * policy.granularity
    age = pl.col("prefix_turns_ago")
    alive = age.is_not_null() & (prefix >= policy.min_tokens)
    if policy.ttl_turns is not None:
        alive &= age <= policy.ttl_turns
    if policy.ttl_s is not None:
        alive &= age * seconds_per_turn <= policy.ttl_s
    return pl.when(alive).then(whole).otherwise(0.0)
