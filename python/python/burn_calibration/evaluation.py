"""Tests and estimates of calibration: the answers of the command ``calibration`` for arrays."""

from __future__ import annotations

import csv
import html
import io
import json
import os
from dataclasses import dataclass
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import _native
from .predictions import Predictions, check_order, predictions_of, probabilities
from .predictions import logits as _logits


@dataclass(frozen=True)
class Outcome:
    """The omnibus test of one set of predictions, or of one class.

    Attributes
    ----------
    of : str
        Nothing, "before" or "after", or the name of a class.
    verdict : str
        The answer, and the sentences that say how the sizes of errors agree with it.
    p_value, pvalue : float or None
        The p-value; None if there is no test.
    adjusted_p_value : float or None
        Of one of several classes or columns: the p-value adjusted for their number, which the verdict is about. Else None.
    findings : list of dict
        The aspects that fail at the level 0.05, adjusted, the most significant first: ``name``, ``finding`` in words,
        ``estimate``, ``p_value``, ``adjusted_p_value``, and ``row`` if it is about one sample.
    """

    of: str
    verdict: str
    p_value: float | None
    findings: list[dict[str, Any]]
    adjusted_p_value: float | None = None

    @property
    def pvalue(self) -> float | None:
        """The same as ``p_value``."""
        return self.p_value


def _outcome(outcome: dict[str, Any]) -> Outcome:
    reason = outcome.get("error")
    verdict = outcome["verdict"] if reason is None else f"There is no test of calibration: {reason}"
    adjusted = outcome.get("adjusted_p_value")
    return Outcome(outcome["of"], verdict, outcome.get("p_value"), outcome.get("findings", []), adjusted)


class _Answer:
    """An answer of the command; ``str`` returns its text."""

    def __init__(self, answer: tuple[str, str, str]):
        self._json, self._text, outcomes = answer
        self.outcomes = [_outcome(outcome) for outcome in json.loads(outcomes)]

    def to_dict(self) -> dict[str, Any]:
        """The output of the command with ``--json``."""
        answer: dict[str, Any] = json.loads(self._json)
        return answer

    def __str__(self) -> str:
        return self._text

    @property
    def verdict(self) -> str:
        """The verdict in a sentence, one line for each of several omnibus tests."""
        lines = [f"{outcome.of}: {outcome.verdict}" if outcome.of else outcome.verdict for outcome in self.outcomes]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.verdict}>"

    def _repr_html_(self) -> str:
        """A short table for notebooks; `report` makes a full page."""
        parts = []
        for outcome in self.outcomes:
            of = f"{html.escape(outcome.of)}: " if outcome.of else ""
            findings = [f"<li>{html.escape(finding['finding'])}</li>" for finding in outcome.findings]
            parts.append(f"<p><b>{of}{html.escape(outcome.verdict)}</b></p><ul>{''.join(findings)}</ul>")
        rows = [
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>" for cells in self._table()
        ]
        return f"<div>{''.join(parts)}<table>{''.join(rows)}</table></div>"

    def _table(self) -> list[list[str]]:
        return []


def _cell(value: Any, other: str) -> str:
    """A number in short, or what stands for another value."""
    return f"{value:.4g}" if isinstance(value, (int, float)) else other


def _interval_row(title: str, size: Mapping[str, Any]) -> list[str]:
    if "estimate" not in size:
        return [title, "-", str(next(iter(size.values()), ""))]
    estimate, lower, upper = (_cell(size[key], "infinite") for key in ("estimate", "lower", "upper"))
    return [title, estimate, f"[{lower}, {upper}]"]


class Evaluation(_Answer):
    """The answer of `evaluate`.

    Attributes
    ----------
    verdict : str
        The answer in a sentence. With ``lens="class-wise"`` one headline, then one line for each class, adjusted for
        their number.
    p_value, pvalue : float or None
        The p-value of the omnibus test. With ``lens="class-wise"`` the least of the classes, adjusted for their number
        by Holm's method.
    findings : list of dict
        The aspects that fail, see `Outcome`.
    intervals : dict
        The errors with their confidence intervals: ``estimate``, ``lower``, ``upper``, ``level``, or an ``error``. With
        ``lens="class-wise"`` a dict for each class.
    estimates : dict
        All estimates. With ``lens="class-wise"`` a dict for each class.
    outcomes : list of Outcome
        The omnibus test, or that of each class.
    """

    @property
    def verdict(self) -> str:
        headline = self.to_dict().get("verdict")
        return super().verdict if headline is None else f"{headline}\n{super().verdict}"

    @property
    def p_value(self) -> float | None:
        if self._classes is None:
            return self.outcomes[0].p_value
        adjusted = self.to_dict()["adjusted"].get("omnibus")
        return None if adjusted is None else min(adjusted["holm"])

    @property
    def pvalue(self) -> float | None:
        """The same as ``p_value``."""
        return self.p_value

    @property
    def findings(self) -> list[dict[str, Any]]:
        return [finding for outcome in self.outcomes for finding in outcome.findings]

    @property
    def intervals(self) -> dict[str, Any]:
        return self._of("intervals")

    @property
    def estimates(self) -> dict[str, Any]:
        return self._of("estimates")

    @property
    def _classes(self) -> list[dict[str, Any]] | None:
        """What is found of each class; None of the whole prediction."""
        return self.to_dict().get("classes")

    def _of(self, key: str) -> dict[str, Any]:
        classes = self._classes
        if classes is None:
            whole: dict[str, Any] = self.to_dict()[key]
            return whole
        return {found["name"]: found[key] for found in classes}

    def _table(self) -> list[list[str]]:
        if self._classes is not None:
            return []
        return [["", "estimate", "interval"]] + [_interval_row(*item) for item in self.intervals.items()]


class Comparison(_Answer):
    """The answer of `compare`.

    Attributes
    ----------
    verdict : str
        Two lines: before and after.
    changes : dict
        Scores and the SKCE: ``before``, ``after``, ``difference``, ``standard_error``, ``interval`` and ``p_value`` of
        the paired difference after - before; negative is a gain.
    intervals : dict
        The errors with their confidence intervals, ``before`` and ``after``.
    outcomes : list of Outcome
        The omnibus tests before and after.
    """

    @property
    def changes(self) -> dict[str, Any]:
        changes: dict[str, Any] = self.to_dict()["changes"]
        return changes

    @property
    def intervals(self) -> dict[str, Any]:
        intervals: dict[str, Any] = self.to_dict()["intervals"]
        return intervals

    def _table(self) -> list[list[str]]:
        keys = ("before", "after", "difference", "p_value")
        rows = [[name] + [_cell(change.get(key), "-") for key in keys] for name, change in self.changes.items()]
        return [["", *keys]] + rows


Files = list[tuple[str, Any]]
Steps = Callable[[int, int, str], Any]


def _array(values: Any, name: str) -> np.ndarray:
    """An array of rows in double precision."""
    rows = np.asarray(values)
    if rows.dtype.kind not in "fiub":
        raise ValueError(f"{name}: an array of {rows.dtype}, expected numbers")
    if rows.ndim == 1:
        rows = rows[:, None]
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"{name}: an array of shape {np.shape(values)}, expected [n] or [n, m] with some rows")
    return np.ascontiguousarray(rows, dtype=np.float64)


def _shape(predictions: Predictions) -> list[str]:
    """The options that say what the columns of predictions are."""
    options = ["--logits"] if predictions.is_logits else []
    if predictions.is_event:
        options.append("--positive")
    if predictions.levels:
        options += ["--quantile-levels", ",".join(map(repr, predictions.levels))]
    return options


def _labels(labels: Any, classes: Sequence[Any] | None) -> Any:
    """Labels as numbers: of names the places among the classes."""
    values = np.asarray(labels)
    if values.dtype.kind in "fiub":
        return values
    if classes is None:
        raise ValueError("labels that are names: expected classes=[...], the names in the order of the columns")
    places = {name: place for place, name in enumerate(classes)}
    numbers = np.array([places.get(label, -1) for label in values.tolist()])
    wrong = np.flatnonzero(numbers < 0)
    if wrong.size:
        raise ValueError(f"row {wrong[0]}: the label is {values[wrong[0]]!r}, expected one of {list(places)}")
    return numbers


def _given(columns: Any) -> str:
    """Variables of each sample by their names, as the text of a table."""
    if hasattr(columns, "columns") and hasattr(columns, "to_numpy"):  # of pandas
        columns = {name: columns[name].to_numpy() for name in columns.columns}
    if not isinstance(columns, Mapping):
        raise ValueError("given: expected a mapping of names to columns, or a frame of pandas")
    values = [np.asarray(column).tolist() for column in columns.values()]
    if len({len(column) for column in values}) > 1:
        raise ValueError(f"given: columns of {sorted({len(c) for c in values})} rows, expected as many rows of each")
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns.keys())
    writer.writerows(zip(*values))
    return text.getvalue()


def _common(
    family: str, y_true: Any, classes: Sequence[Any] | None, sample_weight: Any, seed: int
) -> tuple[list[str], Files]:
    """The options and the files that all commands have."""
    options = ["--labels", "labels", "--seed", str(int(seed))]
    if classes is not None:
        names = [str(name) for name in classes]
        if any("," in name for name in names):
            raise ValueError("classes: a name has a comma, expected names without")
        options += ["--classes", ",".join(names)]
    files: Files = [("labels", _array(_labels(y_true, classes), "labels"))]
    if sample_weight is not None:
        options += ["--weights", "weights"]
        files.append(("weights", _array(sample_weight, "weights")))
    return [*options, "--family", family], files


def _named(options: Mapping[str, Any]) -> list[str]:
    """Options by their names, without those that are None."""
    named = []
    for name, value in options.items():
        if value is not None:
            named += [f"--{name}", str(value)]
    return named


def evaluate(
    y_true: Any,
    y_prob: Any = None,
    *,
    logits: Any = None,
    sample_weight: Any = None,
    given: Any = None,
    classes: Sequence[Any] | None = None,
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
    y_true : array, [n]
        Classes from 0 to ``m - 1``, or names of ``classes``; of other families the targets, ``[n]`` or ``[n, d]``.
    y_prob : array or Predictions
        Probabilities of classes, ``[n, m]``, or of an event, ``[n]``; or predictions of a family, made by `normal`,
        `laplace`, `samples` or `quantiles`.
    logits : array
        Logits ``[n, m]``, or log-odds of an event ``[n]``, instead of probabilities.
    sample_weight : array, [n], optional
        Weights of the samples.
    given : mapping or frame, optional
        Variables of each sample by name, to test calibration given these. Numbers are compared by a kernel and split
        into quarters; each text is a group.
    classes : sequence of str, optional
        Names of the classes in the order of the columns.
    lens : {"canonical", "top-label", "class-wise"}
        The whole vector of probabilities, the top label, or each class against the rest.
    tests : sequence of str
        Tests in addition to the omnibus test, by their names on the command line.
    level : float
        The level of the confidence intervals.
    tolerance : float, optional
        A tolerated error, a probability: tests whether the error is larger.
    lp_error : float, optional
        Also compute a lower bound of the Lp calibration error of this order.
    kernel, bandwidth, bins, redraws
        As the options of the command; None is its default.
    seed : int
        The seed of what is drawn.
    progress : callable, optional
        Is called with ``(step, steps, title)`` before each step, of which the first is 0. What it raises ends the work.

    Returns
    -------
    Evaluation
        ``str`` of it is the text of the command, ``to_dict()`` its JSON.

    Raises
    ------
    ValueError
        Invalid data, with the row, or an unknown option.
    """
    if (y_prob is None) == (logits is None):
        raise ValueError("expected y_prob or logits, one of them")
    predictions = predictions_of(y_prob) if logits is None else _logits(logits)
    check_order(y_true, predictions)
    options, files = _common(predictions.family, y_true, classes, sample_weight, seed)
    options += ["--predictions", predictions.name, *_shape(predictions)]
    options += _named({
        "lens": None if lens == "canonical" else lens,
        "level": level,
        "tolerance": tolerance,
        "lp-error": lp_error,
        "kernel": kernel,
        "bandwidth": bandwidth,
        "bins": bins,
        "replicates": redraws,
    })
    for test in tests:
        options += ["--test", test]
    files.append((predictions.name, _array(predictions.rows, predictions.name)))
    if given is not None:
        options += ["--given", "given"]
        files.append(("given", _given(given)))
    return Evaluation(_native.answer(["evaluate", *options], files, progress))


def compare(
    y_true: Any,
    before: Any,
    after: Any,
    *,
    sample_weight: Any = None,
    classes: Sequence[Any] | None = None,
    level: float = 0.95,
    redraws: int | None = None,
    seed: int = 0,
    progress: Steps | None = None,
) -> Comparison:
    """Compares two sets of predictions of the same samples, such as before and after recalibration.

    Parameters
    ----------
    before, after : array or Predictions
        As of `evaluate`: probabilities, ``logits(z)``, or predictions of a family. Those of real numbers may be of two
        families; those of classes are both probabilities or both logits, else logits become probabilities.
    y_true, sample_weight, classes, level, redraws, seed, progress
        As of `evaluate`.

    Returns
    -------
    Comparison

    Raises
    ------
    ValueError
        Invalid data, with the row.
    """
    sets = [predictions_of(predictions) for predictions in (before, after)]
    for predictions in sets:
        check_order(y_true, predictions, "(y_true, before, after)")
    if {one.name for one in sets} == {"logits", "probabilities"}:
        sets = [_softmax(one) for one in sets]
    after_family = _after_family(*sets)
    options, files = _common(sets[0].family, y_true, classes, sample_weight, seed)
    options += ["--before", "before", "--after", "after", *_shape(sets[0]), *after_family]
    options += _named({"level": level, "redraws": redraws})
    files += [(name, _array(one.rows, name)) for name, one in zip(("before", "after"), sets)]
    return Comparison(_native.answer(["compare", *options], files, progress))


def _after_family(before: Predictions, after: Predictions) -> list[str]:
    """The option for predictions after of another family."""
    if _shape(before) != _shape(after):
        raise ValueError("before and after: expected two sets of one shape, quantiles at the same levels")
    return [] if before.family == after.family else ["--after-family", after.family]


def _softmax(predictions: Predictions) -> Predictions:
    """The probabilities of logits."""
    if not predictions.is_logits:
        return predictions
    rows = np.asarray(predictions.rows, dtype=np.float64)
    if rows.ndim == 1:
        return probabilities(np.exp(-np.logaddexp(0, -rows)))
    weights = np.exp(rows - rows.max(axis=1, keepdims=True))
    return probabilities(weights / weights.sum(axis=1, keepdims=True))


def report(
    y_true: Any,
    y_prob: Any,
    *,
    after: Any = None,
    sample_weight: Any = None,
    classes: Sequence[Any] | None = None,
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
    y_true, sample_weight, classes, bins, seed, progress
        As of `evaluate`.
    title : str, optional
        The title of the page.
    path : path, optional
        A file to write the page to.

    Returns
    -------
    str
        The page.

    Raises
    ------
    ValueError
        Invalid data, with the row.
    """
    sets = [predictions_of(predictions) for predictions in (y_prob, after) if predictions is not None]
    for predictions in sets:
        check_order(y_true, predictions)
    if {one.name for one in sets} == {"logits", "probabilities"}:
        sets = [_softmax(one) for one in sets]
    options, files = _common(sets[0].family, y_true, classes, sample_weight, seed)
    options += ["--predictions", "predictions", *_shape(sets[0]), "--output", "page"]
    if len(sets) == 2:
        options += ["--after", "after", *_after_family(*sets)]
    options += _named({"title": title, "bins": bins})
    files += [(name, _array(one.rows, name)) for name, one in zip(("predictions", "after"), sets)]
    page = _native.answer(["report", *options], files, progress)[1]
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
    return page
