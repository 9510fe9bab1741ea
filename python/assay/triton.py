# SPDX-License-Identifier: Apache-2.0
"""Triton without a GPU: kernels are compiled for a GPU and run on the simulated machine (docs/triton.md).

with assay.triton.simulate("sm_80"):
    kernel[grid](x, y, n, BLOCK=128)        # on tensors of the host
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib.util
import os
import re
import runpy
import sys
from dataclasses import replace
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from . import machine
from .arrays import Array, empty, empty_like, tensor, zeros
from .errors import Error, Finding, InputError
from .fresh import Fresh
from .tensors import ml_dtypes

__all__ = ["Array", "Finding", "configs", "empty", "empty_like", "simulate", "tensor", "zeros"]

VARIABLE = "ASSAY_TRITON_SIMULATE"  # in the environment: the GPU to simulate from the start, such as sm_80
OLDEST = (3, 4)
_SHARED = {80: 163, 86: 99, 87: 163, 89: 99, 90: 227}  # KiB that a block may have, by arch
MULTIPROCESSORS = 4  # few, so that the blocks of a persistent kernel take several tiles


def _arch_of(arch: str | int) -> int:
    found = re.fullmatch(r"(?:sm_?)?(\d+)a?", str(arch))
    if not found or int(found[1]) not in _SHARED:
        raise InputError(f"the arch '{arch}' is none of {', '.join(f'sm_{number}' for number in _SHARED)}")
    return int(found[1])


@functools.lru_cache(maxsize=None)
def _triton() -> Any:
    """The package triton, of a version that is known to work."""
    try:
        import triton
    except ImportError:
        raise InputError("simulate() needs the package triton") from None
    version = tuple(int(n) for n in re.findall(r"\d+", triton.__version__)[:2])
    if version < OLDEST:
        raise InputError(f"simulate() works from Triton {'.'.join(map(str, OLDEST))} on, and this is {triton.__version__}")
    return triton


class Simulation:
    """Kernels run on the simulated machine while it is active."""

    def __init__(self, arch: str | int, config: str | int = 0, options: machine.Options = machine.Options()) -> None:
        self.arch = _arch_of(arch)
        self.config = config
        self.options = options
        self.memory = machine.Memory()
        self.fresh = Fresh(self.memory)
        self.entries: dict[str, machine.Entry] = {}  # that were launched, by name
        self._declared: list[machine.Region] = []

    def set(self, **options: Any) -> None:
        """Changes attributes of the options of later launches."""
        self.options = replace(self.options, **options)

    def declare(self, regions: Sequence[machine.Region]) -> None:
        """Memory with a name, of which kernels may access exactly these bytes."""
        self._declared = list(regions)

    def region_of(self, argument: Any, name: str) -> machine.Region | None:
        """The memory that a kernel may access through an argument with a data_ptr()."""
        address = argument.data_ptr()
        for region in self._declared:
            if region.begin <= address < max(region.begin + region.size, region.begin + 1):
                return region
        while hasattr(argument, "base") and hasattr(argument.base, "data_ptr"):  # triton.reinterpret()
            argument = argument.base
        if isinstance(argument, Array):
            if argument.is_fresh and argument.base not in self.fresh:
                self.fresh.add(argument.owner, argument.base, argument.base_bytes)
            region = machine.Region(argument.base, argument.base_bytes, name, argument.is_fresh, argument.is_writable)
            return region if region.size else None
        if hasattr(argument, "untyped_storage"):
            if argument.device.type != "cpu":
                raise InputError(f"'{name}' is on the device {argument.device}, and a tensor of the host was expected")
            storage = argument.untyped_storage()
            begin, size = storage.data_ptr(), storage.nbytes()
            return machine.Region(begin, size, name, begin in self.fresh and _is_unchanged(argument)) if size else None
        raise InputError(f"'{name}' is of type {type(argument).__name__}, whose memory is unknown: use assay.triton.tensor()")

    def unwritten(self, result: Any) -> np.ndarray | None:
        """Of a tensor that was allocated without being written, the elements that no kernel wrote; None: it is another."""
        if isinstance(result, Array):
            begin = result.base
            size = result.base_bytes
            first = result.data_ptr()
            fresh, strides = result.is_fresh, result.peek().strides
            item = result.element_size()
        else:
            storage = result.untyped_storage()
            begin = storage.data_ptr()
            size = storage.nbytes()
            first = result.data_ptr()
            item = result.element_size()
            fresh = _is_unchanged(result)
            strides = tuple(stride * item for stride in result.stride())
        if not fresh or begin not in self.fresh or not size:
            return None
        flags = self.memory.unwritten(begin, size)
        if flags is None:
            flags = np.ones(size, bool)  # no kernel has had it
        return np.lib.stride_tricks.as_strided(flags[first - begin :], tuple(result.shape), strides)

    def launch(
        self, kernel: Any, grid: Sequence[int], signature: Sequence[Any], arguments: Sequence[Any], names: Sequence[str]
    ) -> None:
        """Runs a compiled kernel on its arguments, whose types are those of the signature."""
        values = list(_flattened(signature, arguments, names))
        regions: dict[int, machine.Region] = {}
        with _no_mode():
            for kind, value, name in values:
                if kind.startswith("*") and hasattr(value, "data_ptr"):
                    region = self.region_of(value, name)
                    if region:
                        regions.setdefault(region.begin, region)
            values = [(kind, value.data_ptr() if hasattr(value, "data_ptr") else value, name) for kind, value, name in values]
        entry = kernel.entry
        blocks = int(np.prod(grid))
        if blocks == 0:
            return
        self.entries[entry.name] = entry

        def pack(translate: Callable[[int], int], scratch: int) -> bytes:
            packed = bytearray(entry.bytes)
            added = [scratch, 0][: len(entry.parameters) - len(values)]
            if len(values) + len(added) != len(entry.parameters):
                raise InputError(f"{entry.name} has {len(entry.parameters)} parameters, and {len(values)} arguments were given")
            for (offset, size), (kind, value, name) in zip(
                entry.parameters, [*values, *(("*i8", pointer, "") for pointer in added)]
            ):
                if kind.startswith("*") and name:
                    value = translate(int(value or 0))
                packed[offset : offset + size] = _bytes_of(kind, value, size, name)
            return bytes(packed)

        meta = kernel.metadata
        scratch = getattr(meta, "global_scratch_size", 0) * blocks * getattr(meta, "num_ctas", 1)
        block = (32 * meta.num_warps, 1, 1)
        self.memory.launch(entry, [*grid], block, meta.shared, list(regions.values()), pack, self.options, scratch)


def _is_unchanged(tensor_of_torch: Any) -> bool:
    """Whether torch has not written the tensor since it was made, as far as torch counts that."""
    try:
        return bool(tensor_of_torch._version == 0)  # pylint: disable=protected-access
    except RuntimeError:  # of torch.inference_mode()
        return False


def _flattened(signature: Sequence[Any], arguments: Sequence[Any], names: Sequence[str]) -> Iterator[tuple[str, Any, str]]:
    """The type, the value and the name of each argument that is a parameter of the entry."""
    for kind, value, name in zip(signature, arguments, names):
        if isinstance(kind, tuple):
            yield from _flattened(kind, value, [f"{name}[{i}]" for i in range(len(kind))])
        elif kind.startswith("tensordesc"):
            yield from _of_descriptor(kind, value, name)
        elif kind != "constexpr":
            yield kind, value, name


def _of_descriptor(kind: str, value: Any, name: str) -> Iterator[tuple[str, Any, str]]:
    """A descriptor made on the host, as the parameters that Triton makes of it for a GPU without tensor maps."""
    shape, strides = [*value.shape], [*value.strides]
    driver = sys.modules["triton.backends.driver"]
    if hasattr(driver, "decompose_descriptor"):
        fields = driver.decompose_descriptor(value)[1:]
    else:
        padding = [value.padding == "nan"] if hasattr(value, "padding") else []
        fields = [*shape, *strides, *padding, *shape, *strides]
    yield "*" + kind[kind.index("<") + 1 : kind.index("[")], value.base, name
    for field in fields:
        yield "i64", int(field), name


def _bytes_of(kind: str, value: Any, size: int, name: str) -> bytes:
    if kind in ("fp16", "bf16", "fp32", "f32", "fp64"):
        if kind == "bf16":
            if ml_dtypes is None:
                raise InputError(f"the argument '{name}' of bf16 needs the package ml_dtypes")
            return np.array(value, ml_dtypes.bfloat16).tobytes()
        return np.array(value, {"fp16": np.float16, "fp64": np.float64}.get(kind, np.float32)).tobytes()
    return (int(value or 0) & ((1 << 8 * size) - 1)).to_bytes(size, "little")


@contextlib.contextmanager
def _no_mode() -> Iterator[None]:
    """Calls of torch within are ours: they say nothing about who writes a tensor."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
    else:
        with torch._C.DisableTorchFunction():  # pylint: disable=protected-access
            yield


# --- What is active -------------------------------------------------------------------------------------------------------

_active: Simulation | None = None


def active() -> Simulation:
    """The simulation that is active.

    Raises:
        InputError: none is.
    """
    if _active is None:
        raise InputError("a kernel that was compiled for the simulated machine is launched outside simulate()")
    return _active


@contextlib.contextmanager
def simulate(
    arch: str | int = "sm_80",
    *,
    watch: bool = True,
    order: str = "forward",
    seed: int = 0,
    config: str | int = 0,
    time_limit_s: float = 0,
) -> Iterator[Simulation]:
    """Kernels of Triton that are launched within run on the simulated machine, on tensors of the host.

    Args:
        arch: the GPU to compile for: sm_80, sm_86, sm_87, sm_89 or sm_90.
        watch: races, and reads of memory that nobody wrote, are findings too.
        order: of blocks and threads: forward, reverse, or shuffled by `seed`.
        config: of an autotuned kernel, the configuration to run: its number, or words that its text has, such as
            "BLOCK: 64, num_warps: 4".
        time_limit_s: seconds of one launch; 0: no limit.

    Yields:
        The Simulation.

    Raises:
        Finding: a kernel did what no kernel may do; it stops at the first.
        InputError: an argument is wrong, triton is missing or too old, or a kernel has an instruction that the machine does not
            run.  Its message names the line.
    """
    if order not in machine.ORDERS:
        raise InputError(f"the order '{order}' is none of {', '.join(machine.ORDERS)}")
    with activated(Simulation(arch, config, machine.Options(watch, order, seed, time_limit_s))) as simulation:
        try:
            yield simulation
        finally:
            simulation.memory.forget_all()


@contextlib.contextmanager
def activated(simulation: Simulation) -> Iterator[Simulation]:
    """Within, kernels run on the machine as the simulation says."""
    global _active
    _triton()
    from . import triton_driver  # Note: it defines subclasses of Triton's

    outer, _active = _active, simulation  # Note: one at a time; what it installs is the process's
    with contextlib.ExitStack() as stack:
        stack.callback(_set_active, outer)
        stack.enter_context(triton_driver.installed(simulation.arch))
        torch = sys.modules.get("torch")
        if torch:
            stack.enter_context(triton_driver.allocations_seen(torch, simulation.fresh))
        yield simulation


def _set_active(simulation: Simulation | None) -> None:
    global _active
    _active = simulation


def configs(kernel: Any) -> list[str]:
    """The configurations of an autotuned kernel in words, as simulate(config=...) takes them; of another kernel none."""
    while kernel is not None and not hasattr(kernel, "configs"):
        kernel = getattr(kernel, "fn", None)
    return [str(config) for config in kernel.configs] if kernel is not None else []


# --- Without a line of ours in a script -----------------------------------------------------------------------------------


def asked_for() -> str | None:
    """The GPU that the environment asks to simulate."""
    return os.environ.get(VARIABLE) or None


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a script whose kernels run on the simulated machine: `python -m assay.triton SCRIPT`.  Exits with code 1 at a finding,
    2 at any other error of this package."""
    parser = argparse.ArgumentParser(prog="python -m assay.triton", description="runs a script of Triton without a GPU")
    parser.add_argument("--arch", default=asked_for() or "sm_80", help=f"the GPU to simulate (default: ${VARIABLE}, else sm_80)")
    parser.add_argument("--config", default="0", help="which configuration autotuned kernels run with: a number or its words")
    parser.add_argument("--no-watch", action="store_true", help="look for no races, and no reads of what nobody wrote")
    parser.add_argument("script", help="a Python script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    options = parser.parse_args(arguments)
    if importlib.util.find_spec("torch"):
        importlib.import_module("torch")  # Note: its allocations are seen only if it was there first
    config = int(options.config) if options.config.isdecimal() else options.config
    sys.argv = [options.script, *options.arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(options.script))
    try:
        with simulate(options.arch, watch=not options.no_watch, config=config):
            runpy.run_path(options.script, run_name="__main__")
    except Error as e:
        print(f"assay: {e}", file=sys.stderr)
        sys.exit(1 if isinstance(e, Finding) else 2)


if __name__ == "__main__":
    from assay import triton as _this  # Note: the module that the driver knows, and not its twin __main__

    _this.main()
