# SPDX-License-Identifier: Apache-2.0
"""The simulated machine in this process: PTX runs on the memory of tensors (libassay_ptx.so, include/assay_ptx.h)."""

from __future__ import annotations

import ctypes
import functools
import os
import re
import threading
import weakref
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Sequence

import numpy as np

from . import library
from .errors import Finding, InputError, LibraryError

VARIABLE = "ASSAY_PTX"  # in the environment: the shared object to use
ORDERS = ("forward", "reverse", "shuffled")
_VERSION = 1
_lock = threading.RLock()  # a process has one machine


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


class _Options(ctypes.Structure):
    _fields_ = [
        ("order", ctypes.c_int32),
        ("watch", ctypes.c_int32),
        ("seed", ctypes.c_uint64),
        ("time_limit_s", ctypes.c_double),
        ("replicated", ctypes.c_int32),
    ]


class _Launch(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_uint64),
        ("parameters", ctypes.c_char_p),
        ("parameter_bytes", ctypes.c_uint64),
    ]


class _Finding(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_char_p),
        ("message", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("line", ctypes.c_int32),
        ("ptx_line", ctypes.c_int32),
    ]


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    """The shared object that ASSAY_PTX names, or the one beside the program `validate`."""
    named = os.environ.get(VARIABLE)
    path = named or str(Path(library.program()).resolve().parent / "libassay_ptx.so")
    try:
        lib = ctypes.CDLL(path)
    except OSError as e:
        raise LibraryError(f"the simulated machine cannot be opened: {e}  ({VARIABLE} names another object)") from None
    pointer, size = ctypes.c_void_p, ctypes.c_uint64
    for name, result, *arguments in (
        ("version", ctypes.c_uint32),
        ("why", ctypes.c_char_p),
        ("load", pointer, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p),
        ("entry", pointer, pointer, ctypes.c_char_p),
        ("unload", None, pointer),
        ("fidelity", ctypes.c_char_p, pointer),
        ("parameters", ctypes.c_size_t, pointer, ctypes.POINTER(size), ctypes.POINTER(size), ctypes.c_size_t),
        ("parameter_bytes", size, pointer),
        ("allocate", pointer, size, size, ctypes.c_char_p),
        ("release", None, pointer),
        ("mark_written", None, pointer, size),
        ("touched", ctypes.c_int32, pointer),
        ("written", None, pointer, size, pointer),
        ("configure", None, ctypes.POINTER(_Options)),
        ("suspected", ctypes.c_int32, ctypes.POINTER(_Finding)),
        ("launch", ctypes.c_int32, pointer, ctypes.POINTER(_Launch), ctypes.POINTER(_Finding)),
    ):
        try:
            function = getattr(lib, f"assay_ptx_{name}")
        except AttributeError:
            raise LibraryError(f"'{path}' is no libassay_ptx.so of this version: it lacks assay_ptx_{name}") from None
        function.restype, function.argtypes = result, arguments
    if lib.assay_ptx_version() != _VERSION:
        raise LibraryError(f"'{path}' has the interface {lib.assay_ptx_version()}, and this package needs {_VERSION}")
    return lib


def _why() -> str:
    return str(_library().assay_ptx_why().decode(errors="replace"))


class Refused(InputError):
    """The text is no PTX, or has an instruction that the machine does not run."""


class Entry:
    """An entry of a PTX module, decoded.  Raises Refused."""

    def __init__(self, text: bytes, name: str, module: str) -> None:
        lib = _library()
        with _lock:
            self._module = lib.assay_ptx_load(text, len(text), module.encode())
            self._entry = lib.assay_ptx_entry(self._module, name.encode()) if self._module else None
            if not self._entry:
                raise Refused(_why())
            count = lib.assay_ptx_parameters(self._entry, None, None, 0)
            offsets, sizes = (ctypes.c_uint64 * count)(), (ctypes.c_uint64 * count)()
            lib.assay_ptx_parameters(self._entry, offsets, sizes, count)
            self.parameters = list(zip(offsets, sizes))  # the offset and the size of each, in bytes
            self.bytes = int(lib.assay_ptx_parameter_bytes(self._entry))
            self.fidelity = lib.assay_ptx_fidelity(self._entry).decode()
        self.name = name

    def __del__(self) -> None:
        if getattr(self, "_module", None):
            _library().assay_ptx_unload(self._module)


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
        memory = _library().assay_ptx_allocate(region.size, align_to % 256, region.name.encode())
        if not memory:
            raise MemoryError(_why())
        return int(memory)

    def _enter(self, region: Region) -> tuple[int, bool]:
        """The machine's memory for a region, with its bytes, and whether it stays."""
        lib = _library()
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
            with _lock:
                _library().assay_ptx_release(twin.memory)

    def forget_all(self) -> None:
        for begin in list(self._twins):
            self.forget(begin)

    def unwritten(self, begin: int, size: int) -> np.ndarray | None:
        """A flag for each byte of a region that no kernel has written since it was allocated; None: that is not known."""
        twin = self._twins.get(begin)
        if not twin or twin.size != size:
            return None
        flags = np.empty(size, np.uint8)
        _library().assay_ptx_written(twin.memory, size, flags.ctypes.data)
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
        """Runs an entry.

        `pack` makes the bytes of its parameters: it gets a function that translates an address of the host, which must lie in a
        region, and the address of `scratch` bytes of memory for the entry's own use.
        """
        lib = _library()
        entered: list[tuple[Region, int, bool]] = []
        own = 0

        def translate(address: int) -> int:
            for past in (0, 1):  # an address one past the end belongs to a region if none begins there
                for region, memory, _ in entered:
                    if region.begin <= address < region.begin + region.size + past:
                        return memory + address - region.begin
            return address

        with _lock:
            try:
                for region in regions:
                    entered.append((region, *self._enter(region)))
                if scratch:
                    own = self._allocate(Region(0, scratch, "global scratch memory"), 0)
                parameters = pack(translate, own)
                launch = _Launch((*grid,), (*block,), shared, parameters, len(parameters))
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
                if own:
                    lib.assay_ptx_release(own)

    def _run(self, entry: Entry, launch: _Launch, options: Options) -> Finding | None:
        """One launch.  Returns a race that may count for nothing."""
        lib = _library()
        found = _Finding()
        c_options = _Options(ORDERS.index(options.order), int(options.watch), options.seed, options.time_limit_s, 1)
        lib.assay_ptx_configure(ctypes.byref(c_options))
        status = lib.assay_ptx_launch(entry._entry, ctypes.byref(launch), ctypes.byref(found))  # pylint: disable=protected-access
        if status == 1:
            raise _finding_of(found, entry.name)
        if status:
            raise InputError(f"{entry.name}: {_why()}")
        return _finding_of(found, entry.name) if lib.assay_ptx_suspected(ctypes.byref(found)) else None

    def _compare_orders(
        self, entry: Entry, launch: _Launch, options: Options, touched: Sequence[tuple[Region, int]], suspected: Finding
    ) -> None:
        """Raises the suspected race if the results differ in the other order of threads."""
        first = [ctypes.string_at(memory, region.size) for region, memory in touched]
        for region, memory in touched:
            ctypes.memmove(memory, region.begin, region.size)
        self._run(entry, launch, replace(options, order="forward" if options.order == "reverse" else "reverse"))
        if first != [ctypes.string_at(memory, region.size) for region, memory in touched]:
            raise suspected


def _finding_of(found: _Finding, kernel: str) -> Finding:
    message = found.message.decode(errors="replace")
    who = re.search(r"block (\(\d+, \d+, \d+\)), thread (\(\d+, \d+, \d+\))", message)
    block, thread = (tuple(map(int, part.strip("()").split(","))) for part in who.groups()) if who else (None, None)
    return Finding(
        kernel, found.kind.decode(), message, found.file.decode(errors="replace"), found.line, block, thread, found.ptx_line
    )


class Fresh:
    """Knows which memory was allocated without being written: addresses of storages, while these live."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._known: dict[int, int] = {}  # address: bytes

    def add(self, storage: Any, begin: int, size: int) -> None:
        """A storage was allocated; `storage` lives as long as its memory."""
        if size:
            self._known[begin] = size
            weakref.finalize(storage, self.drop, begin).atexit = False

    def drop(self, begin: int) -> None:
        """The host may have written it, or it is gone."""
        self._known.pop(begin, None)
        self._memory.forget(begin)

    def __contains__(self, begin: int) -> bool:
        return begin in self._known
