"""Groups of vectors whose likeness can be seen."""

import numpy as np

from memgauge.memories.memskill.clusters import clusters
from memgauge.memories.nearest import unit_rows


def test_vectors_that_lie_together_are_one_group() -> None:
    rows = [[1, 0, 0], [0, 1, 0], [0.99, 0.1, 0], [0, 0, 1], [0.1, 0.99, 0], [0, 0.1, 0.99]]
    assert clusters(unit_rows(np.array(rows, np.float32)), 3) == [[0, 2], [1, 4], [3, 5]]


def test_no_more_groups_than_different_vectors() -> None:
    same = np.ones((4, 2), np.float32)
    assert clusters(same, 5) == [[0, 1, 2, 3]]
    assert clusters(np.array([[1, 0], [0, 1], [1, 0]], np.float32), 5) == [[0, 2], [1]]
    assert clusters(np.array([[1, 0]], np.float32), 5) == [[0]]


def test_the_same_seed_gives_the_same_groups_and_every_place_stands_in_one() -> None:
    vectors = unit_rows(np.random.default_rng(1).normal(size=(200, 8)).astype(np.float32))
    groups = clusters(vectors, 5)
    assert groups == clusters(vectors, 5)
    assert len(groups) == 5
    assert sorted(place for group in groups for place in group) == list(range(200))
