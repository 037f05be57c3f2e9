"""What scikit-learn asks of an estimator."""

import warnings

import numpy as np
import pytest

import burn_calibration as bc

pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import cross_val_predict, train_test_split  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
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
#: Why weights are not repetitions.
NOT_REPETITIONS = {
    "temperature": "the prior of the temperature counts samples",
    "ensemble-temperature": "the prior of the temperature counts samples",
    "shift": "the weight of the regularization is that of a number of samples",
    "diagonal": "the folds that find the regularization are of rows",
    "order-preserving": "the folds that find the regularization are of rows",
    "order-invariant": "the folds that find the regularization are of rows",
    "vector": "the descent ends at a tolerance of the gradient",
    "matrix": "the folds that find the regularization are of rows",
    "dirichlet": "the folds that find the regularization are of rows",
    "structured-vector": "the weight of the regularization is that of a number of samples",
    "structured-matrix": "the weight of the regularization is that of a number of samples",
    "platt": "smoothed targets count samples",
    "beta": "smoothed targets count samples",
    "quadratic": "smoothed targets count samples",
    "isotonic": "the ends are those of a number of samples",
    "venn-abers": "the sample with each outcome is one of a number of rows",
    "histogram": "pseudo-observations are samples",
    "spline": "the knots are at quantiles of rows",
    "auto": "the folds of the choice are of rows",
}


def expected_failures(estimator):
    if isinstance(estimator, bc.CalibratedModel):
        return NOT_FOR_MODELS
    return NOT_FOR_MAPS | {COUNTS: NOT_REPETITIONS[estimator._kind]}


NOT_FOR_MODELS = {COUNTS: "the folds are of rows"}

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
    model = bc.CalibratedModel(classifier).fit(others[:half], labels[:half])
    assert list(model.classes_) == sorted(set(y))
    before, after = (log_loss(m, others[half:], labels[half:]) for m in (classifier, model))
    assert after < 0.9 * before
    kept = bc.CalibratedModel(classifier, bc.AutoRecalibration(keep="accuracy")).fit(others[:half], labels[:half])
    np.testing.assert_array_equal(kept.predict(others[half:]), classifier.predict(others[half:]))
    assert kept.score(others[half:], labels[half:]) == classifier.score(others[half:], labels[half:])
    assert not hasattr(kept.map, "map_")
    with pytest.raises(ValueError, match="row 3: the label is .*'ten'.*, expected one of"):
        model.fit(others[:half], np.where(np.arange(half) == 3, "ten", labels[:half]))


def test_decision_scores_of_two_classes_are_log_odds(digits):
    X, others, y, labels = digits
    even = lambda y: np.isin(y, ["zero", "two", "four", "six", "eight"]).astype(int)  # noqa: E731
    classifier = LogisticRegression(max_iter=2000).fit(X, even(y))
    by_scores = bc.CalibratedModel(classifier, bc.PlattScaling(), scores="decision").fit(others, even(labels))
    by_logs = bc.CalibratedModel(classifier, bc.PlattScaling()).fit(others, even(labels))
    np.testing.assert_allclose(by_scores.predict_proba(others), by_logs.predict_proba(others), atol=1e-5)
    with pytest.raises(ValueError, match="scores is 'margins', expected probabilities or decision"):
        by_logs.set_params(scores="margins").fit(others, even(labels))


def test_weights_of_a_model(digits):
    X, others, y, labels = digits
    classifier = GaussianNB(var_smoothing=1e-3).fit(X, y)
    weights = (np.arange(len(labels)) < 400).astype(float)
    some = bc.CalibratedModel(classifier, bc.TemperatureScaling()).fit(others, labels, sample_weight=weights)
    part = bc.CalibratedModel(classifier, bc.TemperatureScaling()).fit(others[:400], labels[:400])
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
