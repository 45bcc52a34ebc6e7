"""A run whose process group is killed, again and again, ends as if nobody had touched it, and pays once."""

import time
from dataclasses import asdict
from pathlib import Path

import pytest

from kills import campaign, leftovers, spec, upstream


@pytest.mark.xdist_group("chaos")  # it looks for processes that were left over
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_run_that_is_killed_again_and_again_ends_as_if_it_had_been_left_alone(
    tmp_path: Path, concurrency: int
) -> None:
    with upstream(tmp_path / "charges", latency_s=0.01) as up:
        toll = campaign(tmp_path, up, spec(tmp_path, up.port), kills=6, seed=concurrency, concurrency=concurrency)
    assert toll.kills == 6, asdict(toll)
    assert toll.unsound == []
    assert toll.unlike == []
    assert (toll.completed_lost, toll.paid_twice) == (0, 0)
    # Whatever else the upstream charged for was under way at a kill, and stands in the ledger as interrupted.
    assert toll.unexplained_charges == 0
    assert toll.uncertain_charged >= 0
    time.sleep(1)  # a sidecar that has lost its parent gets a moment to see it
    assert leftovers() == []
