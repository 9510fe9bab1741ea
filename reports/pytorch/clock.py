# SPDX-License-Identifier: Apache-2.0
"""Times as `validate bench` takes its cold ones: before each launch the L2 cache is flushed, events enclose the launch alone, the
launches of a row take turns.  On a CPU by the host's clock, nothing flushed: to try the script out, no measure of anything."""
import time

import torch

LEAST, MOST, WARM_UP, BATCH, KEPT = 30, 1000, 10, 20, 50
SHORT = 1e-3  # seconds
FLUSH_BYTES = 256 << 20  # five times the L2 of an H200


class Launch:
    """What is timed.  `hide_host`: the device is kept busy while it is queued, for the host takes longer than a flush."""

    def __init__(self, call, hide_host=False):
        self.call, self.hide_host = call, hide_host


class CudaClock:
    HIDING_CYCLES = 1_000_000  # half a millisecond

    def __init__(self, rest=0):
        self.rest = rest  # seconds
        self.flushed = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
        self.begin, self.end = ([torch.cuda.Event(enable_timing=True) for _ in range(BATCH)] for _ in range(2))

    def time_us(self, launches, seconds):
        """Microseconds of each launch, in the order that they were taken."""
        short = []  # not hiding the host by themselves, as the next one is queued
        for launch in launches:
            start = time.perf_counter()
            for _ in range(WARM_UP): launch.call()
            torch.cuda.synchronize()
            short.append(time.perf_counter() - start < WARM_UP * SHORT)
        us, owner = [[] for _ in launches], []

        def collect():
            torch.cuda.synchronize()
            for i, of in enumerate(owner): us[of].append(1e3 * self.begin[i].elapsed_time(self.end[i]))
            owner.clear()

        start = time.perf_counter()
        for turn in range(MOST):
            if turn >= LEAST and time.perf_counter() - start > seconds * len(launches): break
            for i, launch in enumerate(launches):
                if self.rest: collect(), time.sleep(self.rest)
                # Note: the flush comes last, so that what is timed finds the device as validate's launches do, not idle.
                # A host that has slept is slow to queue, whatever it queues.
                if self.rest or launch.hide_host and (short[i] or not owner): torch.cuda._sleep(self.HIDING_CYCLES)
                self.flushed.fill_(turn & 0xff)  # which keeps the device busy while the first of the launch's kernels is queued
                at = len(owner)
                self.begin[at].record()
                launch.call()
                self.end[at].record()
                owner.append(i)
                if len(owner) == BATCH: collect()
        collect()
        return us

    def captured(self, call):
        """What `call` puts into a stream, as a graph to replay.  Raises where it is not to be captured."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3): call()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            output = call()

        def replay():
            graph.replay()
            return output
        return replay


class HostClock:
    def time_us(self, launches, seconds):
        us = [[] for _ in launches]
        for launch in launches: launch.call()
        start = time.perf_counter()
        for turn in range(MOST):
            if turn >= LEAST and time.perf_counter() - start > seconds * len(launches): break
            for i, launch in enumerate(launches):
                begin = time.perf_counter()
                launch.call()
                us[i].append(1e6 * (time.perf_counter() - begin))
        return us


def quantile(ordered, q):
    """Between neighbours linearly, as validate has it."""
    at = q * (len(ordered) - 1)
    low = int(at)
    return ordered[low] + (at - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def summary(us):
    ordered, n = sorted(us), len(us)
    mean = sum(us) / n
    std = (sum((x - mean) ** 2 for x in us) / (n - 1)) ** 0.5 if n > 1 else 0.0
    out = {"median": quantile(ordered, 0.5), "p5": quantile(ordered, 0.05), "p95": quantile(ordered, 0.95), "min": ordered[0],
           "max": ordered[-1], "mean": mean, "std": std, "samples": n}
    if n >= 1000: out["p99"] = quantile(ordered, 0.99)
    return out


def kept(us):
    """At most 50, evenly over the time."""
    n = min(len(us), KEPT)
    return [round(us[i * len(us) // n], 3) for i in range(n)]
