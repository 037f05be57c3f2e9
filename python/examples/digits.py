"""A model of scikit-learn, held-out samples, a map, the verdict before and after, and the map in ONNX Runtime."""

import numpy as np
import onnxruntime
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import burn_calibration as bc

X, y = load_digits(return_X_y=True)
X = X + np.random.default_rng(0).normal(scale=6, size=X.shape)  # harder to read
X, X_other, y, y_other = train_test_split(X, y, train_size=500, random_state=0, stratify=y)
X_cal, X_test, y_cal, y_test = train_test_split(X_other, y_other, test_size=0.5, random_state=0)

classifier = MLPClassifier(max_iter=2000, random_state=0).fit(X, y)
print(f"{len(y)} samples trained {type(classifier).__name__}, {len(y_cal)} calibrate it, {len(y_test)} test it")

before = classifier.predict_proba(X_test)
found = bc.evaluate(y_test, before)
print("\nbefore:", found.verdict)
for finding in found.findings:
    print("  -", finding["finding"])

model = bc.CalibratedModel(FrozenEstimator(classifier), bc.AutoRecalibration(keep="accuracy")).fit(X_cal, y_cal)
print("\n" + model.map_.choice_text_)

after = model.predict_proba(X_test)
print("\nafter:", bc.evaluate(y_test, after).verdict)
assert (after.argmax(axis=1) == before.argmax(axis=1)).all()  # the map keeps the accuracy

gained = bc.compare(y_test, before, after)
for name, change in gained.changes.items():
    print(f"{name}: {change['before']:.4f} before, {change['after']:.4f} after, p = {change['p_value']:.2g}")

onnx = model.map_.to_onnx()  # to_onnx("digits.onnx") writes a file as well
logits = np.log(before)  # what the map takes
(served,) = onnxruntime.InferenceSession(onnx).run(["probabilities"], {"logits": logits.astype(np.float32)})
print(f"\nONNX Runtime: {len(onnx)} bytes, probabilities within {np.abs(served - after).max():.0e} of predict_proba")
np.testing.assert_allclose(served, after, atol=1e-6)
