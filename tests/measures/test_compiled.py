"""What is compiled once is loaded by every later process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from hashbench.measures.compiled import kernel

CODE = """
import json
import numpy as np
from numba.core.dispatcher import Dispatcher
from hashbench.measures import evaluate, kernels, order_kernels, tie_kernels

codes = np.arange(64).reshape(16, 4) % 3 == 0
labels = np.arange(16) % 3
evaluate(codes[:3], codes, labels[:3], labels, "AP")
hits = misses = 0
for module in (kernels, order_kernels, tie_kernels):
    for value in vars(module).values():
        if isinstance(value, Dispatcher):
            hits += sum(value.stats.cache_hits.values())
            misses += sum(value.stats.cache_misses.values())
print(json.dumps([hits, misses]))
"""


def counts(cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, env=environment
    )
    return json.loads(done.stdout)


def test_a_second_process_compiles_nothing(tmp_path):
    first_hits, first_misses = counts(tmp_path)
    assert first_hits == 0
    assert first_misses > 0
    hits, misses = counts(tmp_path)
    assert hits > 0
    assert misses == 0


def test_what_cannot_be_kept_is_compiled_all_the_same():
    # of a function without a file numba finds no place for a cache, as in a read-only container
    namespace = {}
    exec("def double(x):\n    return 2 * x", namespace)
    assert kernel()(namespace["double"])(21) == 42


THREADS = """
import threading
import numpy as np
from hashbench.codes import pack
from hashbench.measures import code_statistics, evaluate

codes = np.random.default_rng(0).random((3000, 6)) < 0.5
labels = np.arange(3000) % 40
words, masks = pack(codes), pack(np.eye(40, dtype=bool)[labels])

def work():
    for _ in range(20):
        code_statistics(words, 6, masks)
        evaluate(codes[:30], codes, labels[:30], labels, "AP")

work()
threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


def test_threads_take_turns():
    # numba's own pool, which is all it has on some machines, aborts the process otherwise
    layer = {"NUMBA_THREADING_LAYER": "workqueue", "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", THREADS], env={**os.environ, **layer}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
