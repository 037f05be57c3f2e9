"""Watching a model in production."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Sequence

from . import _native
from ._call import Call, warn_of_notes
from ._checks import check_number
from ._warnings import collected
from .predictions import check_order, predictions_of


class Monitor:
    """A test and a detector of miscalibration for a stream of predictions, right at every moment.

    `update` adds rows in the order in which their labels became known. That order must not depend on the labels, and each
    prediction must be right given the labels of all rows before it.
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
        The numbers after the last update, those of docs/json.md; empty before.
    """

    def __init__(self, level: float = 0.05, rows_between_alarms: float = 10_000):
        check_number(level, "level", 0, 1, "a number between 0 and 1", is_open=True)
        check_number(rows_between_alarms, "rows_between_alarms", 1e-100, 1e100, "a positive number")
        self._options = {"level": float(level), "rows_between_alarms": float(rows_between_alarms)}
        self._kind: list[Any] = []
        self.notes: list[str] = []
        self._saved = ""
        self._text = "no rows yet"
        self.state: dict[str, Any] = {}

    def update(self, y_true: Any, y_prob: Any, *, classes: Sequence[Any] | None = None) -> Monitor:
        """Adds rows, and returns the monitor. Nothing is added if an error is raised.

        Parameters
        ----------
        y_true : array, [n]
            Classes from 0 to ``m - 1``, or of ``classes``; of other families the targets.
        y_prob : array or Predictions
            Probabilities of classes, ``[n, m]``, or of an event, ``[n]``; or predictions of a family: `Logits`,
            `Normal`, `Laplace`, `Samples`, `Quantiles` or a mixture. All updates have the same kind.
        classes : sequence, optional
            The class of each column, of any hashable kind.

        Raises
        ------
        ValueError
            Invalid data, with the row, or predictions of another kind than before.
        """
        rows = predictions_of(y_prob)
        check_order(y_true, rows)
        with collected() as notes:
            call = Call(y_true, {"y_prob": rows}, classes=classes)
        kind = [type(rows).__name__, rows.is_event, call.count, list(rows.levels), call.data.class_names]
        if self._kind and kind != self._kind:
            raise ValueError(
                f"y_prob: {_words(kind)}, expected the same family, columns and classes as before: {_words(self._kind)}"
            )
        answer = _native.monitor(self._saved, call.data, **self._options)
        warn_of_notes(answer.notes)
        self.state, self._text, self._saved = json.loads(answer.json), answer.text, answer.state
        self._kind, self.notes = kind, [*notes, *answer.notes]
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
        if not self._saved:
            raise ValueError("the monitor has no rows, expected an update before")
        page, _ = _native.monitor_report(self._saved, title)
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


def _words(kind: list[Any]) -> str:
    name, is_event, count, levels, classes = kind
    what = "an event" if is_event else f"{count} columns"
    of = f" at the levels {levels}" if levels else f", classes {classes}" if classes else ""
    return f"{name} of {what}{of}"
