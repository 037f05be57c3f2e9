"""Maps: against numbers of other packages, and as estimators."""

import json
import pickle
import warnings

import numpy as np
import pytest
from conftest import draw

import burn_calibration as bc
from burn_calibration import _native

KINDS = list(bc.MAPS)
SLOW = {"order-preserving", "order-invariant", "diagonal", "matrix", "dirichlet"}


def fitted(kind, data, **options):
    """A map of a kind; those that take long with a fixed weight."""
    if kind in SLOW:
        options = {"regularization": 0.01, "max_iterations": 30, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", bc.FitWarning)
        return bc.MAPS[kind](**options).fit(*data)


def test_all_kinds_of_the_library_are_here():
    assert [name for name, _, _ in _native.map_kinds()] == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_have_the_defaults_of_the_library(kind):
    defaults = {name: json.loads(options) for name, _, options in _native.map_kinds()}[kind]
    ours = bc.MAPS[kind]()._options()
    assert ours == {name: defaults[name] for name in ours}
    # what is left out belongs to the command
    assert set(defaults) - set(ours) <= {"zeros"}


def test_temperature_in_closed_form():
    # three of four are right: softmax(5/T, 0) = (3/4, 1/4) at T = 5/log 3
    logits = np.tile([[5.0, 0.0]], (400, 1))
    labels = (np.arange(400) % 4 == 0).astype(int)
    scaling = bc.TemperatureScaling(prior=None).fit(logits, labels)
    assert scaling.temperature_ == pytest.approx(5 / np.log(3), abs=1e-9)
    np.testing.assert_allclose(scaling.predict_proba(logits), np.tile([[0.75, 0.25]], (400, 1)), atol=1e-9)
    np.testing.assert_allclose(scaling.transform(logits), logits / scaling.temperature_, rtol=1e-14)
    assert scaling.guarantees_["keeps_order"] and scaling.guarantees_["injective"]
    assert scaling.report_["status"] == "Converged"


def test_temperature_is_the_minimum_of_scipy(three):
    optimize = pytest.importorskip("scipy.optimize")
    special = pytest.importorskip("scipy.special")
    logits, labels = three

    def log_loss(log_t):
        return -special.log_softmax(logits / np.exp(log_t), axis=1)[np.arange(len(labels)), labels].mean()

    best = optimize.minimize_scalar(log_loss, bounds=(-3, 3), method="bounded", options={"xatol": 1e-10})
    scaling = bc.TemperatureScaling(prior=None).fit(logits, labels)
    assert np.log(scaling.temperature_) == pytest.approx(best.x, abs=1e-6)


def test_platt_and_isotonic_agree_with_scikit_learn(two):
    calibration = pytest.importorskip("sklearn.calibration")
    isotonic = pytest.importorskip("sklearn.isotonic")
    logits, labels = two
    odds = logits[:, 1] - logits[:, 0]
    sigmoid = calibration._SigmoidCalibration().fit(odds, labels).predict(odds)
    np.testing.assert_allclose(bc.PlattScaling().fit(logits, labels).predict_proba(logits)[:, 1], sigmoid, atol=1e-5)
    steps = isotonic.IsotonicRegression().fit(odds, labels).predict(odds)
    inside = (steps > 0) & (steps < 1)  # the ends are no certainty here
    ours = bc.IsotonicRegression().fit(logits, labels).predict_proba(logits)[:, 1]
    assert inside.mean() > 0.5
    np.testing.assert_allclose(ours[inside], steps[inside], atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_fits_and_is_pickled(kind, three, two):
    for logits, labels in (two, three):
        logits, labels = logits[:300], labels[:300]
        scaling = fitted(kind, (logits, labels))
        probabilities = scaling.predict_proba(logits)
        assert probabilities.shape == logits.shape and probabilities.dtype == np.float64
        np.testing.assert_allclose(probabilities.sum(axis=1), 1, atol=1e-9)
        assert scaling.transform(logits.astype(np.float32)).dtype == np.float32
        again = pickle.loads(pickle.dumps(scaling))
        np.testing.assert_array_equal(again.predict_proba(logits), probabilities)
        assert again.get_params() == scaling.get_params() and again.kind_ == scaling.kind_
        for name, value in scaling.named_parameters_.items():
            np.testing.assert_array_equal(again.named_parameters_[name], value)


def test_pickle_needs_no_temporary_file(three, monkeypatch):
    monkeypatch.setenv("TMPDIR", "/no such folder")
    scaling = bc.TemperatureScaling().fit(*three)
    assert pickle.loads(pickle.dumps(scaling)).transform(three[0]).tolist() == scaling.transform(three[0]).tolist()


@pytest.mark.parametrize("kind", ["temperature", "auto", "matrix"])
def test_a_file_of_the_library(kind, three, tmp_path):
    logits, labels = three
    scaling = fitted(kind, three)
    scaling.save(tmp_path / "map")
    loaded = bc.load_map(tmp_path / "map")
    np.testing.assert_array_equal(loaded.transform(logits), scaling.transform(logits))
    assert loaded.kind_ == scaling.kind_ and loaded.guarantees_ == scaling.guarantees_
    with pytest.raises(ValueError, match="from a file is not fitted again"):
        loaded.fit(logits, labels)
    (tmp_path / "none").write_text("x,y\n")
    with pytest.raises(ValueError, match="expected the file of a saved map"):
        bc.load_map(tmp_path / "none")


def test_auto_keeps_what_is_asked_and_says_why(three):
    logits, labels = three
    auto = bc.AutoRecalibration(keep="accuracy").fit(logits, labels)
    assert auto.guarantees_["keeps_accuracy"]
    np.testing.assert_array_equal(auto.transform(logits).argmax(axis=1), logits.argmax(axis=1))
    assert auto.chosen_ == auto.choice_["chosen"] != "none"
    assert auto.chosen_ in auto.choice_text_
    assert auto.choice_["change"]["estimate"] < 0
    with pytest.raises(ValueError, match="unknown variant `everything`"):
        bc.AutoRecalibration(keep="everything").fit(logits, labels)


def test_whole_weights_are_repeated_rows(three):
    logits, labels = three
    weights = np.random.default_rng(3).integers(0, 4, len(labels))
    repeated = np.repeat(np.arange(len(labels)), weights)
    for kind in ("temperature", "vector"):  # without a prior that counts samples
        options = {"prior": None} if kind == "temperature" else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", bc.FitWarning)
            weighted = bc.MAPS[kind](**options).fit(logits, labels, weights)
        other = fitted(kind, (logits[repeated], labels[repeated]), **options)
        np.testing.assert_allclose(weighted.predict_proba(logits), other.predict_proba(logits), atol=1e-6)


def test_options_reach_the_library(three):
    logits, labels = three
    few, many = (bc.HistogramBinning(bins=bins).fit(logits, labels) for bins in (2, 40))
    assert few.named_parameters_["values"].shape[1] < many.named_parameters_["values"].shape[1]
    weak, strong = (bc.MatrixScaling(regularization=w).fit(logits, labels) for w in (1e-4, 1e4))
    off = ~np.eye(3, dtype=bool)
    assert np.abs(strong.weight_[off]).max() < 0.1 * np.abs(weak.weight_[off]).max()
    assert weak.report_["regularisation"] == 1e-4
    found = bc.VectorScaling(regularization=None, folds=3).fit(logits, labels)
    assert found.report_["regularisation"] in (10, 1, 0.1, 0.01, 0.001, 0.0001)
    assert bc.HistogramBinning(bins=np.int64(3)).fit(logits, labels).n_features_in_ == 3


@pytest.mark.parametrize(
    "change, reason",
    [
        (lambda z, y: (np.where(np.arange(len(z))[:, None] == 7, np.nan, z), y), "row 7, class 0: the logit is NaN"),
        (lambda z, y: (np.where(np.arange(len(z))[:, None] == 7, np.inf, z), y), "row 7, class 0: the logit is inf"),
        (
            lambda z, y: (z, np.where(np.arange(len(y)) == 5, 3, y)),
            r"row 5: the label is 3, expected a class in 0\.\.3",
        ),
        (lambda z, y: (z, np.where(np.arange(len(y)) == 5, -1, y)), "row 5: the label is -1"),
        (lambda z, y: (z, np.where(np.arange(len(y)) == 5, 0.5, y)), "row 5: the label is 0.5, expected a class"),
        (lambda z, y: (z, y[1:]), "600 rows but 599 labels"),
        (lambda z, y: (z[:, :1], y), "1 feature"),
        (lambda z, y: (z[:, 0], y), "dim|2D"),
    ],
)
def test_what_is_wrong_is_named(change, reason, three):
    with pytest.raises(ValueError, match=reason):
        bc.TemperatureScaling().fit(*change(*three))


def test_wrong_weights_options_and_rows_are_named(three):
    logits, labels = three
    weights = np.ones(len(labels))
    weights[9] = -1
    with pytest.raises(ValueError, match="row 9"):
        bc.TemperatureScaling().fit(logits, labels, weights)
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(3,\), expected \(600,\)"):
        bc.TemperatureScaling().fit(logits, labels, weights[:3])
    with pytest.raises(ValueError, match="the number of bins is 0"):
        bc.HistogramBinning(bins=0).fit(logits, labels)
    with pytest.raises(ValueError, match="bins is 'many', expected a whole number"):
        bc.HistogramBinning(bins="many").fit(logits, labels)
    scaling = bc.TemperatureScaling().fit(logits, labels)
    with pytest.raises(ValueError, match="row 2, class 1: the logit is NaN"):
        scaling.transform(np.where(np.arange(9).reshape(3, 3) == 7, np.nan, 0.0))
    with pytest.raises(ValueError, match="2 features"):
        scaling.predict_proba(logits[:, :2])


def test_a_warning_of_a_fit_is_one_of_python():
    logits, labels = draw(200, 3)
    with pytest.warns(bc.FitWarning, match="every prediction is right|right"):
        scaling = bc.TemperatureScaling().fit(logits, logits.argmax(axis=1))
    assert scaling.warnings_


def test_a_formula_has_the_numbers(three):
    scaling = bc.TemperatureScaling().fit(*three)
    assert f"{scaling.temperature_:.6f}"[:6] in scaling.formula()
    with pytest.raises(Exception, match="not fitted"):
        bc.TemperatureScaling().to_onnx()


@pytest.mark.parametrize("kind", KINDS)
def test_onnx_runtime_gives_what_the_map_does(kind, three, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    logits, labels = three
    scaling = fitted(kind, (logits[:300], labels[:300]))
    model = scaling.to_onnx(tmp_path / "map.onnx")
    assert (tmp_path / "map.onnx").read_bytes() == model
    new = draw(10_000, 3, seed=12)[0].astype(np.float32)
    (found,) = runtime.InferenceSession(model).run(["probabilities"], {"logits": new})
    np.testing.assert_allclose(found, scaling.predict_proba(new.astype(np.float64)), atol=1e-6)
