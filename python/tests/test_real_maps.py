"""Maps of predictions of real numbers: closed forms, what they keep, and the command."""

import os
import pickle
import subprocess

import numpy as np
import pytest

import burn_calibration as bc

BINARY = os.environ.get("CALIBRATION_BIN")
MAPS = [bc.VarianceScaling, bc.LocationScale, bc.QuantileRecalibration, bc.LocalRecalibration, bc.AutoRecalibration]


@pytest.fixture(scope="module")
def narrow():
    """Normal predictions whose scales are half of what they should be, with targets."""
    rng = np.random.default_rng(0)
    loc, scale = rng.normal(size=400), np.exp(0.3 * rng.normal(size=400))
    return bc.Normal(loc, scale), loc + 2 * scale * rng.normal(size=400)


def test_factors_in_closed_form(narrow):
    X, y = narrow
    z = (y - X.loc) / X.scale
    normal = bc.VarianceScaling().fit(X, y)
    assert normal.factors_ == pytest.approx(np.sqrt((z**2).mean()), rel=1e-5)
    wider = normal.transform(X)
    assert isinstance(wider, bc.Normal) and normal.guarantees_["keeps_mean"]
    np.testing.assert_array_equal(wider.loc, X.loc)
    np.testing.assert_allclose(wider.scale, X.scale * normal.factors_, rtol=1e-12)
    laplace = bc.VarianceScaling().fit(bc.Laplace(X.loc, X.scale), y)
    assert laplace.factors_ == pytest.approx(np.abs(z).mean(), rel=1e-5)
    assert isinstance(laplace.transform(bc.Laplace(X.loc, X.scale)), bc.Laplace)
    weights = np.arange(400) % 3
    weighted = bc.VarianceScaling().fit(X, y, weights)
    assert weighted.factors_ == pytest.approx(np.sqrt(np.average(z**2, weights=weights)), rel=1e-5)


def test_two_coordinates():
    rng = np.random.default_rng(1)
    y = rng.normal(size=(300, 2)) * [1, 3]
    X = bc.Normal(np.zeros((300, 2)), np.ones((300, 2)))
    factors = bc.VarianceScaling().fit(X, y).factors_
    np.testing.assert_allclose(factors, np.sqrt((y**2).mean(axis=0)), rtol=1e-5)
    shifted = bc.LocationScale().fit(X, y + [5, 0]).transform(X)
    assert shifted.loc.shape == (300, 2) and shifted.loc[:, 0].mean() == pytest.approx(5, abs=0.3)
    with pytest.raises(ValueError, match="coordinates"):
        bc.QuantileRecalibration().fit(X, y).transform(X)
    with pytest.raises(ValueError, match="1 coordinates, expected 2|the predictions"):
        bc.VarianceScaling().fit(X, y).transform(bc.Normal([0.0], [1.0]))


@pytest.mark.parametrize("cls", MAPS)
@pytest.mark.parametrize("family", [bc.Normal, bc.Laplace])
def test_maps_gain_and_are_pickled(cls, family, narrow):
    X, y = narrow
    X = family(X.loc, X.scale)
    fitted = cls().fit(X.select(np.arange(200)), y[:200])
    rest = X.select(np.arange(200, 400))
    after = fitted.transform(rest)
    assert bc.crps(y[200:], after) < bc.crps(y[200:], rest)
    assert {"quantile recalibration": bc.Samples, "local recalibration": type(after)}.get(fitted.kind_, family) is type(
        after
    )
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(rest).rows, after.rows)
    assert again.get_params() == fitted.get_params() and again.report_ == fitted.report_


def test_levels_become_uniform(narrow):
    X, y = narrow
    for predictions in (X, bc.Samples(X.loc[:, None] + X.scale[:, None] * np.linspace(-2, 2, 41))):
        fitted = bc.QuantileRecalibration(draws=200).fit(predictions, y)
        after = fitted.transform(predictions)
        assert isinstance(after, bc.Samples) and after.rows.shape == (400, 200)
        levels = (after.rows < y[:, None]).mean(axis=1)
        assert np.histogram(levels, bins=10, range=(0, 1))[0].std() < 10
        assert (np.diff(after.rows, axis=1) >= 0).all()


def test_a_mixture_of_similar_errors(narrow):
    X, y = narrow
    after = bc.LocalRecalibration().fit(X, y).transform(X.select(np.arange(5)))
    assert isinstance(after, bc.NormalMixture) and after.weights.shape == after.loc.shape == after.scale.shape
    np.testing.assert_allclose(after.weights.sum(axis=1), 1)
    assert isinstance(
        bc.LocalRecalibration().fit(bc.Laplace(X.loc, X.scale), y).transform(bc.Laplace([0.0], [1.0])),
        bc.LaplaceMixture,
    )


def test_shifts_in_closed_form():
    rng = np.random.default_rng(2)
    y, levels = rng.normal(size=99), [0.1, 0.5, 0.9]
    X = bc.Quantiles(np.tile([-0.5, 0.0, 0.5], (99, 1)), levels)
    for cls in (bc.ConformalShift, bc.AutoRecalibration):
        fitted = cls().fit(X, y)
        by_hand = [np.sort(y + 0.5)[9], np.sort(y)[49], np.sort(y - 0.5)[89]]  # of 100 (n + 1)
        np.testing.assert_allclose(fitted.shifts_, by_hand, rtol=1e-12)
        after = fitted.transform(X)
        assert isinstance(after, bc.Quantiles) and after.levels == (0.1, 0.5, 0.9)
        np.testing.assert_allclose(after.rows[0], [-0.5, 0, 0.5] + np.array(by_hand), rtol=1e-12)
    assert fitted.chosen_ == "conformal" and "only map" in fitted.choice_text_
    with pytest.raises(ValueError, match="levels"):
        fitted.transform(bc.Quantiles(X.rows, [0.1, 0.5, 0.8]))


def test_auto_says_why(narrow):
    X, y = narrow
    auto = bc.AutoRecalibration().fit(X, y)
    assert auto.chosen_ == auto.choice_["chosen"] != "none" and auto.chosen_ in auto.choice_text_
    assert bc.AutoRecalibration(keep="mean").fit(X, y).guarantees_["keeps_mean"]
    same = bc.AutoRecalibration().fit(bc.Normal(X.loc, 2 * X.scale), y)
    assert same.chosen_ == "none"
    with pytest.raises(ValueError, match="has no classes"):
        auto.predict_proba(X)
    assert bc.AutoRecalibration().fit(bc.Samples(X.loc[:, None] + [[-1, 0, 1]]), y).chosen_ == "quantile"


def test_what_is_wrong_is_named(narrow):
    X, y = narrow
    wrong = np.where(np.arange(400) == 7, -1.0, X.scale)
    calls = {
        "X is ndarray, expected Normal or Laplace": lambda: bc.VarianceScaling().fit(X.rows, y),
        "X is Samples.*draws.mean": lambda: bc.VarianceScaling().fit(bc.Samples(X.rows), y),
        "X is Normal, expected Quantiles": lambda: bc.ConformalShift().fit(X, y),
        "row 7: the scale is -1, expected a positive": lambda: bc.VarianceScaling().fit(bc.Normal(X.loc, wrong), y),
        "row 3: the target is nan": lambda: bc.LocationScale().fit(X, np.where(np.arange(400) == 3, np.nan, y)),
        "as many of both": lambda: bc.VarianceScaling().fit(X, y[1:]),
        "the arguments are swapped": lambda: bc.VarianceScaling().fit(y, X),
        "draws is 0": lambda: bc.QuantileRecalibration(draws=0).fit(X, y),
        "family of the fit": lambda: (
            bc.ConformalShift().fit(bc.Quantiles(np.tile([-1, 0, 1.0], (400, 1)), [0.1, 0.5, 0.9]), y).transform(X)
        ),
        "not fitted": lambda: bc.VarianceScaling().transform(X),
    }
    for reason, call in calls.items():
        with pytest.raises(ValueError, match=reason):
            call()


@pytest.mark.skipif(BINARY is None, reason="CALIBRATION_BIN does not name the command")
def test_files_go_both_ways(narrow, tmp_path):
    X, y = narrow
    np.save(tmp_path / "p.npy", X.rows)
    np.save(tmp_path / "y.npy", y)
    options = ["--predictions", "p.npy", "--family", "normal"]
    for method, cls in {
        "variance": bc.VarianceScaling,
        "location-scale": bc.LocationScale,
        "local": bc.LocalRecalibration,
    }.items():
        fit = ["fit", *options, "--labels", "y.npy", "--method", method, "-o", "map"]
        subprocess.run([BINARY, *fit], cwd=tmp_path, check=True, capture_output=True)
        ours, theirs = cls().fit(X, y), bc.load_real_map(tmp_path / "map")
        np.testing.assert_array_equal(ours.transform(X).rows, theirs.transform(X).rows)
        ours.save(tmp_path / "ours")
        subprocess.run(
            [BINARY, "apply", "ours", *options, "-o", "out.npy"], cwd=tmp_path, check=True, capture_output=True
        )
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), ours.transform(X).rows)
    with pytest.raises(ValueError, match="from a file is not fitted again"):
        theirs.fit(X, y)
    logits = np.column_stack([np.zeros(400), X.loc])
    for of_classes in (bc.TemperatureScaling(), bc.IsotonicRegression()):
        of_classes.fit(logits, (y > 0).astype(int)).save(tmp_path / "logits")
        with pytest.raises(ValueError, match="expected a map of predictions of real|expected one of normal or Laplace"):
            bc.load_real_map(tmp_path / "logits")


def test_an_estimator_of_scikit_learn():
    base = pytest.importorskip("sklearn.base")
    assert base.clone(bc.QuantileRecalibration(draws=7)).get_params() == {"draws": 7}
    assert repr(bc.VarianceScaling()) == "VarianceScaling()"
