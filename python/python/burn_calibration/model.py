"""A classifier with a recalibration map behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

import numpy as np

from ._base import BaseEstimator, ClassifierMixin, NotFittedError, check_is_fitted, clone, weights_of
from ._checks import check_choice, is_missing, unmasked
from ._labels import as_array, listed, shown
from ._map import LogitMap, Progress
from .maps import MAPS, AutoRecalibration

if TYPE_CHECKING:
    from typing_extensions import Self

#: Names of scikit-learn for maps.
_SYNONYMS = {"sigmoid": "platt"}


class CalibratedModel(ClassifierMixin, BaseEstimator):
    """A classifier whose predictions go through a map, in the way of scikit-learn's ``CalibratedClassifierCV``.

    With ``cv`` the classifier is fitted to all folds but one, and a map to the predictions of the one left out. The
    predictions of the pairs of classifier and map are averaged (``ensemble=True``), or one map is fitted to the
    predictions of all folds, and the classifier to all samples (``ensemble=False``).

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba`` or ``decision_function``. ``FrozenEstimator(classifier)`` of scikit-learn is one that was
        fitted before, to other samples.
    method : str or LogitMap, default "auto"
        The map, or its name in `burn_calibration.MAPS`: ``"temperature"``, ``"isotonic"``, ``"auto"``, …;
        ``"sigmoid"`` is ``"platt"``.
    cv : int, splitter, iterable, "prefit" or None, default None
        The folds, as of ``CalibratedClassifierCV``; None is 5. ``"prefit"``: the estimator was fitted before, to other
        samples; this needs no scikit-learn.
    ensemble : bool or "auto", default "auto"
        Whether each fold keeps its classifier and map. ``"auto"``: unless the estimator is frozen.
    scores : {"auto", "probabilities", "decision"}, default "auto"
        What the map takes: ``log(predict_proba)``, or ``decision_function``, of which one number a row is the log-odds
        of the second of two classes. ``"auto"``: probabilities where the estimator has them.
    n_jobs : int or None
        The number of classifiers that are fitted at a time, as of joblib.

    Attributes
    ----------
    classes_ : array, [m]
        The classes, in order.
    map_ : LogitMap
        The fitted map, that of the first fold of an ensemble.
    calibrated_classifiers_ : list of (classifier, LogitMap)
        Each classifier with its map.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_digits(return_X_y=True)
    >>> model = CalibratedModel(GaussianNB(), "temperature").fit(X[:1200], y[:1200])
    >>> model.predict_proba(X[1200:]).shape
    (597, 10)
    """

    classes_: np.ndarray
    calibrated_classifiers_: list[tuple[Any, LogitMap]]

    def __init__(
        self,
        estimator: Any,
        method: str | LogitMap = "auto",
        *,
        cv: Any = None,
        ensemble: bool | str = "auto",
        scores: str = "auto",
        n_jobs: int | None = None,
    ):
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.ensemble = ensemble
        self.scores = scores
        self.n_jobs = n_jobs

    @property
    def map_(self) -> Any:  # of the class of `method`
        check_is_fitted(self)
        return self.calibrated_classifiers_[0][1]

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        progress: Progress | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fits the classifier and the map, or to samples of their own a map for a classifier that was fitted before.

        Parameters
        ----------
        X : array, [n, ...]
            What the classifier takes.
        y : array, [n]
            The classes that happened, of any kind.
        sample_weight : array, [n], optional
            Weights, for the map and for a classifier that takes them.
        progress
            As of `LogitMap.fit`.
        **fit_params
            For the ``fit`` of the classifier; with metadata routing also for the splitter, such as ``groups``.

        Raises
        ------
        ValueError
            A label that is no class of a classifier that was fitted before, with its row; fewer samples of a class than
            folds; errors of the map.
        """
        check_choice(self.scores, "scores", ("auto", "probabilities", "decision"))
        check_choice(self.ensemble, "ensemble", (True, False, "auto"))  # type: ignore[arg-type]
        fitted_before = isinstance(self.cv, str) and self.cv == "prefit"
        is_frozen = type(self.estimator).__name__ == "FrozenEstimator"
        if y is None:
            raise ValueError("CalibratedModel requires y to be passed, but the target y is None")
        name = type(self.estimator).__name__
        if not any(hasattr(self.estimator, method) for method in ("predict_proba", "decision_function")):
            raise TypeError(f"estimator: {name} has neither predict_proba nor decision_function, expected a classifier")
        y = unmasked(y)
        if fitted_before or is_frozen:
            if not hasattr(self.estimator, "classes_"):
                raise NotFittedError(f"This {name} instance is not fitted yet, expected one that was fitted before")
            self._check_length(X, y)
            classes = np.asarray(self.estimator.classes_)
            numbers = _places(as_array(y, "y"), classes)
            weights = weights_of(sample_weight, len(numbers))
            pair = self.estimator, self._fit_map(self._logits(self.estimator, X, classes), numbers, weights, progress)
            return self._set([pair], classes)
        return self._fit_folds(X, y, sample_weight, progress, fit_params)

    def _check_length(self, X: Any, y: Any) -> None:
        rows, labels = np.shape(X)[0] if np.ndim(X) else 0, len(as_array(y, "y"))
        if rows != labels:
            raise ValueError(f"X has {rows} rows and y {labels} labels, expected as many of both")

    def _fit_folds(
        self, X: Any, y: Any, sample_weight: Any, progress: Progress | None, fit_params: dict[str, Any]
    ) -> Self:
        try:
            from sklearn import get_config  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            raise ImportError("folds need scikit-learn, and cv='prefit' does not") from None
        from sklearn.model_selection import check_cv  # type: ignore[import-untyped, unused-ignore]
        from sklearn.utils import indexable  # type: ignore[import-untyped, unused-ignore]
        from sklearn.utils.metadata_routing import process_routing  # type: ignore[import-untyped, unused-ignore]
        from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped, unused-ignore]
        from sklearn.utils.parallel import Parallel, delayed  # type: ignore[import-untyped, unused-ignore]
        from sklearn.utils.validation import (  # type: ignore[import-untyped, unused-ignore]
            _check_method_params,
            check_array,
            column_or_1d,
            has_fit_parameter,
        )

        X, y = indexable(X, y)
        y = column_or_1d(as_array(y, "y") if isinstance(y, (list, tuple)) else y, warn=True)
        check_array(y, ensure_2d=False, dtype=None, input_name="y")
        gaps = [row for row, label in enumerate(y.tolist()) if is_missing(label)]
        if gaps:
            raise ValueError(f"y, row {gaps[0]}: the label is missing, expected a class")
        check_classification_targets(y)
        classes, numbers = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError("y has 1 class: a classifier needs samples of at least 2 classes")
        weights = weights_of(sample_weight, len(numbers))
        cv = check_cv(5 if self.cv is None else self.cv, y, classifier=True)
        folds = getattr(cv, "n_splits", None)
        fewest = int(np.bincount(numbers).min())
        if isinstance(self.cv, (int, type(None))) and folds is not None and fewest < folds:
            rare = shown(classes[int(np.bincount(numbers).argmin())])
            raise ValueError(
                f"Requesting {folds}-fold cross-validation but the class {rare} has less than {folds} examples: {fewest}"
            )
        split_params: dict[str, Any] = {}
        if get_config()["enable_metadata_routing"]:
            given = fit_params if weights is None else {**fit_params, "sample_weight": weights}
            routed = process_routing(self, "fit", **given)
            fit_params, split_params = dict(routed.estimator.fit), dict(routed.splitter.split)
        elif weights is not None and has_fit_parameter(self.estimator, "sample_weight"):
            fit_params = {**fit_params, "sample_weight": weights}

        def fitted(rows: np.ndarray | None) -> Any:
            """The classifier, fitted to some rows."""
            params = fit_params if rows is None else _check_method_params(X, fit_params, indices=rows)
            some, labels = (X, y) if rows is None else (_rows(X, rows), _rows(y, rows))
            return clone(self.estimator).fit(some, labels, **params)

        splits = list(cv.split(X, y, **split_params))
        parallel = Parallel(n_jobs=self.n_jobs)
        classifiers = parallel(delayed(fitted)(train) for train, _ in splits)
        left_out = [
            (test, self._logits(classifier, _rows(X, test), classes))
            for classifier, (_, test) in zip(classifiers, splits)
        ]
        if self.ensemble is False:
            order = np.concatenate([test for test, _ in left_out])
            if len(np.unique(order)) < len(order):
                raise ValueError("cv leaves samples out more than once, expected ensemble=True or a partition")
            logits = np.concatenate([logits for _, logits in left_out])
            place = np.argsort(order)  # as if they had not been shuffled
            rows = order[place]
            own = None if weights is None else weights[rows]
            found = self._fit_map(logits[place], numbers[rows], own, progress)
            return self._set([(fitted(None), found)], classes)
        pairs = []
        for classifier, (test, logits) in zip(classifiers, left_out):
            own = None if weights is None else weights[test]
            pairs.append((classifier, self._fit_map(logits, numbers[test], own, progress)))
        return self._set(pairs, classes)

    def _set(self, pairs: list[tuple[Any, LogitMap]], classes: np.ndarray) -> Self:
        self.calibrated_classifiers_, self.classes_ = pairs, classes
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
            if hasattr(pairs[0][0], name):
                setattr(self, name, getattr(pairs[0][0], name))
        return self

    def _fit_map(self, logits: np.ndarray, numbers: Any, weights: Any, progress: Progress | None) -> LogitMap:
        if isinstance(self.method, str):
            name = _SYNONYMS.get(self.method, self.method)
            check_choice(name, "method", tuple(MAPS))
            unfitted: LogitMap = MAPS[name]()
        else:
            unfitted = AutoRecalibration() if self.method is None else clone(self.method)
        return unfitted.fit(logits, numbers, weights, progress=progress)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The calibrated probabilities, ``[n, m]``, in the order of ``classes_``."""
        check_is_fitted(self)
        probabilities: np.ndarray = np.mean(list(self._each(X)), axis=0)
        return probabilities

    def _each(self, X: Any) -> Iterator[np.ndarray]:
        for classifier, found in self.calibrated_classifiers_:
            yield found.predict_proba(self._logits(classifier, X, self.classes_))

    def predict(self, X: Any) -> np.ndarray:
        """The most likely class of each sample, ``[n]``."""
        check_is_fitted(self)
        labels: np.ndarray = self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        return labels

    def _logits(self, classifier: Any, X: Any, classes: np.ndarray) -> np.ndarray:
        """The logits that the map takes, ``[n, m]``: ``-inf`` of a class that the classifier has not seen."""
        by_decision = self.scores == "decision" or self.scores == "auto" and not hasattr(classifier, "predict_proba")
        if by_decision:
            rows = np.asarray(classifier.decision_function(X), dtype=np.float64)
            if rows.ndim == 1:
                rows = np.column_stack([np.zeros_like(rows), rows])
        else:
            with np.errstate(divide="ignore"):
                rows = np.log(np.asarray(classifier.predict_proba(X)))
        if np.array_equal(classifier.classes_, classes):
            return rows
        whole = np.full((len(rows), len(classes)), -np.inf, dtype=rows.dtype)
        whole[:, np.searchsorted(classes, classifier.classes_)] = rows
        return whole

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "calibrated_classifiers_")

    def get_metadata_routing(self) -> Any:
        """Which of the parameters of `fit` go to the classifier and to the splitter, for scikit-learn."""
        from sklearn.utils.metadata_routing import (  # type: ignore[import-untyped, unused-ignore]
            MetadataRouter,
            MethodMapping,
        )

        def mapping(callee: str) -> Any:
            return MethodMapping().add(caller="fit", callee=callee)

        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        router.add(estimator=self.estimator, method_mapping=mapping("fit"))
        return router.add(splitter=self.cv, method_mapping=mapping("split"))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags  # type: ignore[import-untyped, unused-ignore]

        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)  # type: ignore[misc]
        tags.input_tags.sparse = own.input_tags.sparse
        tags.input_tags.allow_nan = own.input_tags.allow_nan
        tags.input_tags.pairwise = own.input_tags.pairwise
        return tags


def _rows(values: Any, rows: np.ndarray) -> Any:
    from sklearn.utils import _safe_indexing  # type: ignore[import-untyped, unused-ignore]

    return _safe_indexing(values, rows)


def _places(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The places of labels among classes."""
    places = {label: place for place, label in enumerate(classes.tolist())}
    found = np.array([places.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    wrong = np.flatnonzero(found < 0)
    if wrong.size:
        row = wrong[0]
        raise ValueError(f"row {row}: the label is {shown(labels[row])}, expected one of {listed(classes.tolist())}")
    return found
