"""The seconds of a penalty and its gradient: of the library, and the same formula in PyTorch, compiled where it can be."""

import time

import numpy as np
import torch

import burn_calibration.torch as penalties


def composed(logits, labels):
    """The unbiased SKCE, exponential kernel over total variation, bandwidth 1."""
    p = torch.softmax(logits, 1)
    residuals = torch.nn.functional.one_hot(labels, logits.shape[1]) - p
    kernel = torch.exp(-0.5 * torch.cdist(p, p, p=1))
    h = kernel * (residuals @ residuals.T)
    n = len(labels)
    return (h.sum() - h.diagonal().sum()) / (n * (n - 1))


def seconds(penalty, logits, labels, runs=7):
    """The least time of a value and its gradient."""
    times = []
    for _ in range(runs):
        logits.grad = None
        start = time.perf_counter()
        penalty(logits, labels).backward()
        times.append(time.perf_counter() - start)
    return min(times)


rng = np.random.default_rng(0)
print(f"PyTorch {torch.__version__}, {torch.get_num_threads()} threads, float32, best of 7 runs")
for n, m in [(128, 10), (512, 10), (512, 100), (2048, 10), (2048, 100)]:
    logits = torch.tensor(rng.normal(size=(n, m)), dtype=torch.float32, requires_grad=True)
    labels = torch.tensor(rng.integers(0, m, n))
    ways = {"library": penalties.skce, "PyTorch": composed, "compiled": torch.compile(composed, dynamic=False)}
    values, times = [], []
    for way in list(ways):
        try:
            values.append(ways[way](logits, labels).item())
            times.append(f"{way} {1e3 * seconds(ways[way], logits, labels):.2f} ms")
        except Exception as error:  # a compiler of C++ may be missing
            times.append(f"{way} - ({type(error).__name__})")
    assert np.ptp(values) < 1e-5, values
    print(f"n = {n}, m = {m}: " + ", ".join(times))
