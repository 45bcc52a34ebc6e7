"""K-means over unit vectors, seeded: small enough not to ask for a library beside numpy."""

import numpy as np
from numpy.typing import NDArray

from memgauge.embedders.base import Vectors

_ROUNDS = 50


def clusters(vectors: Vectors, count: int, seed: int = 0) -> list[list[int]]:
    """Places of the vectors in at most ``count`` groups, each in order, the group of the first vector first.

    Lloyd's rounds from k-means++ starts; fewer groups where fewer vectors differ.
    """
    generator = np.random.default_rng(seed)
    centres = vectors[:1]
    while len(centres) < count:
        far = _squared_distances(vectors, centres).min(axis=1)
        if far.sum() <= 1e-9:
            break
        centres = np.vstack([centres, vectors[generator.choice(len(vectors), p=far / far.sum())]])
    labels = np.full(len(vectors), -1)
    for _ in range(_ROUNDS):
        nearest = _squared_distances(vectors, centres).argmin(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
        centres = np.stack([vectors[labels == label].mean(axis=0) for label in np.unique(labels)])
    return [np.flatnonzero(labels == label).tolist() for label in dict.fromkeys(labels.tolist())]


def _squared_distances(vectors: Vectors, centres: Vectors) -> NDArray[np.float64]:
    """Shape (vectors, centres)."""
    squares = (vectors**2).sum(axis=1)[:, None] - 2 * vectors @ centres.T + (centres**2).sum(axis=1)
    return np.asarray(np.maximum(squares, 0), np.float64)
