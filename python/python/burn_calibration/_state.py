"""What fitted maps of any kind have as attributes, and their state."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _native


def state_of(state: dict[str, Any]) -> dict[str, Any]:
    """The state of an estimator with the bytes of its map."""
    fitted = state.pop("_fitted", None)
    if fitted is not None:
        state["_file"] = fitted.to_bytes()
        state["_is_real"] = isinstance(fitted, _native.FittedRealMap)
    return state


def restored(state: dict[str, Any]) -> dict[str, Any]:
    """The state of an estimator with its map."""
    file, is_real = state.pop("_file", None), state.pop("_is_real", False)
    if file is not None:
        state["_fitted"] = (_native.FittedRealMap if is_real else _native.FittedMap).from_bytes(file)
    return state


def set_parts(estimator: Any, fitted: _native.FittedMap | _native.FittedRealMap) -> None:
    """Sets what a fitted map tells as attributes."""
    estimator.kind_ = fitted.kind
    estimator.guarantees_ = json.loads(fitted.guarantees())
    report = fitted.report()
    estimator.report_ = json.loads(report) if report else {}
    estimator.warnings_ = fitted.warnings()
    estimator.named_parameters_ = {}
    for name, values in fitted.parameters():
        value = float(values[0]) if values.shape == (1,) else values
        estimator.named_parameters_[name] = value
        attribute = name.replace(".", "_") + "_"
        if attribute.isidentifier():
            setattr(estimator, attribute, value)


def file_exists(path: str | os.PathLike[str]) -> str:
    """A path, if there is a file."""
    if not os.path.exists(path):
        raise FileNotFoundError(2, os.strerror(2), os.fspath(path))
    return os.fspath(path)
