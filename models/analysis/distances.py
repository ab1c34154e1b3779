"""How far apart two distributions are, and whether two importances rank rows alike (numpy only).

Sources: total variation and Jensen-Shannon as Jain and Wallace (NAACL 2019) use them to compare outputs and
attention weights (0x04J); Kendall's tau-b (1945) and Spearman's rho (1904) with ties.
"""

from __future__ import annotations

import numpy as np

LN2 = float(np.log(2.0))


def total_variation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Half the sum of |p - q| over the last axis, 0 (equal) to 1 (nothing in common)."""
    return 0.5 * np.abs(np.asarray(first, float) - np.asarray(second, float)).sum(axis=-1)


def jensen_shannon_divergence(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Mean KL of both to their mixture over the last axis, in nats, 0 to ln 2. Rows must sum to one."""
    p, q = np.broadcast_arrays(np.asarray(first, float), np.asarray(second, float))
    middle = (p + q) / 2
    return np.maximum((_kl(p, middle) + _kl(q, middle)) / 2, 0.0)


def jensen_shannon(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Jensen-Shannon distance, sqrt(divergence / ln 2): a metric, 0 (equal) to 1 (nothing in common)."""
    return np.sqrt(jensen_shannon_divergence(first, second) / LN2)


def kendall(first: np.ndarray, second: np.ndarray) -> float | None:
    """Kendall's tau-b of two vectors (n,), -1 to 1; None where one of them ranks nothing (all equal, or n < 2)."""
    x, y = _signs(first), _signs(second)
    scale = float(np.sqrt(float((x != 0).sum()) * float((y != 0).sum())))
    return float((x * y).sum() / scale) if scale else None


def spearman(first: np.ndarray, second: np.ndarray) -> float | None:
    """Pearson correlation of the mean ranks, -1 to 1; None where one of them ranks nothing."""
    x, y = ranks(first), ranks(second)
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y / scale) if scale else None


def ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 1; equal values share the mean of their ranks. values (n,), n >= 1."""
    array = np.asarray(values, float)
    below = (array[:, None] > array[None, :]).sum(axis=1)
    equal = (array[:, None] == array[None, :]).sum(axis=1)
    return below + (equal + 1) / 2


def _kl(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    ratio = np.divide(p, q, out=np.ones_like(p), where=p > 0)  # 0 log 0 is 0
    return (p * np.log(ratio)).sum(axis=-1)


def _signs(values: np.ndarray) -> np.ndarray:
    """Sign of every pair's difference, (n (n - 1) / 2,)."""
    array = np.asarray(values, float)
    rows, columns = np.triu_indices(len(array), 1)
    return np.sign(array[rows] - array[columns])
