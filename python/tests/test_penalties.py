"""Penalties: values by their formulas in NumPy, gradients by finite differences, and in PyTorch."""

import numpy as np
import pytest
from conftest import draw

from burn_calibration.penalties import mmce, skce


def softmax(logits):
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def skce_by_hand(logits, labels, *, bandwidth=1.0, form="unbiased", kernel="exponential", scale="squared"):
    """The formula of Widmann et al. 2019, Table 1, pair by pair."""
    p = softmax(logits)
    residuals = np.eye(logits.shape[1])[labels] - p
    differences = p[:, None, :] - p[None, :, :]
    if kernel == "exponential":
        k = np.exp(-0.5 * np.abs(differences).sum(axis=2) / bandwidth)
    else:
        k = np.exp(-(differences**2).sum(axis=2) / (2 * bandwidth**2))
    h = k * (residuals @ residuals.T)
    n = len(labels)
    if form == "biased":
        value = h.mean()
    else:
        value = (h.sum() - np.trace(h)) / (n * (n - 1))
    return np.sqrt(value) if scale == "root" else value


def mmce_by_hand(logits, labels, *, bandwidth=0.4, squared=False):
    """The formula of Kumar et al. 2018, without weights."""
    p = softmax(logits)
    confidence = p.max(axis=1)
    gaps = (p.argmax(axis=1) == labels) - confidence
    k = np.exp(-np.abs(confidence[:, None] - confidence[None, :]) / bandwidth)
    value = (k * np.outer(gaps, gaps)).mean()
    return value if squared else np.sqrt(value)


CASES = [
    (skce, skce_by_hand, {}),
    (skce, skce_by_hand, {"form": "biased", "scale": "root"}),
    (skce, skce_by_hand, {"kernel": "gaussian", "bandwidth": 0.5}),
    (mmce, mmce_by_hand, {}),
    (mmce, mmce_by_hand, {"squared": True, "bandwidth": 0.2}),
]


@pytest.mark.parametrize("penalty, by_hand, options", CASES)
def test_values_and_gradients(penalty, by_hand, options):
    logits, labels = draw(24, 4, seed=5)
    value, gradient = penalty(logits, labels, **options)
    assert value == pytest.approx(by_hand(logits, labels, **options), rel=1e-10)
    step, differences = 1e-6, np.empty_like(logits)
    for at in np.ndindex(logits.shape):
        ends = []
        for sign in (1, -1):
            moved = logits.copy()
            moved[at] += sign * step
            ends.append(by_hand(moved, labels, **options))
        differences[at] = (ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(gradient, differences, atol=1e-8)


@pytest.mark.parametrize("penalty", [skce, mmce])
def test_single_precision_and_degenerate_batches(penalty):
    logits, labels = draw(64, 3, seed=2)
    value, _ = penalty(logits, labels)
    single, gradient = penalty(logits.astype(np.float32), labels)
    assert gradient.dtype == np.float32 and single == pytest.approx(value, rel=1e-3, abs=1e-5)
    for n in (1, 2):
        value, gradient = penalty(logits[:n], labels[:n])
        assert np.isfinite(value) and np.isfinite(gradient).all()
    assert skce(logits[:1], labels[:1])[0] == 0
    certain = np.where(np.eye(3)[labels] == 1, 1000.0, 0.0)
    value, gradient = penalty(certain, labels)
    assert value == 0 and (gradient == 0).all()


@pytest.mark.parametrize(
    "options, reason",
    [
        ({"kernel": "cubic"}, "kernel is 'cubic', expected one of exponential"),
        ({"bandwidth": 0.0}, "bandwidth"),
        ({"form": "median"}, 'form is "median", expected one of biased, unbiased, block:SIZE'),
        ({"scale": "root"}, "root is of the form biased"),
        ({"scale": "cubed"}, 'scale is "cubed", expected one of'),
    ],
)
def test_options_that_are_none(options, reason, three):
    with pytest.raises(ValueError, match=reason):
        skce(*three, **options)


def test_what_is_wrong_is_named(three):
    logits, labels = three
    wrong = np.where(np.arange(len(labels)) == 11, 3, labels)
    for penalty in (skce, mmce):
        with pytest.raises(ValueError, match=r"row 11: the label is 3, expected a class in 0\.\.3"):
            penalty(logits, wrong)
        with pytest.raises(ValueError, match="600 predictions but 599 labels"):
            penalty(logits, labels[1:])
        with pytest.raises(ValueError, match="the logits have 1 class, "):
            penalty(logits[:, :1], labels)
    with pytest.raises(ValueError, match="expected squared=True"):
        mmce(logits, labels, form="unbiased")
    with pytest.raises(ValueError, match="the bandwidth is -1"):
        mmce(logits, labels, bandwidth=-1.0)


try:
    import torch
except ImportError:
    torch = None
if torch is not None:
    torch.set_num_threads(1)  # small tensors
needs_torch = pytest.mark.skipif(torch is None, reason="PyTorch is not installed")


@needs_torch
@pytest.mark.parametrize("name", ["skce", "mmce"])
def test_functions_of_pytorch(name):
    import burn_calibration.penalties as numpy_penalties
    import burn_calibration.torch as penalties

    logits, labels = draw(48, 5, seed=7)
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        z = torch.tensor(logits, dtype=dtype, requires_grad=True)
        value = getattr(penalties, name)(z, torch.tensor(labels))
        (3 * value).backward()
        wide = torch.float64 if dtype == torch.float64 else torch.float32
        expected, gradient = getattr(numpy_penalties, name)(z.detach().to(wide).numpy(), labels)
        assert value.dtype == wide and value.shape == () and z.grad.dtype == dtype
        assert value.item() == pytest.approx(expected, rel=1e-6)
        step = {torch.float16: 1e-3, torch.bfloat16: 1e-2}.get(dtype, 1e-5)
        np.testing.assert_allclose(z.grad.to(wide).numpy(), 3 * gradient, rtol=step, atol=step * 1e-4)
    z = torch.tensor(logits[:12], requires_grad=True)
    y = torch.tensor(labels[:12])
    assert torch.autograd.gradcheck(lambda z: getattr(penalties, name)(z, y), (z,), eps=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="expected floats"):
        getattr(penalties, name)(y[:, None], y)


@needs_torch
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_penalties_under_autocast_and_compile(dtype):
    import burn_calibration.torch as penalties

    torch.manual_seed(0)
    x, y = torch.randn(32, 6), torch.arange(32) % 3
    net = torch.nn.Linear(6, 3)

    def loss(x, y):
        logits = net(x)
        return (
            torch.nn.functional.cross_entropy(logits.float(), y) + penalties.mmce(logits, y) + penalties.skce(logits, y)
        )

    with torch.autocast("cpu", dtype=getattr(torch, dtype)):
        value = loss(x, y)
    value.backward()
    assert torch.isfinite(net.weight.grad).all() and net.weight.grad.abs().sum() > 0
    plain = loss(x, y)
    assert value.item() == pytest.approx(plain.item(), rel=2e-2)
    compiled = torch.compile(loss, backend="eager")  # a break of the graph, and no error
    assert compiled(x, y).item() == pytest.approx(plain.item(), rel=1e-6)
    gradients = [torch.autograd.grad(f(x, y), net.weight)[0] for f in (loss, compiled)]
    torch.testing.assert_close(*gradients)


def test_options_of_the_library():
    logits, labels = draw(60, 4, seed=9)
    inputs = np.random.default_rng(0).normal(size=(60, 3))
    p = softmax(logits)
    residuals = np.eye(4)[labels] - p
    distances = np.sqrt(((inputs[:, None] - inputs[None]) ** 2).sum(axis=2))
    h = np.exp(-distances / 0.7) * (residuals @ residuals.T)
    by_hand = (h.sum() - np.trace(h)) / (60 * 59)
    value, gradient = skce(logits, labels, inputs=inputs, bandwidth=0.7)
    assert value == pytest.approx(by_hand, rel=1e-9) and gradient.shape == (60, 4)
    median = np.median(distances[np.triu_indices(60, 1)])
    assert skce(logits, labels, inputs=inputs)[0] == skce(logits, labels, inputs=inputs, bandwidth="median")[0]
    assert skce(logits, labels, inputs=inputs)[0] == pytest.approx(
        skce(logits, labels, inputs=inputs, bandwidth=median)[0], rel=1e-9
    )
    blocks = [skce(logits[at : at + 10], labels[at : at + 10])[0] for at in range(0, 60, 10)]
    assert skce(logits, labels, form="block:10")[0] == pytest.approx(np.mean(blocks), rel=1e-9)
    padded = np.where(np.arange(60) % 7 == 0, -100, labels)
    kept = padded >= 0
    for penalty in (skce, mmce):
        value, gradient = penalty(logits, padded, ignore_index=-100)
        expected = penalty(logits[kept], labels[kept])
        assert value == expected[0] and (gradient[~kept] == 0).all()
        np.testing.assert_array_equal(gradient[kept], expected[1])
    assert skce(logits, labels, kernel="generalized-exponential:1.5")[0] > 0
    with pytest.raises(ValueError, match="600 predictions but 3 inputs|60 predictions but 3 inputs"):
        skce(logits, labels, inputs=inputs[:3])


@needs_torch
def test_metrics_in_the_way_of_torchmetrics():
    import burn_calibration as bc
    import burn_calibration.torch as of_torch

    logits, labels = draw(300, 4, seed=11)
    z, y = torch.tensor(logits), torch.tensor(labels)
    pairs = [
        (of_torch.ExpectedCalibrationError(bins=10), lambda y, p: bc.ece(y, p, bins=10)),
        (of_torch.SquaredKernelCalibrationError(bandwidth=0.3), lambda y, p: bc.skce(y, p, bandwidth=0.3)),
        (of_torch.Overconfidence(), bc.overconfidence),
    ]
    for metric, number in pairs:
        with pytest.raises(ValueError, match="without a batch"):
            metric.compute()
        metric.update(z[:200], y[:200])
        last = metric(z[200:], y[200:])
        assert last.item() == pytest.approx(number(labels[200:], bc.Logits(logits[200:])), rel=1e-12)
        assert metric.compute().item() == pytest.approx(number(labels, bc.Logits(logits)), rel=1e-12)
        metric.reset()
        metric.update(z.bfloat16(), y)
        assert np.isfinite(metric.compute().item())
        with pytest.raises(ValueError, match="expected"):
            metric.update(z[:, :3], y)


@needs_torch
def test_tensors_elsewhere_are_copied_and_that_is_said(monkeypatch):
    import burn_calibration as bc
    import burn_calibration.torch as of_torch

    class Elsewhere:
        """A tensor of another device."""

        device, dtype = torch.device("cuda"), torch.float32

        def __init__(self, tensor):
            self.tensor = tensor

        def detach(self):
            return self

        def cpu(self):
            return self.tensor

    monkeypatch.setattr(of_torch, "_SAID", set())
    tensor = torch.ones(3)
    with pytest.warns(bc.CalibrationWarning, match="tensors on cuda are copied to the processor"):
        np.testing.assert_array_equal(of_torch._array(Elsewhere(tensor)), np.ones(3))
    assert of_torch._SAID == {"cuda"}


@needs_torch
def test_a_training_with_a_penalty_is_better_calibrated():
    import burn_calibration.torch as penalties

    torch.manual_seed(0)
    x = torch.randn(400, 10)
    y = (torch.sigmoid(x @ torch.ones(10)) > torch.rand(400)).long()

    def train(weight):
        torch.manual_seed(1)
        net = torch.nn.Sequential(torch.nn.Linear(10, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2))
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
        for _ in range(80):
            optimizer.zero_grad()
            logits = net(x)
            loss = torch.nn.functional.cross_entropy(logits, y)
            (loss + weight * penalties.mmce(logits, y, squared=True)).backward()
            optimizer.step()
        return net

    new = torch.randn(4000, 10)
    labels = (torch.sigmoid(new @ torch.ones(10)) > torch.rand(4000)).long().numpy()
    errors = [mmce(train(weight)(new).detach().numpy(), labels, squared=True)[0] for weight in (0.0, 20.0)]
    assert errors[1] < errors[0]
