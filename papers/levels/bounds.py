"""How often the bound of the omnibus test alone lets a finding about a mean of classes through that is false.

    python3 papers/levels/bounds.py SEED SETS      # numpy, scipy

The adjusted p-value of such a finding is at least `k · 3.178 · P(|Z| >= |sum v|/sqrt(max(V, sum v²)))`, with
`k = classes - 1` for classes and 1 else. So the share of data sets in which this is at most 5 % is at least
the share in which the test makes the finding. Prints the table of papers/results/levels_partial.md,
2 and 10 and 100 classes.
"""

import sys

import numpy as np
from scipy.stats import norm

seed, sets = int(sys.argv[1]), int(sys.argv[2])


def p_values(terms, variance, count):
    """Of sums of the columns of terms."""
    z = abs(terms.sum(0)) / np.sqrt(np.maximum(variance, (terms**2).sum(0)))
    return np.minimum(1, count * 3.178 * 2 * norm.sf(z))


def one_hot(y, m):
    return (y[:, None] == np.arange(m)).astype(float)


def confident(rng, n, m, says, right):
    """Says so much for a class at random, is right so often; the other classes are equally likely."""
    top = rng.integers(0, m, n)
    p = np.full((n, m), (1 - says) / (m - 1))
    p[np.arange(n), top] = says
    y = np.where(rng.random(n) < right, top, (top + rng.integers(1, m, n)) % m)
    return p, y, top


def overconfident(says, right):
    def least(rng, n, m):
        p, y, _ = confident(rng, n, m, says, right)
        return p_values(p - one_hot(y, m), (p * (1 - p)).sum(0), m - 1).min()

    return least


def confusion(rng, n, m):
    """Half of class 0 is called class 1; the frequencies of the others are right."""
    w = rng.exponential(size=(n, m)) ** 2
    p = w / w.sum(1, keepdims=True)
    y = np.minimum((p.cumsum(1) < rng.random((n, 1))).sum(1), m - 1)
    y = np.where((y == 0) & (rng.random(n) < 0.5), 1, y)
    return p_values(p - one_hot(y, m), (p * (1 - p)).sum(0), m - 1)[2:].min()


def sides(rng, n, m):
    """Says 80 %; right in 65 % for class 0, 95 % for class 1: confidence, Brier and log score are right."""
    p, y, top = confident(rng, n, 2, 0.8, np.nan)
    right = rng.random(n) < np.array([0.65, 0.95])[top]
    # all three are multiples of confidence less correctness
    return p_values((0.8 - right)[:, None], n * 0.8 * 0.2, 1).min()


rows = [
    (f"says {says:.2f}, right {right:.2f}: a class accused", overconfident(says, right), (2, 10, 100))
    for says, right in ((0.9, 0.7), (0.97, 0.8), (0.99, 0.9))
]
rows.append(("half of class 0 called class 1: another class accused", confusion, (3, 10, 100)))
rows.append(("says 0.80, right 0.65 and 0.95: confidence or a score accused", sides, (2,)))
print(f"per cent of {sets} data sets ({max(sets // 10, 1)} of n = 10,000) with a bound of at most 5 %, seed {seed}\n")
print("| | classes | n = 50 | 200 | 1,000 | 10,000 |\n| --- | ---: | ---: | ---: | ---: | ---: |")
for name, least, classes in rows:
    for m in classes:
        cells = []
        for n in (50, 200, 1000, 10000):
            rng = np.random.default_rng([seed, n, m])
            count = max(sets // 10, 1) if n == 10000 else sets
            hits = sum(least(rng, n, m) <= 0.05 for _ in range(count))
            cells.append(f"{100 * hits / count:.1f}")
        print(f"| {name} | {m} | {' | '.join(cells)} |", flush=True)
