# SPDX-License-Identifier: Apache-2.0
"""Runs reports/pytorch/clock.py on a fake device with a slow host: hiding the host's time must not change the device's.  Prints
microseconds and flushes of each case; validate/tests/bench/pytorch_rows_test.py checks them.  Needs no PyTorch."""
import sys
import types

FLUSH, QUEUE = 60, 2  # us of the device, of the host


class Machine:
    """Two clocks in us.  The device starts queued work once it is queued and the work before it is done.  It is faster for the
    first 70 ms of work."""

    host = device = worked = 0.0
    flushes = 0

    def queued(self, us):
        self.host += QUEUE
        took = us * 0.875 if self.worked < 70_000 else us
        self.worked += took
        self.device = max(self.device, self.host) + took

    def synchronize(self):
        self.host = max(self.host, self.device)


class Event:
    def __init__(self, enable_timing):
        pass

    def record(self):
        machine.queued(0)
        self.at = machine.device

    def query(self):
        return self.at <= machine.host

    def elapsed_time(self, end):
        return (end.at - self.at) / 1e3


class Buffer:
    def fill_(self, _):
        machine.flushes += 1
        machine.queued(FLUSH)


torch = types.ModuleType("torch")
torch.uint8 = "uint8"
torch.empty = lambda *_, **__: Buffer()
torch.cuda = types.SimpleNamespace(Event=Event, synchronize=lambda: machine.synchronize())
sys.modules["torch"] = torch
from pytorch import clock

clock.time = types.SimpleNamespace(perf_counter=lambda: machine.host / 1e6)


def timed(name, host_us, device_us, **flags):
    """Times a launch for which the host takes host_us before it is queued."""
    global machine
    machine = Machine()

    def call():
        machine.host += host_us
        machine.queued(device_us)

    launch = clock.Launch(call, **flags)
    (us,) = clock.CudaClock().time_us([launch], 0)
    print(f"{name}: {len(us)} times, {min(us):.0f} to {max(us):.0f} us, behind {launch.flushes}, {machine.flushes} in all")


timed("quick", 5, 100)
timed("slow, as it is", 700, 100)
timed("slow, hidden", 700, 100, hide_host=True)
timed("beyond hiding", 9000, 100, hide_host=True)
