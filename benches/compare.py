"""The unbiased SKCE and its gradient with respect to logits, here and in PyTorch (eager, compiled), JAX (jitted)
and KeOps, in f32, bandwidth 0.5 or the median: milliseconds, one line for each kernel, n and m. Then that of normal
and Laplace predictions of d coordinates and its gradient with respect to locations and scales: exp(-W2) times a
Gaussian kernel of length scale 0.8 on targets. "this" is the middle estimate of `cargo bench`, the others the best
of some runs, a few seconds later.

    python3 -m venv VENV && VENV/bin/pip install torch jax pykeops
    VENV/bin/python benches/compare.py [NAME ...]     # names: this torch compiled jax keops;
                                                      # classes, normal, laplace: those of such predictions alone

The variable TORCH_DEVICE moves PyTorch to a device, as "cuda"; JAX takes a GPU if it is installed for one, "this" the
processor.
"""

import itertools
import math
import os
import re
import subprocess
import sys
import time
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F

BANDWIDTH = 0.5
DEVICE = os.environ.get("TORCH_DEVICE", "cpu")
SIZES = [
    ("gaussian_l2", 128, 10),
    ("gaussian_l2", 128, 10, "median"),
    ("gaussian_l2", 1024, 10),
    ("gaussian_l2", 1024, 10, "median"),
    ("gaussian_l2", 4096, 10),
    ("gaussian_l2", 1024, 100),
    ("gaussian_l2", 1024, 1000),
    ("matern32_l2", 1024, 10),
    ("matern32_l2", 1024, 10, "median"),
    ("rational_quadratic_l2", 1024, 10),
    ("rational_quadratic_l2", 1024, 10, "median"),
    ("exponential_tv", 1024, 10),
    ("exponential_tv", 4096, 10),
    ("exponential_tv", 1024, 1000),
]
REGRESSION_SIZES = [(256, 1), (1024, 1), (2048, 1), (1024, 4)]
LENGTH = 0.8


def normal(f):
    """The expectations of the Gaussian kernel under one normal prediction and two."""

    def spread(delta, variance):
        variance = LENGTH**2 + variance
        return f.exp(-0.5 * delta**2 / variance) * (LENGTH / f.sqrt(variance))

    return lambda delta, s: spread(delta, s**2), lambda delta, s, t: spread(delta, s**2 + t**2)


def laplace(f):
    """Those under Laplace predictions, from the textbook; two of one scale are 0/0."""

    def single(delta, s):
        r, t = LENGTH / s, abs(delta) / LENGTH
        both = f.erfcx((r + t) * 0.5**0.5) + f.erfcx((r - t) * 0.5**0.5)
        return (math.pi / 8) ** 0.5 * r * f.exp(-0.5 * t**2) * both

    def double(delta, s, t):
        gap = s**2 - t**2
        difference = s**2 * single(delta, s) - t**2 * single(delta, t)
        return difference / f.where(gap == 0, 1, gap)

    return single, double


FAMILIES = {"normal": (normal, 1), "laplace": (laplace, 2)}


def regression_skce(family, f, m, s, y):
    """With the functions `f` of a library."""
    n = m.shape[0]
    expectations, factor = FAMILIES[family]
    single, double = expectations(f)

    def differences(a, b):
        return a[:, None, :] - b[None, :, :]

    squared = (differences(m, m) ** 2 + factor * differences(s, s) ** 2).sum(2)
    k = f.exp(-f.sqrt(f.nonzero(squared)))
    between = f.exp(-0.5 * (differences(y, y) ** 2).sum(2) / LENGTH**2)
    one = single(differences(m, y), s[:, None, :]).prod(2)
    both = double(differences(m, m), s[:, None, :], s[None, :, :]).prod(2)
    h = k * (between - one - one.T + both)
    return (h.sum() - h.diagonal().sum()) / (n * (n - 1))


# `nonzero(w)` keeps the slope of the root finite at 0
TORCH = SimpleNamespace(
    exp=torch.exp,
    sqrt=torch.sqrt,
    where=torch.where,
    erfcx=torch.special.erfcx,
    nonzero=lambda w: w.clamp_min(1e-30),
)
JAX = SimpleNamespace(
    exp=jnp.exp,
    sqrt=jnp.sqrt,
    where=jnp.where,
    erfcx=jax.scipy.special.erfcx,
    nonzero=lambda w: jnp.maximum(w, 1e-30),
)


def on_device(array):
    return torch.from_numpy(array).to(DEVICE)


def torch_regression(family, m, s, y, compiled):
    def loss(m, s, y):
        return regression_skce(family, TORCH, m, s, y)

    if compiled:
        loss = torch.compile(loss)
    m, s = (on_device(x).requires_grad_() for x in (m, s))
    y = on_device(y)

    def run():
        m.grad = s.grad = None
        value = loss(m, s, y)
        value.backward()
        return value.item()

    return run


def jax_regression(family, m, s, y):
    def loss(m, s):
        return regression_skce(family, JAX, m, s, y)

    step = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))
    m, s, y = (jnp.asarray(x) for x in (m, s, y))

    def run():
        value, gradients = step(m, s)
        jax.block_until_ready(gradients)
        return float(value)

    return run


def radial(kernel, f, squared, bandwidth):
    """The kernel of squared Euclidean distances."""
    if kernel == "gaussian_l2":
        return f.exp(-squared / (2 * bandwidth**2))
    if kernel == "rational_quadratic_l2":
        return 1 / (1 + squared / (2 * bandwidth**2))
    root = 3**0.5 * f.sqrt(f.nonzero(squared)) / bandwidth
    return (1 + root) * f.exp(-root)  # Matern 3/2


def torch_loss(kernel, median):
    def loss(z, y):
        n = z.shape[0]
        p = F.softmax(z, 1)
        if kernel == "exponential_tv":
            k = torch.exp(-0.5 * torch.cdist(p, p, p=1) / BANDWIDTH)
        else:
            # the quick form, by a Gram matrix
            s = (p * p).sum(1)
            squared = (s[:, None] + s[None, :] - 2 * p @ p.T).clamp_min(0)
            bandwidth = F.pdist(p.detach()).median() if median else BANDWIDTH
            k = radial(kernel, TORCH, squared, bandwidth)
        delta = F.one_hot(y, z.shape[1]).to(z.dtype) - p
        h = k * (delta @ delta.T)
        return (h.sum() - h.diagonal().sum()) / (n * (n - 1))

    return loss


def torch_run(kernel, median, z, y, compiled):
    loss = torch_loss(kernel, median)
    if compiled:
        loss = torch.compile(loss)
    z, y = on_device(z).requires_grad_(), on_device(y)

    def run():
        z.grad = None
        value = loss(z, y)
        value.backward()
        return value.item()

    return run


def jax_run(kernel, median, z, y):
    pairs = np.triu_indices(z.shape[0], 1)

    def loss(z):
        n, m = z.shape
        p = jax.nn.softmax(z, 1)
        if kernel == "exponential_tv":
            k = jnp.exp(-0.5 * jnp.abs(p[:, None] - p[None]).sum(2) / BANDWIDTH)
        else:
            s = (p * p).sum(1)
            squared = jnp.maximum(s[:, None] + s[None, :] - 2 * p @ p.T, 0)
            bandwidth = BANDWIDTH
            if median:
                bandwidth = jnp.sqrt(jnp.median(jax.lax.stop_gradient(squared)[pairs]))
            k = radial(kernel, JAX, squared, bandwidth)
        delta = jax.nn.one_hot(y, m) - p
        h = k * (delta @ delta.T)
        return (h.sum() - jnp.trace(h)) / (n * (n - 1))

    step, z = jax.jit(jax.value_and_grad(loss)), jnp.asarray(z)

    def run():
        value, gradient = step(z)
        gradient.block_until_ready()
        return float(value)

    return run


def keops_run(kernel, z, y):
    from pykeops.torch import LazyTensor

    z, y = on_device(z).requires_grad_(), on_device(y)
    n, m = z.shape

    def run():
        z.grad = None
        p = F.softmax(z, 1)
        delta = F.one_hot(y, m).to(z.dtype) - p
        x, x_ = LazyTensor(p[:, None, :]), LazyTensor(p[None])
        d, d_ = LazyTensor(delta[:, None, :].contiguous()), LazyTensor(delta[None].contiguous())
        if kernel == "gaussian_l2":
            k = (-((x - x_) ** 2).sum(2) / (2 * BANDWIDTH**2)).exp()
        else:
            k = (-0.5 * (x - x_).abs().sum(2) / BANDWIDTH).exp()
        h = (k * (d * d_).sum(2)).sum(1).sum()
        value = (h - (delta * delta).sum()) / (n * (n - 1))
        value.backward()
        return value.item()

    return run


def skipped(name, kernel, m, median):
    others = kernel not in ("gaussian_l2", "exponential_tv")
    return name == "keops" and (m > 10 or median or others)


def this(bench, name):
    """The middle estimate of a benchmark of this crate, in milliseconds."""
    command = ["cargo", "bench", "-q", "-p", "burn-calibration-benches", "--bench", bench, "--"]
    options = ["--measurement-time", "2", "--warm-up-time", "0.5", f"^{name}$"]
    output = subprocess.run(command + options, capture_output=True, text=True, check=True).stdout
    number, unit = re.search(r"time:\s+\[\S+ \S+ (\S+) (\S+)", output).groups()
    return float(number) * {"ns": 1e-6, "µs": 1e-3, "ms": 1, "s": 1e3}[unit]


def best(run):
    value = run()
    run()
    times, end = [], time.perf_counter() + 3
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 200):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return value, min(times) * 1e3


def print_line(what, names, ours, runs):
    line = [f"this {this(*ours):.3f}"] if "this" in names else []
    for name in names:
        if name in runs:
            value, milliseconds = best(runs[name]())
            line.append(f"{name} {milliseconds:.3f} (value {value:.3e})")
    print(f"{what}: " + ", ".join(line), flush=True)


def of_classes(names, kernel, n, m, median=None):
    generator = np.random.default_rng(0)
    z = generator.uniform(-2, 2, (n, m)).astype(np.float32)
    y = generator.integers(0, m, n)
    runs = {
        "torch": lambda: torch_run(kernel, median, z, y, False),
        "compiled": lambda: torch_run(kernel, median, z, y, True),
        "jax": lambda: jax_run(kernel, median, z, y),
        "keops": lambda: keops_run(kernel, z, y),
    }
    runs = {name: run for name, run in runs.items() if not skipped(name, kernel, m, median)}
    suffix = "_median" if median else ""
    ours = ("fused", f"skce_value_and_grad/{kernel}/fused/n{n}_m{m}{suffix}")
    print_line(f"{kernel} {n} x {m} {median or 'fixed'}", names, ours, runs)


def of_family(names, family, n, d):
    generator = np.random.default_rng(0)
    m, s, y = (
        generator.uniform(low, high, (n, d)).astype(np.float32)
        for low, high in ((-2, 2), (0.2, 1.5), (-2.5, 2.5))
    )
    runs = {
        "torch": lambda: torch_regression(family, m, s, y, False),
        "compiled": lambda: torch_regression(family, m, s, y, True),
        "jax": lambda: jax_regression(family, m, s, y),
    }
    ours = ("regression", f"{family}_skce_value_and_grad/gaussian/Auto/n{n}_d{d}")
    print_line(f"{family} {n} x {d}", names, ours, runs)


def main():
    kinds = ["classes", *FAMILIES]
    chosen = [kind for kind in kinds if kind in sys.argv[1:]] or kinds
    names = [name for name in sys.argv[1:] if name not in kinds]
    names = names or ["this", "torch", "compiled", "jax", "keops"]
    print("torch", torch.__version__, "jax", jax.__version__, "threads", torch.get_num_threads())
    for setting in SIZES if "classes" in chosen else []:
        of_classes(names, *setting)
    for family, size in itertools.product(FAMILIES, REGRESSION_SIZES):
        if family in chosen:
            of_family(names, family, *size)


if __name__ == "__main__":
    main()
