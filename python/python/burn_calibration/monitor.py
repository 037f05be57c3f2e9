"""Watching a model in production: the answers of the command ``calibration monitor`` for arrays."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Sequence

from . import _native
from .evaluation import _array, _common, _named, _shape
from .predictions import check_order, predictions_of


class Monitor:
    """A test and a detector of miscalibration for a stream of predictions, right at every moment.

    `update` adds rows in the order in which their labels became known. That order must not depend on the labels.
    The memory does not grow. ``pickle`` and `to_json` keep the state, which resumes bit for bit; two monitors cannot be
    merged.

    Parameters
    ----------
    level : float
        At most this share of the streams of a calibrated model ever has an alarm of the test.
    rows_between_alarms : float
        False alarms of the detector of changes are at least so many rows apart in the mean.

    Attributes
    ----------
    p_value, pvalue : float
        A p-value that is valid after every row, however often it is looked at; 1 before the first row.
    alarm : bool
        Whether the rows of the last update raised an alarm, of the test or of the detector.
    state : dict
        The output of the command with ``--json`` after the last update; empty before.
    """

    def __init__(self, level: float = 0.05, rows_between_alarms: float = 10_000):
        self._options = {"level": level, "rows-between-alarms": rows_between_alarms}
        self._saved = ""
        self._text = "no rows yet"
        self.state: dict[str, Any] = {}

    def update(self, y_true: Any, y_prob: Any, *, classes: Sequence[Any] | None = None) -> Monitor:
        """Adds rows, and returns the monitor. Nothing is added if an error is raised.

        Parameters
        ----------
        y_true : array, [n]
            Classes from 0 to ``m - 1``, or names of ``classes``; of other families the targets.
        y_prob : array or Predictions
            Probabilities of classes, ``[n, m]``, or of an event, ``[n]``; or predictions of a family, made by `logits`,
            `normal`, `laplace`, `samples` or `quantiles`. All updates have the same kind.
        classes : sequence of str, optional
            Names of the classes in the order of the columns.

        Raises
        ------
        ValueError
            Invalid data, with the row, or predictions of another kind than before.
        """
        rows = predictions_of(y_prob)
        check_order(y_true, rows)
        options, files = _common(rows.family, y_true, classes, None, 0)
        options += ["--state", "state", "--predictions", rows.name, *_shape(rows), *_named(self._options)]
        files += [("state", self._saved), (rows.name, _array(rows.rows, rows.name))]
        answer, self._text, self._saved = _native.monitor(["monitor", *options], files)
        self.state = json.loads(answer)
        return self

    def report(self, *, title: str | None = None, path: str | os.PathLike[str] | None = None) -> str:
        """A page of HTML: wealth and detector over the rows, with their alarms, and the numbers.

        Parameters
        ----------
        title : str, optional
            The title of the page.
        path : path, optional
            A file to write the page to.

        Raises
        ------
        ValueError
            A monitor without rows.
        """
        options = ["report", "--state", "state", "--output", "page", *_named({"title": title})]
        _, page, _ = _native.monitor(options, [("state", self._saved)])
        if path is not None:
            Path(path).write_text(page, encoding="utf-8")
        return page

    @property
    def p_value(self) -> float:
        return float(self.state.get("p_value", 1.0))

    @property
    def pvalue(self) -> float:
        """The same as ``p_value``."""
        return self.p_value

    @property
    def alarm(self) -> bool:
        return bool(self.state.get("is_alarm", False))

    def to_json(self) -> str:
        """The monitor as text, for `from_json`."""
        return json.dumps(self.__dict__)

    @classmethod
    def from_json(cls, text: str) -> Monitor:
        """The monitor that `to_json` wrote."""
        monitor = cls()
        found = json.loads(text)
        if not isinstance(found, dict) or found.keys() != monitor.__dict__.keys():
            raise ValueError("expected the text of Monitor.to_json")
        monitor.__dict__.update(found)
        return monitor

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<Monitor: {self._text.splitlines()[0]}>"
