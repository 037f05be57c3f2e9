"""A fitted classifier with a recalibration map behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._base import BaseEstimator, ClassifierMixin, check_is_fitted, clone, rows_of
from .maps import AutoRecalibration, LogitMap, Progress

if TYPE_CHECKING:
    from typing_extensions import Self


class CalibratedModel(ClassifierMixin, BaseEstimator):
    """A classifier that was fitted before, whose predictions go through a map that is fitted to held-out samples.

    The map takes the logarithms of the classifier's probabilities, or its decision scores.

    Parameters
    ----------
    estimator : classifier
        A fitted classifier with ``classes_``. It is not fitted again.
    map : LogitMap or None
        The map, by default `AutoRecalibration`.
    scores : {"probabilities", "decision"}, default "probabilities"
        What the map takes: ``log(predict_proba)``, or ``decision_function``, of which one number a row is the log-odds
        of the second of two classes.
    clip : float, default 1e-12
        Probabilities below it are raised to it: 0 has no logarithm.

    Attributes
    ----------
    map_ : LogitMap
        The fitted map.
    classes_ : array, [m]
        Those of the classifier.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_digits(return_X_y=True)
    >>> classifier = GaussianNB().fit(X[:600], y[:600])
    >>> model = CalibratedModel(classifier).fit(X[600:1200], y[600:1200])
    >>> model.predict_proba(X[1200:]).shape
    (597, 10)
    """

    map_: Any  # of the class of `map`
    classes_: np.ndarray

    def __init__(
        self,
        estimator: Any,
        map: LogitMap | None = None,
        *,
        scores: str = "probabilities",
        clip: float = 1e-12,
    ):
        self.estimator = estimator
        self.map = map
        self.scores = scores
        self.clip = clip

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        progress: Progress | None = None,
    ) -> Self:
        """Fits the map to samples that the classifier was not fitted to.

        Parameters
        ----------
        X : array, [n, ...]
            What the classifier takes.
        y : array, [n]
            The classes that happened, of those of the classifier.
        sample_weight, progress
            As of `LogitMap.fit`.

        Raises
        ------
        ValueError
            A label that is no class of the classifier, with its row; errors of the map.
        """
        classes = np.asarray(self.estimator.classes_)
        labels = np.asarray(y)
        order = np.argsort(classes)
        places = np.clip(np.searchsorted(classes, labels, sorter=order), 0, len(classes) - 1)
        numbers = order[places]
        wrong = np.flatnonzero(classes[numbers] != labels)
        if wrong.size:
            row = wrong[0]
            raise ValueError(f"row {row}: the label is {labels[row]!r}, expected one of {classes.tolist()}")
        fitted = AutoRecalibration() if self.map is None else clone(self.map)
        self.map_ = fitted.fit(self._logits(X), numbers, sample_weight, progress=progress)
        self.classes_ = classes
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """The calibrated probabilities, ``[n, m]``, in the order of ``classes_``."""
        check_is_fitted(self)
        probabilities: np.ndarray = self.map_.predict_proba(self._logits(X))
        return probabilities

    def predict(self, X: Any) -> np.ndarray:
        """The most likely class of each sample, ``[n]``."""
        labels: np.ndarray = self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        return labels

    def _logits(self, X: Any) -> np.ndarray:
        """The logits that the map takes, ``[n, m]``."""
        if self.scores == "decision":
            scores = np.asarray(self.estimator.decision_function(X), dtype=np.float64)
            if scores.ndim == 1:
                scores = np.column_stack([np.zeros_like(scores), scores])
            return scores
        if self.scores != "probabilities":
            raise ValueError(f"scores is {self.scores!r}, expected probabilities or decision")
        probabilities = rows_of(self.estimator.predict_proba(X), "the probabilities")
        logits: np.ndarray = np.log(np.maximum(probabilities, self.clip))
        return logits
