"""The monitor: its values are those of section 10 of the reference, or of the command."""

import pickle

import burn_calibration as bc
import numpy as np
import pytest


def stream(rows, shift, seed):
    rng = np.random.default_rng(seed)
    log_odds = 1.5 * rng.normal(size=rows)
    y = rng.random(rows) < 1 / (1 + np.exp(-log_odds - shift))
    return 1 / (1 + np.exp(-log_odds)), y.astype(int)


def wealth(p, y):
    """The wealth of the 48 lines of an event after each row, by NumPy; without the learned one."""
    factors, shifts = (0.5, 0.67, 0.8, 1, 1.25, 1.5, 2), (-1, -0.5, -0.25, 0, 0.25, 0.5, 1)
    lines = np.array([(a, b) for a in factors for b in shifts if (a, b) != (1, 0)])
    q = 1 / (1 + np.exp(-(np.outer(np.log(p / (1 - p)), lines[:, 0]) + lines[:, 1])))
    ratios = np.where(y[:, None] == 1, q / p[:, None], (1 - q) / (1 - p[:, None]))
    return np.cumprod(ratios, axis=0).mean(axis=1)


def test_the_wealth_is_that_of_numpy():
    p, y = stream(60, 0.3, 0)
    state = bc.Monitor().update(p, y).state
    # a tenth of the weight is that of the line that learns
    least = 0.9 * wealth(p, y)[-1]
    assert least < state["wealth"]
    assert state["rows"] == state["added"] == 60
    assert state["overprediction"]["estimate"] == pytest.approx(np.mean(p - y), abs=1e-12)


def test_pieces_pickle_and_json_are_one_stream():
    p, y = stream(300, 0.0, 1)
    whole = bc.Monitor(level=0.01, rows_between_alarms=500).update(p, y)
    pieces = bc.Monitor(level=0.01, rows_between_alarms=500)
    assert (pieces.p_value, pieces.alarm, pieces.state) == (1.0, False, {})
    for part in range(3):
        rows = slice(100 * part, 100 * part + 100)
        pieces = pickle.loads(pickle.dumps(pieces.update(p[rows], y[rows])))
        pieces = bc.Monitor.from_json(pieces.to_json())
    assert pieces.state | {"added": 300} == whole.state
    assert pieces._saved == whole._saved
    with pytest.raises(ValueError, match="to_json"):
        bc.Monitor.from_json("{}")


def test_alarm():
    monitor = bc.Monitor()
    assert not monitor.update(*stream(500, 0.0, 2)).alarm
    monitor.update(*stream(500, 1.0, 3))
    assert monitor.alarm and monitor.p_value < 0.05
    assert "too low" in monitor.state["component"]["sentence"]
    assert "miscalibrated" in repr(monitor)


def test_faults_add_nothing():
    monitor = bc.Monitor().update([0.5, 0.25], [1, 0])
    before = monitor.to_json()
    with pytest.raises(ValueError, match="row 1"):
        monitor.update([0.5, np.nan], [1, 0])
    with pytest.raises(ValueError, match="same family"):
        monitor.update(bc.normal([0.0], [1.0]), [0.5])
    assert monitor.to_json() == before


def test_families():
    rng = np.random.default_rng(4)
    y = rng.normal(size=50)
    for rows in (
        bc.normal(np.zeros(50), np.ones(50)),
        bc.samples(rng.normal(size=(50, 20))),
        bc.quantiles(np.tile([-1.2816, 0.0, 1.2816], (50, 1)), [0.1, 0.5, 0.9]),
    ):
        assert bc.Monitor().update(rows, y).state["rows"] == 50
