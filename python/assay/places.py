# SPDX-License-Identifier: Apache-2.0
"""Where a worker puts the tensors of an order: in arrays of NumPy, or in tensors of torch on a device.

An image is the bytes of one tensor from its first element to its last, gaps between rows included (docs/worker-protocol.md).
"""

from __future__ import annotations

import contextlib
import math
import warnings
from typing import Any, Iterator, Mapping, Protocol, Sequence

import numpy as np

from .errors import InputError
from .tensors import BITS, THEIR_NAMES, bits_of, dtype_of

Entry = Mapping[str, Any]  # a tensor of an order


def view_of(entry: Entry, image: np.ndarray, dtype: np.dtype | None = None) -> np.ndarray:
    """The elements of an image, with the entry's shape and strides, as bits or as the dtype."""
    bits = BITS[entry["dtype"]]
    strides = [stride * bits.itemsize for stride in entry["strides"]]
    array = np.ndarray(entry["shape"], bits, image.data if image.size else bytearray(8), 0, strides)
    if not image.flags.writeable:
        array.flags.writeable = False
    return array if dtype is None else array.view(dtype)


def torch_dtype(torch: Any, entry: Entry) -> Any:
    """The dtype of an entry as one of the package torch, which this module does without."""
    return getattr(torch, THEIR_NAMES[entry["dtype"]])


def require(what: str, entry: Entry, dtype: str, shape: Sequence[int]) -> None:
    """Raises InputError unless a returned array has the dtype and the shape of its tensor."""
    name = entry["name"]
    if dtype != entry["dtype"]:
        raise InputError(f"{what} returned '{name}' as {dtype}, and {entry['dtype']} was expected")
    if list(shape) != entry["shape"]:
        raise InputError(f"{what} returned '{name}' with the shape {list(shape)}, and {entry['shape']} was expected")


class NumpyPlace:
    """Tensors are views of the judge's memory: no input can be written, and an updated output is written in place."""

    backend = "host"
    checks = ("inputs",)

    def __init__(self) -> None:
        self.device = f"NumPy {np.__version__}"

    def begin(self) -> None:
        """Before the tensors of a launch are made."""

    def poison(self, entries: Sequence[Entry], garbage: int) -> None:
        """Leaves garbage in memory that an allocation of an output's size will probably get."""
        for entry in entries:
            np.empty(math.prod(entry["shape"]), BITS[entry["dtype"]]).view(np.uint8).fill(garbage)

    @contextlib.contextmanager
    def launching(self, run: Mapping[str, Any]) -> Iterator[None]:
        """While the callable computes; `run` is that of the order."""
        yield

    def argument(self, entry: Entry, image: np.ndarray, writable: bool) -> Any:
        return view_of(entry, image, dtype_of(entry["dtype"]))

    def finish(self) -> str | None:
        """After a launch: brings back what was written.  Returns the name of an input that was changed."""
        return None

    def take(self, what: str, entry: Entry, returned: Any, image: np.ndarray) -> None:
        """Puts a returned array into its image."""
        dtype, array = bits_of(f"what {what} returned as '{entry['name']}'", returned)
        require(what, entry, dtype, array.shape)
        np.copyto(view_of(entry, image), array)


class TorchPlace:
    """Tensors are copied to a device of torch and back.  Each tensor keeps its memory from one launch to the next, as long as it
    fits, so that a callable which trusts an address, or what lies there, is found."""

    checks = ("inputs",)
    _GUARD, _GUARD_BYTE = 256, 0xA5  # bytes before and after an image that no launch may change

    def __init__(self, device: str) -> None:
        try:
            import torch
        except ImportError:
            raise InputError(f"the device '{device}' needs the package torch") from None
        self._torch = torch
        try:
            self._device = torch.device(device)
            torch.empty(1, device=self._device)
        except (RuntimeError, AssertionError, ValueError) as e:
            raise InputError(f"torch cannot use the device '{device}': {str(e).splitlines()[0]}") from None
        self._cuda = self._device.type == "cuda"
        self.backend = "cuda" if self._cuda else "host"
        name = torch.cuda.get_device_name(self._device) if self._cuda else self._device.type
        self.device = f"{name}, torch {torch.__version__}"
        self._memory: dict[str, Any] = {}  # by tensor
        self._placed: list[tuple[Entry, np.ndarray, bool, Any, Any, int]] = []

    def _bytes(self, count: int) -> Any:
        return self._torch.empty(count, dtype=self._torch.uint8, device=self._device)

    def begin(self) -> None:
        self._placed = []

    def poison(self, entries: Sequence[Entry], garbage: int) -> None:
        blocks = [
            self._bytes(math.prod(entry["shape"]) * BITS[entry["dtype"]].itemsize).fill_(garbage)
            for entry in entries
            for _ in range(2)
        ]
        self._synchronize()
        del blocks

    def _synchronize(self) -> None:
        if self._cuda:
            self._torch.cuda.synchronize(self._device)

    @contextlib.contextmanager
    def launching(self, run: Mapping[str, Any]) -> Iterator[None]:
        self._synchronize()
        with self._torch.no_grad(), contextlib.ExitStack() as stack:
            if self._cuda:
                stack.enter_context(self._torch.cuda.device(self._device))
                if run["order"] != "forward":
                    stack.enter_context(self._torch.cuda.stream(self._torch.cuda.Stream(self._device)))
            yield
            self._synchronize()

    def argument(self, entry: Entry, image: np.ndarray, writable: bool) -> Any:
        torch, guard = self._torch, self._GUARD
        size = entry["offset"] + image.size + 2 * guard
        memory = self._memory.get(entry["name"])
        if memory is None or memory.numel() < size + 256:
            memory = self._memory[entry["name"]] = self._bytes(size + 256)
        start = -memory.data_ptr() % 256
        placed = memory[start : start + size]  # its guard is 256 bytes, so that the image keeps its place to a 256-byte boundary
        placed.fill_(self._GUARD_BYTE)
        begin = guard + entry["offset"]
        inside = placed[begin : begin + image.size]
        inside.copy_(self._of_host(image))
        self._placed.append((entry, image, writable, placed, None if writable else placed.clone(), begin))
        return torch.as_strided(inside.view(torch_dtype(torch, entry)), entry["shape"], entry["strides"])

    def _of_host(self, image: np.ndarray) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that the memory is read-only: it is only read
            return self._torch.from_numpy(image)

    def finish(self) -> str | None:
        changed = None
        for entry, image, writable, now, before, begin in self._placed:
            if writable:
                np.copyto(image, now[begin : begin + image.size].cpu().numpy())
                now = self._torch.cat([now[:begin], now[begin + image.size :]])
                before = self._torch.full_like(now, self._GUARD_BYTE)
            if not self._torch.equal(now, before):
                changed = changed or entry["name"]
        return changed

    def take(self, what: str, entry: Entry, returned: Any, image: np.ndarray) -> None:
        name = entry["name"]
        if not isinstance(returned, self._torch.Tensor):
            raise InputError(f"{what} returned '{name}' as {type(returned).__name__}, and a tensor of torch was expected")
        if returned.device.type != self._device.type:
            raise InputError(f"{what} returned '{name}' on the device {returned.device}, and {self._device} was expected")
        dtype, array = bits_of(f"what {what} returned as '{name}'", returned)
        require(what, entry, dtype, array.shape)
        np.copyto(view_of(entry, image), array)


class Place(Protocol):
    """What a worker needs of a place.

    Attributes:
        backend: host, simt or cuda.
        device: in words, for records.
        checks: what is looked for in a launch, as the worker protocol names it.
    """

    backend: str
    device: str
    checks: Sequence[str]

    def begin(self) -> None:
        """Before the tensors of a launch are made."""

    def poison(self, entries: Sequence[Entry], garbage: int) -> None:
        """Leaves bytes of garbage in memory that an allocation of an output's size will probably get."""

    def launching(self, run: Mapping[str, Any]) -> contextlib.AbstractContextManager[None]:
        """While the callable computes; `run` is that of the order."""
        ...

    def argument(self, entry: Entry, image: np.ndarray, writable: bool) -> Any:
        """The tensor that the callable gets: the bytes of the image, with the entry's shape, strides and dtype."""

    def finish(self) -> str | None:
        """After a launch: brings back what was written.  Returns the name of an input that was changed, or beside which memory was."""

    def take(self, what: str, entry: Entry, returned: Any, image: np.ndarray) -> None:
        """Puts an array that `what` returned into its image.

        Raises:
            InputError: it is no array, or has another dtype, shape or device than its tensor.
        """


def place_on(device: str | None) -> Place:
    """The place for a device of torch: NumPy's arrays without one.

    Raises:
        InputError: torch or the device is missing.
    """
    return TorchPlace(device) if device else NumpyPlace()
