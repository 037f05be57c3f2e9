"""The days of the example of the guide page "Watching a model in production": visits to an online shop.

python papers/levels/monitor_shop.py ../shared/data/tabular/online_shoppers.csv.gz FOLDER    # NumPy, scikit-learn 1.9

The visits from February to October in the order of their months: every third one is for a boosted model of the
probability of a purchase, every third for a Platt line, and the others are the stream, 200 a day. From row 1600 of the
stream on the value of the pages that a visitor has seen arrives as 0.
"""

import csv
import gzip
import sys
from pathlib import Path

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

MONTHS = ["Feb", "Mar", "May", "June", "Jul", "Aug", "Sep", "Oct"]
NUMBERS = 10  # the first columns
PAGE_VALUES = 8
FAULT = 1600
DAY = 200

source, folder = Path(sys.argv[1]), Path(sys.argv[2])
with gzip.open(source, "rt") as file:
    visits = [visit for visit in csv.reader(file) if visit[10] in MONTHS]
visits.sort(key=lambda visit: MONTHS.index(visit[10]))  # stable
features = np.array([visit[:NUMBERS] for visit in visits], dtype=float)
bought = np.array([visit[-1].lower() == "true" for visit in visits], dtype=int)

model = GradientBoostingClassifier(random_state=0).fit(features[0::3], bought[0::3])
platt = LogisticRegression(C=1e6).fit(model.decision_function(features[1::3])[:, None], bought[1::3])
stream, happened = features[2::3].copy(), bought[2::3]
stream[FAULT:, PAGE_VALUES] = 0
risks = platt.predict_proba(model.decision_function(stream)[:, None])[:, 1]

folder.mkdir(parents=True, exist_ok=True)
for day, first in enumerate(range(0, len(risks), DAY)):
    rows = zip(risks[first : first + DAY], happened[first : first + DAY])
    lines = ["risk,bought", *(f"{risk:.17g},{label}" for risk, label in rows)]
    (folder / f"day{day}.csv").write_text("\n".join(lines) + "\n")
print(len(visits), "visits,", len(risks), "rows of the stream")
