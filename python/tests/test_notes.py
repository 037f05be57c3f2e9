"""Notes are warnings at the line of the user, errors name the parameter, the row and the value."""

import inspect
import subprocess
import sys
import warnings

import numpy as np
import pytest
from conftest import draw

import burn_calibration as bc


def softmax(logits):
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def three():
    logits, labels = draw(200, 3)
    return labels, softmax(logits)


def caught(call):
    """The warnings of a call, each at the line of this file."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        call()
    assert all(warning.filename == __file__ for warning in found), [w.filename for w in found]
    return found


def test_a_note_is_a_warning_at_the_users_line_and_in_the_answer(three):
    y, p = three
    rounded = p * (1 + 1e-4)
    with pytest.warns(bc.CalibrationWarning, match="each row is divided by its sum") as found:
        answer = bc.evaluate(y, rounded, redraws=99)
        line = inspect.currentframe().f_lineno - 1
    assert (found[0].filename, found[0].lineno) == (__file__, line)
    assert answer.notes == [str(found[0].message)] and answer.notes[0].startswith("y_prob: rows sum to 1 within 1e-4")
    with pytest.warns(bc.CalibrationWarning, match="each row is divided by its sum"):
        bc.report(y, rounded)
    with pytest.warns(bc.CalibrationWarning, match="each row is divided by its sum"):
        assert bc.Monitor().update(y, rounded).notes
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert bc.evaluate(y, p, redraws=99).notes == []


def test_notes_of_arguments_are_in_the_answer(three):
    y, p = three
    from_1 = np.clip(y, 0, 1) + 1
    calls = (
        lambda: bc.evaluate(y, logits=p, redraws=99),
        lambda: bc.compare(y, bc.Logits(p), bc.Logits(p), redraws=99),
        lambda: bc.Monitor().update(from_1, p),
    )
    for call in calls:
        with pytest.warns(bc.CalibrationWarning, match="as probabilities are|no label is 0") as found:
            answer = call()
        assert answer.notes == [str(warning.message) for warning in found]


def test_notes_of_weights_and_fits(three):
    y, p = three
    made_of_the_outcome = np.where(y == 0, 5.0, 1.0)
    (found,) = caught(lambda: bc.evaluate(y, p, sample_weight=made_of_the_outcome, redraws=99))
    assert "the weights are correlated with the outcome" in str(found.message)
    found = caught(lambda: bc.TemperatureScaling().fit(np.log(p), p.argmax(axis=1)))
    assert found and issubclass(found[0].category, bc.FitWarning)
    assert issubclass(bc.FitWarning, bc.CalibrationWarning)


def test_nothing_is_written_to_standard_error():
    code = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "import numpy as np, burn_calibration as bc\n"
        "p = np.tile([0.7001, 0.3], (60, 1)); y = np.arange(60) % 2\n"
        "bc.evaluate(y, p, redraws=99); bc.report(y, p); bc.compare(y, p, p, redraws=99); bc.Monitor().update(y, p)\n"
        "bc.TemperatureScaling().fit(p, y); bc.evaluate(np.arange(60) % 2 + 1, np.tile([0.2, 0.5, 0.3], (60, 1)), redraws=9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_no_error_speaks_of_the_command(three):
    y, p = three
    loc, n = y.astype(float), len(y)
    nan = np.where(np.arange(n) == 3, np.nan, loc)
    calls = {
        "y_true, row 0: the label is .* classes=range": lambda: bc.evaluate(y + 1, p),
        "y_true, row 4: the label is 0.5": lambda: bc.evaluate(np.where(np.arange(n) == 4, 0.5, y), p),
        "tests: 'coxx' is no test": lambda: bc.evaluate(y, p, tests=["coxx"]),
        "tests: 'cox' is no test of Normal": lambda: bc.evaluate(loc, bc.Normal(loc, 1 + loc), tests=["cox"]),
        "redraws is 0, expected a whole number from 1 to 100000": lambda: bc.evaluate(y, p, redraws=0),
        "redraws is 1000000": lambda: bc.compare(y, p, p, redraws=1_000_000),
        "bins is 0": lambda: bc.report(y, p, bins=0),
        "bins is 4000000, expected at most 333333": lambda: bc.evaluate(y, p, bins=4_000_000),
        "kernel is 'cubic'": lambda: bc.evaluate(y, p, kernel="cubic"),
        "bandwidth is 'mean'": lambda: bc.evaluate(y, p, bandwidth="mean"),
        "bandwidth is -1": lambda: bc.evaluate(y, p, bandwidth=-1),
        "tolerance is 2": lambda: bc.evaluate(y, p, tolerance=2),
        "lp_error is 0.5": lambda: bc.evaluate(y, p, lp_error=0.5),
        "nan_policy is 'propagate'": lambda: bc.evaluate(y, p, nan_policy="propagate"),
        "classes: 2 classes, expected 3": lambda: bc.evaluate(y, p, classes=["a", "b"]),
        "classes: 'a' twice": lambda: bc.evaluate(y, p, classes=["a", "b", "a"]),
        "y_true, row 3: the target is nan.*nan_policy='omit'": lambda: bc.evaluate(nan, bc.Normal(loc, 1 + loc)),
        "y_prob, row 3, column 0: the value is nan": lambda: bc.evaluate(loc, bc.Normal(nan, 1 + loc)),
        "y_prob: predictions of dimension 1, expected 2": lambda: bc.evaluate(p[:, :2], bc.Normal(loc, 1 + loc)),
        "y_true: 2 columns, expected one of Samples": lambda: bc.evaluate(p[:, :2], bc.Samples(p)),
        "y_prob, row 0: the quantiles .* cross; np.sort": lambda: bc.evaluate(
            loc, bc.Quantiles(-np.sort(p), [0.1, 0.5, 0.9])
        ),
        "the levels are 0, 0.5, 1": lambda: bc.evaluate(loc, bc.Quantiles(np.sort(p), [0, 0.5, 1])),
        "levels= has 0.05 after 0.5, expected levels that increase": lambda: bc.interval_score(
            loc, bc.Quantiles(np.sort(p)[:, [1, 0, 2]], [0.5, 0.05, 0.9])
        ),
        "y_prob, row 1: the log score of class 1 is infinite": lambda: bc.log_loss([0, 1, 1], [0.5, 0.0, 0.5]),
        "y_prob, row 2: the log score of class 1 is infinite": lambda: bc.log_loss(
            [0, 0, 1], [0.5, 0.5, 0.0], sample_weight=[1, 0, 2]
        ),
        "y_prob: 3 columns, expected 2": lambda: bc.evaluate(loc, bc.Quantiles(np.sort(p), [0.1, 0.9])),
        "lens is 'top-label', expected None": lambda: bc.evaluate(loc, bc.Normal(loc, 1 + loc), lens="top-label"),
        "kernel is 'gaussian', expected None": lambda: bc.evaluate(
            loc, bc.Quantiles(np.sort(p), [0.1, 0.5, 0.9]), kernel="gaussian"
        ),
        "lens is 'class-wise', expected another": lambda: bc.evaluate(y == 0, p[:, 0], lens="class-wise"),
        "before and after are Probabilities and Normal": lambda: bc.compare(y, p, bc.Normal(loc, 1 + loc)),
        r"given\['x'\], row 3: the value is nan": lambda: bc.evaluate(y, p, given={"x": nan}),
        r"given\['x'\] is the outcome": lambda: bc.evaluate(y, p, given={"x": y}),
        r"given\['x'\]: 3 rows, expected 200": lambda: bc.evaluate(y, p, given={"x": [1.0, 2.0, 3.0]}),
        "y_prob: an array of shape": lambda: bc.ece(y, p[:, :0]),
        "level is 0": lambda: bc.Monitor(level=0),
        "expected the same family, columns and classes as before": lambda: (
            bc.Monitor().update(y, p).update(y == 0, p[:, 0])
        ),
    }
    for reason, call in calls.items():
        with pytest.raises(ValueError, match=reason) as found:
            call()
        text = str(found.value)
        assert "--" not in text and "<" not in text and len(text) < 500, text


def test_no_text_speaks_of_the_command():
    logits, labels = draw(300, 12, seed=3)
    answer = bc.evaluate(labels, logits=logits, given={"x": logits[:, 0]}, redraws=99, tests=["cox", "cme"])
    assert "--" not in str(answer).replace("---", "")


def test_missing_values_are_left_out(three):
    y, p = three
    p = np.where(np.arange(len(y))[:, None] % 50 == 7, np.nan, p)
    x = np.where(np.arange(len(y)) == 11, np.nan, p[:, 0])
    kept = np.isfinite(p[:, 0])
    with pytest.warns(bc.CalibrationWarning, match="4 of 200 rows are left out: a value is missing"):
        answer = bc.evaluate(y, p, nan_policy="omit", redraws=99)
    assert answer.notes == ["4 of 200 rows are left out: a value is missing"]
    of_kept = bc.evaluate(y[kept], p[kept], redraws=99)
    assert answer.estimates == of_kept.estimates and answer.pvalue == of_kept.pvalue
    with pytest.warns(bc.CalibrationWarning, match="5 of 200 rows"):
        bc.evaluate(y, p, given={"x": x}, nan_policy="omit", redraws=99)


def test_rows_are_those_of_the_arrays():
    rng = np.random.default_rng(0)
    n = 100
    loc = rng.normal(size=n)
    y = loc + rng.normal(size=n)
    y[70] = loc[70] + 9
    missing, weights = np.where(np.arange(n) == 10, np.nan, y), np.ones(n)
    weights[20:25] = 0
    group = [None if row % 3 == 0 else "a" for row in range(n)]
    calls = [
        lambda of: bc.evaluate(missing, of, nan_policy="omit", redraws=99),
        lambda of: bc.evaluate(y, of, sample_weight=weights, redraws=99),
        lambda of: bc.evaluate(missing, of, sample_weight=weights, given={"g": group}, nan_policy="omit", redraws=99),
        lambda of: bc.compare(missing, of, of, sample_weight=weights, nan_policy="omit", redraws=99).outcomes[0],
    ]
    for call in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            findings = {finding["name"]: finding for finding in call(bc.Normal(loc, np.ones(n))).findings}
        assert findings["furthest_target"]["row"] == 70
        assert "the target of row 70 is" in findings["furthest_target"]["finding"]
    tiny = np.where(np.arange(n) == 70, 1e-6, 1.0)
    with pytest.warns(bc.FitWarning, match="leaves out row 70,"):
        fitted = bc.AutoRecalibration().fit(bc.Normal(loc, tiny), y, sample_weight=weights)
    assert any("leaves out row 70," in warning for warning in fitted.warnings_)


def test_given_is_what_it_says(three):
    y, p = three
    sex, code = np.where(np.arange(len(y)) % 3 == 0, "f", "m"), (np.arange(len(y)) % 2).astype(str)
    given = {
        "a;b": p[:, 0],
        "sample": sex,
        "id": np.arange(len(y)),
        "code, of": code,
        "gap": np.where(code == "0", "NA", ""),
    }
    found = bc.evaluate(y, p, given=given, redraws=99).to_dict()["given"]
    assert found["columns"] == list(given)
    kinds = {test["column"]: test["kind"] for test in found["tests"]}
    assert {kinds[name] for name in ("sample", "code, of", "gap")} == {"group"}
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(given)
    assert bc.evaluate(y, p, given=frame, redraws=99).to_dict()["given"] == found


def test_labels_of_any_kind(three):
    y, p = three
    plain = bc.evaluate(y, p, redraws=99).to_dict()
    kinds = [
        ["cat", "dog", "owl"],
        [1, 2, 3],
        [10, 20, 30],
        [("a", 1), ("b", 2), ("c", 3)],
        ["1", "x", "0"],
        [2.5, 3.5, 4.0],
    ]
    for classes in kinds:
        labels = [classes[k] for k in y]
        if classes in kinds[:4:3]:
            found = bc.evaluate(labels, p, classes=classes, redraws=99)
            assert found.p_value == plain["omnibus"]["p_value"], classes
            assert found.to_dict()["class_names"] == [str(name) for name in classes]
        assert bc.ece(labels, p, classes=classes) == bc.ece(y, p)
        assert bc.ece(labels, p, classes=classes, pos_label=classes[2]) == bc.ece(y, p, pos_label=2)
        fitted = bc.TemperatureScaling().fit(np.log(p), labels, classes=classes)
        assert fitted.temperature_ == bc.TemperatureScaling().fit(np.log(p), y).temperature_
        assert fitted.predict(np.log(p[:1])).tolist()[0] == np.asarray(classes).tolist()[p[0].argmax()]
    with pytest.raises(ValueError, match="y_true, row 5: the label is 'cow', expected one of 'cat', 'dog', 'owl'"):
        bc.ece(np.where(np.arange(200) == 5, "cow", np.array(kinds[0])[y]), p, classes=kinds[0])
    with pytest.raises(ValueError, match=r"expected classes=\[…\], the class of each column: classes=\['cat', 'dog'"):
        bc.evaluate(np.array(kinds[0])[y], p)
    from_1 = np.clip(y, 0, 1) + 1
    for call in (lambda: bc.ece(from_1, p), lambda: bc.TemperatureScaling().fit(np.log(p), from_1)):
        with pytest.warns(bc.CalibrationWarning, match=r"no label is 0.*classes=range\(1, 4\)"):
            call()
    with pytest.raises(ValueError, match=r"labels run from 1: classes=range\(1, 4\)"):
        bc.ece(y + 1, p)
    assert bc.ece(y + 1, p, classes=range(1, 4)) == bc.ece(y, p)


def test_categoricals_of_pandas_have_their_classes(three):
    pandas = pytest.importorskip("pandas")
    y, p = three
    names = ["owl", "cat", "dog"]
    labels = pandas.Series(pandas.Categorical([names[k] for k in y], categories=names))
    assert bc.evaluate(labels, p, redraws=99).to_dict()["class_names"] == names
    assert bc.ece(labels, p) == bc.ece(pandas.Categorical(labels, categories=names), p) == bc.ece(y, p)
    assert list(bc.TemperatureScaling().fit(np.log(p), labels).predict(np.log(p[:2]))) == [
        names[k] for k in p[:2].argmax(1)
    ]
    gap = labels.copy()
    gap[3] = None
    with pytest.raises(ValueError, match="row 3: the label is nan"):
        bc.evaluate(gap, p)
    with pytest.warns(bc.CalibrationWarning, match="1 of 200 rows"):
        bc.evaluate(gap, p, nan_policy="omit", redraws=99)


def test_probabilities_as_logits_are_a_warning(three):
    y, p = three
    for call in (
        lambda: bc.evaluate(y, logits=p, redraws=99),
        lambda: bc.evaluate(y, bc.Logits(p), redraws=99),
        lambda: bc.Monitor().update(y, bc.Logits(p)),
        lambda: bc.brier_score(y, bc.Logits(p)),
    ):
        (found,) = caught(call)
        assert "every row is in [0, 1] and sums to 1" in str(found.message) and "y_prob" in str(found.message)
    for scaling in (bc.PlattScaling(), bc.TemperatureScaling(), bc.AutoRecalibration(folds=2)):
        found = [one for one in caught(lambda: scaling.fit(p.astype(np.float32), y)) if "in [0, 1]" in str(one.message)]
        assert [one.category for one in found] == [bc.FitWarning]
        assert str(found[0].message) in scaling.warnings_ and "fit the map to their logarithms" in scaling.warnings_[0]
        assert "logarithms" not in "".join(scaling.fit(np.log(p), y).warnings_)
    scaling = bc.TemperatureScaling().fit(np.log(p), y)
    (found,) = caught(lambda: scaling.predict_proba(p))
    assert "np.log(X) makes logits" in str(found.message)


def test_files_that_are_missing(tmp_path):
    for load in (bc.load_map, bc.load_real_map):
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "none")


def test_frames_of_polars(three):
    polars = pytest.importorskip("polars")
    y, p = three
    given = {"x": p[:, 0], "sex": np.where(np.arange(len(y)) % 3 == 0, "f", "m")}
    plain = bc.evaluate(y, p, given=given, redraws=99).to_dict()
    frame = polars.DataFrame({**given, "y": y})
    found = bc.evaluate(frame["y"], polars.DataFrame(p), given=frame.drop("y"), redraws=99)
    assert found.to_dict() == plain


def test_labels_without_a_zero_that_count_from_0():
    """Of 60 calibrated sets at most one in twenty may be told: nine or more are with probability 0.002."""
    rng = np.random.default_rng(0)
    told = 0
    for _ in range(60):
        z = 3 * rng.normal(size=(20, 100))
        p = softmax(z)
        y = np.array([rng.choice(100, p=row) for row in p])
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            bc.ece(y, p)
            bc.ece(y, bc.Logits(z))
        told += any("no label is 0" in str(warning.message) for warning in found)
    assert told <= 8
