"""Evaluations: what they say of models that are known, and the JSON of the command to the last digit."""

import csv
import json
import os
import subprocess

import numpy as np
import pytest
from conftest import draw

import burn_calibration as bc

BINARY = os.environ.get("CALIBRATION_BIN")


def softmax(logits):
    weights = np.exp(logits)
    return weights / weights.sum(axis=1, keepdims=True)


def test_a_calibrated_and_an_overconfident_model():
    logits, labels = draw(500, 3, seed=11)
    good = bc.evaluate(labels, softmax(logits / 2))
    assert good.pvalue == good.p_value == good.outcomes[0].pvalue > 0.05 and not good.findings
    assert good.verdict.startswith("There is no evidence against calibration")
    bad = bc.evaluate(labels, logits=logits)
    assert bad.p_value < 0.01 and any("overconfident" in finding["finding"] for finding in bad.findings)
    assert bad.verdict.startswith("The model is not calibrated")
    excess = bad.intervals["overconfidence"]
    # by hand: the mean confidence less the accuracy
    p = softmax(logits)
    by_hand = p.max(axis=1).mean() - (p.argmax(axis=1) == labels).mean()
    assert excess["estimate"] == pytest.approx(by_hand, abs=1e-12)
    assert excess["lower"] < by_hand < excess["upper"]
    assert bad.verdict in str(bad) and bad.verdict in repr(bad)
    page = bad._repr_html_()
    assert "overconfidence" in page and "<table>" in page and "not calibrated" in page


def test_html_is_escaped():
    logits, labels = draw(300, 3)
    found = bc.evaluate(labels, logits=3 * logits, classes=["<b>", "x&y", "z"], lens="class-wise", redraws=99)
    assert "<b>:" not in found._repr_html_() and "&lt;b&gt;" in found._repr_html_()


def test_families_of_real_numbers():
    rng = np.random.default_rng(0)
    loc, targets = rng.normal(size=300), None
    targets = loc + rng.normal(size=300)
    assert bc.evaluate(targets, bc.Normal(loc, np.ones(300))).p_value > 0.05
    assert bc.evaluate(targets, bc.Normal(loc, np.full(300, 0.5))).p_value < 0.01
    assert bc.evaluate(targets, bc.Laplace(loc, np.full(300, 0.2))).p_value < 0.01
    draws = loc[:, None] + rng.normal(size=(300, 20))
    assert bc.evaluate(targets, bc.Samples(draws)).p_value > 0.01
    levels = np.array([0.1, 0.5, 0.9])
    points = np.array([-1.2815515655446004, 0, 1.2815515655446004])
    forecasts = bc.Quantiles(loc[:, None] + points, levels)
    found = bc.evaluate(targets, forecasts)
    assert found.p_value > 0.01
    inside = (targets[:, None] <= forecasts.rows).mean(axis=0)
    told = [level["covered"] for level in found.to_dict()["levels"]]
    np.testing.assert_allclose(told, inside, atol=1e-12)


def test_what_a_map_gains():
    logits, labels = draw(800, 4, seed=4)
    scaling = bc.TemperatureScaling().fit(logits[:400], labels[:400])
    after = scaling.predict_proba(logits[400:])
    gained = bc.compare(labels[400:], bc.Logits(logits[400:]), after)
    change = gained.changes["log"]
    rows = np.arange(400)
    before = -np.log(softmax(logits[400:])[rows, labels[400:]])
    by_hand = (-np.log(after[rows, labels[400:]]) - before).mean()
    assert change["difference"] == pytest.approx(by_hand, abs=1e-12) and change["p_value"] < 0.01
    assert [outcome.of for outcome in gained.outcomes] == ["before", "after"]
    assert gained.outcomes[0].p_value < 0.05 < gained.outcomes[1].p_value
    assert gained.verdict.count("\n") == 1 and "difference" in gained._repr_html_()


def test_given_a_variable():
    rng = np.random.default_rng(5)
    group = rng.integers(0, 2, 300)
    risk = np.full(300, 0.5)
    events = (rng.random(300) < np.where(group == 1, 0.8, 0.2)).astype(int)
    assert bc.evaluate(events, risk, redraws=99).p_value > 0.01  # right on average
    found = bc.evaluate(events, risk, given={"sex": np.where(group == 1, "f", "m")}, redraws=99)
    assert found.to_dict()["given"]["p_value"] < 0.01


def test_names_of_classes():
    logits, labels = draw(300, 3)
    names = np.array(["cat", "dog", "owl"])
    named = bc.evaluate(names[labels], logits=logits, classes=names, redraws=99)
    assert named.to_dict()["class_names"] == list(names)
    assert named.p_value == bc.evaluate(labels, logits=logits, redraws=99).p_value
    with pytest.raises(ValueError, match=r"row 4: the label is .*cow"):
        bc.evaluate(np.where(np.arange(300) == 4, "cow", names[labels]), logits=logits, classes=names)
    with pytest.raises(ValueError, match=r"expected classes=\[…\]"):
        bc.evaluate(names[labels], logits=logits)


def test_classes_in_an_order():
    logits, labels = draw(300, 4, seed=5)
    p = softmax(logits)
    found = bc.evaluate(labels, p, ordered=True, redraws=99).to_dict()["estimates"]["ranked_probability"]
    # by hand: squared distances of cumulative probabilities from those of the label, here without the last, which are 1
    cumulative, occurred = p.cumsum(axis=1)[:, :-1], labels[:, None] <= np.arange(3)
    assert found == pytest.approx(((cumulative - occurred) ** 2).sum(axis=1).mean(), rel=1e-12)
    assert "ranked_probability" not in bc.evaluate(labels, p, redraws=99).to_dict()["estimates"]
    gain = bc.compare(labels, p, softmax(logits / 2), ordered=True, redraws=99).to_dict()["changes"]
    assert gain["ranked_probability"]["before"] == pytest.approx(found, rel=1e-12)
    assert "anked probability score" in bc.report(labels, p, ordered=True)
    for call, reason in [
        (lambda: bc.evaluate(labels > 0, p[:, 1], ordered=True), "an event has no classes in an order"),
        (lambda: bc.evaluate(labels, p, ordered=True, lens="top-label"), "lens 'top-label' looks at one event"),
    ]:
        with pytest.raises(ValueError, match=reason):
            call()


def test_a_page(tmp_path):
    logits, labels = draw(200, 3)
    page = bc.report(
        labels, bc.Logits(logits), after=softmax(logits / 2), title="A <b> model", path=tmp_path / "page.html"
    )
    assert page.startswith("<!DOCTYPE html>") and page.rstrip().endswith("</html>")
    assert "A &lt;b&gt; model" in page and (tmp_path / "page.html").read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    "call, reason",
    [
        (
            lambda p, y: bc.evaluate(y, 0.9 * p),
            "y_prob, row 0: the sum of the probabilities is 0.9, expected 1 within 0.001",
        ),
        (
            lambda p, y: bc.evaluate(y, np.where(np.arange(len(p))[:, None] == 3, np.nan, p)),
            "y_prob, row 3, column 0: the probability is nan",
        ),
        (
            lambda p, y: bc.evaluate(np.where(np.arange(len(y)) == 6, 3, y), p),
            r"y_true, row 6: the label is 3, expected a class in 0\.\.3",
        ),
        (lambda p, y: bc.evaluate(y[1:], p), "y_true: 199 rows, expected 200"),
        (lambda p, y: bc.evaluate(y), "expected y_prob or logits"),
        (lambda p, y: bc.evaluate(y, p, lens="all"), "lens is 'all', expected one of"),
        (lambda p, y: bc.evaluate(y, p, level=2), "level is 2, expected a number between 0 and 1"),
        (
            lambda p, y: bc.evaluate(y, p, sample_weight=np.where(np.arange(len(y)) == 8, -1.0, 1)),
            "sample_weight, row 8: the weight is -1",
        ),
        (lambda p, y: bc.evaluate(y, p, given=[1, 2]), "given: expected a mapping"),
        (lambda p, y: bc.evaluate(y, p.astype(str)), "an array of <U.*, expected numbers"),
        (
            lambda p, y: bc.evaluate(y, bc.Normal(p[:, 0], -p[:, 0])),
            "y_prob, row .*: the scale is -[0-9.]{1,8}, expected a positive number",
        ),
        (lambda p, y: bc.compare(y, p, p[1:]), "after: 199 rows"),
        (lambda p, y: bc.report(y, p, after=bc.Normal(y, y)), "after"),
        # swapped arguments
        (lambda p, y: bc.evaluate(p, y), r"swapped, expected \(y_true, y_prob\)"),
        (lambda p, y: bc.evaluate(p, logits=y), "swapped"),
        (lambda p, y: bc.evaluate(p[:, 0], y == 0), "swapped"),
        (lambda p, y: bc.evaluate(bc.Normal(y, 1.0 + y), y), "swapped"),
        (lambda p, y: bc.compare(p, p, y), r"swapped, expected \(y_true, before, after\)"),
        (lambda p, y: bc.report(p, y), "swapped"),
    ],
)
def test_what_is_wrong_is_named(call, reason):
    logits, labels = draw(200, 3)
    with pytest.raises(ValueError, match=reason):
        call(softmax(logits), labels)


def command(folder, name, *options, **files):
    """The JSON of the command about files."""
    for stem, values in files.items():
        if isinstance(values, dict):
            with open(folder / f"{stem}.csv", "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(values)
                writer.writerows(zip(*values.values()))
        else:
            np.save(folder / f"{stem}.npy", values)
    run = [BINARY, name, "--json", *options]
    return json.loads(subprocess.run(run, cwd=folder, check=True, capture_output=True, text=True).stdout)


@pytest.mark.skipif(BINARY is None, reason="CALIBRATION_BIN does not name the command")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_classes_as_the_command_has_them(tmp_path, dtype):
    logits, labels = draw(120, 3, seed=8)
    logits = logits.astype(dtype)
    p, weights = softmax(logits), 0.5 + np.arange(120) % 3
    ages = {"age": (np.arange(120) * 7 % 60).tolist(), "sex": ["fm"[i % 2] for i in range(120)]}
    files = {"p": p, "z": logits, "y": labels, "w": weights, "ages": ages}
    few = ["--replicates", "99"]
    both = ["--predictions", "p.npy", "--labels", "y.npy", *few]
    expected = command(tmp_path, "evaluate", *both, **files)
    assert bc.evaluate(labels, p, redraws=99).to_dict() == expected
    of_logits = command(tmp_path, "evaluate", "--predictions", "z.npy", "--logits", "--labels", "y.npy", *few)
    assert bc.evaluate(labels, logits=logits, redraws=99).to_dict() == of_logits
    weighted = command(tmp_path, "evaluate", *both, "--weights", "w.npy", "--seed", "3")
    assert bc.evaluate(labels, p, sample_weight=weights, seed=3, redraws=99).to_dict() == weighted
    given = command(tmp_path, "evaluate", *both, "--given", "ages.csv", "--lens", "top-label")
    assert bc.evaluate(labels, p, given=ages, lens="top-label", redraws=99).to_dict() == given
    classes = command(tmp_path, "evaluate", *both, "--lens", "class-wise", "--classes", "a,b,c", "--bins", "5")
    assert bc.evaluate(labels, p, lens="class-wise", classes="abc", bins=5, redraws=99).to_dict() == classes
    event = ["--predictions", "e.npy", "--positive", "--labels", "y2.npy", "--test", "cox", *few]
    event = command(tmp_path, "evaluate", *event, e=p[:, 0], y2=(labels == 0).astype(int))
    assert bc.evaluate(labels == 0, p[:, 0], tests=["cox"], redraws=99).to_dict() == event
    after = softmax(logits / 2)
    two = ["--before", "p.npy", "--after", "q.npy", "--labels", "y.npy", "--redraws", "99"]
    compared = command(tmp_path, "compare", *two, q=after)
    assert bc.compare(labels, p, after, redraws=99).to_dict() == compared


@pytest.mark.skipif(BINARY is None, reason="CALIBRATION_BIN does not name the command")
def test_real_numbers_as_the_command_has_them(tmp_path):
    rng = np.random.default_rng(2)
    loc, scale = rng.normal(size=(200, 2)), np.exp(rng.normal(size=(200, 2)))
    y = loc + scale * rng.normal(size=(200, 2))
    options = ["--predictions", "p.npy", "--labels", "y.npy", "--replicates", "99", "--family"]
    expected = command(tmp_path, "evaluate", *options, "normal", p=np.hstack([loc, scale]), y=y)
    assert bc.evaluate(y, bc.Normal(loc, scale), redraws=99).to_dict() == expected
    draws = loc[:, :1] + rng.normal(size=(200, 12))
    expected = command(tmp_path, "evaluate", *options, "samples", p=draws, y=y[:, 0])
    assert bc.evaluate(y[:, 0], bc.Samples(draws), redraws=99).to_dict() == expected
    values = np.sort(draws, axis=1)[:, [1, 5, 9]]
    expected = command(tmp_path, "evaluate", *options, "quantiles", "--quantile-levels", "0.1,0.5,0.9", p=values, y=y[:, 0])
    assert bc.evaluate(y[:, 0], bc.Quantiles(values, [0.1, 0.5, 0.9]), redraws=99).to_dict() == expected
    both = ["--before", "b.npy", "--after", "a.npy", "--labels", "y.npy", "--redraws", "99", "--family", "normal"]
    one = (loc[:, 0], scale[:, 0], y[:, 0])
    expected = command(
        tmp_path,
        "compare",
        *both,
        "--after-family",
        "laplace",
        b=np.column_stack(one[:2]),
        a=np.column_stack(one[:2]),
        y=one[2],
    )
    assert bc.compare(one[2], bc.Normal(*one[:2]), bc.Laplace(*one[:2]), redraws=99).to_dict() == expected
    page = bc.report(one[2], bc.Normal(*one[:2]), after=bc.Laplace(*one[:2]))
    assert page.startswith("<!DOCTYPE html>")


@pytest.mark.skipif(BINARY is None, reason="CALIBRATION_BIN does not name the command")
def test_maps_and_files_go_both_ways(tmp_path):
    logits, labels = draw(300, 3, seed=9)
    options = ["--predictions", "z.npy", "--logits", "--labels", "y.npy", "-o", "map"]
    for method in ("temperature", "matrix", "isotonic"):
        command(tmp_path, "fit", *options, "--method", method, z=logits, y=labels)
        ours = bc.MAPS[method]().fit(logits, labels)
        loaded = bc.load_map(tmp_path / "map")
        np.testing.assert_array_equal(loaded.transform(logits), ours.transform(logits))
        ours.save(tmp_path / "ours")
        apply = ["apply", "ours", "--predictions", "z.npy", "--logits", "-o", "out.npy"]
        subprocess.run([BINARY, *apply], cwd=tmp_path, check=True, capture_output=True)
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), ours.transform(logits))
    chosen = command(tmp_path, "fit", *options, "--keep", "accuracy")
    auto = bc.AutoRecalibration(keep="accuracy").fit(logits, labels)
    assert auto.choice_ == chosen["choice"]
    np.testing.assert_array_equal(bc.load_map(tmp_path / "map").transform(logits), auto.transform(logits))
