"""The unbiased SKCE and its gradient with respect to logits in PyTorch (eager, compiled), JAX (jitted) and
KeOps, in f32, bandwidth 0.5, as `cargo bench -p burn-calibration-benches --bench fused` has it: the best of
some runs in milliseconds, one line for each kernel, n and m.

    python3 -m venv VENV && VENV/bin/pip install torch jax pykeops
    VENV/bin/python benches/compare.py [NAME ...]     # names: torch compiled jax keops
"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F

BANDWIDTH = 0.5
SIZES = [
    ("gaussian", 128, 10),
    ("gaussian", 1024, 10),
    ("gaussian", 4096, 10),
    ("gaussian", 1024, 100),
    ("gaussian", 1024, 1000),
    ("tv", 1024, 10),
    ("tv", 4096, 10),
    ("tv", 1024, 1000),
]


def torch_loss(kernel):
    def loss(z, y):
        n = z.shape[0]
        p = F.softmax(z, 1)
        if kernel == "gaussian":
            # the quick form, by a Gram matrix
            s = (p * p).sum(1)
            squared = (s[:, None] + s[None, :] - 2 * p @ p.T).clamp_min(0)
            k = torch.exp(-squared / (2 * BANDWIDTH**2))
        else:
            k = torch.exp(-0.5 * torch.cdist(p, p, p=1) / BANDWIDTH)
        delta = F.one_hot(y, z.shape[1]).to(z.dtype) - p
        h = k * (delta @ delta.T)
        return (h.sum() - h.diagonal().sum()) / (n * (n - 1))

    return loss


def torch_run(kernel, z, y, compiled):
    loss = torch_loss(kernel)
    if compiled:
        loss = torch.compile(loss)
    z, y = torch.from_numpy(z).requires_grad_(), torch.from_numpy(y)

    def run():
        z.grad = None
        value = loss(z, y)
        value.backward()
        return value.item()

    return run


def jax_run(kernel, z, y):
    def loss(z):
        n, m = z.shape
        p = jax.nn.softmax(z, 1)
        if kernel == "gaussian":
            s = (p * p).sum(1)
            squared = jnp.maximum(s[:, None] + s[None, :] - 2 * p @ p.T, 0)
            k = jnp.exp(-squared / (2 * BANDWIDTH**2))
        else:
            k = jnp.exp(-0.5 * jnp.abs(p[:, None] - p[None]).sum(2) / BANDWIDTH)
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

    z, y = torch.from_numpy(z).requires_grad_(), torch.from_numpy(y)
    n, m = z.shape

    def run():
        z.grad = None
        p = F.softmax(z, 1)
        delta = F.one_hot(y, m).to(z.dtype) - p
        x, x_ = LazyTensor(p[:, None, :]), LazyTensor(p[None])
        d, d_ = LazyTensor(delta[:, None, :].contiguous()), LazyTensor(delta[None].contiguous())
        if kernel == "gaussian":
            k = (-((x - x_) ** 2).sum(2) / (2 * BANDWIDTH**2)).exp()
        else:
            k = (-0.5 * (x - x_).abs().sum(2) / BANDWIDTH).exp()
        h = (k * (d * d_).sum(2)).sum(1).sum()
        value = (h - (delta * delta).sum()) / (n * (n - 1))
        value.backward()
        return value.item()

    return run


def skipped(name, n, m):
    return name == "keops" and m > 10


def best(run):
    value = run()
    run()
    times, end = [], time.perf_counter() + 3
    while len(times) < 3 or (time.perf_counter() < end and len(times) < 200):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return value, min(times) * 1e3


def main():
    names = sys.argv[1:] or ["torch", "compiled", "jax", "keops"]
    print("torch", torch.__version__, "jax", jax.__version__, "threads", torch.get_num_threads())
    for kernel, n, m in SIZES:
        generator = np.random.default_rng(0)
        z = generator.uniform(-2, 2, (n, m)).astype(np.float32)
        y = generator.integers(0, m, n)
        line = []
        for name in names:
            if skipped(name, n, m):
                continue
            run = {
                "torch": lambda: torch_run(kernel, z, y, False),
                "compiled": lambda: torch_run(kernel, z, y, True),
                "jax": lambda: jax_run(kernel, z, y),
                "keops": lambda: keops_run(kernel, z, y),
            }[name]()
            value, milliseconds = best(run)
            line.append(f"{name} {milliseconds:.3f} (value {value:.3e})")
        print(f"{kernel} {n} {m}: " + ", ".join(line), flush=True)


if __name__ == "__main__":
    main()
