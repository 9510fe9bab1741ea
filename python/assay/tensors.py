# SPDX-License-Identifier: Apache-2.0
"""Arrays of any library as NumPy arrays, and files of tensors in memory that the program reads."""

from __future__ import annotations

import json
import mmap
import os
import sys
import threading
from typing import Any, Mapping

import numpy as np

from .errors import InputError

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None  # type: ignore[assignment]

# The bits of each dtype, by our names.  Those that NumPy lacks are in ml_dtypes, by the names of _OF_ML_DTYPES.
BITS = {
    "f16": np.dtype("<f2"),
    "bf16": np.dtype("<u2"),
    "f32": np.dtype("<f4"),
    "f64": np.dtype("<f8"),
    "i32": np.dtype("<i4"),
    "i64": np.dtype("<i8"),
    "e4m3": np.dtype("u1"),
    "e5m2": np.dtype("u1"),
    "e8m0": np.dtype("u1"),
    "i8": np.dtype("i1"),
    "u8": np.dtype("u1"),
}
_OF_ML_DTYPES = {"bf16": "bfloat16", "e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e8m0": "float8_e8m0fnu"}
# The names that NumPy, ml_dtypes and torch have for them.
THEIR_NAMES = {
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "i32": "int32",
    "i64": "int64",
    "i8": "int8",
    "u8": "uint8",
    **_OF_ML_DTYPES,
}
_NAMES = {theirs: ours for ours, theirs in THEIR_NAMES.items()}
_IN_FILES = {name: name.upper() for name in BITS} | {"e4m3": "F8_E4M3", "e5m2": "F8_E5M2", "e8m0": "F8_E8M0"}
_OF_FILES = {in_files: name for name, in_files in _IN_FILES.items()}
_ON_HOST = (1, 3, 11)  # device types of DLPack: the host, and its pinned memory of CUDA and ROCm


def dtype_of(name: str) -> np.dtype:
    """The NumPy dtype of one of our names.  Raises InputError where it is one of ml_dtypes, and that is missing or too old."""
    if name not in _OF_ML_DTYPES:
        return BITS[name]
    if not hasattr(ml_dtypes, _OF_ML_DTYPES[name]):
        raise InputError(f"{name} arrays need the package ml_dtypes" + (" in a newer version" if ml_dtypes else ""))
    return np.dtype(getattr(ml_dtypes, _OF_ML_DTYPES[name]))


def bits_of(what: str, x: Any) -> tuple[str, np.ndarray]:
    """The dtype of an array, by our name, and the array itself as one of BITS, with any strides.

    Arrays of the host are not copied.  Others, such as a tensor of torch on a GPU, are copied to the host once.  `what` names
    the array in a message.

    Raises:
        InputError: x is no array, or has a dtype that no tensor of an op has.
    """
    if isinstance(x, np.ndarray):
        array = x
    elif type(x).__module__.split(".")[0] == "torch":
        return _of_torch(what, x)
    elif hasattr(x, "__dlpack__") or hasattr(x, "__array__"):
        array = _of_dlpack(what, x)
    else:
        raise InputError(f"{what} is of type {type(x).__name__}, and an array was expected")
    name = _NAMES.get(array.dtype.name)
    if name is None or not array.dtype.isnative:
        raise InputError(f"{what} has the dtype {array.dtype}, and one of {', '.join(_NAMES)} was expected")
    return name, array.view(BITS[name])


def _of_torch(what: str, x: Any) -> tuple[str, np.ndarray]:
    torch = sys.modules["torch"]
    name = _NAMES.get(str(getattr(x, "dtype", None)).removeprefix("torch."))
    if not isinstance(x, torch.Tensor) or name is None or x.layout != torch.strided:
        kind = f"{x.layout} {x.dtype}" if isinstance(x, torch.Tensor) else f"of type {type(x).__name__}"
        raise InputError(f"{what} is {kind}, and a strided tensor of {', '.join(_NAMES)} was expected")
    if x.device.type == "meta":
        raise InputError(f"{what} is on the device meta, where no tensor has values")
    x = x.detach().cpu().resolve_neg()
    if name not in _OF_ML_DTYPES:
        return name, x.numpy()
    return name, x.view(torch.int16 if BITS[name].itemsize == 2 else torch.uint8).numpy().view(BITS[name])


def _of_dlpack(what: str, x: Any) -> np.ndarray:
    why: Exception = TypeError("it speaks no DLPack")
    if hasattr(x, "__dlpack__"):
        try:
            if x.__dlpack_device__()[0] in _ON_HOST:
                return np.from_dlpack(x)
            return np.from_dlpack(x, device="cpu", copy=True)  # of NumPy 2.1 on
        except Exception as e:  # pylint: disable=broad-except  # each library has its own
            why = e
    if hasattr(x, "__array__"):  # Note: NumPy's DLPack lacks bfloat16, which this may have
        try:
            return np.asarray(x)
        except Exception as e:  # pylint: disable=broad-except
            why = e
    raise InputError(f"{what}, of type {type(x).__name__}, cannot be brought to the host: {why}")


_MOST_KEPT = 2  # files
_MOST_KEPT_BYTES = 128 << 20  # of each
_kept: list[tuple[int, int]] = []  # the process that made it, and its descriptor
_keeping = threading.Lock()


def _memory_file() -> int:
    """The descriptor of a file in memory, maybe of one that was closed: new pages cost more than the copy of what goes there."""
    with _keeping:
        while _kept:
            process, fd = _kept.pop()
            if process == os.getpid():
                return fd
            os.close(fd)  # Note: a forked process has its parent's, and these are one file
    return os.memfd_create("assay")


class MemoryFile:
    """Tensors in a file that lies in memory alone, in the format safetensors.  Each array is copied once, whatever its strides.

    The program reads it at `path`, once it inherits the descriptor `fd`.
    """

    def __init__(self, tensors: Mapping[str, tuple[str, np.ndarray]], metadata: Mapping[str, str]) -> None:
        header: dict[str, Any] = {"__metadata__": dict(metadata)}
        end = 0
        in_order = sorted(tensors.items(), key=lambda item: -item[1][1].itemsize)
        for name, (dtype, array) in in_order:
            header[name] = {"dtype": _IN_FILES[dtype], "shape": array.shape, "data_offsets": [end, end + array.nbytes]}
            end += array.nbytes
        text = json.dumps(header).encode()
        text += b" " * (-(len(text) + 8) % 64)
        self.fd = _memory_file()
        self.path = f"/proc/self/fd/{self.fd}"
        try:
            begin = os.pwrite(self.fd, len(text).to_bytes(8, "little") + text, 0)
            os.ftruncate(self.fd, begin + end)
            for _, (_, array) in in_order:
                self._add(array, begin)
                begin += array.nbytes
        except OSError as e:
            os.close(self.fd)
            raise MemoryError(f"the tensors take {end} bytes: {e.strerror}") from None

    def _add(self, array: np.ndarray, begin: int) -> None:
        if array.flags.c_contiguous:
            data = memoryview(array).cast("B") if array.nbytes else memoryview(b"")
            done = 0
            while done < len(data):
                done += os.pwrite(self.fd, data[done:], begin + done)
        else:
            with mmap.mmap(self.fd, 0) as memory:
                np.copyto(np.ndarray(array.shape, array.dtype, memory, begin), array)

    def close(self) -> None:
        """Ends the use of the file, whose memory may be kept for the next one."""
        with _keeping:
            if len(_kept) < _MOST_KEPT and os.fstat(self.fd).st_size <= _MOST_KEPT_BYTES:
                _kept.append((os.getpid(), self.fd))
            else:
                os.close(self.fd)

    def __enter__(self) -> MemoryFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_bits(path: str) -> tuple[dict[str, tuple[str, np.ndarray]], dict[str, str]]:
    """The tensors of a safetensors file that the program wrote, each as its dtype and one of BITS, mapped; and its metadata."""
    bits = np.memmap(path, np.uint8, "c")  # Note: changes stay in this process
    length = int.from_bytes(bits[:8].tobytes(), "little")
    header = json.loads(bits[8 : 8 + length].tobytes())
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        dtype = _OF_FILES[entry["dtype"]]
        tensors[name] = dtype, bits[begin:end].view(np.ndarray).view(BITS[dtype]).reshape(entry["shape"])
    return tensors, metadata


def read_file(path: str) -> dict[str, np.ndarray]:
    """The tensors of a safetensors file that the program wrote, mapped and not copied."""
    return {name: array.view(dtype_of(dtype)) for name, (dtype, array) in read_bits(path)[0].items()}
