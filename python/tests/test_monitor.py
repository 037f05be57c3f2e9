"""The monitor: its values are those of section 10 of the reference, or of the command."""

import pickle

import burn_calibration as bc
import numpy as np
import pytest


def stream(rows, shift, seed):
    rng = np.random.default_rng(seed)
    log_odds = 1.5 * rng.normal(size=rows)
    y = rng.random(rows) < 1 / (1 + np.exp(-log_odds - shift))
    return y.astype(int), 1 / (1 + np.exp(-log_odds))


def wealth(p, y):
    """The wealth of 48 lines of an event, with a weight of 0.9, and of one that learns, by NumPy."""
    factors, shifts = (0.5, 0.67, 0.8, 1, 1.25, 1.5, 2), (-1, -0.5, -0.25, 0, 0.25, 0.5, 1)
    lines = np.array([(a, b) for a in factors for b in shifts if (a, b) != (1, 0)])
    log_odds = np.log(p / (1 - p))

    def ratios(line, l, p, y):
        q = 1 / (1 + np.exp(-(line[..., 0] * l + line[..., 1])))
        return np.where(y == 1, q / p, (1 - q) / (1 - p))

    fixed = ratios(lines[None], log_odds[:, None], p[:, None], y[:, None]).prod(axis=0).mean()
    learned, line, curvature = 1.0, np.array([1.0, 0.0]), 4 * np.eye(2)
    for l, probability, label in zip(log_odds, p, y):
        learned *= ratios(line, l, probability, label)
        q = 1 / (1 + np.exp(-(line[0] * l + line[1])))
        x = np.array([l, 1.0])
        curvature += q * (1 - q) * np.outer(x, x)
        line = line - (q - label) * np.linalg.solve(curvature, x)
    return 0.9 * fixed + 0.1 * learned


def test_the_wealth_is_that_of_numpy():
    y, p = stream(60, 0.3, 0)
    state = bc.Monitor().update(y, p).state
    assert state["wealth"] == pytest.approx(wealth(p, y), rel=1e-12)
    assert state["rows"] == state["added"] == 60
    assert state["overprediction"]["estimate"] == pytest.approx(np.mean(p - y), abs=1e-12)


def test_the_wealth_is_a_martingale():
    rng = np.random.default_rng(6)
    for m, rows in ((2, 80), (5, 80), (100, 20)):
        p = rng.dirichlet(np.full(m, 0.3), size=rows + 1)
        y = np.array([rng.choice(m, p=row) for row in p[:rows]])
        before = bc.Monitor().update(y, p[:rows])
        after = [pickle.loads(pickle.dumps(before)).update([label], p[rows:]).state["wealth"] for label in range(m)]
        assert p[rows] @ after == pytest.approx(before.state["wealth"] * p[rows].sum(), rel=1e-12)


def test_pieces_pickle_and_json_are_one_stream():
    y, p = stream(300, 0.0, 1)
    whole = bc.Monitor(level=0.01, rows_between_alarms=500).update(y, p)
    pieces = bc.Monitor(level=0.01, rows_between_alarms=500)
    assert (pieces.p_value, pieces.alarm, pieces.state) == (1.0, False, {})
    for part in range(3):
        rows = slice(100 * part, 100 * part + 100)
        pieces = pickle.loads(pickle.dumps(pieces.update(y[rows], p[rows])))
        pieces = bc.Monitor.from_json(pieces.to_json())
    assert pieces.state | {"added": 300} == whole.state
    assert pieces._saved == whole._saved
    with pytest.raises(ValueError, match="to_json"):
        bc.Monitor.from_json("{}")


def test_alarm():
    monitor = bc.Monitor()
    assert not monitor.update(*stream(500, 0.0, 2)).alarm
    monitor.update(*stream(500, 1.0, 3))
    assert monitor.alarm and monitor.pvalue == monitor.p_value < 0.05
    assert "too low" in monitor.state["component"]["sentence"]
    assert "miscalibrated" in repr(monitor)


def test_page(tmp_path):
    monitor = bc.Monitor()
    with pytest.raises(ValueError, match="the monitor has no rows"):
        monitor.report()
    monitor.update(*stream(500, 1.0, 3))
    page = monitor.report(title="Risks", path=tmp_path / "page.html")
    assert "<h1>Risks</h1>" in page and "The last alarm of the detector" in page
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page


def test_coverage_of_quantiles():
    rng = np.random.default_rng(5)
    y = rng.poisson(2.0, size=400)
    rows = bc.Quantiles(np.tile([0.0, 2.0, 5.0], (400, 1)), [0.1, 0.5, 0.95])
    coverage = bc.Monitor().update(y, rows).state["coverage"]
    assert [one["expected"] for one in coverage] == [0.1, 0.5, 0.95]
    for one in coverage:
        assert one["lower"] <= one["expected"] <= one["upper"]


def test_faults_add_nothing():
    monitor = bc.Monitor().update([1, 0], [0.5, 0.25])
    before = monitor.to_json()
    with pytest.raises(ValueError, match="row 1"):
        monitor.update([1, 0], [0.5, np.nan])
    with pytest.raises(ValueError, match="swapped"):
        monitor.update([0.5, 0.25], [1, 0])
    with pytest.raises(ValueError, match="same family"):
        monitor.update([0.5], bc.Normal([0.0], [1.0]))
    assert monitor.to_json() == before


def test_families():
    rng = np.random.default_rng(4)
    y = rng.normal(size=50)
    for rows in (
        bc.Normal(np.zeros(50), np.ones(50)),
        bc.Samples(rng.normal(size=(50, 20))),
        bc.Quantiles(np.tile([-1.2816, 0.0, 1.2816], (50, 1)), [0.1, 0.5, 0.9]),
    ):
        assert bc.Monitor().update(y, rows).state["rows"] == 50
