"""Thirty-two units side by side never spend more than the limit, however calls fail and runs are stopped."""

from pathlib import Path

import pytest

from spendthrift import spree


@pytest.mark.parametrize("seed", range(40))
async def test_the_till_never_holds_more_than_the_limit(tmp_path: Path, seed: int) -> None:
    till, limits, calls = await spree(tmp_path, seed)
    assert till.tokens <= (limits.max_tokens or till.tokens)
    assert till.usd <= (limits.max_usd or till.usd) + 1e-12
    assert calls > 0 or till.tokens == 0
