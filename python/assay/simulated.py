# SPDX-License-Identifier: Apache-2.0
"""The place of a worker whose callable launches kernels of Triton on the simulated machine (docs/triton.md)."""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import re
from dataclasses import dataclass
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from .arrays import Array
from .errors import Finding, InputError
from .machine import Region
from .places import Entry, NumpyPlace, require, torch_dtype, view_of
from .tensors import BITS, bits_of, dtype_of

NUMPY = "numpy"  # the device that gives tensors of arrays.py


@dataclass(frozen=True)
class Simulated:
    """What is simulated: a GPU like sm_80, and the configuration of autotuned kernels."""

    arch: str
    config: str | int = 0

    def named(self, kernel: str) -> str:
        """The name of a kernel in records, with its configuration unless that is the first."""
        if not self.config:
            return kernel
        words = f"config_{self.config}" if isinstance(self.config, int) else self.config
        suffix = "_" + re.sub(r"\W+", "_", words, flags=re.ASCII).strip("_")[:40]
        return kernel[: 64 - len(suffix)] + suffix

    @staticmethod
    def parsed(arch: str, config: str | int) -> Simulated:
        """The same of words: sm_80, sm80 or 80, and a number or words of a configuration.

        Raises:
            InputError: the machine does not simulate this arch.
        """
        from . import triton

        number = triton._arch_of(arch)  # pylint: disable=protected-access
        return Simulated(f"sm_{number}", int(config) if str(config).isdecimal() else config)


def place_device(device: str | None) -> str:
    """The device for tensors of a simulated case: cpu, or numpy where torch is missing."""
    if device not in (None, "cpu", NUMPY):
        raise InputError(f"the device is '{device}', and simulate takes 'cpu', for tensors of torch, or '{NUMPY}'")
    return device or ("cpu" if importlib.util.find_spec("torch") else NUMPY)


class SimulatedPlace:
    """Tensors lie in memory of the host, of which kernels may access exactly their images."""

    backend = "simt"
    checks = ("bounds", "inputs", "reads", "races", "uninitialised", "plain")

    def __init__(self, simulated: Simulated, device: str) -> None:
        from . import triton

        self._triton = triton
        self._simulation = triton.Simulation(simulated.arch, simulated.config)
        self._torch: Any = None
        if device != NUMPY:
            import torch

            self._torch = torch
            torch.set_num_threads(1)  # Note: the judge runs workers side by side
        version = triton._triton().__version__  # pylint: disable=protected-access
        config = f", configuration '{simulated.config}'" if simulated.config else ""
        holder = f"torch {self._torch.__version__}" if self._torch else f"NumPy {np.__version__}"
        self.device = f"simt ({os.cpu_count()} cores), {simulated.arch} by Triton {version}{config}, {holder}"
        self._memory: dict[str, np.ndarray] = {}  # by tensor; it stays, so that a callable that trusts an address is found
        self._placed: list[tuple[Entry, np.ndarray, bool, np.ndarray]] = []
        self._watch = False

    def begin(self) -> None:
        self._placed = []
        self._simulation.memory.forget_all()
        self._simulation.entries.clear()

    def fidelity(self) -> str:
        """Of the kernels that were launched, what is said of the one that is least like a GPU's, and of one that adds in any order."""
        levels = ("modelled", "contractable", "exact")
        parts = [entry.fidelity.partition("; ") for entry in self._simulation.entries.values()]
        least = min(
            (p[0] for p in parts), key=lambda f: next((i for i, s in enumerate(levels) if f.startswith(s)), -1), default=""
        )
        return least + next(("; " + unordered for _, _, unordered in parts if unordered), "")

    def poison(self, entries: Sequence[Entry], garbage: int) -> None:
        if self._torch is None:
            NumpyPlace.poison(self, entries, garbage)  # type: ignore[arg-type]
            return
        blocks = [
            self._torch.empty(math.prod(entry["shape"]) * BITS[entry["dtype"]].itemsize, dtype=self._torch.uint8).fill_(garbage)
            for entry in entries
        ]
        del blocks

    @contextlib.contextmanager
    def launching(self, run: Mapping[str, Any]) -> Iterator[None]:
        self._watch = run["watch"]
        self._simulation.set(watch=run["watch"], order=run["order"], seed=run["seed"])
        self._simulation.declare(
            [Region(placed.ctypes.data, placed.nbytes, entry["name"]) for entry, _, _, placed in self._placed if placed.nbytes]
        )
        with contextlib.ExitStack() as stack:
            if self._torch:
                stack.enter_context(self._torch.no_grad())
            stack.enter_context(self._triton.activated(self._simulation))
            yield

    def argument(self, entry: Entry, image: np.ndarray, writable: bool) -> Any:
        size = entry["offset"] + image.size + 256
        memory = self._memory.get(entry["name"])
        if memory is None or memory.size < size:
            memory = self._memory[entry["name"]] = np.empty(size, np.uint8)
        begin = -memory.ctypes.data % 256 + entry["offset"]
        placed = memory[begin : begin + image.size]
        np.copyto(placed, image)
        self._placed.append((entry, image, writable, placed))
        if self._torch is None:
            return Array(view_of(entry, placed, dtype_of(entry["dtype"])), memory)
        if not placed.size:
            return self._torch.empty(entry["shape"], dtype=torch_dtype(self._torch, entry))
        bits = self._torch.from_numpy(placed).view(torch_dtype(self._torch, entry))
        return self._torch.as_strided(bits, entry["shape"], entry["strides"])

    def finish(self) -> str | None:
        changed = None
        for entry, image, writable, placed in self._placed:
            if writable:
                np.copyto(image, placed)
            elif changed is None and not np.array_equal(image, placed):
                changed = entry["name"]
        return changed

    def take(self, what: str, entry: Entry, returned: Any, image: np.ndarray) -> None:
        ours = Array if self._torch is None else self._torch.Tensor
        if not isinstance(returned, (ours, np.ndarray)):
            wanted = "a tensor of torch" if self._torch else "an assay.triton.Array"
            raise InputError(f"{what} returned '{entry['name']}' as {type(returned).__name__}, and {wanted} was expected")
        flags = self._simulation.unwritten(returned) if self._watch and isinstance(returned, ours) else None
        array = returned.peek() if isinstance(returned, Array) else returned
        dtype, array = bits_of(f"what {what} returned as '{entry['name']}'", array)
        require(what, entry, dtype, array.shape)
        if flags is not None and flags.any():
            first = int(np.flatnonzero(flags.reshape(-1))[0])
            raise Finding(what, "unwritten", f"element {first} of {flags.size} of '{entry['name']}' was not written")
        np.copyto(view_of(entry, image), array)
