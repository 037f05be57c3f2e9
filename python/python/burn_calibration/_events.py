"""Maps of a probability: of class 1 of two classes, else of each class."""

from __future__ import annotations

from ._map import CLIP, LogitMap


class PlattScaling(LogitMap):
    """Platt scaling, ``sigmoid(a s + b)`` of log-odds ``s``: of class 1 of two classes, else of each class."""

    _kind = "platt"

    def __init__(self, *, smoothed: bool = True, clip: float | None = CLIP):
        self.smoothed = smoothed
        self.clip = clip


class BetaCalibration(LogitMap):
    """Beta calibration, ``sigmoid(a log p - b log(1-p) + c)``: of class 1 of two classes, else of each class."""

    _kind = "beta"

    def __init__(self, *, smoothed: bool = True, clip: float | None = CLIP):
        self.smoothed = smoothed
        self.clip = clip


class QuadraticScaling(LogitMap):
    """Quadratic scaling, ``sigmoid(a s + b s^2 + c)`` of log-odds ``s``."""

    _kind = "quadratic"

    def __init__(self, *, smoothed: bool = True, clip: float | None = CLIP):
        self.smoothed = smoothed
        self.clip = clip


class IsotonicRegression(LogitMap):
    """The best non-decreasing function of a probability: of class 1 of two classes, else of each class."""

    _kind = "isotonic"

    def __init__(self, *, clip: float | None = CLIP):
        self.clip = clip


class VennAbers(LogitMap):
    """Venn-Abers: two isotonic regressions, with each outcome of the sample."""

    _kind = "venn-abers"

    def __init__(self, *, clip: float | None = CLIP):
        self.clip = clip


class HistogramBinning(LogitMap):
    """Frequencies in bins of a probability.

    Parameters
    ----------
    bins : int, default 15
        The number of bins.
    smoothing : float, default 0.5
        The number of hits and of misses that are added to each bin.
    """

    _kind = "histogram"

    def __init__(self, *, bins: int = 15, smoothing: float = 0.5, clip: float | None = CLIP):
        self.bins = bins
        self.smoothing = smoothing
        self.clip = clip


class SplineCalibration(LogitMap):
    """The derivative of a cubic spline of the cumulative frequencies, which may fall where risks rise.

    Parameters
    ----------
    knots : int, default 6
        The number of knots, at least 2.
    """

    _kind = "spline"

    def __init__(self, *, knots: int = 6, clip: float | None = CLIP):
        self.knots = knots
        self.clip = clip
