"""Metrics: against scikit-learn, SciPy, formulas in NumPy, and the numbers of `evaluate`."""

import sys
import time

import numpy as np
import pytest
from conftest import draw

import burn_calibration as bc

LEVELS = np.array([0.1, 0.25, 0.5, 0.75, 0.9])


def softmax(logits):
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def events(n=400, seed=3):
    """Probabilities of an event that are too extreme, and outcomes."""
    rng = np.random.default_rng(seed)
    log_odds = 1.5 * rng.normal(size=n)
    return (rng.random(n) < 1 / (1 + np.exp(-log_odds / 2))).astype(int), 1 / (1 + np.exp(-log_odds))


def reals(n=200, seed=4):
    rng = np.random.default_rng(seed)
    loc, scale = rng.normal(size=n), np.exp(rng.normal(size=n) / 3)
    return loc + 1.5 * scale * rng.normal(size=n), loc, scale


def binned(p, y, edges, order=1.0, weights=None):
    """The calibration error of an event in right-closed bins with these inner edges."""
    weights = np.ones(len(p)) if weights is None else weights
    place = np.searchsorted(edges, p, side="left")
    total = 0.0
    for bin in np.unique(place):
        w = weights * (place == bin)
        total += w.sum() / weights.sum() * abs(np.average(p, weights=w) - np.average(y, weights=w)) ** order
    return total ** (1 / order)


def equal_width(bins):
    return np.arange(1, bins) / bins


def test_ece_by_its_formula():
    logits, y = draw(500, 4, seed=6)
    p, weights = softmax(logits), 0.5 + np.arange(500) % 3
    top, right = p.max(axis=1), p.argmax(axis=1) == y
    for bins in (10, 15):
        assert bc.ece(y, p, bins=bins) == pytest.approx(binned(top, right, equal_width(bins)), abs=1e-12)
    assert bc.ece(y, bc.Logits(logits)) == pytest.approx(bc.ece(y, p), abs=1e-12)
    assert bc.ece(y, p, order=2) == pytest.approx(binned(top, right, equal_width(15), 2), abs=1e-12)
    weighted = binned(top, right, equal_width(15), weights=weights)
    assert bc.ece(y, p, sample_weight=weights) == pytest.approx(weighted, abs=1e-12)
    # quantiles by rank, right-closed
    edges = np.sort(top)[np.ceil(np.arange(1, 5) * 500 / 5).astype(int) - 1]
    assert bc.ece(y, p, bins=5, strategy="quantile") == pytest.approx(binned(top, right, edges), abs=1e-12)
    classes = [binned(p[:, k], y == k, equal_width(15)) for k in range(4)]
    assert bc.class_wise_ece(y, p) == pytest.approx(np.mean(classes), abs=1e-12)
    assert bc.ece(y, p, pos_label=2) == pytest.approx(classes[2], abs=1e-12)
    greatest = max(
        abs(top[place].mean() - right[place].mean())
        for place in (np.searchsorted(equal_width(15), top) == bin for bin in range(15))
        if place.any()
    )
    assert bc.ece(y, p, order=np.inf) == pytest.approx(greatest, abs=1e-12)


def test_ece_of_an_event():
    y, risk = events()
    expected = binned(risk, y, equal_width(15))
    assert bc.ece(y, risk) == pytest.approx(expected, abs=1e-12)
    two = np.column_stack([1 - risk, risk])
    assert bc.ece(y, two, pos_label=1) == pytest.approx(expected, abs=1e-12)
    assert bc.ece(y, bc.Logits(np.log(risk / (1 - risk)))) == pytest.approx(expected, abs=1e-9)
    # of two classes the top label
    top = binned(two.max(axis=1), two.argmax(axis=1) == y, equal_width(15))
    assert bc.ece(y, two) == pytest.approx(top, abs=1e-12)
    assert bc.ece(y.astype(bool), risk[:, None].tolist()) == pytest.approx(expected, abs=1e-12)


def test_debiased_ece_by_its_formula():
    y, risk = events()
    place = np.searchsorted(np.sort(risk)[np.ceil(np.arange(1, 10) * 40).astype(int) - 1], risk)
    gaps = [(risk - y)[place == bin] for bin in range(10)]
    square = sum(len(d) / 400 * (d.mean() ** 2 - d.var(ddof=1) / len(d)) for d in gaps)
    found = bc.debiased_ece(y, risk, bins=10, interval=0.9)
    assert found.estimate == pytest.approx(np.sqrt(square), abs=1e-12)
    assert bc.debiased_ece(y, risk, bins=10) == found.estimate
    assert found.lower < found.estimate < found.upper and found.level == 0.9


def test_kernel_errors_by_their_formulas():
    logits, y = draw(80, 3, seed=7)
    p = softmax(logits)
    residuals = np.eye(3)[y] - p
    distance = 0.5 * np.abs(p[:, None] - p[None]).sum(axis=2)
    pairs = np.triu_indices(80, 1)
    for bandwidth, asked in ((0.3, 0.3), (np.median(distance[pairs]), None)):
        h = np.exp(-distance / bandwidth) * (residuals @ residuals.T)
        assert bc.skce(y, p, bandwidth=asked) == pytest.approx(h[pairs].mean(), abs=1e-12)
        assert bc.skce(y, p, bandwidth=asked, biased=True) == pytest.approx(h.mean(), abs=1e-12)
        blocks = [h[i, i + 1] for i in range(0, 80, 2)]
        assert bc.skce(y, p, bandwidth=asked, block=2) == pytest.approx(np.mean(blocks), abs=1e-12)
    found = bc.skce(y, p, interval=0.95)
    assert found.estimate == pytest.approx(bc.skce(y, p), abs=1e-12) and found.lower <= found.estimate <= found.upper
    top, right = p.max(axis=1), p.argmax(axis=1) == y
    k = np.exp(-np.abs(top[:, None] - top[None]) / 0.4) * np.outer(right - top, right - top)
    assert bc.mmce(y, p) == pytest.approx(np.sqrt(k.mean()), abs=1e-12)
    assert bc.mmce(y, p, unbiased=True, squared=True) == pytest.approx(k[pairs].mean(), abs=1e-12)


def test_smooth_ece_is_a_fixed_point():
    y, risk = events()
    found = bc.smooth_ece(y, risk)
    grid = (np.arange(5_000) + 0.5) / 5_000
    smoothed = np.zeros_like(grid)
    for shift in range(-2, 3):
        for sign in (1, -1):
            at = (grid[:, None] - sign * risk[None] + 2 * shift) / found
            smoothed += (np.exp(-(at**2) / 2) @ (y - risk)) / (np.sqrt(2 * np.pi) * found * len(y))
    assert np.abs(smoothed).mean() == pytest.approx(found, abs=1e-6)


def test_means_of_events():
    logits, y = draw(500, 4, seed=6)
    p, weights = softmax(logits), 0.5 + np.arange(500) % 3
    top, right = p.max(axis=1), p.argmax(axis=1) == y
    found = bc.overconfidence(y, p, interval=0.95)
    gaps = top - right
    half = 1.9647 * gaps.std(ddof=1) / np.sqrt(500)
    np.testing.assert_allclose(found[:3], [gaps.mean(), gaps.mean() - half, gaps.mean() + half], atol=1e-5)
    assert bc.overconfidence(y, p, sample_weight=weights) == pytest.approx(np.average(gaps, weights=weights), abs=1e-12)
    assert bc.overconfidence(y, p, pos_label=3) == pytest.approx((p[:, 3] - (y == 3)).mean(), abs=1e-12)
    assert bc.observed_over_expected(y, p) == pytest.approx(right.mean() / top.mean(), abs=1e-12)
    y, risk = events()
    assert bc.observed_over_expected(y, risk) == pytest.approx(y.mean() / risk.mean(), abs=1e-12)
    around = bc.observed_over_expected(y, np.column_stack([1 - risk, risk]), interval=0.9)
    assert around.estimate == pytest.approx(y.mean() / risk.mean(), abs=1e-12)
    assert around.lower < around.estimate < around.upper


def test_scores_of_classes_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    y, risk = events()
    weights = 0.5 + np.arange(400) % 3
    two = np.column_stack([1 - risk, risk])
    for w in (None, weights):
        expected = metrics.brier_score_loss(y, risk, sample_weight=w)
        for prediction in (risk, two, bc.Logits(np.log(risk / (1 - risk)))):
            assert bc.brier_score(y, prediction, sample_weight=w) == pytest.approx(expected, abs=1e-12)
        expected = metrics.log_loss(y, risk, sample_weight=w)
        for prediction in (risk, two):
            assert bc.log_loss(y, prediction, sample_weight=w) == pytest.approx(expected, abs=1e-12)
    logits, y = draw(500, 4, seed=6)
    p = softmax(logits)
    assert bc.brier_score(y, p) == pytest.approx(((p - np.eye(4)[y]) ** 2).sum(axis=1).mean(), abs=1e-12)
    assert bc.log_loss(y, p) == pytest.approx(metrics.log_loss(y, p), abs=1e-12)
    at_label = p[np.arange(500), y] / np.linalg.norm(p, axis=1)
    found = bc.spherical_score(y, p, interval=0.95)
    assert found.estimate == pytest.approx((1 - at_label).mean(), abs=1e-12)
    assert found.upper - found.estimate == pytest.approx(1.9647 * at_label.std(ddof=1) / np.sqrt(500), rel=1e-4)
    half = bc.brier_score(*events(), interval=0.95)
    squares = (events()[1] - events()[0]) ** 2
    assert half.upper - half.estimate == pytest.approx(1.9659 * squares.std(ddof=1) / 20, rel=1e-4)


def test_scores_of_real_numbers():
    stats = pytest.importorskip("scipy.stats")
    y, loc, scale = reals()
    z = (y - loc) / scale
    by_hand = scale * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi))
    normal, weights = bc.Normal(loc, scale), 0.5 + np.arange(200) % 3
    assert bc.crps(y, normal) == pytest.approx(by_hand.mean(), abs=1e-12)
    assert bc.crps(y, normal, sample_weight=weights) == pytest.approx(np.average(by_hand, weights=weights), abs=1e-12)
    assert bc.log_loss(y, normal) == pytest.approx(-stats.norm.logpdf(y, loc, scale).mean(), abs=1e-12)
    laplace = bc.Laplace(loc, scale)
    assert bc.log_loss(y, laplace) == pytest.approx(-stats.laplace.logpdf(y, loc, scale).mean(), abs=1e-12)
    z = np.abs(z)
    by_hand = scale * (z + np.exp(-z) - 0.75)
    assert bc.crps(y, laplace) == pytest.approx(by_hand.mean(), abs=1e-12)
    shares = np.tile([0.3, 0.7], (200, 1))
    both = np.column_stack([loc, loc + 1]), np.column_stack([scale, scale])
    mixture = bc.NormalMixture(shares, *both)
    density = (shares * stats.norm.pdf(y[:, None], *both)).sum(axis=1)
    assert bc.log_loss(y, mixture) == pytest.approx(-np.log(density).mean(), abs=1e-12)
    same = bc.LaplaceMixture(shares, np.column_stack([loc, loc]), both[1])
    assert bc.crps(y, same) == pytest.approx(by_hand.mean(), abs=1e-9)
    draws = loc[:, None] + scale[:, None] * np.random.default_rng(5).normal(size=(200, 9))
    by_hand = np.abs(draws - y[:, None]).mean(axis=1) - 0.5 * np.abs(draws[:, :, None] - draws[:, None]).mean(
        axis=(1, 2)
    )
    found = bc.crps(y, bc.Samples(draws), interval=0.95)
    assert found.estimate == pytest.approx(by_hand.mean(), abs=1e-12)
    # of two coordinates the sum
    pair = bc.Normal(np.column_stack([loc, loc]), np.column_stack([scale, scale]))
    assert bc.crps(np.column_stack([y, y]), pair) == pytest.approx(2 * bc.crps(y, normal), abs=1e-12)


def test_losses_of_quantiles():
    metrics = pytest.importorskip("sklearn.metrics")
    stats = pytest.importorskip("scipy.stats")
    y, loc, scale = reals()
    values = stats.norm.ppf(LEVELS, loc[:, None], scale[:, None])
    each = [metrics.mean_pinball_loss(y, values[:, k], alpha=level) for k, level in enumerate(LEVELS)]
    forecast = bc.Quantiles(values, LEVELS)
    assert bc.pinball_loss(y, forecast) == pytest.approx(np.mean(each), abs=1e-12)
    assert bc.interval_score(y, forecast) == pytest.approx(2 * np.mean(each), abs=1e-12)
    # Bracher et al. 2021
    total = 0.5 * np.abs(y - values[:, 2])
    for low, high, alpha in ((0, 4, 0.2), (1, 3, 0.5)):
        below, above = np.maximum(values[:, low] - y, 0), np.maximum(y - values[:, high], 0)
        total += alpha / 2 * (values[:, high] - values[:, low] + 2 / alpha * (below + above))
    assert bc.interval_score(y, forecast) == pytest.approx((total / 2.5).mean(), abs=1e-12)
    assert bc.pinball_loss(y, bc.Normal(loc, scale), levels=LEVELS) == pytest.approx(np.mean(each), abs=1e-9)
    around = bc.pinball_loss(y, forecast, interval=0.95)
    whole = bc.interval_score(y, forecast, interval=0.95)
    np.testing.assert_allclose(2 * np.array(around[:3]), whole[:3], atol=1e-12)


def test_estimates_are_those_of_evaluate():
    logits, y = draw(400, 3, seed=9)
    p, weights = softmax(logits), 0.5 + np.arange(400) % 3
    for w in (None, weights):
        found = bc.evaluate(y, p, sample_weight=w, redraws=99)
        estimates, intervals = found.estimates, found.intervals
        for name, value in {
            "ece_top_label": bc.ece(y, p, sample_weight=w),
            "brier": bc.brier_score(y, p, sample_weight=w),
            "log": bc.log_loss(y, p, sample_weight=w),
            "skce_unbiased": bc.skce(y, p, sample_weight=w),
            "skce_biased": bc.skce(y, p, sample_weight=w, biased=True),
        }.items():
            assert value == pytest.approx(estimates[name], rel=1e-12), name
        for name, error in {
            "overconfidence": bc.overconfidence,
            "ece_debiased": bc.debiased_ece,
            "skce": bc.skce,
        }.items():
            around = error(y, p, sample_weight=w, interval=0.95)
            told = [intervals[name][end] for end in ("estimate", "lower", "upper", "level")]
            np.testing.assert_allclose(around, told, rtol=1e-12)
    y, risk = events()
    found = bc.evaluate(y, risk, redraws=99)
    ratio = found.intervals["observed_expected"]
    around = bc.observed_over_expected(y, risk, interval=0.95)
    np.testing.assert_allclose(around[:3], [ratio[end] for end in ("estimate", "lower", "upper")], rtol=1e-12)
    assert 2 * bc.brier_score(y, risk) == pytest.approx(found.estimates["brier"], rel=1e-12)
    y, loc, scale = reals()
    estimates = bc.evaluate(y, bc.Normal(loc, scale), redraws=99).estimates
    for name, score in (("log", bc.log_loss), ("crps", bc.crps), ("pinball", bc.pinball_loss)):
        assert score(y, bc.Normal(loc, scale)) == pytest.approx(estimates[name], rel=1e-12)


def test_tests():
    stats = pytest.importorskip("scipy.stats")
    y, risk = events()
    z = ((y - risk) * (1 - 2 * risk)).sum() / np.sqrt(((1 - 2 * risk) ** 2 * risk * (1 - risk)).sum())
    calm = np.clip(0.5 + (risk - 0.5) * 0.7, 0, 1)
    statistic, pvalue = bc.spiegelhalter_test(y, risk)
    assert statistic == pytest.approx(z, abs=1e-12) and pvalue == max(2 * stats.norm.sf(abs(z)), 0.001)
    two = np.column_stack([1 - risk, risk])
    assert bc.spiegelhalter_test(y, two) == pytest.approx((statistic, pvalue), abs=1e-12)
    assert bc.spiegelhalter_test(y, risk, redraws=199).pvalue <= 0.01
    place = np.searchsorted(np.sort(calm)[np.ceil(np.arange(1, 5) * 80).astype(int) - 1], calm)
    groups = [(calm[place == k].sum(), y[place == k].sum(), (place == k).sum()) for k in range(5)]
    h = sum((o - e) ** 2 / (e * (1 - e / n)) for e, o, n in groups)
    found = bc.hosmer_lemeshow_test(y, calm, groups=5)
    assert found.statistic == pytest.approx(h, abs=1e-9)
    assert found.pvalue == found.p_value == pytest.approx(max(stats.chi2.sf(h, 5), 0.001), abs=1e-9)
    logits, y = draw(300, 3, seed=11)
    good, bad = softmax(logits / 2), softmax(logits)
    for test in (bc.omnibus_test, bc.skce_test):
        assert test(y, good, redraws=199).pvalue > 0.05 >= test(y, bad, redraws=199).pvalue
        assert test(y, bad, redraws=199, seed=1) == test(y, bad, redraws=199, seed=1)
    assert bc.omnibus_test(y, good).pvalue == bc.evaluate(y, good).pvalue
    assert bc.skce_test(y, bad, redraws=199).statistic == pytest.approx(bc.skce(y, bad), abs=1e-12)
    gamma = bc.skce_test(y, bad, redraws=None)
    assert gamma.statistic == pytest.approx(300 * bc.skce(y, bad), rel=1e-9) and gamma.pvalue < 0.05
    y, loc, scale = reals()
    assert bc.omnibus_test(y, bc.Normal(loc, scale), redraws=199).pvalue <= 0.05
    assert bc.omnibus_test(y, bc.Normal(loc, 1.5 * scale)).pvalue == bc.evaluate(y, bc.Normal(loc, 1.5 * scale)).pvalue
    assert bc.omnibus_test(y, bc.Quantiles(np.column_stack([loc - 1, loc, loc + 1]), [0.1, 0.5, 0.9])).pvalue <= 1
    with pytest.warns(bc.CalibrationWarning, match="expected"):
        bc.spiegelhalter_test(np.zeros(50, dtype=int), np.full(50, 0.01))


def test_curves():
    calibration = pytest.importorskip("sklearn.calibration")
    isotonic = pytest.importorskip("sklearn.isotonic")
    y, risk = events()
    curve = bc.reliability_curve(y, risk, bins=10)
    prob_true, prob_pred = calibration.calibration_curve(y, risk, n_bins=10)
    np.testing.assert_allclose(curve.prob_true, prob_true, atol=1e-12)
    np.testing.assert_allclose(curve.prob_pred, prob_pred, atol=1e-12)
    assert curve.counts.sum() == 400 and (curve.lower < curve.upper).all()
    ece = (curve.counts * np.abs(curve.prob_true - curve.prob_pred)).sum() / 400
    assert bc.ece(y, risk, bins=10) == pytest.approx(ece, abs=1e-12)
    corp = bc.corp_curve(y, risk, redraws=49)
    steps = isotonic.IsotonicRegression().fit(risk, y).predict(risk)
    ours = corp.prob_true[np.searchsorted(corp.upper, risk, side="left")]
    np.testing.assert_allclose(ours, steps, atol=1e-9)
    parts = corp.miscalibration - corp.discrimination + corp.uncertainty
    assert parts == pytest.approx(bc.brier_score(y, risk), abs=1e-12)
    assert corp.uncertainty == pytest.approx(y.mean() * (1 - y.mean()), abs=1e-12)
    assert corp.miscalibration == pytest.approx(((risk - y) ** 2 - (steps - y) ** 2).mean(), abs=1e-9)
    assert len(corp.band_prob) == len(corp.band_lower) == 101


def test_pit_histogram():
    stats = pytest.importorskip("scipy.stats")
    y, loc, scale = reals()
    found = bc.pit_histogram(y, bc.Normal(loc, scale), bins=8)
    counts, edges = np.histogram(stats.norm.cdf(y, loc, scale), bins=8, range=(0, 1))
    np.testing.assert_array_equal(found.counts, counts)
    np.testing.assert_allclose(found.edges, edges, atol=1e-12)
    # the binomial band of one bin of eight
    assert found.lower == stats.binom.ppf(0.025, 200, 1 / 8) and found.upper == stats.binom.ppf(0.975, 200, 1 / 8)
    ranks = bc.pit_histogram(y, bc.Samples(loc[:, None] + np.zeros((1, 4))), bins=5)
    assert ranks.counts.sum() == 200


def drawn_curves():
    y, risk = events()
    target, loc, scale = reals()
    return [
        bc.reliability_curve(y, risk, bins=10),
        bc.corp_curve(y, risk, redraws=49),
        bc.pit_histogram(target, bc.Normal(loc, scale), bins=8),
    ]


def test_plots_draw_the_arrays():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    curve, corp, pit = drawn_curves()
    figure, axes = pyplot.subplots(1, 3)
    for one, ax in zip((curve, corp, pit), axes):
        assert one.plot(ax, color="red") is ax
        assert ax.get_xlabel() and ax.get_ylabel()
    (ideal, line), (bands,) = axes[0].lines, axes[0].collections
    np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curve.prob_pred, curve.prob_true]))
    np.testing.assert_array_equal(ideal.get_xydata(), [[0, 0], [1, 1]])
    assert line.get_color() == "red" and line.get_marker() == "o"
    ends = np.array([path.vertices[:, 1] for path in bands.get_paths()])
    np.testing.assert_array_equal(ends, np.column_stack([curve.lower, curve.upper]))
    drawn = axes[1].lines[1]
    assert {tuple(point) for point in drawn.get_xydata()} == {
        *zip(corp.lower, corp.prob_true),
        *zip(corp.upper, corp.prob_true),
    }
    assert (np.diff(drawn.get_xdata()) >= 0).all() and f"MCB {corp.miscalibration:.3g}" in axes[1].texts[0].get_text()
    np.testing.assert_array_equal([bar.get_height() for bar in axes[2].patches[1:]], pit.counts)
    np.testing.assert_allclose([bar.get_x() for bar in axes[2].patches[1:]], pit.edges[:-1])
    figure.canvas.draw()
    alone = bc.reliability_curve([0, 1, 1], [0.2, 0.2, 0.2]).plot(label="one bin")
    assert alone not in axes and alone.get_legend_handles_labels()[1] == ["one bin"]
    pyplot.close("all")


def test_plots_without_matplotlib_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for curve in drawn_curves():
        with pytest.raises(ImportError, match="plot needs matplotlib: pip install matplotlib"):
            curve.plot()


@pytest.mark.parametrize(
    "call, reason",
    [
        (lambda y, p: bc.ece(p, y), r"swapped, expected \(y_true, y_prob\)"),
        (lambda y, p: bc.log_loss(p[:, 0], y == 0), "swapped"),
        (lambda y, p: bc.crps(bc.Normal(y, y + 1), y), "swapped"),
        (lambda y, p: bc.ece(y, 0.9 * p), "y_prob, row 0: the sum of"),
        (lambda y, p: bc.ece(np.where(np.arange(len(y)) == 6, 3, y), p), "row 6.*the label is 3"),
        (lambda y, p: bc.ece(y[1:], p), "y_true has 199 rows and the predictions 200"),
        (lambda y, p: bc.ece(y == 0, 1.5 * p[:, 0]), "y_prob, row .*the probability is 1.* from 0 to 1"),
        (lambda y, p: bc.ece(y, p, bins=0), "bins is 0"),
        (lambda y, p: bc.ece(y, p, strategy="width"), "strategy is 'width'"),
        (lambda y, p: bc.ece(y, p, order=0.5), "order"),
        (lambda y, p: bc.ece(y, p, pos_label=3), "pos_label is 3, expected one of 0, 1, 2"),
        (lambda y, p: bc.ece(np.array(["a", "b"]), p[:2]), r"labels are names, expected classes=\[…\]"),
        (lambda y, p: bc.ece(y, bc.Normal(y, y + 1)), "Normal predictions, expected probabilities or Logits"),
        (lambda y, p: bc.ece(y, p, sample_weight=-np.ones(200)), "row 0"),
        (lambda y, p: bc.brier_score(y, p, interval=2.0), "interval is 2.0, expected a number between 0 and 1"),
        (lambda y, p: bc.skce(y, p, biased=True, block=2), "one of them"),
        (lambda y, p: bc.skce(y, p, biased=True, interval=0.95), "no interval"),
        (lambda y, p: bc.mmce(y, p, unbiased=True), "squared=True"),
        (lambda y, p: bc.log_loss(np.zeros(200, int), np.where(np.arange(200) == 9, 1.0, 0.5)), "row 9"),
        (lambda y, p: bc.crps(y, p), "predictions of real numbers"),
        (lambda y, p: bc.crps(y, bc.Quantiles(np.sort(p), [0.1, 0.5, 0.9])), "interval_score"),
        (lambda y, p: bc.crps(y, bc.Normal(y, -1.0 - y)), "row 0.*the scale"),
        (lambda y, p: bc.crps(y, bc.Normal(p[:, :2], p[:, 0])), "parameters"),
        (lambda y, p: bc.log_loss(y, bc.Samples(p)), "no density"),
        (lambda y, p: bc.interval_score(y, bc.Normal(y, y + 1)), "of quantiles"),
        (lambda y, p: bc.pinball_loss(y, bc.Quantiles(np.sort(p), [0.1, 0.5, 0.9]), levels=[0.5]), "their own levels"),
        (
            lambda y, p: bc.spiegelhalter_test(y == 0, p[:, 0], redraws=0),
            "redraws is 0, expected a whole number of at least 1",
        ),
        (lambda y, p: bc.pit_histogram(y, bc.Normal(y, y + 1), bins=1), "bins"),
    ],
)
def test_what_is_wrong_is_named(call, reason):
    logits, labels = draw(200, 3)
    with pytest.raises(ValueError, match=reason):
        call(labels, softmax(logits))


def test_metrics_are_quick():
    # a few ms where Burn is optimised; `evaluate` takes seconds
    logits, y = draw(10_000, 10, seed=1)
    p = softmax(logits)
    for metric in (bc.ece, bc.class_wise_ece, bc.debiased_ece, bc.smooth_ece, bc.brier_score, bc.log_loss, bc.mmce):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            metric(y, p)
            times.append(time.perf_counter() - start)
        assert min(times) < 0.5, metric.__name__
