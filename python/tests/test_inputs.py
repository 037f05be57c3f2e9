"""Arrays as NumPy, pandas, polars and SciPy have them: each is the plain array, or an error that says what to do."""

import numpy as np
import pytest
from conftest import draw

import burn_calibration as bc

NAMES = np.array(["cat", "dog", "owl"])


@pytest.fixture(scope="module")
def data():
    """Labels and probabilities of three classes."""
    logits, y = draw(300, 3, seed=5)
    p = np.exp(logits)
    return y, p / p.sum(axis=1, keepdims=True)


def layouts(p):
    """The same numbers in other places of memory."""
    read_only = p.copy()
    read_only.flags.writeable = False
    return {
        "Fortran": np.asfortranarray(p),
        "negative strides": p[::-1, ::-1].copy()[::-1, ::-1],
        "read-only": read_only,
        "big-endian": p.astype(">f8"),
        "objects": p.astype(object),
        "long doubles": p.astype(np.longdouble),
        "a masked array without a mask": np.ma.masked_array(p),
        "lists": p.tolist(),
    }


def test_layouts_are_the_same_numbers(data):
    y, p = data
    expected = bc.ece(y, p), bc.brier_score(y, p)
    for name, rows in layouts(p).items():
        assert (bc.ece(y, rows), bc.brier_score(y, rows)) == expected, name
    for labels in (y.astype(np.uint8), y.astype(float), y.astype(object), y[:, None], y.tolist(), tuple(y.tolist())):
        assert bc.ece(labels, p) == expected[0]


@pytest.mark.parametrize("mask_of", ["y_prob", "y_true"])
def test_what_is_masked_is_missing(data, mask_of):
    y, p = data
    is_row = np.arange(len(y)) == 3
    masked = {"y_true": y, "y_prob": p}
    mask = is_row if mask_of == "y_true" else np.tile(is_row[:, None], (1, 3))
    masked[mask_of] = np.ma.masked_array(masked[mask_of], mask=mask)
    with pytest.raises(ValueError, match=f"{mask_of}, row 3"):
        bc.ece(**masked)
    with pytest.raises(ValueError, match=f"{mask_of}, row 3"):
        bc.evaluate(**masked, redraws=19)
    with pytest.warns(bc.CalibrationWarning, match="1 of 300 rows are left out"):
        found = bc.evaluate(**masked, redraws=19, nan_policy="omit")
    assert found.pvalue == bc.evaluate(y[~is_row], p[~is_row], redraws=19).pvalue


def test_a_masked_name_target_or_logit_is_missing(data):
    y, p = data
    is_row = np.arange(len(y)) == 3
    with pytest.raises(ValueError, match="y_true, row 3: the label is None"):
        bc.ece(np.ma.masked_array(NAMES[y], mask=is_row), p, classes=NAMES)
    targets = np.ma.masked_array(p[:, 0], mask=is_row)
    with pytest.raises(ValueError, match="y_true, row 3: the target is nan"):
        bc.crps(targets, bc.Normal(p[:, 1], 1.0))
    logits = np.ma.masked_array(np.log(p), mask=np.tile(is_row[:, None], (1, 3)))
    with pytest.raises(ValueError, match="row 3, class 0: the logit is NaN"):
        bc.TemperatureScaling().fit(logits, y)


def test_sums_within_the_tolerance_are_divided_as_evaluate_does(data):
    y, p = data
    half = p.astype(np.float16)
    exact = half.astype(float) / half.astype(float).sum(axis=1, keepdims=True)
    for function in (bc.ece, bc.brier_score, bc.log_loss):
        with pytest.warns(bc.CalibrationWarning, match="y_prob: rows sum to 1 within .*e-4: each row is divided by"):
            found = function(y, half)
        assert found == pytest.approx(function(y, exact), abs=1e-15)
    with pytest.warns(bc.CalibrationWarning, match="each row is divided by its sum"):
        assert bc.evaluate(y, half, redraws=19).estimates["brier"] == pytest.approx(bc.brier_score(y, exact))
    # rounded in f32, of an event and of classes
    assert bc.brier_score([1, 0], np.array([1 + 1e-7, -1e-7])) == 0
    assert bc.ece([0, 1], [[1 + 1e-7, -1e-7], [0.0, 1.0]]) == 0


def test_columns_of_pandas(data):
    pandas = pytest.importorskip("pandas")
    y, p = data
    expected = bc.ece(y, p)
    frame = pandas.DataFrame(p)
    assert bc.ece(pandas.Series(y, dtype="Int64"), frame.astype("Float64")) == expected
    assert bc.ece(pandas.Series(NAMES[y]).astype("category"), frame) == expected
    reverse = pandas.Categorical(NAMES[y], categories=NAMES[::-1])
    assert bc.ece(reverse, p[:, ::-1]) == expected
    missing = frame.astype("Float64")
    missing.iloc[3, 0] = pandas.NA
    with pytest.raises(ValueError, match="y_prob, row 3, column 0: the probability is nan"):
        bc.ece(y, missing)
    with pytest.warns(bc.CalibrationWarning, match="1 of 300 rows are left out"):
        bc.evaluate(y, missing, redraws=19, nan_policy="omit")
    labels = pandas.Series(NAMES[y], dtype="string")
    labels[3] = pandas.NA
    with pytest.warns(bc.CalibrationWarning, match="1 of 300 rows are left out"):
        bc.evaluate(labels, p, redraws=19, nan_policy="omit", classes=NAMES)
    with pytest.raises(ValueError, match=r"classes=\['owl', 'cat', 'dog'\], as the columns are named"):
        bc.ece(NAMES[y], pandas.DataFrame(p, columns=["owl", "cat", "dog"]))
    with pytest.raises(ValueError, match=r"classes=\['owl', 'cat', 'dog'\], as the columns are named"):
        bc.evaluate(NAMES[y], pandas.DataFrame(p, columns=["owl", "cat", "dog"]))


def test_the_same_index_in_another_order_is_warned_of(data):
    pandas = pytest.importorskip("pandas")
    y, p = data
    order = np.random.default_rng(0).permutation(len(y))
    labels, frame = pandas.Series(y, index=order), pandas.DataFrame(p)
    for call in (lambda: bc.ece(labels, frame), lambda: bc.evaluate(labels, frame, redraws=19)):
        with pytest.warns(bc.CalibrationWarning, match="the same index in another order") as warned:
            call()
        assert len(warned) == 1 and warned[0].filename == __file__
    assert bc.ece(pandas.Series(y, index=order), pandas.DataFrame(p, index=order)) == bc.ece(y, p)
    assert bc.ece(pandas.Series(y, index=order + 1000), frame) == bc.ece(y, p)  # other names are no order


def test_columns_of_polars(data):
    polars = pytest.importorskip("polars")
    y, p = data
    assert bc.ece(polars.Series(y), polars.DataFrame(p)) == bc.ece(y, p)
    names = polars.Series(NAMES[y])
    assert bc.ece(names.cast(polars.Enum(list(NAMES))), p) == bc.ece(y, p)
    # a categorical has its values in the order of their appearance
    with pytest.raises(ValueError, match=r"labels are names, expected classes=\[…\]"):
        bc.ece(names.cast(polars.Categorical), p)


def test_numbers_in_objects_are_no_groups(data):
    y, p = data
    x = np.arange(len(y)) % 7
    plain, objects = (bc.evaluate(y, p, given={"x": column}, redraws=19) for column in (x, x.astype(object)))
    assert plain.to_dict() == objects.to_dict()
    groups = bc.evaluate(y, p, given={"x": (x > 3).astype(object)}, redraws=19)
    assert groups.to_dict() == bc.evaluate(y, p, given={"x": x > 3}, redraws=19).to_dict()


def test_one_scale_of_all_rows(data):
    y, p = data
    loc, targets = p[:, 0], p[:, 1]
    for family in (bc.Normal, bc.Laplace):
        expected = bc.crps(targets, family(loc, np.full(len(loc), 0.5)))
        assert bc.crps(targets, family(loc, 0.5)) == expected
        assert bc.crps(targets, family(loc, np.float32(0.5))) == expected
    with pytest.raises(ValueError, match="parameters that are all single numbers"):
        bc.Normal(0.0, 1.0)


class Sparse:
    """What a sparse matrix of SciPy looks like."""

    def toarray(self):
        raise AssertionError


@pytest.mark.parametrize(
    "call, reason",
    [
        (lambda y, p: bc.ece(None, p), "y_true is of the type NoneType, expected an array"),
        (lambda y, p: bc.ece(1, p), "y_true is of the type int, expected an array"),
        (lambda y, p: bc.ece(iter(y), p), "y_true is of the type .*iterator, expected an array"),
        (lambda y, p: bc.evaluate(None, p), "y_true is of the type NoneType"),
        (lambda y, p: bc.crps(None, bc.Normal(p, p)), "y_true is of the type NoneType"),
        (lambda y, p: bc.ece(np.eye(3)[y], p), r"np.argmax\(y_true, axis=1\) makes labels of one-hot rows"),
        (lambda y, p: bc.ece(y, Sparse()), r"y_prob: a sparse Sparse, expected an array, which its toarray\(\) makes"),
        (lambda y, p: bc.evaluate(y, Sparse()), "a sparse Sparse, expected an array"),
        (lambda y, p: bc.ece([0, 1], [[0.5, 0.5], [1.0]]), "y_prob: rows of different lengths"),
        (lambda y, p: bc.ece(y, p, sample_weight=-np.ones(300)), "sample_weight, row 0: the weight is -1, expected"),
        (lambda y, p: bc.ece(y, p, sample_weight=["a"] * 300), "sample_weight: an array of <U1, expected numbers"),
        (lambda y, p: bc.ece(y, p, order="l1"), "order is 'l1', expected a number of at least 1"),
        (lambda y, p: bc.class_wise_ece(y, p, order=np.inf), "order is inf, expected a finite number"),
        (lambda y, p: bc.overconfidence(y, p, interval=95), "interval is 95, expected a number between 0 and 1"),
        (lambda y, p: bc.reliability_curve(y, p, level=95), "level is 95, expected a number between 0 and 1"),
        (lambda y, p: bc.mmce(y, p, bandwidth="median"), "bandwidth is 'median', expected a positive number"),
        (lambda y, p: bc.skce(y, p, block=2.0), "block is 2.0, expected a whole number"),
        (lambda y, p: bc.hosmer_lemeshow_test(y, p, pos_label=0, groups=-1), "groups is -1, expected a whole number"),
        (lambda y, p: bc.omnibus_test(y, p, seed=-1), "seed is -1, expected a whole number from 0"),
        (lambda y, p: bc.evaluate(y, p, seed=None), "seed is None, expected a whole number from 0"),
        (lambda y, p: bc.Quantiles(p, 0.5), "levels is 0.5, expected a sequence of numbers"),
        (lambda y, p: bc.TemperatureScaling(prior="x").fit(np.log(p), y), "prior is 'x', expected a number or None"),
        (lambda y, p: bc.MatrixScaling(folds=2.5).fit(np.log(p), y), "folds is 2.5, expected a whole number"),
        (lambda y, p: bc.AutoRecalibration(event=1).fit(np.log(p), y), "event is 1, expected True or False"),
    ],
)
def test_what_is_wrong_is_said(data, call, reason):
    with pytest.raises(ValueError, match=reason):
        call(*data)


def test_a_map_leaves_the_rows_of_its_caller(data):
    y, p = data
    logits = np.log(p)
    scaling = bc.TemperatureScaling().fit(logits, y)
    logits[3, 1] = -np.inf
    before = logits.copy()
    found = scaling.predict_proba(logits)
    np.testing.assert_array_equal(logits, before)
    logits.flags.writeable = False
    np.testing.assert_array_equal(scaling.predict_proba(logits), found)
