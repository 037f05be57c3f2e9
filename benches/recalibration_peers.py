"""Recalibration maps of this library beside those of probmetrics, on the same predictions in one run.

    cargo build --release -p burn-calibration-cli
    pip install probmetrics numpy
    python benches/recalibration_peers.py --calibration target/release/calibration \\
        --networks DIR --models DIR

DIR of --networks holds NAME.csv.gz and labels.csv (examples/recalibrate); the first half fits. DIR of --models
is what recalibration_models.py wrote. Every map is fitted to a part of the predictions and evaluated on the rest.
Times are the least of --repeats fits; of this library they are of a whole process, which also reads and writes
files, and p-values are computed meanwhile. The markdown of all tables goes to standard output. With --curves
instead: `auto` and a temperature fitted to random parts of the predictions of several sizes.
"""

import argparse
import contextlib
import copy
import csv
import gzip
import json
import logging
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

ANY = ["temperature", "ensemble-temperature", "diagonal", "order-preserving", "order-invariant"]
MANY = ["vector", "matrix", "structured-vector", "structured-matrix"]
TWO = ["platt", "beta", "quadratic", "isotonic", "venn-abers", "spline"]
PEERS = {
    2: ["temp-scaling", "ts-mix", "logistic", "beta", "quadratic-scaling", "ivap"],
    3: ["temp-scaling", "ts-mix", "svs", "sms", "ivap-ovr"],
}


class Data:
    """Predictions of one model, those that fit and those that evaluate."""

    def __init__(self, name, predictions, labels, fit, held_out=5000):
        self.name = name
        self.fit, self.fit_labels = predictions[:fit], labels[:fit]
        self.held_out, self.labels = predictions[fit : fit + held_out], labels[fit : fit + held_out]
        self.classes = predictions.shape[1]
        self.group = "two classes" if self.classes == 2 else f"{self.classes} classes"


def networks(folder):
    with open(folder / "labels.csv") as file:
        labels = np.array([int(float(row[0])) - 1 for row in csv.reader(file)])
    for path in sorted(folder.glob("*.csv.gz")):
        with gzip.open(path, "rt") as file:
            rows = np.array(list(csv.reader(file)), dtype=float)
        yield Data(path.name.removesuffix(".csv.gz"), rows, labels, len(labels) // 2)


def models(folder):
    for path in sorted(folder.glob("*.npz")):
        arrays = np.load(path)
        yield Data(path.stem, arrays["p"], arrays["y"], int(arrays["fit"]))


def log_losses(probabilities, labels):
    return -np.log(np.maximum(probabilities[np.arange(len(labels)), labels], 1e-300))


def debiased_error(probabilities, labels, bins=15):
    """The calibration error of the top label of Kumar et al. 2019: bins of equal size, without the bias of noise."""
    top, right = probabilities.max(1), probabilities.argmax(1) == labels
    total = 0.0
    for rows in np.array_split(np.argsort(top, kind="stable"), bins):
        gap, n = (top[rows] - right[rows]).mean(), len(rows)
        variance = (top[rows] - right[rows]).var(ddof=1)
        total += n * (gap**2 - variance / n)
    return np.sqrt(max(total / len(labels), 0.0))


def scores(probabilities, labels):
    """Log loss, Brier score and debiased calibration error of the top label in %."""
    rows = np.arange(len(labels))
    brier = (probabilities**2).sum(1) - 2 * probabilities[rows, labels] + 1
    return log_losses(probabilities, labels).mean(), brier.mean(), 100 * debiased_error(probabilities, labels)


def ours(command, method, data, repeats):
    """Probabilities after the map, seconds, and the name of the map."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name, values in [("fit", data.fit), ("y", data.fit_labels.astype(float)), ("held_out", data.held_out)]:
            np.save(folder / f"{name}.npy", values)

        def run(*arguments):
            done = subprocess.run([command, *arguments], cwd=folder, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{' '.join(arguments)}: {done.stderr}")
            return done.stdout

        chosen = [] if method == "auto" else ["--method", method]
        what = ["--predictions", "fit.npy", "--labels", "y.npy", "-o", "a.map", "--json"]
        seconds = np.inf
        for _ in range(repeats):
            start = time.perf_counter()
            said = json.loads(run("fit", *chosen, *what))
            seconds = min(seconds, time.perf_counter() - start)
        run("apply", "a.map", "--predictions", "held_out.npy", "--to-probabilities", "-o", "p.npy")
        return np.load(folder / "p.npy"), seconds, (said.get("choice") or {}).get("chosen", method)


def peers(method, data, repeats):
    from probmetrics.calibrators import get_calibrator

    seconds = np.inf
    with contextlib.redirect_stdout(sys.stderr):  # they print
        for _ in range(repeats):
            calibrator = get_calibrator(method)
            start = time.perf_counter()
            calibrator.fit(data.fit, data.fit_labels)
            seconds = min(seconds, time.perf_counter() - start)
        return np.asarray(calibrator.predict_proba(data.held_out)), seconds, method


def omnibus(command, predictions, labels):
    """The p-value of the omnibus test with 999 redraws, or more where it is near 5 %."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/p.npy", predictions.astype(float))
        np.save(f"{folder}/y.npy", labels.astype(float))
        files = ["--predictions", "p.npy", "--normalise", "--labels", "y.npy", "--json"]
        done = subprocess.run([command, "evaluate", *files], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"evaluate: {done.stderr}")
        return json.loads(done.stdout)["omnibus"]["p_value"]


def difference(a, b):
    """The mean of a − b, and its standard error."""
    return (a - b).mean(), (a - b).std(ddof=1) / len(a) ** 0.5


def row(cells):
    print("| " + " | ".join(cells) + " |")


def print_maps(results, groups):
    """One row a map: its mean log loss in each group of data."""
    row(["", "map", *[f"{group} ({count})" for group, count in groups.items()], "Brier", "debiased ECE %", "p > 0.05", "fit, s"])
    row(["---", "---"] + ["---:"] * (len(groups) + 4))
    for (source, name), of_map in results.items():
        means = []
        for group, count in groups.items():
            losses = [entry["scores"][0] for entry in of_map if entry["data"].group == group]
            means.append(f"{np.mean(losses):.4f}" if len(losses) == count else "")
        others = np.mean([entry["scores"] for entry in of_map], 0)[1:] if len(of_map) == sum(groups.values()) else None
        more = ["", ""] if others is None else [f"{others[0]:.4f}", f"{others[1]:.2f}"]
        seconds = np.mean([entry["seconds"] for entry in of_map])
        passed = sum(entry["omnibus"].result() > 0.05 for entry in of_map)
        row([source, name, *means, *more, f"{passed} of {len(of_map)}", f"{seconds:.2f}"])


def print_p_values(results, all_data):
    """The p-value of the omnibus test of each map on each data set."""
    row(["", "map", *[data.name for data in all_data]])
    row(["---", "---"] + ["---:"] * len(all_data))
    for (source, name), of_map in results.items():
        p_values = {entry["data"].name: entry["omnibus"].result() for entry in of_map}
        shown = [p_values.get(data.name) for data in all_data]
        row([source, name, *["" if p is None else "≤ 0.001" if p <= 0.001 else f"{p:.3f}" for p in shown]])


def print_choices(results, all_data):
    """What `auto` chose for each data set, beside the best of all maps in hindsight."""
    row(["predictions", "chosen", "log loss", "best of ours", "auto less that", "best of probmetrics", "auto less that"])
    row(["---", "---", "---:", "---", "---:", "---", "---:"])
    ahead = []
    for data in all_data:
        entries = [(key, entry) for key, of_map in results.items() for entry in of_map if entry["data"] is data]
        auto = next(entry for key, entry in entries if key[1] == "auto")
        cells = [data.name, auto["chosen"], f"{auto['scores'][0]:.4f}"]
        for source in ["this library", "probmetrics"]:
            among = [(key[1], entry) for key, entry in entries if key[0] == source and key[1] != "auto"]
            name, best = min(among, key=lambda pair: pair[1]["scores"][0])
            mean, error = difference(auto["losses"], best["losses"])
            cells += [f"{name} {best['scores'][0]:.4f}", f"{mean:+.4f} ± {error:.4f}"]
        ahead.append(mean)
        row(cells)
    print(f"\nMean of the last column: {np.mean(ahead):+.4f}.")


def print_curves(command, all_data):
    """By sample size the log loss of `auto` less that of a temperature, over data sets and random samples."""
    row(["samples", "fits", "none", "temperature", "auto", "auto less temperature", "worst", "beyond one SE", "chosen"])
    row(["---:"] * 8 + ["---"])
    for size in [20, 50, 100, 200, 500, 1000, 2000, 5000]:
        entries, names = [], {}
        for data in all_data:
            for seed in range({5000: 1, 2000: 2, 1000: 3}.get(size, 6) if size <= len(data.fit) else 0):
                rows = np.random.default_rng(seed).permutation(len(data.fit))[:size]
                part = copy.copy(data)
                part.fit, part.fit_labels = data.fit[rows], data.fit_labels[rows]
                after, _, chosen = ours(command, "auto", part, 1)
                alone, _, _ = ours(command, "temperature", part, 1)
                none, alone, after = [log_losses(p, data.labels) for p in (data.held_out, alone, after)]
                # the error that the fit is uncertain by, and not that of the larger sample that evaluates
                error = (after - alone).std(ddof=1) / size**0.5
                mean = (after - alone).mean()
                entries.append([none.mean(), alone.mean(), after.mean(), mean, mean > max(error, 1e-12)])
                names[chosen] = names.get(chosen, 0) + 1
        means, worst = np.mean(entries, 0), np.max(entries, 0)[3]
        chosen = ", ".join(f"{name} {count}" for name, count in sorted(names.items(), key=lambda pair: -pair[1]))
        cells = [*[f"{mean:.4f}" for mean in means[:3]], f"{means[3]:+.4f}", f"{worst:+.4f}", f"{100 * means[4]:.0f} %"]
        row([str(size), str(len(entries)), *cells, chosen])
        sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calibration", type=Path, required=True)
    parser.add_argument("--networks", type=Path)
    parser.add_argument("--models", type=Path)
    parser.add_argument("--only", nargs="+", default=[], help="names of data sets")
    parser.add_argument("--curves", action="store_true")
    parser.add_argument("--repeats", type=int, default=1)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    command = str(arguments.calibration.resolve())
    all_data = [*networks(arguments.networks)] if arguments.networks else []
    all_data += [*models(arguments.models)] if arguments.models else []
    all_data = [data for data in all_data if not arguments.only or data.name in arguments.only]
    if arguments.curves:
        return print_curves(command, all_data)
    results = {}
    pool = ThreadPoolExecutor(2)

    def keep(source, name, data, after, seconds=0.0, chosen=None):
        losses = log_losses(after, data.labels)
        entry = {"data": data, "losses": losses, "scores": scores(after, data.labels)}
        entry["omnibus"] = pool.submit(omnibus, command, after, data.labels)
        results.setdefault((source, name), []).append(entry | {"seconds": seconds, "chosen": chosen})
        print(f"{data.name}: {source} {name} {losses.mean():.4f}, {seconds:.2f} s", file=sys.stderr, flush=True)

    for data in all_data:
        keep("", "none", data, data.held_out)
        for method in ["auto", *ANY, *(TWO if data.classes == 2 else MANY)]:
            keep("this library", method, data, *ours(command, method, data, arguments.repeats))
        for method in PEERS[min(data.classes, 3)]:
            try:
                keep("probmetrics", method, data, *peers(method, data, arguments.repeats))
            except Exception as error:
                print(f"{data.name}: probmetrics {method}: {error!r}", file=sys.stderr, flush=True)
    groups = {}
    for data in all_data:
        groups[data.group] = groups.get(data.group, 0) + 1
    order = {"": 0, "this library": 1, "probmetrics": 2}
    results = dict(sorted(results.items(), key=lambda pair: order[pair[0][0]]))
    print_maps(results, groups)
    print()
    print_p_values(results, all_data)
    print()
    print_choices(results, all_data)


if __name__ == "__main__":
    main()
