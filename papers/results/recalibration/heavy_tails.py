"""The score test of a variance map in NumPy, and the best test that there can be.

    python papers/results/recalibration/heavy_tails.py

prints the tables of heavy_tails.md. `|z|` are errors in predicted deviations, of variance 1 where nothing else is said.
"""

import numpy as np

SETS = 20_000
rng = np.random.default_rng(1)


def outliers(n):
    """One error in 20 has five times the deviation of the others."""
    wide = rng.random((SETS, n)) < 0.05
    return np.where(wide, 5, 1) * rng.normal(size=(SETS, n)) / np.sqrt(0.95 + 0.05 * 25)


ERRORS = {
    "t with 3 degrees of freedom": lambda n: rng.standard_t(3, (SETS, n)) / np.sqrt(3),
    "exponential": lambda n: rng.exponential(size=(SETS, n)) - 1,
    "outliers from N(0, 25)": outliers,
    "normal, scales 1.5 times too large": lambda n: rng.normal(size=(SETS, n)) / 1.5,
    "normal, scales 1.5 times too small": lambda n: rng.normal(size=(SETS, n)) * 1.5,
}


def score(z, unseen):
    """`DistributionSamples::scale_score` of src/recalibration/auto/distributions.rs, for rows that are all kept."""
    squares = z**2
    n, kept = z.shape[1], squares.mean(1)
    every = (kept * n + unseen * squares.max(1)) / (n + 1)
    variance = ((squares / kept[:, None] - 1) ** 2).mean(1) * n / (n - 1)
    error = np.sqrt(np.maximum(variance, 1) / n) * (1 + 2 / n)
    return np.where(kept > 1, 1 - 1 / kept, np.minimum(every - 1, 0)) / error


def best_power(n, level, times=20):
    """The power of Neyman and Pearson's test of the outliers above against normal errors of scales too large by 1.5."""

    def log_normal(z, deviation):
        return -0.5 * (z / deviation) ** 2 - np.log(deviation)

    def ratio(z):
        s = np.sqrt(0.95 + 0.05 * 25)
        null = np.logaddexp(np.log(0.95) + log_normal(z, 1 / s), np.log(0.05) + log_normal(z, 5 / s))
        return (log_normal(z, 1 / 1.5) - null).sum(1)

    null = np.concatenate([ratio(outliers(n)) for _ in range(times)])
    critical = np.quantile(null, 1 - level)
    return np.mean([ratio(rng.normal(size=(SETS, n)) / 1.5) > critical for _ in range(times)])


factors = [2.5, 4, 5]
print("| errors | rows | " + " | ".join(f"{factor:g}" for factor in factors) + " |")
print("| --- | ---: |" + " ---: |" * len(factors))
for name, draw in ERRORS.items():
    for n in [30, 100, 300]:
        z = draw(n)
        found = [100 * (np.abs(score(z, factor)) > 1.96).mean() for factor in factors]
        print(f"| {name} | {n} | " + " | ".join(f"{share:.1f} %" for share in found) + " |")
for level in [0.05, 0.065]:
    print(f"\nNeyman and Pearson, 100 rows, level {100 * level:.1f} %: power {100 * best_power(100, level):.0f} %")
