"""Runs exported maps by ONNX Runtime, and their printed formulas by NumPy, beside `calibration apply`.

    pip install numpy onnx onnxruntime
    python tests/onnx/check.py target/debug/calibration

A map of every kind is fitted to logits of 2 and of 4 classes, and one of every kind of distributions. Each is
applied to 10,000 rows of f32, with logits of ±30, masked classes and ties among them, by the command in f64, by ONNX Runtime, and by
the lines that `show --formula` prints. Ends with 1 where two of them differ by 1e-6 or more.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

METHODS = """temperature shift ensemble-temperature diagonal order-preserving order-invariant vector matrix dirichlet
structured-vector structured-matrix platt beta quadratic isotonic venn-abers histogram spline""".split()
ROWS = 10_000
LIMIT = 1e-6

command = str(Path(sys.argv[1]).resolve())
folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(39)


def calibration(*arguments):
    arguments = [command, *(str(argument) for argument in arguments)]
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(arguments)}: {done.stderr}"
    return done.stdout


# What the words of a formula mean: the ten lines.


def softmax(x):
    powers = np.exp(x - np.max(x))
    return powers / powers.sum()


def log_softmax(x):
    x = x - np.max(x)
    return x - np.log(np.exp(x).sum())


def unsort(y, x):
    result = np.empty_like(y)
    result[np.argsort(-x, kind="stable")] = y
    return result


def by_row(table, x, of):
    table = np.atleast_2d(table)
    return np.array([of(table[c % len(table)], entry) for c, entry in enumerate(np.atleast_1d(x))])


def lookup(table, i):
    return by_row(table, i, lambda row, entry: row[int(entry)])


def below(knots, x):
    return by_row(knots, x, lambda row, entry: np.sum(row < entry))


def up_to(knots, x):
    return by_row(knots, x, lambda row, entry: np.sum(row <= entry))


WORDS = {
    "array": np.array,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "sum": np.sum,
    "cumsum": np.cumsum,
    "min": np.minimum,
    "max": np.maximum,
    "softmax": softmax,
    "log_softmax": log_softmax,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "others": lambda x: np.array([np.delete(x, c).sum() for c in range(len(x))]),
    "sort": lambda x: -np.sort(-x),
    "unsort": unsort,
    "lookup": lookup,
    "below": below,
    "up_to": up_to,
    "row": lambda *parts: np.concatenate([np.atleast_1d(part) for part in parts]),
}


def python(expression):
    """A line of a formula as Python: `[a, b]` joins, `table[i]` looks up, `W · x` of a matrix is its product."""
    text = expression.replace("−", "-").replace("'", "_")
    text = re.sub(r"count\((\w+) < (\w+)\)", r"below(\1, \2)", text)
    text = re.sub(r"count\((\w+) ≤ (\w+)\)", r"up_to(\1, \2)", text)
    text = re.sub(r"(?<!\w)(\w+)\[([a-z]\w*)\]", r"lookup(\1, \2)", text)
    text = re.sub(r"(?<![\w\])])\[(.*)\]", lambda found: f"row({found.group(1)})", text)
    text = re.sub(r"\b(W\d*) ·", r"\1 @", text)
    return text.replace("·", "*")


def program(formula):
    lines = [line.split(" = ", 1) for line in formula.splitlines() if not line.startswith("#")]
    is_table = lambda text: re.fullmatch(r"\[[-\d\[].*\]", text) and not re.search("[a-df-z]", text)
    tables = {name: np.array(eval(text)) for name, text in lines if is_table(text)}
    steps = [(name, python(text)) for name, text in lines if not is_table(text)]
    steps = [(name.replace("'", "_"), compile(text, name, "eval")) for name, text in steps]
    return {name.replace("'", "_"): table for name, table in tables.items()}, steps


def by_formula(formula, inputs, result):
    tables, steps = program(formula)
    results = []
    for at in range(len(next(iter(inputs.values())))):
        names = WORDS | tables | {name: rows[at].astype(float) for name, rows in inputs.items()}
        names["m"] = len(next(iter(inputs.values()))[at])
        for name, step in steps:
            names[name] = eval(step, {"__builtins__": {}}, names)
        results.append(np.concatenate([np.atleast_1d(names[name]) for name in result]))
    return np.array(results)


def by_onnx(path, inputs):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(path)
    results = session.run(None, inputs)
    assert all(result.dtype == np.float32 for result in results)
    return np.concatenate(results, 1), len(model.graph.node)


def data(m, n):
    z = 2.5 * rng.normal(size=(n, m))
    p = np.apply_along_axis(softmax, 1, z / 1.6 + 0.3 * rng.normal(size=m))
    return z, np.array([rng.choice(m, p=row) for row in p])


def test_rows(m):
    z = 3 * rng.normal(size=(ROWS, m))
    some = rng.random(z.shape)
    z[:3000][some[:3000] < 0.2] = 30
    z[:3000][some[:3000] > 0.8] = -30
    z[3000:3100] = 1.25
    z[3100:3600, 0] = z[3100:3600, 1]
    # classes that are masked: one of each row, or all but one
    for masked, first in ((-1e4, 3600), (-1e9, 3800)):
        z[np.arange(first, first + 100), rng.integers(m, size=100)] = masked
        kept = rng.integers(m, size=100)
        z[first + 100 : first + 200] = np.where(np.arange(m) == kept[:, None], z[first + 100 : first + 200], masked)
    return z.astype(np.float32)


failed = False
print(f"{'map':24} {'m':>2} {'nodes':>5} {'ONNX Runtime':>13} {'formula':>9}")


def report(name, m, nodes, onnx_error, formula_error):
    global failed
    wrong = not (onnx_error < LIMIT and formula_error < LIMIT)
    failed |= wrong
    print(f"{name:24} {m:2} {nodes:5} {onnx_error:13.1e} {formula_error:9.1e}{'  WRONG' * wrong}")


def check(name, saved, m):
    """A map of classes beside what the command gives."""
    z = test_rows(m)
    np.save(folder / "test.npy", z.astype(float))
    calibration("apply", saved, "--logits", "--predictions", "test.npy", "-o", "after.npy")
    expected = np.apply_along_axis(softmax, 1, np.load(folder / "after.npy"))
    calibration("show", saved, "--export", "onnx", "-o", "map.onnx")
    found, nodes = by_onnx(folder / "map.onnx", {"logits": z})
    formula = calibration("show", saved, "--formula")
    some = np.r_[0:300, 3000:3010, 3100:3110, 3600:4000, 5000:5200]
    of_formula = by_formula(formula, {"z": z[some]}, ["p"])
    difference = np.abs(of_formula - expected[some]).max()
    report(name, m, nodes, np.abs(found - expected).max(), difference)
    # logits of −∞: the model beside the formula, wherever that has numbers
    certain = z[:50].copy()
    certain[:, 0] = -np.inf
    with np.errstate(all="ignore"):
        of_formula = by_formula(formula, {"z": certain}, ["p"])
    found, _ = by_onnx(folder / "map.onnx", {"logits": certain})
    have = np.isfinite(of_formula).all(1)
    if have.any():
        report("  with logits of −∞", m, nodes, np.abs(found - of_formula)[have].max(), 0)


for m in (2, 4):
    z, y = data(m, 500)
    np.save(folder / "z.npy", z)
    np.save(folder / "y.npy", y)
    fit = ["fit", "--logits", "--predictions", "z.npy", "--labels", "y.npy"]
    for method in METHODS:
        calibration(*fit, "--method", method, "-o", "a.map")
        check(method, "a.map", m)
    rates = "0.1" if m == 2 else "0.1,0.2,0.3,0.4"
    for method in ("matrix", "isotonic"):
        calibration(*fit, "--method", method, "--prior", rates, "-o", "a.map")
        check(f"{method} --prior", "a.map", m)

# Distributions: parameters are columns.
mean, scale = rng.normal(size=(400, 1)), np.exp(0.3 * rng.normal(size=(400, 1)))
np.savetxt(folder / "n.csv", np.hstack([mean, scale]), delimiter=",", fmt="%.17g")
np.savetxt(folder / "t.csv", mean + 0.2 + 1.7 * scale * rng.normal(size=(400, 1)), fmt="%.17g")
parameters = {"location": mean.astype(np.float32), "scale": scale.astype(np.float32)}
np.savetxt(folder / "f.csv", np.hstack(list(parameters.values())), delimiter=",", fmt="%.17g")
for family in ("normal", "laplace"):
    for method in ("temperature", "variance", "location-scale"):
        files = ["--family", family, "--predictions"]
        calibration("fit", *files, "n.csv", "--labels", "t.csv", "--method", method, "-o", "a.map")
        calibration("apply", "a.map", *files, "f.csv", "-o", "after.npy")
        after = np.load(folder / "after.npy")
        calibration("show", "a.map", "--export", "onnx", "-o", "map.onnx")
        formula = calibration("show", "a.map", "--formula")
        both = method == "location-scale"
        given = parameters if both else {"scale": parameters["scale"]}
        expected = after if both else after[:, 1:]
        found, nodes = by_onnx(folder / "map.onnx", given)
        letters = {"μ" if name == "location" else "s": rows for name, rows in given.items()}
        of_formula = by_formula(formula, letters, ["μ_", "s_"] if both else ["s_"])
        errors = [np.abs(of - expected).max() for of in (found, of_formula)]
        report(f"{method} of {family}", 1, nodes, *errors)
levels = "0.1,0.5,0.9"
quantiles = np.sort(rng.normal(size=(300, 3)), 1).astype(np.float32)
np.savetxt(folder / "q.csv", quantiles, delimiter=",", fmt="%.17g")
np.savetxt(folder / "t.csv", rng.normal(size=300) + 0.4, fmt="%.17g")
files = ["--family", "quantiles", "--quantile-levels", levels, "--predictions", "q.csv"]
calibration("fit", *files, "--labels", "t.csv", "--method", "conformal", "-o", "a.map")
calibration("apply", "a.map", *files, "-o", "after.npy")
after = np.load(folder / "after.npy")
calibration("show", "a.map", "--export", "onnx", "-o", "map.onnx")
found, nodes = by_onnx(folder / "map.onnx", {"quantiles": quantiles})
of_formula = by_formula(calibration("show", "a.map", "--formula"), {"q": quantiles}, ["q_"])
report("conformal", 3, nodes, np.abs(found - after).max(), np.abs(of_formula - after).max())
sys.exit(failed)
