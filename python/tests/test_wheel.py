"""The wheel in a fresh environment, and the five lines of the README."""

import os
import pathlib
import re
import subprocess
import sys
import venv
import zipfile

import pytest

WHEEL = os.environ.get("WHEEL")
README = pathlib.Path(__file__).parent.parent / "README.md"


def five_lines():
    """The first block of code."""
    return re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL).group(1)


def test_the_lines_of_the_readme_run():
    done = subprocess.run([sys.executable, "-c", five_lines()], capture_output=True, text=True, check=True)
    assert "not calibrated" in done.stdout and "difference" in done.stdout


@pytest.mark.skipif(WHEEL is None, reason="WHEEL does not name the wheel")
def test_the_wheel_alone_is_enough(tmp_path):
    assert "-cp310-abi3-" in WHEEL
    with zipfile.ZipFile(WHEEL) as wheel:
        licences = {pathlib.PurePosixPath(name).name for name in wheel.namelist() if "/licenses/" in name}
    assert licences == {"LICENSE-MIT", "LICENSE-APACHE"}
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", WHEEL], check=True)  # with NumPy alone
    code = five_lines() + (
        "from burn_calibration import TemperatureScaling\n"
        "import pickle\n"
        "scaling = TemperatureScaling().set_params(prior=None).fit(logits, labels)\n"
        "assert pickle.loads(pickle.dumps(scaling)).temperature_ == scaling.temperature_\n"
        "assert scaling.get_params()['prior'] is None and 'prior=None' in repr(scaling)\n"
        "of_reals = bc.VarianceScaling().fit(bc.Normal(logits[:, 0], 1 + labels), logits[:, 1])\n"
        "assert repr(of_reals) == 'VarianceScaling()' and pickle.loads(pickle.dumps(of_reals)).factors_ > 0\n"
        "try:\n    import sklearn\nexcept ImportError:\n    print('without scikit-learn')\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
    )
    assert "without scikit-learn" in done.stdout and "not calibrated" in done.stdout


def test_licences_are_those_of_the_repository():
    package = pathlib.Path(__file__).parent.parent
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        if (package.parent / name).exists() and (package / name).exists():  # not beside a wheel alone
            assert (package / name).read_bytes() == (package.parent / name).read_bytes()
