# SPDX-License-Identifier: Apache-2.0
"""Checks what f.from_torch is given, so that each mistake is told in one sentence (torch_reference.py).

Importing this module imports torch.
"""

from __future__ import annotations

import os
from typing import Any, Mapping, Sequence

import torch

from . import formula as f
from .errors import InputError


def require_reference(reference: Any) -> None:
    """Refuses what is no function and no module of PyTorch, or one of which only its maker can be traced."""
    name = getattr(reference, "__name__", type(reference).__name__)
    if isinstance(reference, f.Op):
        raise InputError(f"{reference!r} is an op already, and needs no reading")
    if isinstance(reference, (str, os.PathLike)):
        raise InputError(
            f"'{os.fspath(reference)}' is a path: f.from_definition reads a definition, and f.read the file of an op"
        )
    if isinstance(reference, type):
        raise InputError(f"the reference {name} is a class, and an instance of it was expected, like {name}(...)")
    if isinstance(reference, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        raise InputError("the reference is compiled by torch.jit, and cannot be traced: give what was compiled")
    if hasattr(reference, "_orig_mod") or hasattr(reference, "_torchdynamo_orig_callable"):
        raise InputError("the reference is compiled by torch.compile, and cannot be traced: give what was compiled")
    if not callable(reference):
        raise InputError(f"the reference is of type {name}, and a function or a module of PyTorch was expected")


def tensors_of(key: str, given: Any) -> dict[str, Any]:
    """The tensors that an argument names, with axes as text, "rows cols", or in a dict as `axes`.

    Args:
        key: the argument's name: inputs, weights or outputs.
        given: its value, in which axes may be lists of names too.

    Raises:
        InputError: it is no dict, or a tensor in it has no axes.
    """
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        raise InputError(
            f"{key} is of type {kind}, and a dict of each tensor's axes was expected, like {key}={{'x': 'rows cols'}}"
        )
    return {name: _tensor_of(name, described) for name, described in given.items()}


def _tensor_of(name: Any, described: Any) -> Any:
    is_dict = isinstance(described, Mapping)
    axes = described.get("axes") if is_dict else described
    axes = " ".join(map(str, axes)) if isinstance(axes, (list, tuple)) else axes
    if not isinstance(name, str) or not isinstance(axes, str):
        raise InputError(
            f"'{name}' has no axes: 'rows cols' or ('rows', 'cols') was expected, or a dict of axes, dtype and holds"
        )
    return {**described, "axes": axes} if is_dict else axes


def require_names(outputs: Any) -> None:
    """Refuses outputs that are neither names nor a dict of tensors."""
    names = [outputs] if isinstance(outputs, str) else outputs
    if names is not None and not (isinstance(names, (list, tuple, Mapping)) and all(isinstance(name, str) for name in names)):
        raise InputError(f"outputs is {outputs!r}, and names of outputs were expected, like ['y'], or a dict of their axes")


def require_numbers(attributes: Any) -> None:
    """Refuses attributes that are no dict of numbers."""
    if not isinstance(attributes, Mapping):
        raise InputError(f"attributes is of type {type(attributes).__name__}, and a dict was expected, like {{'epsilon': 1e-6}}")
    for name, value in attributes.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputError(f"the attribute '{name}' is {value!r}, and a number was expected")


def require_bounds(axes: Any, known: Sequence[str]) -> None:
    """Refuses bounds of extents that are no dict of whole numbers or pairs of these, by names of axes that are `known`."""
    if not isinstance(axes, Mapping):
        raise InputError(f"axes is of type {type(axes).__name__}, and a dict of least extents was expected, like {{'cols': 2}}")
    for name, bounds in axes.items():
        if name not in known:
            raise InputError(f"axes has '{name}', and the tensors have the axes {', '.join(known)}")
        pair = bounds if isinstance(bounds, (list, tuple)) else (bounds, bounds)
        if len(pair) != 2 or any(isinstance(n, bool) or not isinstance(n, int) or n < 0 for n in pair) or pair[0] > pair[1]:
            expected = "its least extent, or the least and the largest as (1, 8), was expected"
            raise InputError(f"the axis '{name}' has the extents {bounds!r}, and {expected}")
