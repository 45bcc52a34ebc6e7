"""What a provider's cache would have served, worked out call by call."""

from typing import Any

import polars as pl
import pytest

from memgauge.analysis.caching import under_policy
from memgauge.prices import CachePolicy


def classes(policy: CachePolicy | None, *, prompt: int = 2000, **more: Any) -> tuple[float, float, float]:
    """Input, cached and cache-write tokens of one call: 1,500 of 2,000 tokens stood in a prompt one turn ago."""
    options = {name: more.pop(name) for name in ("hit_share", "seconds_per_turn") if name in more}
    row = {
        "kind": "chat", "input_tokens": prompt, "cached_tokens": None, "cache_write_tokens": None,
        "counted_tokens": 2000, "prefix_tokens": 1500, "prefix_turns_ago": 1, **more,
    }  # fmt: skip
    schema = {
        "kind": pl.String,
        **dict.fromkeys(
            (
                "input_tokens",
                "cached_tokens",
                "cache_write_tokens",
                "counted_tokens",
                "prefix_tokens",
                "prefix_turns_ago",
            ),
            pl.Int64,
        ),
    }
    found = under_policy(pl.DataFrame([row], schema=schema), policy, **options)
    values: tuple[float, float, float] = found.select("input_tokens", "cached_tokens", "cache_write_tokens").row(0)
    return values


def test_a_known_prefix_is_cached() -> None:
    assert classes(CachePolicy()) == (500, 1500, 0)


def test_a_prefix_below_the_shortest_cacheable_length_is_not() -> None:
    assert classes(CachePolicy(min_tokens=1501)) == (2000, 0, 0)
    assert classes(CachePolicy(min_tokens=1500)) == (500, 1500, 0)


def test_a_prefix_is_cached_in_whole_multiples_of_the_granularity() -> None:
    # 11 blocks of 128 are 1,408.
    assert classes(CachePolicy(granularity=128)) == (592, 1408, 0)


def test_a_prefix_older_than_its_time_to_live_is_gone() -> None:
    assert classes(CachePolicy(ttl_turns=2), prefix_turns_ago=3) == (2000, 0, 0)
    assert classes(CachePolicy(ttl_s=300), prefix_turns_ago=5, seconds_per_turn=60) == (500, 1500, 0)
    assert classes(CachePolicy(ttl_s=300), prefix_turns_ago=6, seconds_per_turn=60) == (2000, 0, 0)


def test_a_first_call_has_nothing_cached() -> None:
    assert classes(CachePolicy(), prefix_tokens=0, prefix_turns_ago=None) == (2000, 0, 0)


def test_what_is_not_cached_is_written_where_the_provider_charges_for_writing() -> None:
    assert classes(CachePolicy(writes=True)) == (0, 1500, 500)


def test_a_prefix_is_the_same_share_of_the_prompt_as_billed() -> None:
    # The provider's own tokenizer saw 4,000 tokens where ours counted 2,000.
    assert classes(CachePolicy(), prompt=4000) == (1000, 3000, 0)


def test_what_was_served_from_a_cache_is_prompt_like_any_other() -> None:
    assert classes(None, prompt=1800, cached_tokens=200) == (2000, 0, 0)


def test_under_fallback_routing_a_prefix_is_met_by_chance() -> None:
    assert classes(CachePolicy(), hit_share=0.5) == (1250, 750, 0)


def test_embeddings_are_left_alone() -> None:
    assert classes(CachePolicy(), kind="embed", prompt=7) == (7, None, None)


def test_unknown_usage_stays_unknown() -> None:
    assert classes(CachePolicy(), input_tokens=None)[0] is None


@pytest.mark.parametrize("policy", [None, CachePolicy(), CachePolicy(granularity=128, writes=True)])
def test_no_token_is_lost(policy: CachePolicy | None) -> None:
    assert sum(classes(policy)) == 2000
