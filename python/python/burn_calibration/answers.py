"""What `evaluate` and `compare` return."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

from . import _native


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
    """An answer; ``str`` returns its text."""

    def __init__(self, answer: _native.Answer, notes: Sequence[str]):
        self._json, self._text = answer.json, answer.text
        #: What to know of the data; each is a `CalibrationWarning` as well.
        self.notes: list[str] = [*notes, *answer.notes]
        self.outcomes = [_outcome(outcome) for outcome in json.loads(answer.outcomes)]

    def to_dict(self) -> dict[str, Any]:
        """All of it as numbers, lists and dicts: the JSON of docs/json.md."""
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
    notes : list of str
        What to know of the data; each is a `CalibrationWarning` as well.
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
    notes : list of str
        What to know of the data; each is a `CalibrationWarning` as well.
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
