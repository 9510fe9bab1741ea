# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy as tensors that Triton's launcher takes: with a data_ptr(), strides in elements and a few words of torch."""

from __future__ import annotations

import math
import sys
from typing import Any, Sequence

import numpy as np

from .errors import InputError
from .tensors import ml_dtypes


def _dtype(dtype: Any) -> np.dtype:
    """A dtype of NumPy, or the one of ml_dtypes, by its name as torch and NumPy write it."""
    name = str(getattr(dtype, "name", dtype)).removeprefix("torch.")
    if isinstance(dtype, type) and not hasattr(dtype, "name"):
        return np.dtype(dtype)
    if ml_dtypes and hasattr(ml_dtypes, name):
        return np.dtype(getattr(ml_dtypes, name))
    try:
        return np.dtype(name)
    except TypeError:
        raise InputError(f"'{name}' is no dtype of NumPy or ml_dtypes") from None


class Array:
    """A view of an array of NumPy.

    Attributes:
        base: the first address of the memory that kernels may access through it, and `base_bytes` its size: those of the array
            that the memory was allocated as.
        owner: keeps the memory alive.
        fresh: whether nobody has written the memory since it was allocated, as far as is known.
    """

    def __init__(self, array: np.ndarray, owner: Any = None, fresh: bool = False) -> None:
        if owner is None:
            owner = array
            while isinstance(owner.base, np.ndarray):
                owner = owner.base
        self._array, self.owner = array, owner
        self.base, self.base_bytes = owner.ctypes.data, owner.nbytes
        self._fresh = [fresh] if not isinstance(fresh, list) else fresh  # shared by the views of one memory

    # --- What Triton asks for.
    def data_ptr(self) -> int:
        return int(self._array.ctypes.data)

    @property
    def dtype(self) -> np.dtype:
        return self._array.dtype

    # --- Words of torch.
    @property
    def shape(self) -> tuple[int, ...]:
        return self._array.shape

    @property
    def ndim(self) -> int:
        return self._array.ndim

    @property
    def device(self) -> str:
        return "cpu"

    def size(self, axis: int | None = None) -> Any:
        return self.shape if axis is None else self.shape[axis]

    def stride(self, axis: int | None = None) -> Any:
        strides = tuple(s // self._array.itemsize for s in self._array.strides)
        return strides if axis is None else strides[axis]

    def numel(self) -> int:
        return math.prod(self.shape)

    def element_size(self) -> int:
        return int(self._array.itemsize)

    def is_contiguous(self) -> bool:
        return bool(self._array.flags.c_contiguous)

    def view(self, *shape: Any) -> Array:
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        if not self.is_contiguous():
            raise InputError("an array with gaps has no view of another shape")
        return Array(self._array.reshape(shape), self.owner, self._fresh)

    def __getitem__(self, index: Any) -> Array:
        part = self._array[index]
        if not isinstance(part, np.ndarray) or not np.may_share_memory(part, self.owner):
            raise InputError("an index must give a view: slices and whole numbers that leave an axis")
        return Array(part, self.owner, self._fresh)

    def __len__(self) -> int:
        return len(self._array)

    # --- Back to NumPy.
    @property
    def is_fresh(self) -> bool:
        return self._fresh[0]

    @property
    def is_writable(self) -> bool:
        return bool(self.owner.flags.writeable)

    def peek(self) -> np.ndarray:
        """The array, to be read only."""
        return self._array

    def numpy(self) -> np.ndarray:
        """The array itself.  Its memory counts as written from now on, since the caller may write it."""
        self._fresh[0] = False
        return self._array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        return array.astype(dtype) if dtype is not None and dtype != array.dtype else (array.copy() if copy else array)

    def __repr__(self) -> str:
        return f"Array({self._array!r})"


def tensor(x: Any) -> Array:
    """A tensor on the memory of an array of NumPy, or of anything on the host that speaks DLPack.  Nothing is copied."""
    if isinstance(x, Array):
        return x
    if isinstance(x, np.ndarray):
        return Array(x)
    if hasattr(x, "__dlpack__"):
        return Array(np.from_dlpack(x), None)
    return Array(np.asarray(x))


def _of_torch(like: Any) -> Any:
    """The package torch if `like` is a tensor of it."""
    torch = sys.modules.get("torch")
    return torch if torch and isinstance(like, torch.Tensor) else None


def empty(shape: int | Sequence[int], dtype: Any = "float32") -> Array:
    """Memory that nobody has written: a kernel that reads it before it writes it is found."""
    array = np.empty(shape, _dtype(dtype))
    return Array(array, array, True)


def empty_like(x: Any, dtype: Any = None) -> Any:
    """The same, in the shape of a tensor; of a tensor of torch, one of torch."""
    torch = _of_torch(x)
    if torch:
        return torch.empty(x.shape, dtype=dtype or x.dtype, device=x.device)
    return empty(x.shape, dtype or x.dtype)


def zeros(shape: int | Sequence[int], dtype: Any = "float32") -> Array:
    return Array(np.zeros(shape, _dtype(dtype)))
