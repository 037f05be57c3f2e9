"""The examples and the tour run, and print what they hold."""

import contextlib
import doctest
import importlib
import io
import json
import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("sklearn")
EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"


def run(name):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, EXAMPLES / name], capture_output=True, text=True, check=True, env=environment
    )
    return done.stdout


def test_digits():
    pytest.importorskip("onnxruntime")
    lines = run("digits.py")
    assert "chosen:     temperature" in lines and "ONNX Runtime" in lines


def test_regression():
    lines = run("regression.py")
    assert "Gaussian process: The model is not calibrated" in lines and "after a conformal shift" in lines


def test_the_tour_runs_cell_by_cell():
    tour = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in tour["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 8
    names = {"__name__": "__main__"}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for number, cell in enumerate(cells):
            exec(compile(cell, f"cell {number}", "exec"), names)
    assert "row 5: the label is 'cow', expected one of 'cat', 'dog', 'owl'" in printed.getvalue()


@pytest.mark.filterwarnings("ignore::burn_calibration.FitWarning")
@pytest.mark.parametrize("name", ["metrics", "curves", "significance", "maps", "real_maps", "model", "torch"])
def test_docstrings(name):
    if name == "torch":
        pytest.importorskip("torch")
    outcome = doctest.testmod(importlib.import_module(f"burn_calibration.{name}"))
    assert outcome.attempted > 0 and outcome.failed == 0
