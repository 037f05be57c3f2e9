"""Data that the tests share."""

import numpy as np
import pytest


def draw(n, m, seed=0, temperature=2.0, scale=2.0):
    """Logits that are overconfident by a temperature, and labels."""
    rng = np.random.default_rng(seed)
    logits = scale * rng.normal(size=(n, m))
    weights = np.exp(logits / temperature)
    weights /= weights.sum(axis=1, keepdims=True)
    labels = (weights.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return logits, labels


@pytest.fixture(scope="session")
def three():
    return draw(600, 3)


@pytest.fixture(scope="session")
def two():
    return draw(600, 2, seed=1)
