"""Packages for calibration beside each other: what each says of the same data, and how long it takes.

    python examples/beside.py [NxM ...]        10000x10 and 50000x1000 by default

needs `pip install scikit-learn netcal probmetrics numba torchmetrics calibstats`. The data are made from a seed: logits that are
overconfident by a temperature of 2, in double precision. Each package runs in a process of its own, which loads the data,
imports the package and then times the calls alone. Each package uses as many threads as it does by default.
"""

import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

import numpy as np

PACKAGES = ("burn-calibration", "scikit-learn", "netcal", "probmetrics", "torchmetrics", "calibstats")
SIZES = ("10000x10", "50000x1000")
#: The calls of a package are ended after so many seconds, and go on with the next call.
LIMIT = 600
#: The most runs of a call, and the seconds after which no other begins. The least time is told: others wait for programs
#: that use the processor as well.
RUNS, ENOUGH = 60, 10
#: Rows that no map is fitted to, for its log loss.
HELD_OUT = 5_000
BINS = 15

ROWS = {
    "ece": f"ECE of the top label, {BINS} bins of equal width",
    "brier": "Brier score",
    "log": "log loss",
    "slowest": "the slowest other function of one number",
    "report": "all that one call tells of calibration",
    "compare": "is the change of a map significant, paired",
    "temperature": "temperature scaling, fit",
    "isotonic": "isotonic regression of each class, fit",
    "vector": "a scale and a shift for each class, fit",
    "apply": "temperature scaling, probabilities of all rows",
}


def softmax(logits):
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def make(n, m, folder):
    """Logits, their probabilities and labels: `n` rows, and those that are held out."""
    rng = np.random.default_rng(0)
    logits = rng.normal(scale=3, size=(n + HELD_OUT, m))
    calm = softmax(logits / 2).cumsum(axis=1)
    labels = (calm < rng.random((len(calm), 1)) * calm[:, -1:]).sum(axis=1)
    np.save(f"{folder}/logits.npy", logits)
    np.save(f"{folder}/probabilities.npy", softmax(logits))
    np.save(f"{folder}/labels.npy", labels)


def log_loss(probabilities, labels):
    chosen = np.asarray(probabilities, dtype=np.float64)[np.arange(len(labels)), labels]
    return -np.log(np.maximum(chosen, 1e-15)).mean()


# Each call below gives what is timed and what is told of its result. `z`, `p` and `y` are logits, probabilities and
# labels; `fresh` are those of the rows that are held out.


def burn_calibration(row, z, p, y, fresh):
    import burn_calibration as bc

    if row == "ece":
        return lambda: bc.ece(y, p, bins=BINS), float
    if row == "brier":
        return lambda: bc.brier_score(y, p), float
    if row == "log":
        return lambda: bc.log_loss(y, p), float
    if row == "slowest":
        functions = (
            bc.class_wise_ece,
            bc.debiased_ece,
            bc.smooth_ece,
            bc.mmce,
            bc.overconfidence,
            bc.observed_over_expected,
            bc.spherical_score,
            bc.spiegelhalter_test,
            bc.hosmer_lemeshow_test,
            bc.reliability_curve,
        )
        slowest = max(functions, key=lambda function: least_time(lambda: function(y, p))[0])
        return lambda: slowest(y, p), lambda _: slowest.__name__
    if row == "report":
        return (
            lambda: bc.evaluate(y, p),
            lambda found: (
                f"p ≤ {found.p_value:.3f}, {len(found.findings)} findings, {len(found.intervals)} intervals, "
                f"ECE {found.estimates['ece_top_label']:.4f}"
            ),
        )
    if row == "compare":
        after = bc.TemperatureScaling().fit(z, y).predict_proba(z)
        return (
            lambda: bc.compare(y, p, after),
            lambda found: (
                f"log score {found.changes['log']['difference']:.4f}, p = {found.changes['log']['p_value']:.3f}"
            ),
        )
    maps = {
        "temperature": bc.TemperatureScaling,
        "isotonic": bc.IsotonicRegression,
        "vector": bc.StructuredVectorScaling,
    }
    if row in maps:
        return lambda: maps[row]().fit(z, y), lambda found: log_loss(found.predict_proba(fresh.z), fresh.y)
    if row == "apply":
        scaling = bc.TemperatureScaling().fit(z, y)
        return lambda: scaling.predict_proba(z), None


def scikit_learn(row, z, p, y, fresh):
    from sklearn import metrics

    classes = np.arange(p.shape[1])
    if row == "brier":
        return lambda: metrics.brier_score_loss(y, p, labels=classes), float
    if row == "log":
        return lambda: metrics.log_loss(y, p, labels=classes), float


def netcal(row, z, p, y, fresh):
    from netcal.binning import IsotonicRegression
    from netcal.metrics import ECE
    from netcal.scaling import LogisticCalibration, TemperatureScaling

    if row == "ece":
        return lambda: ECE(BINS).measure(p, y), float
    maps = {
        "temperature": lambda: TemperatureScaling().fit(p, y, tensorboard=False),
        "isotonic": lambda: IsotonicRegression().fit(p, y),
        "vector": lambda: LogisticCalibration().fit(p, y, tensorboard=False),
    }
    if row in maps:
        return maps[row], lambda found: log_loss(found.transform(fresh.p), fresh.y)
    if row == "apply":
        scaling = TemperatureScaling().fit(p, y, tensorboard=False)
        return lambda: scaling.transform(p), None


def probmetrics(row, z, p, y, fresh):
    import torch
    from probmetrics.calibrators import get_calibrator
    from probmetrics.metrics import Metrics

    tensors = torch.from_numpy(y), torch.from_numpy(z)
    if row == "ece":
        metrics = Metrics.from_names([f"ece-{BINS}"])
        return lambda: metrics.compute_all_from_labels_logits(*tensors), lambda found: float(found[f"ece-{BINS}"])
    if row in ("brier", "log"):
        name = {"brier": "brier", "log": "logloss"}[row]
        metrics = Metrics.from_names([name])
        return lambda: metrics.compute_all_from_labels_logits(*tensors), lambda found: float(found[name])
    if row == "report":
        names = ["logloss", "brier", f"ece-{BINS}", "calib-err_logloss_ts-mix_cv-5", "refinement_logloss_ts-mix_cv-5"]
        metrics = Metrics.from_names(names)
        return (
            lambda: metrics.compute_all_from_labels_logits(*tensors),
            lambda found: (
                f"log loss {float(found['logloss']):.3f}, of which calibration "
                f"{float(found['calib-err_logloss_ts-mix_cv-5']):.4f}, ECE {float(found[f'ece-{BINS}']):.4f}"
            ),
        )
    maps = {"temperature": "temp-scaling", "isotonic": "isotonic", "vector": "svs"}
    if row in maps:
        fit = lambda: get_calibrator(maps[row]).fit(p, y)  # noqa: E731
        return fit, lambda found: log_loss(found.predict_proba(fresh.p), fresh.y)
    if row == "apply":
        scaling = get_calibrator("temp-scaling").fit(p, y)
        return lambda: scaling.predict_proba(p), None


def torchmetrics(row, z, p, y, fresh):
    import torch
    from torchmetrics.functional.classification import multiclass_calibration_error

    if row == "ece":
        p, y = torch.from_numpy(p), torch.from_numpy(y)
        return lambda: multiclass_calibration_error(p, y, num_classes=p.shape[1], n_bins=BINS), float


def calibstats(row, z, p, y, fresh):
    import calibstats as cs

    if row == "ece":
        return lambda: cs.ece(p, y, n_bins=BINS), float
    if row == "report":
        return (
            lambda: cs.calibration_report(p, y, n_bins=BINS),
            lambda found: (
                f"ECE {found.metrics['ece'].estimate:.4f} [{found.metrics['ece'].ci[0]:.4f}, "
                f"{found.metrics['ece'].ci[1]:.4f}], {len(found.metrics)} intervals"
            ),
        )
    if row == "compare":
        after = cs.TemperatureScaler().fit(z, y).transform(z)
        return lambda: cs.ece_difference_test(
            p, y, after, y, paired=True
        ), lambda found: f"ECE {found.ece_b - found.ece_a:.4f}, p = {found.p_value:.3f}"
    if row == "temperature":
        fit = lambda: cs.TemperatureScaler().fit(z, y)  # noqa: E731
        return fit, lambda found: log_loss(found.transform(fresh.z), fresh.y)
    if row == "apply":
        scaling = cs.TemperatureScaler().fit(z, y)
        return lambda: scaling.transform(z), None


class Fresh:
    """Rows that no map was fitted to."""

    def __init__(self, z, p, y):
        self.z, self.p, self.y = z, p, y


def measure(package, folder, *rows):
    """Times calls of a package in this process: a line of JSON for each."""
    z, p, y = (np.load(f"{folder}/{name}.npy") for name in ("logits", "probabilities", "labels"))
    n = len(y) - HELD_OUT
    fresh = Fresh(z[n:], p[n:], y[n:])
    for row in rows:
        print(json.dumps(cell(package, row, z[:n], p[:n], y[:n], fresh)), flush=True)


def cell(package, row, *data):
    """The least time of a call, and what it tells."""
    try:
        timed = globals()[package.replace("-", "_")](row, *data)
        if timed is None:
            return ""
        call, tell = timed
        taken, result = least_time(call)
        told = "" if tell is None else tell(result)
    except Exception as error:  # is told in the table
        return f"fails: {type(error).__name__}: {str(error)[:80]}"
    if isinstance(told, (float, np.floating)):
        told = f"{told:.4f}"
    taken = f"{taken:.2f} s" if taken >= 1 else f"{1e3 * taken:.3g} ms"
    return f"{taken}<br>{told}" if told else taken


def least_time(call):
    """The least time of some runs, in seconds, and the last result."""
    seconds = []
    while len(seconds) < RUNS and sum(seconds) < ENOUGH:
        start = time.perf_counter()
        result = call()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def cells(package, folder):
    """The cells of a package by a process of its own; another one after a call that takes too long."""
    found = []
    while len(found) < len(ROWS):
        run = [sys.executable, __file__, "--cells", package, folder, *list(ROWS)[len(found) :]]
        with tempfile.TemporaryFile("w+") as out:
            try:
                subprocess.run(run, stdout=out, stderr=subprocess.DEVNULL, timeout=LIMIT, cwd=folder)
                reason = "fails: the process ends"
            except subprocess.TimeoutExpired:
                reason = f"over {LIMIT} s"
            out.seek(0)
            found += [json.loads(line) for line in out if line.startswith('"')]
        if len(found) < len(ROWS):
            found.append(reason)
    return found


def main(sizes):
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; least of up to {RUNS} runs.")
    for size in sizes:
        n, m = map(int, size.split("x"))
        print(f"\n| {n:,} × {m:,} | " + " | ".join(f"{name} {version(name)}" for name in PACKAGES) + " |")
        print("| --- |" + " --- |" * len(PACKAGES), flush=True)
        with tempfile.TemporaryDirectory() as folder:
            make(n, m, folder)
            columns = [cells(package, folder) for package in PACKAGES]
        for title, *row in zip(ROWS.values(), *columns):
            print(f"| {title} | {' | '.join(row)} |", flush=True)


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "(not installed)"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--cells"]:
        measure(*sys.argv[2:])
    else:
        main(sys.argv[1:] or SIZES)
