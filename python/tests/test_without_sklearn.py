"""Estimators where scikit-learn, pandas and PyTorch are not installed."""

import subprocess
import sys

LINES = """
import sys
for name in ("sklearn", "pandas", "torch", "scipy"):
    sys.modules[name] = None
import pickle
import numpy as np
import burn_calibration as bc

rng = np.random.default_rng(0)
z, y = rng.normal(size=(90, 3)), np.arange(90) % 3
scaling = bc.TemperatureScaling().fit(z, y)
assert pickle.loads(pickle.dumps(scaling)).temperature_ == scaling.temperature_ and repr(scaling) == "TemperatureScaling()"
real = bc.VarianceScaling().fit(bc.Normal(z[:, 0], np.ones(90)), z[:, 1])
assert repr(real) == "VarianceScaling()" and pickle.loads(pickle.dumps(real)).factors_ == real.factors_
for unfitted in (lambda: bc.VarianceScaling().transform(bc.Normal([0.0], [1.0])), lambda: bc.PlattScaling().predict(z)):
    try:
        unfitted()
    except ValueError as reason:
        assert "is not fitted yet" in str(reason), reason


class Classifier:
    classes_ = np.array(["a", "b", "c"])

    def predict_proba(self, X):
        return np.exp(X) / np.exp(X).sum(axis=1, keepdims=True)


names = Classifier.classes_[y]
model = bc.CalibratedModel(Classifier(), "temperature", cv="prefit").fit(z, names)
assert abs(model.map_.temperature_ - scaling.temperature_) < 1e-6 and 0 < model.score(z, names) < 1
assert set(model.predict(z)) <= set(names)
try:
    bc.CalibratedModel(Classifier()).fit(z, names)
except ImportError as reason:
    assert "cv='prefit'" in str(reason)
    print("done")
"""


def test_estimators_without_scikit_learn():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", LINES], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("done\n", "")
