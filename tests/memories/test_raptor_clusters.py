"""How nodes are grouped: what lies together, what is too long for one summary, what cannot be told apart."""

import numpy as np
import pytest

from memgauge.errors import MissingExtraError
from memgauge.memories import raptor_clusters
from memgauge.memories.raptor_clusters import groups

pytest.importorskip("umap", reason="memgauge[raptor] is not installed")
pytest.importorskip("sklearn", reason="memgauge[raptor] is not installed")

NO_LIMIT = 10**9


def bunches(*sizes: int) -> np.ndarray:
    """Unit vectors around one axis for each size."""
    random = np.random.default_rng(7)
    axes = np.repeat(np.eye(len(sizes), 24), sizes, axis=0)
    near = axes + 0.1 * random.normal(size=axes.shape)
    return (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32)


def test_what_lies_far_apart_is_never_in_one_group() -> None:
    found = groups(bunches(20, 24), [1] * 44, NO_LIMIT)

    assert {place for group in found for place in group} == set(range(44))
    for group in found:
        assert len({place < 20 for place in group}) == 1
        assert list(group) == sorted(set(group))


@pytest.mark.parametrize("vectors", [bunches(9, 14, 11), np.repeat(bunches(1), 60, axis=0)], ids=["apart", "equal"])
def test_the_same_vectors_are_grouped_the_same_way_again(vectors: np.ndarray) -> None:
    ones = [1] * len(vectors)
    assert groups(vectors, ones, NO_LIMIT) == groups(vectors, ones, NO_LIMIT)


@pytest.mark.parametrize("held", [1, 2, 3, 4, 5, 6, 7, 12, 13])
def test_however_few_there_are_each_is_in_a_group(held: int) -> None:
    found = groups(bunches(held), [1] * held, NO_LIMIT)
    assert {place for group in found for place in group} == set(range(held))


def test_a_group_too_long_for_one_summary_is_grouped_again() -> None:
    # Two bunches of eighteen nodes of 100 tokens: left alone, some group has more than 500.
    vectors, lengths = bunches(18, 18), [100] * 36
    assert max(map(len, groups(vectors, lengths, NO_LIMIT))) > 5

    found = groups(vectors, lengths, 500)
    assert max(map(len, found)) <= 5
    assert {place for group in found for place in group} == set(range(36))
    for group in found:
        assert len({place < 18 for place in group}) == 1


def test_what_does_not_fall_apart_is_cut_into_runs() -> None:
    # Without vectors nothing tells them apart. 120 + 100 fit into 300, another 100 does not; 400 is alone.
    nothing = np.zeros((7, 8), np.float32)
    lengths = [120, 100, 100, 100, 100, 400, 50]
    assert groups(nothing, lengths, 300) == [(0, 1), (2, 3, 4), (5,), (6,)]


LITTLE = {
    "of no width": np.zeros((14, 0), np.float32),
    "all equal": np.full((14, 4), 0.5, np.float32),
    "opposite": np.tile(np.array([[1, 0], [-1, 0]], np.float32), (7, 1)),
}


@pytest.mark.parametrize("vectors", LITTLE.values(), ids=LITTLE)
def test_vectors_that_say_little_are_grouped_all_the_same(vectors: np.ndarray) -> None:
    found = groups(vectors, [10] * 14, 50)
    assert {place for group in found for place in group} == set(range(14))
    assert max(map(len, found)) <= 5


def test_what_is_not_installed_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raptor_clusters, "find_spec", lambda name: None if name == "umap" else name)
    with pytest.raises(MissingExtraError, match=r"pip install 'memgauge\[raptor\]'"):
        raptor_clusters.require()
