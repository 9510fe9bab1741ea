# SPDX-License-Identifier: Apache-2.0
"""The simulated machine in this process: PTX runs on the memory of tensors."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, replace
from typing import Callable, Sequence

import numpy as np

from . import ptx_library
from .errors import Finding, InputError

ORDERS = ("forward", "reverse", "shuffled")


@dataclass(frozen=True)
class Options:
    """How launches run.

    Attributes:
        watch: races, and reads of memory that nobody wrote, are findings too.
        order: of blocks and threads, one of ORDERS; `seed`: of shuffled.
        time_limit_s: of one launch; 0: none.
    """

    watch: bool = True
    order: str = "forward"
    seed: int = 0
    time_limit_s: float = 0


class Refused(InputError):
    """The text is no PTX, or has an instruction that the machine does not run."""


class Entry:
    """An entry of a PTX module, decoded.

    Attributes:
        name: in the module.
        handle: what the machine's interface knows it by.
        parameters: the offset and the size of each, in bytes.
        bytes: the size of all.
        fidelity: how far the machine computes it as a GPU does, in words.

    Raises:
        Refused: the text is no PTX, or has an instruction that the machine does not run.
    """

    def __init__(self, text: bytes, name: str, module: str) -> None:
        lib = ptx_library.opened()
        with ptx_library.lock:
            self._module = lib.assay_ptx_load(text, len(text), module.encode())
            self.handle = lib.assay_ptx_entry(self._module, name.encode()) if self._module else None
            if not self.handle:
                raise Refused(ptx_library.why())
            count = lib.assay_ptx_parameters(self.handle, None, None, 0)
            offsets, sizes = (ctypes.c_uint64 * count)(), (ctypes.c_uint64 * count)()
            lib.assay_ptx_parameters(self.handle, offsets, sizes, count)
            self.parameters = list(zip(offsets, sizes))
            self.bytes = int(lib.assay_ptx_parameter_bytes(self.handle))
            self.fidelity = lib.assay_ptx_fidelity(self.handle).decode()
        self.name = name

    def __del__(self) -> None:
        if getattr(self, "_module", None):
            ptx_library.opened().assay_ptx_unload(self._module)


@dataclass
class Region:
    """Memory of the host that a kernel may access.

    Attributes:
        begin, size: its address and its bytes.
        name: in findings.
        fresh: whether the host has written nothing there since it was allocated.
        writable: whether the host may.
    """

    begin: int
    size: int
    name: str
    fresh: bool = False
    writable: bool = True


@dataclass
class _Twin:
    """The machine's memory for a region whose first bytes nobody wrote; it stays from launch to launch."""

    memory: int
    size: int


class Memory:
    """The machine's copies of regions.  During a launch each region has one; what kernels wrote there is copied back."""

    def __init__(self) -> None:
        self._twins: dict[int, _Twin] = {}  # by the region's address

    def _allocate(self, region: Region, align_to: int) -> int:
        memory = ptx_library.opened().assay_ptx_allocate(region.size, align_to % 256, region.name.encode())
        if not memory:
            raise MemoryError(ptx_library.why())
        return int(memory)

    def _enter(self, region: Region) -> tuple[int, bool]:
        """The machine's memory for a region, with its bytes, and whether it stays."""
        lib = ptx_library.opened()
        twin = self._twins.get(region.begin)
        if twin and (twin.size != region.size or not region.fresh):
            self.forget(region.begin)
            twin = None
        memory = twin.memory if twin else self._allocate(region, region.begin)
        ctypes.memmove(memory, region.begin, region.size)
        if not region.fresh:
            lib.assay_ptx_mark_written(memory, region.size)
        elif not twin:
            self._twins[region.begin] = _Twin(memory, region.size)
        return memory, region.fresh

    def forget(self, begin: int) -> None:
        """Drops what is known of a region that stays no longer."""
        twin = self._twins.pop(begin, None)
        if twin:
            with ptx_library.lock:
                ptx_library.opened().assay_ptx_release(twin.memory)

    def forget_all(self) -> None:
        """Drops what is known of all regions."""
        for begin in list(self._twins):
            self.forget(begin)

    def unwritten(self, begin: int, size: int) -> np.ndarray | None:
        """A flag for each byte of a region that no kernel has written since it was allocated; None: that is not known."""
        twin = self._twins.get(begin)
        if not twin or twin.size != size:
            return None
        flags = np.empty(size, np.uint8)
        ptx_library.opened().assay_ptx_written(twin.memory, size, flags.ctypes.data)
        return flags == 0

    def launch(
        self,
        entry: Entry,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        regions: Sequence[Region],
        pack: Callable[[Callable[[int], int], int], bytes],
        options: Options,
        scratch: int = 0,
    ) -> None:
        """Runs an entry, and copies back what it wrote.

        Args:
            entry: the kernel.
            grid, block: the extents x, y and z of the grid in blocks and of a block in threads.
            shared: bytes of dynamic shared memory of a block.
            regions: the memory of the host that the kernel may access.
            pack: makes the bytes of its parameters.  It gets a function that translates an address of the host, which must lie
                in a region, and the address of the scratch memory.
            options: how it runs.
            scratch: bytes of memory for the entry's own use.

        Raises:
            Finding: the kernel did what no kernel may do.
            InputError: it writes a region that is read-only, or cannot be launched so.
            MemoryError: the machine has no room for the regions.
        """
        lib = ptx_library.opened()
        entered: list[tuple[Region, int, bool]] = []
        own_scratch = 0

        def translate(address: int) -> int:
            for past in (0, 1):  # an address one past the end belongs to a region if none begins there
                for region, memory, _ in entered:
                    if region.begin <= address < region.begin + region.size + past:
                        return memory + address - region.begin
            return address

        with ptx_library.lock:
            try:
                for region in regions:
                    entered.append((region, *self._enter(region)))
                if scratch:
                    own_scratch = self._allocate(Region(0, scratch, "global scratch memory"), 0)
                parameters = pack(translate, own_scratch)
                launch = ptx_library.CLaunch((*grid,), (*block,), shared, parameters, len(parameters))
                suspected = self._run(entry, launch, options)
                touched = [(region, memory) for region, memory, _ in entered if lib.assay_ptx_touched(memory)]
                if suspected:
                    self._compare_orders(entry, launch, options, touched, suspected)
                for region, memory in touched:
                    if not region.writable:
                        raise InputError(f"{entry.name} writes '{region.name}', whose array is read-only")
                    ctypes.memmove(region.begin, memory, region.size)
            finally:
                for _, memory, stays in entered:
                    if not stays:
                        lib.assay_ptx_release(memory)
                if own_scratch:
                    lib.assay_ptx_release(own_scratch)

    def _run(self, entry: Entry, launch: ptx_library.CLaunch, options: Options) -> Finding | None:
        """One launch.  Returns a race that may count for nothing."""
        lib = ptx_library.opened()
        c_finding = ptx_library.CFinding()
        c_options = ptx_library.COptions(ORDERS.index(options.order), int(options.watch), options.seed, options.time_limit_s, 1)
        lib.assay_ptx_configure(ctypes.byref(c_options))
        status = lib.assay_ptx_launch(entry.handle, ctypes.byref(launch), ctypes.byref(c_finding))
        if status == 1:
            raise _finding_of(c_finding, entry.name)
        if status:
            raise InputError(f"{entry.name}: {ptx_library.why()}")
        return _finding_of(c_finding, entry.name) if lib.assay_ptx_suspected(ctypes.byref(c_finding)) else None

    def _compare_orders(
        self,
        entry: Entry,
        launch: ptx_library.CLaunch,
        options: Options,
        touched: Sequence[tuple[Region, int]],
        suspected: Finding,
    ) -> None:
        """Raises the suspected race if the results differ in the other order of threads."""
        first = [ctypes.string_at(memory, region.size) for region, memory in touched]
        for region, memory in touched:
            ctypes.memmove(memory, region.begin, region.size)
        self._run(entry, launch, replace(options, order="forward" if options.order == "reverse" else "reverse"))
        if first != [ctypes.string_at(memory, region.size) for region, memory in touched]:
            raise suspected


def _finding_of(c_finding: ptx_library.CFinding, kernel: str) -> Finding:
    message = c_finding.message.decode(errors="replace")
    who = re.search(r"block (\(\d+, \d+, \d+\)), thread (\(\d+, \d+, \d+\))", message)
    block, thread = (tuple(map(int, part.strip("()").split(","))) for part in who.groups()) if who else (None, None)
    return Finding(
        kernel,
        c_finding.kind.decode(),
        message,
        c_finding.file.decode(errors="replace"),
        c_finding.line,
        block,
        thread,
        c_finding.ptx_line,
    )
