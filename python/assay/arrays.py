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
    """A view of an array of NumPy, as a tensor that kernels of Triton take.

    Args:
        array: the view.
        owner: the array that the memory was allocated as, which keeps it alive; None: the one at the end of `array.base`.
        fresh: whether nobody has written the memory since it was allocated, as far as is known.

    Attributes:
        base, base_bytes: the first address of the memory that kernels may access, and its size: those of the owner.
        owner: as given or found.
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
        """The address of the first element."""
        return int(self._array.ctypes.data)

    @property
    def dtype(self) -> np.dtype:
        """A dtype of NumPy, or bfloat16 of ml_dtypes."""
        return self._array.dtype

    # --- Words of torch.
    @property
    def shape(self) -> tuple[int, ...]:
        """The extent of each axis, outermost first."""
        return self._array.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._array.ndim

    @property
    def device(self) -> str:
        """Always cpu."""
        return "cpu"

    def size(self, axis: int | None = None) -> Any:
        """The extent of an axis; None: of each, as `shape`."""
        return self.shape if axis is None else self.shape[axis]

    def stride(self, axis: int | None = None) -> Any:
        """The elements from one index of an axis to the next; None: a tuple of all."""
        strides = tuple(step // self._array.itemsize for step in self._array.strides)
        return strides if axis is None else strides[axis]

    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def element_size(self) -> int:
        """The bytes of an element."""
        return int(self._array.itemsize)

    def is_contiguous(self) -> bool:
        """Whether the elements lie without gaps, the last axis innermost."""
        return bool(self._array.flags.c_contiguous)

    def view(self, *shape: Any) -> Array:
        """The same memory in another shape, given as extents or as one tuple of them.

        Raises:
            InputError: the array is not contiguous.
        """
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
        """Whether nobody has written the memory since it was allocated, as far as is known."""
        return self._fresh[0]

    @property
    def is_writable(self) -> bool:
        """Whether kernels may write the memory: whether NumPy may."""
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
    """A tensor for kernels of Triton on the memory of an array.

    Args:
        x: an array of NumPy, or anything on the host that speaks DLPack, of which nothing is copied; else what np.asarray takes.

    Returns:
        An Array with the shape, the strides and the dtype of x.  What kernels write is seen in x.
    """
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
    """A tensor that nobody has written: a kernel that reads it before it writes it is found.

    Args:
        shape: its extents, outermost first.
        dtype: by its name, or of NumPy, ml_dtypes or torch.

    Returns:
        A contiguous Array.

    Raises:
        InputError: there is no such dtype; bfloat16 needs the package ml_dtypes.
    """
    array = np.empty(shape, _dtype(dtype))
    return Array(array, array, True)


def empty_like(x: Any, dtype: Any = None) -> Any:
    """A tensor like `empty`, with the shape of another.

    Args:
        x: an Array, an array of NumPy, or a tensor of torch.
        dtype: as of `empty`; None: that of x.

    Returns:
        A contiguous Array; of a tensor of torch one of torch, on its device.

    Raises:
        InputError: there is no such dtype.
    """
    torch = _of_torch(x)
    if torch:
        return torch.empty(x.shape, dtype=dtype or x.dtype, device=x.device)
    return empty(x.shape, dtype or x.dtype)


def zeros(shape: int | Sequence[int], dtype: Any = "float32") -> Array:
    """A tensor of zeros, which count as written.

    Args:
        shape, dtype: as of `empty`.

    Returns:
        A contiguous Array.

    Raises:
        InputError: there is no such dtype.
    """
    return Array(np.zeros(shape, _dtype(dtype)))
