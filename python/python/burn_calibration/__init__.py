"""Calibration: recalibration maps with guarantees, exact tests of calibration, and penalties for training.

The engine is the Rust library ``burn-calibration``; this package takes NumPy arrays to it.
"""

from . import penalties
from ._native import __version__
from .maps import (
    MAPS,
    AutoRecalibration,
    BetaCalibration,
    DiagonalScaling,
    DirichletCalibration,
    EnsembleTemperatureScaling,
    FitWarning,
    HistogramBinning,
    IsotonicRegression,
    LoadedMap,
    LogitMap,
    MatrixScaling,
    OrderInvariant,
    OrderPreserving,
    PlattScaling,
    QuadraticScaling,
    SplineCalibration,
    StructuredMatrixScaling,
    StructuredVectorScaling,
    TemperatureScaling,
    VectorScaling,
    VennAbers,
    load_map,
)
from .model import CalibratedModel

__all__ = [
    "MAPS",
    "AutoRecalibration",
    "BetaCalibration",
    "CalibratedModel",
    "DiagonalScaling",
    "DirichletCalibration",
    "EnsembleTemperatureScaling",
    "FitWarning",
    "HistogramBinning",
    "IsotonicRegression",
    "LoadedMap",
    "LogitMap",
    "MatrixScaling",
    "OrderInvariant",
    "OrderPreserving",
    "PlattScaling",
    "QuadraticScaling",
    "SplineCalibration",
    "StructuredMatrixScaling",
    "StructuredVectorScaling",
    "TemperatureScaling",
    "VectorScaling",
    "VennAbers",
    "__version__",
    "load_map",
    "penalties",
]
