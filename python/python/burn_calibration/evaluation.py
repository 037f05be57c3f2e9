"""Tests and estimates of calibration."""

from __future__ import annotations

import os
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import _native
from ._call import Call, given_columns, warn_of_notes
from ._checks import check_choice, check_count, check_number, seed_of
from ._docs import ANY, documented
from ._labels import headers_of
from ._kernels import bandwidth_option, kernel_option
from ._warnings import collected
from .answers import Comparison, Evaluation, Outcome
from .predictions import Logits, Predictions, Probabilities, check_order, predictions_of, warn_of_index

__all__ = ["Comparison", "Evaluation", "Outcome", "Steps", "TESTS", "compare", "evaluate", "report"]

Steps = Callable[[int, int, str], Any]

#: The tests of `evaluate` besides the omnibus test; those of an event, `cox` and others, are of classes alone.
TESTS = (
    "skce_unbiased_asymptotic",
    "skce_linear_asymptotic",
    "skce_block_asymptotic",
    "cme",
    "skce_unbiased_exact",
    "skce_biased_distribution_free",
    "skce_unbiased_distribution_free",
    "skce_linear_distribution_free",
    "ece_top_label_exact",
    "ece_top_label_consistency",
    "spiegelhalter",
    "spiegelhalter_exact",
    "hosmer_lemeshow",
    "hosmer_lemeshow_exact",
    "cox",
    "cox_exact",
)
_TESTS_OF_REALS = TESTS[:8]
_LENSES = {
    "canonical": _native.Lens.Canonical,
    "top-label": _native.Lens.TopLabel,
    "class-wise": _native.Lens.ClassWise,
}
_MOST_REDRAWS = 100_000


@documented(ANY)
def evaluate(
    y_true: Any,
    y_prob: Any = None,
    *,
    logits: Any = None,
    sample_weight: Any = None,
    given: Any = None,
    classes: Sequence[Any] | None = None,
    ordered: bool = False,
    nan_policy: str = "raise",
    lens: str = "canonical",
    tests: Sequence[str] = (),
    level: float = 0.95,
    tolerance: float | None = None,
    lp_error: float | None = None,
    kernel: str | None = None,
    bandwidth: float | str | None = None,
    bins: int | None = None,
    redraws: int | None = None,
    seed: int = 0,
    progress: Steps | None = None,
) -> Evaluation:
    """Tests whether a model is calibrated, and measures its errors.

    Parameters
    ----------
    y_prob : array or Predictions
        Probabilities of classes, ``[n, m]``, or of an event, ``[n]``; or predictions of a family: `Logits`, `Normal`,
        `Laplace`, `Samples`, `Quantiles` or a mixture.
    logits : array
        Logits ``[n, m]``, or log-odds of an event ``[n]``, instead of probabilities.
    given : mapping or frame, optional
        Variables of each sample by name, to test calibration given these. Numbers are compared by a kernel and split
        into quarters; each text is a group.
    lens : {"canonical", "top-label", "class-wise"}
        The whole vector of probabilities, the top label, or each class against the rest.
    tests : sequence of str
        Tests in addition to the omnibus test, of `burn_calibration.evaluation.TESTS`.
    tolerance : float, optional
        A tolerated error, a probability: tests whether the error is larger.
    lp_error : float, optional
        Also compute a lower bound of the Lp calibration error of this order, at least 1.
    kernel : str, optional
        The profile of the kernel of the SKCE, as of `burn_calibration.penalties.skce`; None is exponential.
    bandwidth : float or str, optional
        Its bandwidth: a number, ``"median"`` or ``"median-with-diagonal"``; None is the median.
    bins : int, optional
        The bins of calibration errors; None is 15.
    redraws : int, optional
        The sets of labels that are drawn, at most 100,000; None is 999.

    Returns
    -------
    Evaluation
        ``str`` of it is a text, ``to_dict()`` all numbers.
    """
    if (y_prob is None) == (logits is None):
        raise ValueError("expected y_prob or logits, one of them")
    name = "y_prob" if logits is None else "logits"
    warn_of_index(y_true, y_prob if logits is None else logits)
    predictions = predictions_of(y_prob) if logits is None else Logits(logits)
    check_order(y_true, predictions)
    check_choice(lens, "lens", tuple(_LENSES))
    check_number(level, "level", 0, 1, "a number between 0 and 1", is_open=True)
    check_number(tolerance, "tolerance", 0, 1 - 1e-16, "a number from 0, below 1")
    check_number(lp_error, "lp_error", 1, 1e300, "a number of at least 1")
    check_count(bins, "bins")
    check_count(redraws, "redraws", _MOST_REDRAWS)
    are_classes, has_kernel = predictions.family == "categorical", predictions.family != "quantiles"
    known = TESTS if are_classes else _TESTS_OF_REALS if has_kernel else ()
    for test in tests:
        if test not in known:
            of = f" of {type(predictions).__name__} predictions" if not are_classes else ""
            raise ValueError(f"tests: {test!r} is no test{of}, expected some of {', '.join(known) or 'none'}")
    only_classes = {"lens": None if lens == "canonical" else lens, "bins": bins, "lp_error": lp_error}
    only_kernel = {"tolerance": tolerance, "kernel": kernel, "bandwidth": bandwidth}
    for option, value in {**({} if are_classes else only_classes), **({} if has_kernel else only_kernel)}.items():
        if value is not None:
            raise ValueError(
                f"{option} is {value!r}, expected None: {type(predictions).__name__} predictions have none"
            )
    if lens == "class-wise" and predictions.is_event:
        raise ValueError("lens is 'class-wise', expected another one: y_prob are probabilities of one event")
    if ordered and lens != "canonical":
        raise ValueError(f"ordered is True, expected False: lens {lens!r} looks at one event")
    columns = given_columns(given, y_true)
    with collected() as notes:
        headers = headers_of(y_prob if logits is None else logits)
        call = Call(y_true, {name: predictions}, sample_weight, columns, classes, nan_policy, ordered, headers)
    call.check_sizes(bins, redraws)
    answer = _native.evaluate(
        call.data,
        progress,
        lens=_LENSES[lens],
        tests=list(tests),
        level=float(level),
        tolerance=tolerance,
        lp_error=lp_error,
        kernel=kernel_option(kernel),
        bandwidth=bandwidth_option(bandwidth),
        bins=bins,
        redraws=redraws,
        seed=seed_of(seed),
    )
    warn_of_notes(answer.notes)
    return Evaluation(answer, notes)


@documented(ANY)
def compare(
    y_true: Any,
    before: Any,
    after: Any,
    *,
    sample_weight: Any = None,
    classes: Sequence[Any] | None = None,
    ordered: bool = False,
    nan_policy: str = "raise",
    level: float = 0.95,
    redraws: int | None = None,
    seed: int = 0,
    progress: Steps | None = None,
) -> Comparison:
    """Compares two sets of predictions of the same samples, such as before and after recalibration.

    Parameters
    ----------
    before, after : array or Predictions
        As of `evaluate`: probabilities, ``Logits(z)``, or predictions of a family. Those of real numbers may be of two
        families; those of classes are both probabilities or both logits, else logits become probabilities.
    redraws : int, optional
        The sets of labels that are drawn, at most 100,000; None is 999.
    """
    for predictions in (before, after):
        warn_of_index(y_true, predictions)
        check_order(y_true, predictions_of(predictions), "(y_true, before, after)")
    check_number(level, "level", 0, 1, "a number between 0 and 1", is_open=True)
    check_count(redraws, "redraws", _MOST_REDRAWS)
    with collected() as notes:
        call = _of_two(y_true, {"before": before, "after": after}, sample_weight, classes, nan_policy, ordered)
    call.check_sizes(None, redraws)
    answer = _native.compare(call.data, progress, level=float(level), redraws=redraws, seed=seed_of(seed))
    warn_of_notes(answer.notes)
    return Comparison(answer, notes)


def _of_two(
    y_true: Any,
    sets: Mapping[str, Any],
    sample_weight: Any,
    classes: Sequence[Any] | None,
    nan_policy: str,
    ordered: bool,
) -> Call:
    """A call about predictions, and others in their place, which are probabilities where one of both is."""
    (first, before), *rest = [(name, predictions_of(one)) for name, one in sets.items()]
    if not rest:
        return Call(y_true, {first: before}, sample_weight, None, classes, nan_policy, ordered)
    ((second, after),) = rest
    if before.is_logits != after.is_logits:
        before, after = _softmax(before), _softmax(after)
    are_plain = {before.family, after.family}.isdisjoint({"categorical", "quantiles"})
    if before.family != after.family and not are_plain:
        names = f"{type(before).__name__} and {type(after).__name__}"
        raise ValueError(f"{first} and {second} are {names}, expected two of one kind, or both of real numbers")
    if before.levels != after.levels:
        raise ValueError(f"{first} and {second}: levels {before.levels} and {after.levels}, expected the same")
    if before.family == after.family and np.shape(before.rows)[1:] != np.shape(after.rows)[1:]:
        shapes = f"{np.shape(before.rows)} and {np.shape(after.rows)}"
        if before.family != "samples":
            raise ValueError(f"{first} and {second} have the shapes {shapes}, expected as many columns of both")
    return Call(y_true, {first: before, second: after}, sample_weight, None, classes, nan_policy, ordered)


def _softmax(predictions: Predictions) -> Predictions:
    """The probabilities of logits."""
    if not predictions.is_logits:
        return predictions
    rows = np.asarray(predictions.rows, dtype=np.float64)
    if rows.ndim == 1 or rows.shape[1] == 1:
        return Probabilities(np.exp(-np.logaddexp(0, -rows)))
    weights = np.exp(rows - rows.max(axis=1, keepdims=True))
    return Probabilities(weights / weights.sum(axis=1, keepdims=True))


@documented(ANY)
def report(
    y_true: Any,
    y_prob: Any,
    *,
    after: Any = None,
    sample_weight: Any = None,
    classes: Sequence[Any] | None = None,
    ordered: bool = False,
    nan_policy: str = "raise",
    title: str | None = None,
    bins: int | None = None,
    path: str | os.PathLike[str] | None = None,
    seed: int = 0,
    progress: Steps | None = None,
) -> str:
    """A page of HTML with numbers and diagrams.

    Parameters
    ----------
    y_prob, after : array or Predictions
        As of `evaluate`; ``after`` are recalibrated ones of the same samples. Those of real numbers may be of
        another family.
    bins : int, optional
        The bins of calibration errors; None is 15.
    title : str, optional
        The title of the page.
    path : path, optional
        A file to write the page to.

    Returns
    -------
    str
        The page.
    """
    sets = {"y_prob": y_prob} if after is None else {"y_prob": y_prob, "after": after}
    for predictions in sets.values():
        warn_of_index(y_true, predictions)
        check_order(y_true, predictions_of(predictions))
    check_count(bins, "bins")
    if bins is not None and predictions_of(y_prob).family != "categorical":
        raise ValueError(f"bins is {bins!r}, expected None: {type(y_prob).__name__} predictions have none")
    call = _of_two(y_true, sets, sample_weight, classes, nan_policy, ordered)
    call.check_sizes(bins, None)
    page, notes = _native.report(call.data, progress, title=title, bins=bins, seed=seed_of(seed))
    warn_of_notes(notes)
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
    return page
