"""What scikit-learn asks of an estimator."""

import warnings

import numpy as np
import pytest

import burn_calibration as bc

pytest.importorskip("sklearn")
from sklearn import config_context  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.calibration import CalibratedClassifierCV  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.frozen import FrozenEstimator  # noqa: E402
from sklearn.linear_model import LinearRegression, LogisticRegression  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    GroupKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import LinearSVC  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::burn_calibration.FitWarning")

#: Checks that a map of scores fails, each with its reason.
LABELS = "the check has the labels 1 and 2 with two columns, and labels of a map are columns or of classes="
NOT_FOR_MAPS = {
    "check_estimators_overwrite_params": f"{LABELS}: it fits them before it compares the parameters",
    "check_estimators_fit_returns_self": f"{LABELS}: it fits them before it looks at the result",
    "check_readonly_memmap_input": f"{LABELS}: in memory that is read-only",
    "check_sample_weights_pandas_series": f"{LABELS}: with weights of pandas",
    "check_sample_weights_not_an_array": f"{LABELS}: with weights that are no array",
    "check_sample_weights_shape": f"{LABELS}: with weights of a wrong shape",
    "check_sample_weights_not_overwritten": f"{LABELS}: with weights that must stay",
}
COUNTS = "check_sample_weight_equivalence_on_dense_data"
ABSENT = "classes without a label have pseudo-observations, beside the effective number of samples"
PRIOR = "the prior of the temperature is beside the effective number of samples"
SHRUNK = "the shrinkage is divided by the effective number of samples"
SMOOTHED = "smoothed targets count samples"
BOUNDED = "probabilities are kept 1/(2(n + 1)) from 0 and 1, by the effective number n of samples"
#: Why weights are not repetitions.
NOT_REPETITIONS = {
    "temperature": PRIOR,
    "ensemble-temperature": PRIOR,
    "shift": SHRUNK,
    "diagonal": ABSENT,
    "order-preserving": ABSENT,
    "order-invariant": ABSENT,
    "vector": ABSENT,
    "matrix": ABSENT,
    "dirichlet": ABSENT,
    "structured-vector": SHRUNK,
    "structured-matrix": SHRUNK,
    "platt": SMOOTHED,
    "beta": SMOOTHED,
    "quadratic": SMOOTHED,
    "isotonic": BOUNDED,
    "venn-abers": "the sample that is added has the mean weight",
    "histogram": "the hits and misses that are added are samples",
    "spline": BOUNDED,
}


def expected_failures(estimator):
    if isinstance(estimator, bc.CalibratedModel):
        return NOT_FOR_MODELS
    if isinstance(estimator, bc.AutoRecalibration):  # it finds no gain in either
        return NOT_FOR_MAPS
    return NOT_FOR_MAPS | {COUNTS: NOT_REPETITIONS[estimator._kind]}


NOT_FOR_MODELS = {
    COUNTS: "repeated rows are in other folds",
    "check_sample_weight_equivalence_on_sparse_data": "repeated rows of a sparse matrix are in other folds",
}

#: All maps; the slow ones with a fixed regularization and few iterations.
FIXED = {"regularization": 0.01, "max_iterations": 20}
SLOW = {"diagonal", "order-preserving", "order-invariant", "matrix", "dirichlet"}
CHECKED = [
    *(cls(**FIXED) if kind in SLOW else cls() for kind, cls in bc.MAPS.items()),
    bc.CalibratedModel(LogisticRegression(), "temperature", cv=3),
]


@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures, xfail_strict=True)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_parameters_are_cloned_and_set():
    for cls in bc.MAPS.values():
        estimator = cls()
        assert clone(estimator).get_params() == estimator.get_params()
    scaling = bc.MatrixScaling(regularization=0.5).set_params(folds=3)
    assert clone(scaling).get_params()["folds"] == 3
    with pytest.raises(ValueError, match="Invalid parameter"):
        scaling.set_params(nothing=1)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    names = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
    return train_test_split(X, names[y], train_size=0.4, random_state=0)


def log_loss(model, X, y):
    probabilities = model.predict_proba(X)
    columns = np.searchsorted(model.classes_, y)
    return -np.log(probabilities[np.arange(len(y)), columns]).mean()


def test_a_fitted_classifier_becomes_calibrated(digits):
    X, others, y, labels = digits
    classifier = GaussianNB(var_smoothing=1e-3).fit(X, y)
    half = len(labels) // 2
    model = bc.CalibratedModel(FrozenEstimator(classifier)).fit(others[:half], labels[:half])
    assert list(model.classes_) == sorted(set(y))
    before, after = (log_loss(m, others[half:], labels[half:]) for m in (classifier, model))
    assert after < 0.9 * before
    kept = bc.CalibratedModel(classifier, bc.AutoRecalibration(keep="accuracy"), cv="prefit").fit(
        others[:half], labels[:half]
    )
    np.testing.assert_array_equal(kept.predict(others[half:]), classifier.predict(others[half:]))
    assert kept.score(others[half:], labels[half:]) == classifier.score(others[half:], labels[half:])
    assert not hasattr(kept.method, "kind_")
    with pytest.raises(ValueError, match="row 3: the label is .*'ten'.*, expected one of"):
        model.fit(others[:half], np.where(np.arange(half) == 3, "ten", labels[:half]))


def test_decision_scores_of_two_classes_are_log_odds(digits):
    X, others, y, labels = digits
    even = lambda y: np.isin(y, ["zero", "two", "four", "six", "eight"]).astype(int)  # noqa: E731
    classifier = LogisticRegression(max_iter=2000).fit(X, even(y))
    by_scores = bc.CalibratedModel(classifier, bc.PlattScaling(), scores="decision", cv="prefit").fit(
        others, even(labels)
    )
    by_logs = bc.CalibratedModel(classifier, bc.PlattScaling(), cv="prefit").fit(others, even(labels))
    np.testing.assert_allclose(by_scores.predict_proba(others), by_logs.predict_proba(others), atol=1e-5)
    with pytest.raises(ValueError, match="scores is 'margins', expected one of 'auto', 'probabilities', 'decision'"):
        by_logs.set_params(scores="margins").fit(others, even(labels))


def test_weights_of_a_model(digits):
    X, others, y, labels = digits
    classifier = GaussianNB(var_smoothing=1e-3).fit(X, y)
    weights = (np.arange(len(labels)) < 400).astype(float)
    some = bc.CalibratedModel(classifier, bc.TemperatureScaling(), cv="prefit").fit(
        others, labels, sample_weight=weights
    )
    part = bc.CalibratedModel(classifier, bc.TemperatureScaling(), cv="prefit").fit(others[:400], labels[:400])
    assert some.map_.temperature_ == pytest.approx(part.map_.temperature_, rel=1e-9)


def test_a_map_in_a_pipeline_and_with_pandas(digits):
    X, others, y, labels = digits
    pandas = pytest.importorskip("pandas")
    numbers = np.unique(labels, return_inverse=True)[1]
    logits = pandas.DataFrame(LogisticRegression(max_iter=2000).fit(X, y).predict_log_proba(others))
    logits.columns = [f"z{k}" for k in range(10)]
    scaling = bc.TemperatureScaling().set_output(transform="pandas").fit(logits, numbers)
    assert list(scaling.transform(logits).columns) == list(logits.columns)
    pipeline = make_pipeline(bc.TemperatureScaling(), LogisticRegression(max_iter=2000)).fit(logits, numbers)
    assert pipeline.score(logits, numbers) > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        left_out = cross_val_predict(bc.TemperatureScaling(), logits, numbers, method="predict_proba", cv=3)
    assert left_out.shape == (len(numbers), 10)


def parity(y):
    return np.isin(y, ["zero", "two", "four", "six", "eight"]).astype(int)


@pytest.mark.parametrize("ensemble", [True, False])
def test_folds_are_those_of_scikit_learn(digits, ensemble):
    X, others, y, _ = digits
    y, classifier = parity(y), LinearSVC(random_state=0, C=0.01)
    theirs = CalibratedClassifierCV(classifier, method="sigmoid", cv=5, ensemble=ensemble).fit(X, y)
    ours = bc.CalibratedModel(classifier, "sigmoid", cv=5, ensemble=ensemble).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(others), theirs.predict_proba(others), atol=2e-4)
    assert len(ours.calibrated_classifiers_) == (5 if ensemble else 1)
    assert not hasattr(classifier, "classes_") and ours.n_features_in_ == 64


def test_a_frozen_classifier_is_not_fitted_again(digits):
    X, others, y, labels = digits
    classifier = GaussianNB(var_smoothing=1e-3).fit(X, y)
    frozen = bc.CalibratedModel(FrozenEstimator(classifier), "temperature").fit(others, labels)
    prefit = bc.CalibratedModel(classifier, "temperature", cv="prefit").fit(others, labels)
    assert frozen.map_.temperature_ == prefit.map_.temperature_
    assert len(frozen.calibrated_classifiers_) == 1


def test_a_model_in_pipelines_and_searches(digits):
    X, others, y, labels = digits
    model = bc.CalibratedModel(GaussianNB(var_smoothing=1e-3), "temperature", cv=3)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
    assert list(pipeline.classes_) == sorted(set(y)) and pipeline.predict_proba(others).shape == (len(labels), 10)
    scores = cross_val_score(model, X, y, cv=3, scoring="neg_log_loss")
    plain = cross_val_score(GaussianNB(var_smoothing=1e-3), X, y, cv=3, scoring="neg_log_loss")
    assert scores.mean() > plain.mean()
    search = GridSearchCV(
        model, {"method": ["temperature", "vector"], "estimator__var_smoothing": [1e-3, 1e-1]}, cv=3
    ).fit(X, y)
    assert search.best_params_["method"] in ("temperature", "vector")
    assert clone(search.best_estimator_).get_params()["method"] == search.best_params_["method"]
    with pytest.raises(ValueError, match="method is 'platts', expected one of 'temperature'"):
        clone(model).set_params(method="platts").fit(X, y)


def test_a_class_that_a_fold_has_not_seen():
    X = np.random.default_rng(0).normal(size=(90, 2))
    y = np.repeat(["a", "b", "c"], [44, 44, 2])
    model = bc.CalibratedModel(
        GaussianNB(), "temperature", cv=[(np.arange(88), np.arange(88, 90)), (np.r_[44:90], np.arange(44))]
    )
    with pytest.warns(bc.FitWarning, match="rows have a probability of 0"):
        model.fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    with pytest.raises(ValueError, match="Requesting 5-fold .* the class 'c' has less than 5"):
        bc.CalibratedModel(GaussianNB()).fit(X, y)


def test_zeros_are_raised_to_the_clip(digits):
    X, others, y, labels = digits
    numbers = np.unique(labels, return_inverse=True)[1]
    p = GaussianNB().fit(X, y).predict_proba(others)
    p[:5, :9], p[:5, 9] = 0, 1
    with np.errstate(divide="ignore"):
        logits = np.log(p)
    with pytest.warns(bc.FitWarning, match="5 rows have a probability of 0.*below 1e-06|rows have a probability of 0"):
        scaling = bc.TemperatureScaling().fit(logits, numbers)
    raised = np.maximum(p, 1e-6)
    plain = bc.TemperatureScaling().fit(np.log(raised / raised.sum(axis=1, keepdims=True)), numbers)
    assert scaling.clip_ == 1e-6 and scaling.temperature_ == pytest.approx(plain.temperature_, rel=1e-9)
    assert np.isfinite(scaling.transform(logits)).all()
    with pytest.raises(ValueError, match="row 0, class 0: the logit is -inf"):
        bc.TemperatureScaling(clip=None).fit(logits, numbers)


@pytest.mark.parametrize("frozen", [True, False])
def test_a_classifier_that_is_not_fitted_is_named(digits, frozen):
    X, _, y, _ = digits
    model = bc.CalibratedModel(FrozenEstimator(GaussianNB()) if frozen else GaussianNB(), "temperature", cv="prefit")
    with pytest.raises(NotFittedError, match="instance is not fitted yet"):
        model.fit(X, y)


def test_what_is_no_classifier_is_named(digits):
    X, _, y, _ = digits
    with pytest.raises(TypeError, match="LinearRegression has neither predict_proba nor decision_function"):
        bc.CalibratedModel(LinearRegression(), "temperature").fit(X, y)
    with pytest.raises(ValueError, match="y, row 3: the label is missing"):
        bc.CalibratedModel(GaussianNB()).fit(X, np.where(np.arange(len(y)) == 3, None, y.astype(object)))


def test_metadata_goes_where_it_is_requested(digits):
    X, others, y, _ = digits
    groups, weights = np.arange(len(y)) % 7, 1.0 + np.arange(len(y)) % 3
    splits = list(GroupKFold(3).split(X, y, groups))
    plain = bc.CalibratedModel(GaussianNB(var_smoothing=1e-3), "temperature", cv=splits).fit(X, y, weights)
    with config_context(enable_metadata_routing=True):
        takes = GaussianNB(var_smoothing=1e-3).set_fit_request(sample_weight=True)
        routed = bc.CalibratedModel(takes, "temperature", cv=GroupKFold(3)).fit(X, y, weights, groups=groups)
        np.testing.assert_array_equal(routed.predict_proba(others), plain.predict_proba(others))
        refuses = GaussianNB(var_smoothing=1e-3).set_fit_request(sample_weight=False)
        of_map = bc.CalibratedModel(refuses, "temperature", cv=GroupKFold(3)).fit(X, y, weights, groups=groups)
        classifier = GaussianNB(var_smoothing=1e-3).fit(X[splits[0][0]], y[splits[0][0]])
        np.testing.assert_array_equal(of_map.calibrated_classifiers_[0][0].theta_, classifier.theta_)


def test_arguments_of_fit_are_those_of_the_rows_of_a_fold(digits):
    X, others, y, _ = digits
    model = bc.CalibratedModel(OfRows(), "temperature", cv=3).fit(X, y, marks=np.arange(len(y)))
    assert model.predict_proba(others).shape == (len(others), 10)


class OfRows(GaussianNB):
    """A classifier whose `fit` takes a mark of each row."""

    def fit(self, X, y, sample_weight=None, marks=None):
        assert len(marks) == len(X)
        return super().fit(X, y, sample_weight)
