"""A compiled training step, launched as it is and as a captured CUDA graph.

A graph is launched with one call of the driver. It writes to the arrays of the capture, so the step
gets a memory pool of its own, whose pieces nothing else uses while the graph exists.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..checking import check
from ..timing import SAMPLE_SECONDS
from ..workloads.mlp import data, loss
from .devices import Device

BATCHES = (64, 4096)
ARGNUMS = (2, 3, 4, 5, 6, 7)
ROUNDS = 5


@dataclass(frozen=True)
class GraphResult:
    """The seconds of a step, plainly and as a graph, of the best of some rounds."""

    title: str
    plainly: float | None
    as_graph: float | None
    fault: str | None = None


def capture(device: Device, batch: int) -> GraphResult:
    """Time a compiled training step of the perceptron, and the graph captured from it."""
    import gradwrap as gw

    title = f"MLP, batch of {batch}: value and gradients, compiled"
    cupy = device.xp
    step: Any = gw.compile(gw.value_and_grad(partial(loss, np), ARGNUMS))
    arrays = [device.put(array) for array in data(np.random.default_rng(0), batch=batch)]
    own = nullcontext() if device.kind == "cpu" else _own_memory(cupy)
    try:
        with own:
            step(*arrays)  # compiles
            plainly = [_best(device, partial(step, *arrays))]
            wanted = [device.fetch(one) for one in _gradients(step(*arrays))]
            stream = cupy.cuda.Stream(non_blocking=True)
            with stream:
                for _ in range(3):  # the libraries and the pool reserve what they need
                    step(*arrays)
                stream.synchronize()
                stream.begin_capture()
                try:
                    found = step(*arrays)
                finally:
                    graph = stream.end_capture()
                for one in _gradients(found):
                    one.fill(0.0)  # the values are those of the launch
                graph.launch(stream)
                stream.synchronize()
            check([device.fetch(one) for one in _gradients(found)], wanted)
            as_graph = _best(device, graph.launch)
            plainly.append(_best(device, partial(step, *arrays)))
    except Exception as error:  # noqa: BLE001  what a driver refuses is part of the record
        return GraphResult(title, None, None, f"{type(error).__name__}: {error}".splitlines()[0])
    return GraphResult(title, min(plainly), as_graph)


def _own_memory(cupy: Any) -> Any:
    return cupy.cuda.using_allocator(cupy.cuda.MemoryPool().malloc)


def _gradients(result: Any) -> Sequence[Any]:
    return result[1]  # type: ignore[no-any-return]  # a pair of the value and the gradients


def _best(device: Device, run: Any) -> float:
    """Return the least time of a call in some rounds."""
    once = device.seconds(run, lambda _: None, 1)
    calls = max(1, min(200, int(SAMPLE_SECONDS / max(once, 1e-6))))
    return min(device.seconds(run, lambda _: None, calls) for _ in range(ROUNDS))
