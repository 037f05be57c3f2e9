"""Docstrings in full, in the format of numpydoc: what many functions have in common is written here once."""

from __future__ import annotations

import inspect
import re
from typing import Any, Callable, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

#: The parameters of calls about classes.
CLASSES = {
    "y_true": """array, [n]
    Classes from 0 to ``m - 1``, or of ``classes``. A categorical of pandas has its own classes.""",
    "y_prob": """array or Logits
    Probabilities of classes, ``[n, m]``, or of an event (class 1 of two), ``[n]``; or ``Logits(z)``.""",
    "sample_weight": """array, [n], optional
    Weights of the samples.""",
    "classes": """sequence, optional
    The class of each column, of any hashable kind, as scikit-learn's ``labels``. None: 0 to ``m - 1``.""",
    "pos_label": """optional
    The event is this class against the rest. None: the event of ``[n]``, else that the most likely class is right.""",
    "bins": """int
    The number of bins, right-closed.""",
    "strategy": """{"uniform", "quantile"}
    Bins of equal width, or with as many samples each.""",
    "level": """float
    The level of the confidence intervals.""",
    "redraws": """int or None
    The number of sets of labels that are drawn from the predictions.""",
    "seed": """int
    The seed of all random draws.""",
    "interval": """float, optional
    A confidence level, such as 0.95: then the result is an interval.""",
    "ordered": """bool
    Whether the classes have an order, that of the columns, such as grades: then there is the ranked probability score.""",
    "nan_policy": """{"raise", "omit"}
    Whether a value that is missing is an error, or its row is left out, with a `CalibrationWarning`.""",
    "progress": """callable, optional
    Is called with ``(step, steps, title)`` before each step, of which the first is 0. What it raises ends the work.""",
}

#: The parameters of calls about predictions of any family.
ANY = {
    **CLASSES,
    "y_true": """array, [n] or [n, d]
    Classes from 0 to ``m - 1``, or of ``classes``. Of predictions of real numbers the targets.""",
    "prediction": """array or Predictions
    Probabilities, `Logits`, or predictions of real numbers: `Normal`, `Samples` and others.""",
    "classes": """sequence, optional
    The class of each column, of any hashable kind. Not for predictions of real numbers.""",
}

#: The parameters of calls about predictions of real numbers.
REALS = {
    **CLASSES,
    "y_true": """array, [n] or [n, d]
    The targets.""",
    "prediction": """Predictions
    `Normal`, `Laplace`, a mixture, `Samples` or `Quantiles`.""",
}

#: The parameters of maps of logits.
MAPS = {
    "smoothed": """bool
    Whether the targets are those of Platt, ``(N1 + 1)/(N1 + 2)`` and ``1/(N0 + 2)``, and not 1 and 0: maximum likelihood.""",
    "hidden": """int
    The hidden units of the network.""",
    "regularization": """float or None
    The weight of the regularization, at least 0. None: the one that a cross-validation finds.""",
    "folds": """int
    The folds of that cross-validation.""",
    "tolerance": """float
    The largest derivative at which the fit has converged.""",
    "max_iterations": """int
    The most iterations.""",
    "seed": """int
    The seed of the folds, and of the hidden units of a network.""",
    "clip": """float or None
    Where a logit is ``-inf``, the logarithm of 0, the logits are logarithms of probabilities, and those below ``clip``
    are raised to it. None: such a logit is an error.""",
}

_RETURNS = {
    "float": "float",
    "float | Interval": """float or Interval
    With ``interval`` the named tuple ``(estimate, lower, upper, level)``.""",
    "SignificanceResult": """SignificanceResult
    The named tuple ``(statistic, pvalue)``.""",
}

_RAISES = """ValueError
    Invalid data, with the parameter, the row and the value; swapped arguments; an option outside of its domain."""


def documented(shared: dict[str, str]) -> Callable[[_Function], _Function]:
    """Completes the docstring of a function by parameters that it does not describe, its result and its errors."""

    def complete(function: _Function) -> _Function:
        sections = _completed(function.__doc__, inspect.signature(function), shared)
        returns = str(function.__annotations__["return"])
        sections.setdefault("Returns", _RETURNS.get(returns, returns))
        sections.setdefault("Raises", _RAISES)
        function.__doc__ = _joined(sections)
        return function

    return complete


def document_class(estimator: type, shared: dict[str, str]) -> None:
    """Completes the docstring of a class by parameters of its ``__init__`` that it does not describe."""
    signature = inspect.signature(estimator)
    if estimator.__doc__ and signature.parameters:
        estimator.__doc__ = _joined(_completed(estimator.__doc__, signature, shared))


def _completed(doc: str | None, signature: inspect.Signature, shared: dict[str, str]) -> dict[str, str]:
    """The sections of a docstring by their titles, the first without one, with all parameters in their order."""
    if doc is None:  # python -OO
        return {}
    parts = re.split(r"^(\w[\w ]*)\n-+\n", inspect.cleandoc(doc), flags=re.MULTILINE)
    sections = {"": parts[0].rstrip(), "Parameters": ""}
    sections.update({title: text.rstrip() for title, text in zip(parts[1::2], parts[2::2])})
    own: dict[str, str] = {}
    for entry in re.split(r"^(?=\S)", sections["Parameters"], flags=re.MULTILINE):
        if entry.strip():
            names = entry.partition("\n")[0].partition(" : ")[0]
            own.update(dict.fromkeys(re.findall(r"\w+", names), entry.rstrip()))
    entries = [own.get(name) or _entry(parameter, shared[name]) for name, parameter in signature.parameters.items()]
    sections["Parameters"] = "\n".join(dict.fromkeys(entries))
    return sections


def _entry(parameter: inspect.Parameter, text: str) -> str:
    """The entry of a parameter with its default."""
    kind, _, words = text.partition("\n")
    is_told = parameter.default is parameter.empty or kind.endswith("optional")
    default = "" if is_told else f", default {parameter.default!r}"
    return f"{parameter.name} : {kind}{default}\n{words}"


def _joined(sections: dict[str, str]) -> str | None:
    """A docstring of sections, in the order of numpydoc."""
    if not sections:
        return None
    order = ["", "Parameters", "Attributes", "Returns", "Raises", "Warns", "Examples"]
    titles = sorted(sections, key=lambda title: order.index(title) if title in order else len(order))
    return "\n\n".join(f"{title}\n{'-' * len(title)}\n{sections[title]}" if title else sections[""] for title in titles)
