"""Progress, and the end of long work."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import draw

import burn_calibration as bc


# a job in the background of a shell ignores Ctrl-C
signal.signal(signal.SIGINT, signal.default_int_handler)


def test_progress_is_called(three):
    seen = []
    bc.TemperatureScaling().fit(*three, progress=lambda *at: seen.append(at))
    fits, totals, evaluations, objectives = zip(*seen)
    assert set(fits) == {1} and set(totals) == {1}
    assert list(evaluations) == list(range(1, len(seen) + 1))
    assert objectives[-1] <= objectives[0] + 1e-12


def test_what_progress_raises_ends_the_fit(three):
    class Enough(Exception):
        pass

    def stop(fit, fits, evaluations, objective):
        if evaluations == 2:
            raise Enough

    with pytest.raises(Enough):
        bc.MatrixScaling(regularization=0.1).fit(*three, progress=stop)


def test_ctrl_c_ends_a_long_fit():
    data = draw(20_000, 20)
    timer = threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        bc.OrderInvariant(max_iterations=2_000, tolerance=1e-300).fit(*data)
    assert time.perf_counter() - start < 5
    timer.join()


def test_other_threads_run_during_a_fit():
    data = draw(20_000, 10)
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.perf_counter()
    bc.VectorScaling().fit(*data)
    seconds = time.perf_counter() - start
    done.set()
    thread.join()
    assert counted[0] > 100 * min(seconds, 1)


def test_fits_of_several_threads_are_those_of_one(three):
    expected = bc.TemperatureScaling().fit(*three).temperature_
    found = [0.0] * 4

    def fit(at):
        found[at] = bc.TemperatureScaling().fit(*three).temperature_

    threads = [threading.Thread(target=fit, args=(at,)) for at in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    np.testing.assert_array_equal(found, expected)


def test_steps_of_an_evaluation_are_told(three):
    logits, labels = (values[:200] for values in three)
    seen = []
    bc.evaluate(labels, logits=logits, tests=["cox"], redraws=99, progress=lambda *at: seen.append(at))
    titles = [title for _, _, title in seen]
    assert titles[:2] == ["bandwidth", "omnibus test"] and len(titles) == 5
    assert [step for step, _, _ in seen] == list(range(5)) and {steps for _, steps, _ in seen} == {5}
    bc.compare(labels, bc.Logits(logits), bc.Logits(logits / 2), redraws=99, progress=lambda *at: seen.append(at))
    assert seen[5][:2] == (0, 4) and len(seen) == 9


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="the threads of a process are not listed here")
def test_what_progress_raises_ends_an_evaluation():
    logits, labels = draw(1_000, 40, seed=3)

    class Enough(Exception):
        pass

    def stop(step, steps, title):
        assert steps == 4 * 40
        if step == 2:
            raise Enough

    def threads():
        return len(os.listdir("/proc/self/task"))

    bc.evaluate(labels[:50], logits=logits[:50], redraws=99)  # starts the threads that stay
    before = threads()
    start = time.perf_counter()
    with pytest.raises(Enough):
        bc.evaluate(labels, logits=logits, lens="class-wise", progress=stop)
    one = time.perf_counter() - start  # more than one class of forty
    while threads() > before and time.perf_counter() - start < 10 * one:
        time.sleep(0.01)
    assert threads() <= before


def test_ctrl_c_ends_the_wait_for_an_evaluation():
    code = (
        "import os, signal, sys, threading, time\n"
        "import numpy as np\n"
        "import burn_calibration as bc\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "rng = np.random.default_rng(0)\n"
        "threading.Timer(0.5, signal.raise_signal, (signal.SIGINT,)).start()\n"
        "start = time.perf_counter()\n"
        "try:\n"
        "    bc.evaluate(rng.integers(0, 50, 20_000), logits=rng.normal(size=(20_000, 50)))\n"
        "except KeyboardInterrupt:\n"
        "    print(time.perf_counter() - start, flush=True)\n"
        "    os._exit(0)\n"  # a step goes on until then
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 5
