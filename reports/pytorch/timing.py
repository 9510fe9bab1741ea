# SPDX-License-Identifier: Apache-2.0
"""One row: its variants made, timed in turns, their values checked, a `timing` record for each."""
import gc
import math
import signal
import time
import warnings

import torch

from . import attention, expressions
from .clock import CudaClock, HostClock, Launch, kept, summary
from .expressions import DTYPES, Maker, Variant

BUILDERS = {build.__name__: build for build in expressions.ALL + attention.ALL}
AGREE = 0.05  # relative error between two ways in f16 or bf16; they differ by roundings of what each stores between its steps


USED_UP = "the time given was used up"


class TooSlow(BaseException):
    """Note: no Exception, for a compiler takes those for its own and goes on without what it could not compile."""


def first_line(error):
    text = str(error).strip()
    return (type(error).__name__ + ": " + text.splitlines()[0] if text else type(error).__name__)[:200]


def reason_of(error, warned):
    """Why a variant does not run, in a sentence; of a refused attention backend what PyTorch warned of."""
    if isinstance(error, torch.OutOfMemoryError):
        return "out of memory"
    if isinstance(error, TooSlow):
        return str(error)
    if "No available kernel" in str(error) or "No viable backend" in str(error):
        told = [str(w.message).splitlines()[0].split(" (Triggered internally")[0][:200] for w in warned]
        told = [t for t in told if "not used because" not in t and "runtime disabled" not in t]
        return told[-1] if told else "this backend does not take it here"
    return first_line(error)


def tensors_of(outputs):
    return outputs if isinstance(outputs, (tuple, list)) else (outputs,)


def why_wrong(outputs, expected):
    """What speaks against a variant's outputs beside those of the first; empty: nothing."""
    for got, want in zip(tensors_of(outputs), tensors_of(expected)):
        if got.shape != want.shape:
            return f"its output is {list(got.shape)}, the first one's {list(want.shape)}"
        if not bool(torch.isfinite(got).all()):
            return "its output is not finite"
        scale = float(torch.linalg.vector_norm(want, dtype=torch.float32))
        off = float(torch.linalg.vector_norm(got.float() - want.float()))
        if off > AGREE * scale:
            return f"it disagrees with the first one: relative error {off / max(scale, 1e-30):.3g}"
    return ""


def within(seconds, call, late):
    """call(), given up after so many seconds with that reason."""
    if not seconds > 0:
        raise TooSlow(late)

    def give_up(*_):
        raise TooSlow(late)

    before = signal.signal(signal.SIGALRM, give_up)
    start = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, seconds, 5)  # again, should somebody have swallowed it
    try:
        result = call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if time.perf_counter() - start > seconds:
        raise TooSlow(late)
    return result


class RowTimer:
    def __init__(self, device, seconds, compile_seconds=0, kernels=(), deadline=math.inf):
        """`kernels`: time these alone; empty: all.  `deadline`: by time.monotonic(), when no further row is begun and no compiler
        waited for."""
        self.device, self.seconds, self.compile_seconds = device, seconds, compile_seconds
        self.kernels, self.deadline = kernels, deadline
        self.clock = CudaClock() if device == "cuda" else HostClock()

    def _attempt(self, prepare):
        """(call, its outputs, "") or (None, None, why not)."""
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                call = prepare()
                outputs = call()
                if self.device == "cuda":
                    torch.cuda.synchronize()
                return call, outputs, ""
            except (Exception, SystemExit, TooSlow) as e:  # a compiler's errors are of any kind
                why = reason_of(e, warned)
        self._clear()
        return None, None, why

    def _clear(self):
        """After a failure.  Raises where the device is lost."""
        if self.device == "cuda":
            torch.cuda.synchronize()
        self.free()

    def _variants(self, row):
        """Of each variant, also as a graph and compiled: (variant, prepare)."""
        for v in BUILDERS[row.op](Maker(self.device, DTYPES[row.dtype]), row):
            yield v, v.prepare or (lambda v=v: v.call)
            if v.left_out:
                continue
            if v.steps and self.device == "cuda":
                yield (
                    Variant(v.kernel.removeprefix("pytorch_") + "_graph", v.what + "; as a CUDA graph"),
                    lambda v=v: self.clock.captured(v.call),
                )
            if v.compiled and self.compile_seconds:
                calls = []

                def compiled(v=v, calls=calls):
                    if not calls:
                        calls.append(self._compiled(v))
                    return calls[0]

                what = "torch.compile of " + v.what
                # Note: its guards keep the host busy longer than a flush does the device.
                yield Variant("compile", what, hide_host=True), compiled
                # Note: what does not compile is not tried twice.
                if self.device == "cuda" and (calls or self.kernels and "pytorch_compile" not in self.kernels):
                    yield (
                        Variant("compile_graph", what + "; as a CUDA graph"),
                        lambda compiled=compiled: self.clock.captured(compiled()),
                    )

    def _compiled(self, v):
        torch._dynamo.reset()  # of the rows before, their tensors too
        call = torch.compile(v.call, fullgraph=True, dynamic=False)
        left = self.deadline - time.monotonic()
        if left < self.compile_seconds:
            within(left, call, USED_UP)
        else:
            within(self.compile_seconds, call, f"not compiled within {self.compile_seconds:g} s")
        return call

    def time(self, row):
        """(variant, microseconds or None, why not) of each."""
        made = []
        expected = None
        try:
            for v, prepare in self._variants(row):
                if self.kernels and v.kernel not in self.kernels:
                    if expected is None and not v.left_out:
                        expected = self._attempt(prepare)[1]
                    continue
                call = None
                why = v.left_out
                if not why:
                    call, outputs, why = self._attempt(prepare)
                if call and expected is None:
                    expected = outputs
                if call:
                    why = why_wrong(outputs, expected)
                made.append((v, None if why else call, why))
        except RuntimeError as e:
            self._clear()
            made.append((Variant("eager", "the row's tensors"), None, reason_of(e, [])))
        chosen = [(i, v, call) for i, (v, call, _) in enumerate(made) if call]
        try:
            us = self.clock.time_us([Launch(call, v.hide_host) for _, v, call in chosen], self.seconds) if chosen else []
        except RuntimeError as e:
            self._clear()
            return [(v, None, why or "while timed: " + reason_of(e, [])) for v, _, why in made]
        times = {i: t for (i, _, _), t in zip(chosen, us)}
        results = []
        for i, (v, call, why) in enumerate(made):
            if call:
                again, outputs, why = self._attempt(lambda call=call: call)
                wrong = why_wrong(outputs, expected) if again else why
                why = "after the timing: " + wrong if wrong else ""
            results.append((v, None if why else times[i], why))
        return results

    def records(self, row, source):
        head = {"record": "timing", "source": source, "op": row.op}
        row_of = {"backend": self.device, "dtype": row.dtype, "shape": row.shape}
        why = (
            "no PyTorch expression is written for it"
            if row.op not in BUILDERS
            else USED_UP
            if time.monotonic() > self.deadline
            else ""
        )
        if why:
            kernel = self.kernels[0] if self.kernels else "pytorch_eager"
            yield head | {"kernel": kernel} | row_of | {"what": row.op, "left_out": why}
            return
        for v, us, why in self.time(row):
            record = head | {"kernel": v.kernel} | row_of | {"what": v.what}
            yield record | ({"left_out": why} if why else {"time_us": summary(us), "samples_us": [kept(us)]})

    def free(self):
        gc.collect()
        if self.device == "cuda":
            torch.cuda.empty_cache()
