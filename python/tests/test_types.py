"""What type checkers see of the package."""

import inspect
import pathlib
import re
import subprocess
import sys

import pytest

import burn_calibration as bc

LINES = """
import numpy as np
import burn_calibration as bc

logits, labels = np.random.default_rng(0).normal(size=(500, 3)) * 3, np.arange(500) % 3
found = bc.evaluate(labels, logits=logits)
p_value: float | None = found.p_value
scaling = bc.TemperatureScaling(prior=None).fit(logits, labels)
print(found.verdict.upper(), scaling.temperature_ + 1, scaling.set_params(prior=0.3).temperature_)
chosen = bc.AutoRecalibration(keep="accuracy").fit(logits, labels)
print(chosen.chosen_.upper(), chosen.predict_proba(logits).shape, len(chosen.to_onnx()))
print(bc.compare(labels, bc.Logits(logits), chosen.predict_proba(logits)).changes["log"])
value, gradient = bc.penalties.skce(logits, labels)
named = bc.ece(labels.astype(str), bc.Logits(logits), classes=["0", "1", "2"], pos_label="1")
map_of_normals: bc.VarianceScaling = bc.VarianceScaling().fit(bc.Normal(logits[:, 0], 1 + labels), logits[:, 1])
wider: bc.Predictions = map_of_normals.transform(bc.Normal([0.0], [1.0]))
model = bc.CalibratedModel(None, "temperature", cv=3, ensemble=False)
print(found.notes[:1], named + 1, len(wider), model.method, bc.load_real_map("map").kind_.upper())
score: float = bc.brier_score(labels, chosen.predict_proba(logits)) + bc.ece(labels, bc.Logits(logits))
around = bc.overconfidence(labels, bc.Logits(logits), interval=0.95)
print(score, around.upper - around.lower, bc.skce_test(labels, bc.Logits(logits), redraws=99).pvalue + 1)
print(bc.reliability_curve(labels, bc.Logits(logits)).prob_true.shape)
print(value + 1, gradient.shape, bc.load_map("map").formula().upper())
"""

#: A line, and what is wrong with it.
WRONG = {
    "bc.evaluate(labels, logits=logits).p_values": '"Evaluation" has no attribute "p_values"',
    "bc.TemperatureScaling(priors=0.3)": 'Unexpected keyword argument "priors"',
    "chosen.chosen_ + 1": "Unsupported operand types",
    "scaling.fit(logits, labels, progress=3)": "incompatible type",
    "bc.brier_score(labels, logits).lower": 'has no attribute "lower"',
    "bc.ece(labels, logits, 15)": "Too many positional arguments",
    "bc.VarianceScaling().fit(logits, labels)": 'incompatible type "ndarray',
    "bc.compare(logits)": "Missing positional arguments",
}


def check(code, tmp_path):
    """The errors of mypy, strict, without those of packages that have no types."""
    pytest.importorskip("mypy")
    (tmp_path / "lines.py").write_text(code)
    options = ["--strict", "--no-incremental", "--show-error-codes", "lines.py"]
    done = subprocess.run([sys.executable, "-m", "mypy", *options], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if ": error:" in line]


def test_types_are_seen(tmp_path):
    assert (pathlib.Path(bc.__file__).parent / "py.typed").exists()
    wrong = "".join(f"{line}\n" for line in WRONG)
    errors = check(LINES + wrong, tmp_path)
    assert len(errors) == len(WRONG), errors
    for error, reason in zip(errors, WRONG.values()):
        assert reason in error


def test_stubs_are_those_of_the_module(tmp_path):
    pytest.importorskip("mypy")
    allowed = tmp_path / "allowed.txt"
    allowed.write_text("burn_calibration._native.__all__\n", encoding="utf-8")  # of PyO3: all names
    command = [sys.executable, "-m", "mypy.stubtest", "--allowlist", str(allowed), "burn_calibration._native"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def public():
    """The functions and classes of the package whose arguments people write."""
    for name in bc.__all__:
        value = getattr(bc, name)
        if callable(value) and not (isinstance(value, type) and issubclass(value, (tuple, Exception))):
            yield pytest.param(value, id=name)


@pytest.mark.parametrize("value", list(public()))
def test_docstrings_are_in_full(value):
    parameters = inspect.signature(value).parameters
    if isinstance(value, type) and not issubclass(value, (bc.LogitMap, bc.RealMap, bc.CalibratedModel, bc.Monitor)):
        return  # containers
    doc = inspect.getdoc(value)
    sections = re.split(r"^(\w+)\n-+\n", doc, flags=re.MULTILINE)
    described = dict(zip(sections[1::2], sections[2::2]))
    titles = list(described)
    order = ["Parameters", "Attributes", "Returns", "Raises", "Warns", "Examples"]
    assert titles == [title for title in order if title in titles], titles
    entries = re.findall(r"^(\w[\w, *]*?)(?: : .*)?$", described.get("Parameters", ""), flags=re.MULTILINE)
    assert [name for entry in entries for name in re.findall(r"\w+", entry)] == list(parameters)
    if not isinstance(value, type):
        assert "Returns" in titles and "Raises" in titles and len(doc.splitlines()[0]) < 120
