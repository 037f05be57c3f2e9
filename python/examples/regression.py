"""Predictions of real numbers by scikit-learn: a Gaussian process and quantile boosting, tested and recalibrated."""

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

import burn_calibration as bc

rng = np.random.default_rng(0)
X = rng.uniform(-3, 3, size=(1500, 1))
y = np.sin(2 * X[:, 0]) + 0.1 * (1 + X[:, 0] ** 2) * rng.normal(size=1500)  # noise that grows to the ends
fit, held_out, test = slice(0, 300), slice(300, 900), slice(900, 1500)

# a Gaussian process has one noise level for all inputs
process = GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.1), random_state=0).fit(X[fit], y[fit])
of_held_out, of_test = (bc.Normal(*process.predict(X[part], return_std=True)) for part in (held_out, test))
print("Gaussian process:", bc.evaluate(y[test], of_test).verdict)
local = bc.LocalRecalibration().fit(of_held_out, y[held_out])
after = local.transform(of_test)  # mixtures
for name, score in {"CRPS": bc.crps, "log loss": bc.log_loss}.items():
    print(f"  {name}: {score(y[test], of_test):.4f} before, {score(y[test], after):.4f} after {local.kind_}")

# each quantile of boosting has a model of its own, which follows its training data too closely
levels = [0.05, 0.25, 0.5, 0.75, 0.95]
models = [GradientBoostingRegressor(loss="quantile", alpha=level, random_state=0) for level in levels]
models = [model.fit(X[fit], y[fit]) for model in models]


def forecasts(part):
    """The quantiles of all models, in order."""
    return bc.Quantiles(np.sort([model.predict(X[part]) for model in models], axis=0).T, levels)


shift = bc.ConformalShift().fit(forecasts(held_out), y[held_out])
before, after = forecasts(test), shift.transform(forecasts(test))
for name, rows in (("boosting", before), (f"after a {shift.kind_}", after)):
    inside = (rows.rows[:, 0] <= y[test]) & (y[test] <= rows.rows[:, -1])
    score = bc.interval_score(y[test], rows)
    print(f"{name}: {inside.mean():.1%} in the interval of 90 %, interval score {score:.4f}")
