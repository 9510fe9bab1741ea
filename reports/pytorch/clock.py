# SPDX-License-Identifier: Apache-2.0
"""Times as `validate bench` takes its cold ones: before each launch the L2 cache is flushed, events enclose the launch alone, the
launches of a row take turns.  On a CPU by the host's clock, nothing flushed: to try the script out, no measure of anything."""
import time

import torch

LEAST = 30
MOST = 1000
BATCH = 20
KEPT = 50
WARM_UP = 0.1  # seconds
FLUSH_BYTES = 256 << 20  # five times the L2 of an H200
HIDING, MOST_FLUSHES = 8, 64  # of 60 us


class Launch:
    """What is timed.  `hide_host`: queued whole before the device comes to it, for the host takes longer than a flush."""

    def __init__(self, call, hide_host=False):
        self.call = call
        self.flushes = HIDING if hide_host else 1
        self.hide_host = hide_host


def turns(seconds):
    """Numbers of the turns of a timing, and whether they count: those of the first WARM_UP seconds do not."""
    turn = 0
    warm = time.perf_counter() + WARM_UP
    while turn == 0 or time.perf_counter() < warm:
        yield turn, False
        turn += 1
    start = time.perf_counter()
    for counted in range(MOST):
        if counted >= LEAST and time.perf_counter() - start > seconds:
            break
        yield turn + counted, True


class CudaClock:
    def __init__(self):
        self.flushed = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
        self.begin, self.end = ([torch.cuda.Event(enable_timing=True) for _ in range(BATCH)] for _ in range(2))

    def _queued_ahead(self, launch, at, turn):
        """Whether it was queued whole before the device came to it.  Note: flushes keep the device busy, and as warm as validate's do:
        one that only waits is 2 us slower at first."""
        for _ in range(launch.flushes):
            self.flushed.fill_(turn & 0xFF)
        self.begin[at].record()
        launch.call()
        self.end[at].record()
        return not self.begin[at].query()

    def time_us(self, launches, seconds):
        """Microseconds of each launch, in the order that they were taken."""
        us = [[] for _ in launches]
        owner = []

        def collect():
            torch.cuda.synchronize()
            for i, of in enumerate(owner):
                of.append(1e3 * self.begin[i].elapsed_time(self.end[i]))
            owner.clear()

        for turn, counts in turns(seconds * len(launches)):
            for i, launch in enumerate(launches):
                while True:
                    ahead = self._queued_ahead(launch, len(owner), turn)
                    if ahead or not launch.hide_host or launch.flushes == MOST_FLUSHES:
                        break
                    launch.flushes *= 2
                owner.append(us[i] if counts else [])
                if len(owner) == BATCH:
                    collect()
        collect()
        return us

    def captured(self, call):
        """What `call` puts into a stream, as a graph to replay.  Raises where it is not to be captured."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                call()
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
        for _, counts in turns(seconds * len(launches)):
            for i, launch in enumerate(launches):
                begin = time.perf_counter()
                launch.call()
                if counts:
                    us[i].append(1e6 * (time.perf_counter() - begin))
        return us


def quantile(ordered, q):
    """Between neighbours linearly, as validate has it."""
    at = q * (len(ordered) - 1)
    low = int(at)
    return ordered[low] + (at - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def summary(us):
    ordered = sorted(us)
    n = len(us)
    mean = sum(us) / n
    std = (sum((x - mean) ** 2 for x in us) / (n - 1)) ** 0.5 if n > 1 else 0.0
    out = {
        "median": quantile(ordered, 0.5),
        "p5": quantile(ordered, 0.05),
        "p95": quantile(ordered, 0.95),
        "min": ordered[0],
        "max": ordered[-1],
        "mean": mean,
        "std": std,
        "samples": n,
    }
    if n >= 1000:
        out["p99"] = quantile(ordered, 0.99)
    return out


def kept(us):
    """At most 50, evenly over the time."""
    n = min(len(us), KEPT)
    return [round(us[i * len(us) // n], 3) for i in range(n)]
