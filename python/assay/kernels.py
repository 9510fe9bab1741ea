# SPDX-License-Identifier: Apache-2.0
"""Kernels of a shared object with the C interface (include/assay.h): which takes a case, and its launches."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from ctypes import c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Sequence

from . import library
from .errors import Error, InputError, LibraryError

VARIABLE = "ASSAY_KERNELS"  # in the environment: the shared object to use
FILE = "libassay_kernels.so"
HOST, CUDA = 1, 2  # device types of DLPack
_VERSION = 1
_NONDETERMINISTIC = 1
# DLPack's code and bits.
_CODES = {
    "f16": (2, 16),
    "bf16": (4, 16),
    "f32": (2, 32),
    "i32": (0, 32),
    "i64": (0, 64),
    "e4m3": (10, 8),
    "e5m2": (12, 8),
    "e8m0": (14, 8),
    "i8": (0, 8),
    "u8": (1, 8),
}


class _DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", ctypes.POINTER(c_int64)),
        ("strides", ctypes.POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _Tensor(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("dl", _DLTensor)]


class _Attribute(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("word", c_char_p), ("number", c_double)]


class _Call(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kernel", c_void_p),
        ("dtype", c_char_p),
        ("tensor_count", c_int32),
        ("attribute_count", c_int32),
        ("tensors", ctypes.POINTER(ctypes.POINTER(_Tensor))),
        ("attributes", ctypes.POINTER(ctypes.POINTER(_Attribute))),
        ("stream", c_void_p),
        ("workspace", c_void_p),
    ]


class _Kernel(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("op", c_char_p),
        ("name", c_char_p),
        ("dtypes", c_char_p),
        ("numerics", c_char_p),
        ("tiles", c_char_p),
        ("about", c_char_p),
        ("flags", c_uint32),
        ("user", c_void_p),
        ("supports", ctypes.CFUNCTYPE(c_char_p, ctypes.POINTER(_Call))),
        ("workspace_bytes", ctypes.CFUNCTYPE(c_size_t, ctypes.POINTER(_Call))),
        ("run", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Call))),
    ]


class _Plugin(ctypes.Structure):
    _fields_ = [
        ("size", c_size_t),
        ("abi_version", c_uint32),
        ("kernel_count", c_int32),
        ("kernels", ctypes.POINTER(ctypes.POINTER(_Kernel))),
    ]


class Given(NamedTuple):
    """A tensor by its dtype (by our names), shape, strides in elements, and the address of its first element."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int


class Call:
    """A kernel and the arguments of its launches, whose tensors may have other addresses in each.

    Attributes:
        refusal: why the kernel does not take the case; None: it does.
        workspace_bytes: the size of the memory that a launch needs beside its tensors.
    """

    def __init__(
        self,
        owner: Kernels,
        kernel: Any,
        op: library.Op,
        dtype: str,
        tensors: Mapping[str, Given],
        attributes: Mapping[str, Any],
        device: tuple[int, int],
    ) -> None:
        self._owner = owner
        self._kernel = kernel
        self._structs: list[Any] = []  # what the call points to
        given = (ctypes.POINTER(_Tensor) * len(op.tensors))()
        self._data: dict[str, Any] = {}
        for i, tensor in enumerate(op.tensors):
            if tensor.name in tensors:
                struct = self._tensor(tensor.name, tensors[tensor.name], device)
                self._data[tensor.name] = struct.dl
                given[i] = ctypes.pointer(struct)
        values = (ctypes.POINTER(_Attribute) * len(op.attributes))()
        for i, attribute in enumerate(op.attributes):
            value = attributes.get(attribute.name, attribute.default)
            word = (attribute.choices[int(value)] if isinstance(value, bool) else str(value)) if attribute.choices else None
            struct = _Attribute(
                ctypes.sizeof(_Attribute), attribute.name.encode(), word and word.encode(), 0.0 if word else float(value)
            )
            self._structs.append(struct)
            values[i] = ctypes.pointer(struct)
        self._structs += [given, values]
        self._call = _Call(
            ctypes.sizeof(_Call),
            ctypes.cast(ctypes.pointer(kernel), c_void_p),
            dtype.encode(),
            len(given),
            len(values),
            ctypes.cast(given, ctypes.POINTER(ctypes.POINTER(_Tensor))),
            ctypes.cast(values, ctypes.POINTER(ctypes.POINTER(_Attribute))),
        )
        self._lock = threading.Lock()
        self._run = kernel.run
        self._call_pointer = ctypes.byref(self._call)
        self.refusal = kernel.supports(ctypes.byref(self._call)) if kernel.supports else None
        self.workspace_bytes = 0
        if self.refusal is None and kernel.workspace_bytes:
            self.workspace_bytes = int(kernel.workspace_bytes(ctypes.byref(self._call)))

    def _tensor(self, name: str, tensor: Given, device: tuple[int, int]) -> Any:
        code, bits = _CODES[tensor.dtype]
        extents = (c_int64 * max(len(tensor.shape), 1))(*tensor.shape)
        strides = (c_int64 * max(len(tensor.shape), 1))(*tensor.strides)
        dl = _DLTensor(tensor.address, *device, len(tensor.shape), code, bits, 1, extents, strides, 0)
        struct = _Tensor(ctypes.sizeof(_Tensor), name.encode(), dl)
        self._structs += [extents, strides, struct]
        return struct

    @property
    def name(self) -> str:
        """The kernel's."""
        return self._kernel.name.decode()

    @property
    def numerics(self) -> str | None:
        """How it computes, in the words of `validate describe numerics`; None: sums in f32, in any order."""
        return self._kernel.numerics.decode() if self._kernel.numerics else None

    def launch(self, addresses: Mapping[str, int], stream: int = 0, workspace: int = 0) -> None:
        """Enqueues the kernel.

        Args:
            addresses: of all tensors by name, with the alignment that they had when the call was made.
            stream: the address of a stream of the device; 0: the default one.
            workspace: the address of `workspace_bytes` bytes.

        Raises:
            Error: the kernel reports one.
        """
        self.launch_at(self.places(self._data), [addresses[name] for name in self._data], stream, workspace)

    def places(self, names: Iterable[str]) -> list[Any]:
        """Where the addresses of these tensors, which are all that the call has, are written."""
        return [self._data[name] for name in names]

    def launch_at(self, places: Sequence[Any], addresses: Sequence[int], stream: int, workspace: int) -> None:
        """`launch` with an address for each place."""
        with self._lock:
            for place, address in zip(places, addresses):
                place.data = address
            self._call.stream, self._call.workspace = stream, workspace
            code = self._run(self._call_pointer)
        if code:
            raise Error(
                f"the kernel '{self._kernel.op.decode()}/{self.name}' failed: {self._owner.last_error() or f'error {code}'}"
            )


class Kernels:
    """The kernels of a shared object."""

    def __init__(self, path: str) -> None:
        try:
            self._object = ctypes.CDLL(os.path.abspath(path))
            # Note: with the ops that have stages, which no judge takes from a plugin.
            entry = getattr(self._object, "assay_all_kernels", None) or self._object.assay_plugin
        except (OSError, AttributeError) as e:
            raise LibraryError(f"'{path}' cannot be loaded as a shared object of kernels: {e}") from None
        entry.restype = ctypes.POINTER(_Plugin)
        entry.argtypes = [c_uint32]
        plugin = entry(_VERSION)
        if not plugin:
            raise LibraryError(f"'{path}' does not speak version {_VERSION} of include/assay.h")
        self._kernels = [plugin[0].kernels[i][0] for i in range(plugin[0].kernel_count)]
        self._why: Callable[[], bytes] | None = getattr(self._object, "assay_last_error", None)
        if self._why:
            self._why.restype = c_char_p
            self._why.argtypes = []  # type: ignore[attr-defined]

    def last_error(self) -> str:
        """What the object says of its last failure; empty: nothing."""
        return (self._why() or b"").decode(errors="replace") if self._why else ""

    @functools.lru_cache(maxsize=None)
    def _preferred(self, op: str, dtype: str) -> list[Any]:
        """The kernels of an op in the object's order, but that those which are not deterministic come last."""
        of_op = [k for k in self._kernels if k.op == op.encode() and dtype in k.dtypes.decode().split()]
        return sorted(of_op, key=lambda k: bool(k.flags & _NONDETERMINISTIC))

    def calls(
        self, op: library.Op, dtype: str, tensors: Mapping[str, Given], attributes: Mapping[str, Any], device: tuple[int, int]
    ) -> Iterator[Call]:
        """A call for each kernel of the op, in the order in which they are preferred.  `device`: a device type of DLPack and the
        device's number."""
        return (Call(self, k, op, dtype, tensors, attributes, device) for k in self._preferred(op.name, dtype))

    def choose(
        self, op: library.Op, dtype: str, tensors: Mapping[str, Given], attributes: Mapping[str, Any], device: tuple[int, int]
    ) -> Call:
        """The first call whose kernel takes the case.  Kernels behind it are not asked.

        Raises:
            InputError: none does; the message has the reason of each.
        """
        refused = []
        for call in self.calls(op, dtype, tensors, attributes, device):
            if call.refusal is None:
                return call
            refused.append(call)
        raise InputError(f"no kernel of '{op.name}' takes these arguments: {_reasons(refused) or f'none takes {dtype}'}")


def _reasons(calls: Sequence[Call]) -> str:
    """The reason of all, or of each."""
    reasons = {(call.refusal or b"").decode(errors="replace"): call.name for call in reversed(calls)}
    return next(iter(reasons)) if len(reasons) == 1 else "; ".join(f"{name}: {why}" for why, name in reversed(reasons.items()))


@functools.lru_cache(maxsize=None)
def _opened(path: str) -> Kernels:
    return Kernels(path)


def kernels() -> Kernels:
    """The shared object that ASSAY_KERNELS names, or the one beside the program `validate`.

    Raises:
        LibraryError: there is none, or it cannot be loaded.
    """
    named = os.environ.get(VARIABLE)
    path = named or str(Path(os.path.realpath(library.program())).parent / FILE)
    if not os.path.exists(path):
        raise LibraryError(
            f"there is no shared object '{path}'; a build with nvcc makes {FILE} beside 'validate', or {VARIABLE} names one"
        )
    return _opened(path)
