"""False alarms where outcomes that are predicted together share a cause: papers/results/levels_monitor.md.

python papers/levels/monitor_shocks.py    # NumPy

Each of 20 days has 200 events of probability 0.2, which is right for each event by itself: their log-odds move together by
N(0, deviation²) from day to day. The bets are the 48 fixed ones of `CalibrationMonitor`, with equal weights.
"""

import numpy as np

STREAMS, DAYS, EVENTS, P = 1000, 20, 200, 0.2
FACTORS = [0.5, 0.67, 0.8, 1.0, 1.25, 1.5, 2.0]
SHIFTS = [-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0]
LINES = [(a, b) for a in FACTORS for b in SHIFTS if (a, b) != (1.0, 0.0)]


def sigmoid(log_odds):
    return 1 / (1 + np.exp(-log_odds))


rng = np.random.default_rng(0)
NORMAL = rng.standard_normal(200_000)
bets = np.array([sigmoid(a * np.log(P / (1 - P)) + b) for a, b in LINES])
for deviation in [0.0, 0.1, 0.25, 0.5]:
    low, high = -5.0, 0.0  # of the centre of the log-odds at which the mean probability is P
    for _ in range(60):
        centre = (low + high) / 2
        is_low = sigmoid(centre + deviation * NORMAL).mean() < P
        low, high = (centre, high) if is_low else (low, centre)
    alarms = 0
    for _ in range(STREAMS):
        of_day = sigmoid(centre + deviation * rng.standard_normal((DAYS, 1)))
        happened = (rng.random((DAYS, EVENTS)) < of_day).ravel()
        logs = np.where(happened[:, None], np.log(bets / P), np.log((1 - bets) / (1 - P)))
        alarms += np.exp(logs.cumsum(0)).mean(1).max() >= 20
    print(f"deviation {deviation}: {100 * alarms / STREAMS:.1f} % of {STREAMS} streams")
