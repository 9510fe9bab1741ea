# SPDX-License-Identifier: Apache-2.0
"""bench: our kernels and a callable, timed in turns in one process (docs/python.md)."""

from __future__ import annotations

import math
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

from . import judging, library, loading
from .errors import InputError
from .kernels import CUDA, Call, Given, kernels
from .serving import parameters_of, require_callable
from .tensors import THEIR_NAMES, read_bits

FLUSH_BYTES = 256 << 20  # written before each launch, more than any L2 cache holds
LEAST, MOST = 30, 1000  # launches of each that are timed
_TOO_SLOW_US, _TOO_MANY_TIMES = 20_000, 50  # a launch that takes both longer is not repeated


@dataclass(frozen=True)
class Bench:
    """Times of a callable and of our kernels on the same tensors.

    Attributes:
        case: op, dtype and shape, as in a repro line.
        samples: microseconds of each launch, by name; the callable's is the first.
        margins: the largest err/bound of each one's outputs; at most 1 is right.
        left_out: kernels that are not timed, with the reason.
    """

    case: str
    samples: Mapping[str, Sequence[float]]
    margins: Mapping[str, float]
    left_out: Mapping[str, str]

    @property
    def medians(self) -> dict[str, float]:
        """The median microseconds of a launch, by name."""
        return {name: statistics.median(times) for name, times in self.samples.items()}

    @property
    def ratios(self) -> dict[str, float]:
        """The callable's median divided by the kernel's: above 1 the kernel is faster."""
        first, *others = self.samples
        medians = self.medians
        return {name: medians[first] / medians[name] for name in others}

    def __str__(self) -> str:
        width = max(map(len, self.samples))
        lines = [self.case, f"  {'':{width}}  median us   ratio  err/bound"]
        for name, median in self.medians.items():
            ratio = self.ratios.get(name)
            beside = "" if ratio is None else f"{ratio:.2f}"
            lines.append(f"  {name:{width}}  {median:9.2f}  {beside:>6}  {self.margins[name]:9.3g}")
        return "\n".join(lines + [f"  left out: {name}: {why}" for name, why in self.left_out.items()])


def bench(
    op: str,
    fn: Callable[..., Any],
    shape: str,
    *,
    dtype: str = "f16",
    numerics: str | None = None,
    only: Sequence[str] | None = None,
    seconds: float = 2.0,
    graph: bool = False,
) -> Bench:
    """Times a callable on tensors of torch on the GPU, and our kernels of the op beside it.

    Example:
        print(assay.bench("softmax", lambda x: torch.softmax(x, -1), "rows=4096 cols=2560"))

    They take turns.  Before each launch 256 MB are written, which empties the L2 cache; events on the stream time the launch.
    The outputs of all are judged first.

    Args:
        op: the name of an op.
        fn: as of `assay.validate`, with tensors of torch.
        shape: axes and attributes of a repro line, like "rows=4096 cols=2560".
        dtype: f16, bf16 or f32.
        numerics: how fn computes, in the words of `validate describe numerics`.
        only: names of our kernels; None: all that take the case.
        seconds: time to spend on all together, but at least 30 launches of each.
        graph: time each as a CUDA graph, so that no time of Python's counts.  fn must not wait for the GPU.

    Returns:
        A Bench, whose times are in microseconds.

    Raises:
        Mismatch: an output is wrong.
        InputError: a name or value is wrong, torch or a GPU is missing, fn returned the wrong thing, or cannot be a graph.
        LibraryError: there is no shared object of kernels.
    """
    loading.stop_reading()
    contract = library.describe(op)
    require_callable(contract, fn)
    try:
        import torch
    except ImportError:
        raise InputError("bench needs the package torch") from None
    if not torch.cuda.is_available():
        raise InputError("bench needs a GPU that torch can use")
    case = f"{op} {dtype} {shape}"
    device = torch.device("cuda", torch.cuda.current_device())
    tensors, attributes = _inputs(contract, case, device, torch)
    flush = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device=device)

    def timer(launch: Callable[[], Any]) -> float:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        flush.zero_()
        begin.record()
        launch()
        end.record()
        end.synchronize()
        return 1000 * begin.elapsed_time(end)

    with torch.no_grad():
        contest = _Contest(contract, dtype, tensors, attributes, torch)
        contest.add_callable(fn, numerics)
        contest.add_kernels((CUDA, device.index), lambda: torch.cuda.current_stream(device).cuda_stream, only)
        if graph:
            contest.capture()
        return contest.run(case, timer, seconds)


def _inputs(contract: library.Op, case: str, device: Any, torch: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        path = str(Path(folder) / "inputs.safetensors")
        library.call(["inputs", case, "-o", path])
        arrays, words = read_bits(path)
        tensors = {}
        for name, (dtype, bits) in arrays.items():
            x = torch.from_numpy(bits.view("<i2") if dtype == "bf16" else bits).to(device, copy=True)
            tensors[name] = x.view(torch.bfloat16) if dtype == "bf16" else x
    return tensors, {a.name: a.value(words[a.name]) for a in contract.attributes if a.name in words}


class _Contest:
    """What takes turns: a callable, and kernels of the shared object."""

    def __init__(
        self, contract: library.Op, dtype: str, tensors: Mapping[str, Any], attributes: Mapping[str, Any], torch: Any
    ) -> None:
        self._op = contract
        self._dtype = dtype
        self._tensors = tensors
        self._attributes = attributes
        self._torch = torch
        self._before = {t.name: tensors[t.name].clone() for t in contract.outputs if t.role == "updated"}
        self._launches: dict[str, Callable[[], Any]] = {}
        self._margins: dict[str, float] = {}
        self._refused: dict[str, str] = {}
        self._held: list[Any] = []

    def add_callable(self, fn: Callable[..., Any], numerics: str | None) -> None:
        name = getattr(fn, "__name__", type(fn).__name__)
        given = {t.name: self._tensors.get(t.name) for t in self._op.inputs}
        given.update((attribute, value) for attribute, value in self._attributes.items() if attribute not in given)
        parameters = parameters_of(fn)
        arguments = given
        if parameters is not None:  # of those without a default, one that the case lacks is None
            wanted = [n for n, parameter in parameters.items() if n in given or parameter.default is parameter.empty]
            arguments = {n: given.get(n) for n in wanted}
        self._judge(name, fn(**arguments), numerics)
        self._launches[name] = lambda: fn(**arguments)

    def add_kernels(self, device: tuple[int, int], stream: Callable[[], int], only: Sequence[str] | None) -> None:
        like = next(iter(self._tensors.values()))
        outputs = self._outputs(like)
        tensors = {**self._tensors, **outputs}
        self._held.append(tensors)  # launches know addresses alone
        given = {
            tensor: Given(self._name_of(x.dtype), tuple(x.shape), tuple(x.stride()), x.data_ptr())
            for tensor, x in tensors.items()
        }
        addresses = {tensor: x.data_ptr() for tensor, x in tensors.items()}
        for call in kernels().calls(self._op, self._dtype, given, self._attributes, device):
            if only is not None and call.name not in only:
                continue
            if call.refusal is not None:
                self._refused[call.name] = call.refusal.decode(errors="replace")
                continue
            workspace = like.new_empty(max(call.workspace_bytes, 1), dtype=self._torch.uint8)
            launch = _launch_of(call, addresses, stream, workspace)
            launch()
            self._judge(call.name, tuple(tensors[t.name] for t in self._op.outputs if t.name in tensors), call.numerics)
            self._launches[call.name] = launch

    def capture(self) -> None:
        """Makes a CUDA graph of each launch.  Each was launched before, so its code is loaded, which a capture does not allow."""
        torch = self._torch
        torch.cuda.synchronize()
        for name, launch in self._launches.items():
            graph = torch.cuda.CUDAGraph()
            try:
                with torch.cuda.graph(graph):
                    launch()
            except RuntimeError as e:
                raise InputError(f"{name} cannot be captured as a CUDA graph: {str(e).splitlines()[0]}") from None
            self._launches[name] = graph.replay
            self._held += [graph, launch]  # a replay uses the memory that the launch holds

    def _name_of(self, dtype: Any) -> str:
        return next(ours for ours, theirs in THEIR_NAMES.items() if dtype == getattr(self._torch, theirs, None))

    def _outputs(self, like: Any) -> dict[str, Any]:
        """New outputs, with the extents of the inputs."""
        extents: dict[str, int] = {"1": 1}
        for tensor in self._op.inputs:
            if tensor.name in self._tensors:
                extents.update((e.axis, n) for e, n in zip(tensor.axes, self._tensors[tensor.name].shape) if e.is_axis)
        outputs = {}
        for output in self._op.outputs:
            if output.name not in self._tensors and library.is_there(self._op, output, self._attributes):
                shape = [extent.of(extents) for extent in output.axes]
                dtype = getattr(self._torch, THEIR_NAMES[output.dtype or self._dtype])
                outputs[output.name] = like.new_empty(shape, dtype=dtype)
        return outputs

    def _judge(self, name: str, out: Any, numerics: str | None) -> None:
        """Judges outputs; those that are updated are what the op left in them, and get back what they held."""
        after = {updated: self._tensors[updated].clone() for updated in self._before}
        for updated, before in self._before.items():
            self._tensors[updated].copy_(before)
        if self._op.name != "transformer_layer":  # whose stages have numerics that no words declare
            result = judging.check(self._op.name, after or out, numerics=numerics, **self._tensors, **self._words())
            self._margins[name] = result.margin
        else:
            self._margins[name] = math.nan

    def _words(self) -> dict[str, Any]:
        """The attributes that are arguments; another has the name of a tensor, which says it."""
        return {name: value for name, value in self._attributes.items() if self._op.tensor(name) is None}

    def run(self, case: str, timer: Callable[[Callable[[], Any]], float], seconds: float) -> Bench:
        samples, slow = turns(self._launches, timer, seconds)
        margins = {name: self._margins[name] for name in samples}
        return Bench(case, samples, margins, {**self._refused, **slow})


def _launch_of(call: Call, addresses: Mapping[str, int], stream: Callable[[], int], workspace: Any) -> Callable[[], None]:
    return lambda: call.launch(addresses, stream(), workspace.data_ptr())


def turns(
    launches: Mapping[str, Callable[[], Any]], timer: Callable[[Callable[[], Any]], float], seconds: float
) -> tuple[dict[str, list[float]], dict[str, str]]:
    """Times the launches in turns.  Returns microseconds by name, and which are left out.  The first never is."""
    for launch in launches.values():
        launch()  # Note: the first launch also loads code, and a compiler may run in it
    first = {name: timer(launch) for name, launch in launches.items()}
    fastest = min(first.values())
    callable_name = next(iter(launches))
    slow = {
        name: f"a launch takes {time / 1000:.3g} ms"
        for name, time in first.items()
        if name != callable_name and time > _TOO_SLOW_US and time > _TOO_MANY_TIMES * fastest
    }
    kept = {name: launch for name, launch in launches.items() if name not in slow}
    flush_us = 100
    rounds = int(seconds * 1e6 / sum(first[name] + flush_us for name in kept))
    samples: dict[str, list[float]] = {name: [] for name in kept}
    for _ in range(min(max(rounds, LEAST), MOST)):
        for name, launch in kept.items():
            samples[name].append(timer(launch))
    return samples, slow
