"""Recalibration maps of this library beside those of probmetrics, on four networks in one run.

    cargo build --release --features cli
    pip install probmetrics numpy
    python benches/recalibration_peers.py --predictions DIR --calibration target/release/calibration

Every map is fitted to the first half of the predictions of each network and evaluated on the other half.
Times are those of the fit; of this library they are of a whole process, which also reads and writes files.
"""

import argparse
import csv
import gzip
import logging
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

NETWORKS = ["densenet121", "googlenet", "mobilenet_v2", "resnet18"]
PEERS = ["temp-scaling", "ts-mix", "svs", "sms"]


def read(folder, name):
    with gzip.open(folder / f"{name}.csv.gz", "rt") as file:
        rows = np.array(list(csv.reader(file)), dtype=float)
    with open(folder / "labels.csv") as file:
        labels = np.array([int(float(row[0])) - 1 for row in csv.reader(file)])
    return rows, labels


def scores(probabilities, labels):
    """Means of the log loss and of the Brier score."""
    rows = np.arange(len(labels))
    brier = (probabilities**2).sum(1) - 2 * probabilities[rows, labels] + 1
    return -np.log(probabilities[rows, labels]).mean(), brier.mean()


def ours(command, method, fit, labels, held_out):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, values in [("fit", fit), ("y", labels.astype(float)), ("held_out", held_out)]:
            np.save(folder / f"{name}.npy", values)

        def run(*arguments):
            subprocess.run([command, *arguments], cwd=folder, check=True, capture_output=True)

        chosen = [] if method == "auto" else ["--method", method]
        start = time.perf_counter()
        run("fit", *chosen, "--predictions", "fit.npy", "--labels", "y.npy", "-o", "a.map")
        seconds = time.perf_counter() - start
        run("apply", "a.map", "--predictions", "held_out.npy", "--to-probabilities", "-o", "p.npy")
        return np.load(folder / "p.npy"), seconds


def peers(method, fit, labels, held_out):
    from probmetrics.calibrators import get_calibrator

    calibrator = get_calibrator(method)
    start = time.perf_counter()
    calibrator.fit(fit, labels)
    seconds = time.perf_counter() - start
    return np.asarray(calibrator.predict_proba(held_out)), seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--predictions", type=Path, required=True)
    parser.add_argument("--calibration", type=Path, required=True)
    parser.add_argument("--methods", nargs="+", default=[
        "auto", "temperature", "ensemble-temperature", "diagonal", "order-invariant", "structured-vector",
        "structured-matrix", "matrix", "beta", "spline", "venn-abers",
    ])
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.INFO)
    command = str(arguments.calibration.resolve())
    maps = [("none", None)] + [(name, ours) for name in arguments.methods] + [(name, peers) for name in PEERS]
    results = {(source.__name__ if source else "", name): [] for name, source in maps}
    for network in NETWORKS:
        predictions, labels = read(arguments.predictions, network)
        half = len(labels) // 2
        fit, held_out = predictions[:half], predictions[half:]
        for name, source in maps:
            after, seconds = held_out, 0.0
            if source is ours:
                after, seconds = ours(command, name, fit, labels[:half], held_out)
            elif source is peers:
                after, seconds = peers(name, fit, labels[:half], held_out)
            results[source.__name__ if source else "", name].append((*scores(after, labels[half:]), seconds))
    print("| | map | " + " | ".join(NETWORKS) + " | mean | Brier | fit, s |")
    print("| --- | --- |" + " ---: |" * (len(NETWORKS) + 3))
    for (source, name), rows in results.items():
        rows = np.array(rows)
        of = {"ours": "this library", "peers": "probmetrics", "": ""}[source]
        losses = " | ".join(f"{loss:.4f}" for loss in rows[:, 0])
        loss, brier, seconds = rows.mean(0)
        print(f"| {of} | {name} | {losses} | {loss:.4f} | {brier:.4f} | {seconds:.2f} |")


if __name__ == "__main__":
    main()
