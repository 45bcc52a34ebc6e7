"""How RAPTOR groups nodes: UMAP and Gaussian mixtures, over all of them and again within each group (§3).

As in the authors' code: cosine UMAP down to ten dimensions, as many mixture components as the Bayesian criterion likes
best, and a node in every group to which it belongs with more than a tenth. Unlike it, this is seeded, gives up no node
that belongs nowhere in particular, and ends where a group cannot be split.
"""

import asyncio
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memgauge.embedders.base import Vectors
from memgauge.errors import MissingExtraError

DIMENSIONS = 10
_LOCAL_NEIGHBOURS = 10
_MOST_GROUPS = 50
_LEAST_SHARE = 0.1
_FEWEST = 5  # UMAP wants two neighbours for each: the square root of all others
_SEED = 0

Groups = list[tuple[int, ...]]

# One at a time: numba's threads do not bear two callers. The run goes on meanwhile.
_worker = ThreadPoolExecutor(1, thread_name_prefix="raptor")


def require() -> None:
    """Raises MissingExtraError where the packages are not installed."""
    if not all(map(find_spec, ("sklearn", "umap"))):
        raise MissingExtraError("what raptor clusters with", "pip install 'memgauge[raptor]'")


async def warmed_up() -> None:
    """Loads the packages and compiles UMAP, which takes some ten seconds once per process."""
    await grouped(np.eye(16, dtype=np.float32), [1] * 16, 16)


async def grouped(vectors: Vectors, lengths: Sequence[int], most: int) -> Groups:
    """``groups``, worked out beside the run."""
    return await asyncio.get_running_loop().run_in_executor(_worker, groups, vectors, lengths, most)


def groups(vectors: Vectors, lengths: Sequence[int], most: int) -> Groups:
    """Places of the rows that belong together, in rising order; a row may be in several groups, and is in one.

    A group of more than ``most`` tokens is grouped again, as often as need be; one that does not fall apart that way
    is cut into runs.
    """
    with _tools().threadpool_limits(1):  # the fits are many and small: threads would only wait for each other
        return list(_fitting(range(len(vectors)), vectors, lengths, most))


def _fitting(places: Sequence[int], vectors: Vectors, lengths: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    for found in _clusters(vectors[list(places)]):
        group = tuple(places[row] for row in found)
        if sum(lengths[place] for place in group) <= most:
            yield group
        elif len(group) < len(places):
            yield from _fitting(group, vectors, lengths, most)
        else:
            yield from _runs(group, lengths, most)


def _runs(places: Sequence[int], lengths: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    run: list[int] = []
    total = 0
    for place in places:
        if run and total + lengths[place] > most:
            yield tuple(run)
            run, total = [], 0
        run.append(place)
        total += lengths[place]
    yield tuple(run)


def _clusters(vectors: Vectors) -> list[NDArray[np.intp]]:
    """Groups by rows: global ones, of which those with more members than dimensions are grouped locally."""
    held = len(vectors)
    if held < _FEWEST or not vectors.any():
        return [np.arange(held)]
    found: list[NDArray[np.intp]] = []
    for group in _mixed(_reduced(vectors, isqrt(held - 1), min(DIMENSIONS, held - 2))):
        if len(group) <= DIMENSIONS + 1:
            found.append(group)
        else:
            local = _mixed(_reduced(vectors[group], _LOCAL_NEIGHBOURS, DIMENSIONS))
            found.extend(group[members] for members in local)
    return found


def _reduced(vectors: Vectors, neighbours: int, dimensions: int) -> NDArray[np.float64]:
    # From a spectral start, the default, equal texts end elsewhere at every call whatever the seed; from a random one
    # the groups hold together as well. Without an infinite distance, opposite vectors would have no place at all.
    reducer = _tools().UMAP(
        n_neighbors=neighbours, n_components=dimensions, metric="cosine", init="random", disconnection_distance=np.inf,
        random_state=_SEED, n_jobs=1,
    )  # fmt: skip
    return np.asarray(reducer.fit_transform(vectors), np.float64)


def _mixed(points: NDArray[np.float64]) -> list[NDArray[np.intp]]:
    """The members of each component of the best mixture."""
    mixture = _tools().GaussianMixture
    fits = (mixture(size, random_state=_SEED).fit(points) for size in range(1, min(_MOST_GROUPS, len(points))))
    shares = min(fits, key=lambda fit: float(fit.bic(points))).predict_proba(points)
    belongs = shares > _LEAST_SHARE
    belongs[np.arange(len(points)), shares.argmax(axis=1)] = True
    return [np.flatnonzero(members) for members in belongs.T if members.any()]


class _Tools:
    """The heavy packages, loaded when they are first needed."""

    def __init__(self) -> None:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.mixture import GaussianMixture
        from threadpoolctl import threadpool_limits
        from umap import UMAP

        # Of few points, or of equal ones, both say what is known here: that there is little to tell apart.
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        warnings.filterwarnings("ignore", module="umap")
        self.UMAP: Any = UMAP
        self.GaussianMixture: Any = GaussianMixture
        self.threadpool_limits: Any = threadpool_limits


@cache
def _tools() -> _Tools:
    return _Tools()
