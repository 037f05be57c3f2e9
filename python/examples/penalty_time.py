"""Penalties and their gradients, timed: of the library, and the same formulas in PyTorch, as they are and compiled.

python examples/penalty_time.py

Told is processor time on one thread: on a busy machine a longer call waits for others, and a shorter one does not.
"""

import os
import time

os.environ["RAYON_NUM_THREADS"] = "1"  # of the library, read when it starts its threads

import numpy as np  # noqa: E402
import torch  # noqa: E402

import burn_calibration.torch as penalties  # noqa: E402

torch.set_num_threads(1)
CLASSES, SIZES, ROUNDS = 10, (64, 128, 256, 512, 1024, 2048, 4096), 15
#: No round begins after so many seconds.
ENOUGH = 10


def skce(logits, labels):
    """The unbiased SKCE, exponential kernel over total variation, bandwidth 1."""
    p = torch.softmax(logits, 1)
    residuals = torch.nn.functional.one_hot(labels, logits.shape[1]) - p
    kernel = torch.exp(-0.5 * torch.cdist(p, p, p=1))
    h = kernel * (residuals @ residuals.T)
    n = len(labels)
    return (h.sum() - h.diagonal().sum()) / (n * (n - 1))


def skce_of_differences(logits, labels):
    """The same without `cdist`, which the compiler calls as it is."""
    p = torch.softmax(logits, 1)
    residuals = torch.nn.functional.one_hot(labels, logits.shape[1]) - p
    kernel = torch.exp(-0.5 * (p[:, None] - p[None]).abs().sum(2))
    h = kernel * (residuals @ residuals.T)
    n = len(labels)
    return (h.sum() - h.diagonal().sum()) / (n * (n - 1))


def mmce(logits, labels):
    """The squared MMCE, bandwidth 0.4."""
    confidence, predicted = torch.softmax(logits, 1).max(1)
    gaps = (predicted == labels).float() - confidence
    kernel = torch.exp(-(confidence[:, None] - confidence[None]).abs() / 0.4)
    return gaps @ kernel @ gaps / len(labels) ** 2


#: The ways to each penalty: the library first.
WAYS = {
    "SKCE": {
        "library": penalties.skce,
        "PyTorch": skce,
        "compiled": torch.compile(skce),
        "compiled, of differences": torch.compile(skce_of_differences),
    },
    "MMCE": {
        "library": lambda logits, labels: penalties.mmce(logits, labels, squared=True),
        "PyTorch": mmce,
        "compiled": torch.compile(mmce),
    },
}


def value_and_gradient(penalty, logits, labels):
    logits.grad = None
    value = penalty(logits, labels)
    value.backward()
    return value.item(), logits.grad.clone()


def seconds(ways, logits, labels):
    """The least time of each way, by turns: what else runs on the machine meets all of them."""
    least = dict.fromkeys(ways, np.inf)
    begun = time.perf_counter()
    for _ in range(ROUNDS):
        if time.perf_counter() - begun > ENOUGH:
            break
        for name, penalty in ways.items():
            start = time.process_time()
            value_and_gradient(penalty, logits, labels)
            least[name] = min(least[name], time.process_time() - start)
    return least


rng = np.random.default_rng(0)
print(
    f"PyTorch {torch.__version__}, one thread, float32, {CLASSES} classes, value and gradient in ms of processor time, least "
    f"of up to {ROUNDS} rounds"
)
for title, ways in WAYS.items():
    print(f"\n| {title}, n | {' | '.join(ways)} | fastest of PyTorch / library |")
    print("| --- |" + " ---: |" * (len(ways) + 1))
    for n in SIZES:
        logits = torch.tensor(2 * rng.normal(size=(n, CLASSES)), dtype=torch.float32, requires_grad=True)
        labels = torch.tensor(rng.integers(0, CLASSES, n))
        expected, slopes = value_and_gradient(ways["library"], logits, labels)
        for name, penalty in ways.items():  # compiles as well
            value, gradient = value_and_gradient(penalty, logits, labels)
            assert abs(value - expected) < 1e-5, (name, value, expected)
            torch.testing.assert_close(gradient, slopes, rtol=1e-3, atol=1e-7, msg=name)
        least = seconds(ways, logits, labels)
        others = min(time for name, time in least.items() if name != "library")
        cells = [f"{1e3 * time:.2f}" for time in least.values()]
        print(f"| {n} | {' | '.join(cells)} | {others / least['library']:.1f} |", flush=True)
