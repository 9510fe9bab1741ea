# SPDX-License-Identifier: Apache-2.0
"""Checks the arguments of an operator of PyTorch against the contract of its op, which gives the shapes of its outputs."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple, NoReturn

import torch

from . import library
from .errors import InputError
from .torch_interface import DTYPES, NAMES, Interface


class Checked(NamedTuple):
    """What right arguments say of a case.

    Attributes:
        attributes: the values of all attributes of the op, by name.
        outputs: the outputs that the case has, each with its shape.
        dtype: of the case: f16, bf16 or f32.
    """

    attributes: dict[str, Any]
    outputs: list[tuple[library.Tensor, list[Any]]]
    dtype: str


def checked(interface: Interface, arguments: Mapping[str, Any]) -> Checked:
    """Checks all arguments, which are given by name.

    Raises:
        InputError: an argument has a wrong dtype, shape, device or stride, or is missing; the message names it.
    """
    op = interface.op
    tensors = {tensor: arguments[tensor.name] for tensor in op.inputs}
    attributes = {a.name: arguments[a.name] for a in interface.attributes}
    for a in interface.attributes:
        if a.choices and not isinstance(a.default, bool) and attributes[a.name] not in a.choices:
            raise InputError(f"'{a.name}' is '{attributes[a.name]}', and one of {', '.join(a.choices)} was expected")
    for name in interface.implied:
        attribute = op.attribute(name)
        assert attribute
        there = any(given is not None for tensor, given in tensors.items() if tensor.only_with == name)
        attributes[name] = attribute.value(attribute.choices[there])
    first, first_given = next((tensor, given) for tensor, given in tensors.items() if given is not None)
    of_case: tuple[library.Tensor, str] | None = None  # the tensor that sets the dtype of the case, and this
    extents: dict[str, Any] = {"1": 1}
    for tensor, given in tensors.items():
        if (given is not None) != library.is_there(op, tensor, attributes):
            what = "is missing, which a case has" if given is None else "was given, which a case has only"
            raise InputError(f"'{tensor.name}' {what} with '{tensor.only_with}'")
        if given is None:
            continue
        if given.device != first_given.device:
            raise InputError(f"'{tensor.name}' is on the device {given.device}, and '{first.name}' on {first_given.device}")
        of_case = _check_dtype(tensor, given, of_case)
        _check_shape(tensor, given, extents)
        _check_strides(tensor, given)
    for tensor, given in tensors.items():
        if given is not None:
            _check_what_follows(tensor, given, extents)
    assert of_case
    outputs = [
        (tensor, [extent.of(extents) for extent in tensor.axes])
        for tensor in interface.returned
        if library.is_there(op, tensor, attributes)
    ]
    return Checked(attributes, outputs, of_case[1])


def _check_dtype(
    tensor: library.Tensor, given: torch.Tensor, of_case: tuple[library.Tensor, str] | None
) -> tuple[library.Tensor, str] | None:
    """Returns the tensor that sets the dtype of the case, and this; None: no tensor so far does."""
    name = NAMES.get(given.dtype)
    if tensor.dtype:
        if name != tensor.dtype:
            raise InputError(f"'{tensor.name}' has the dtype {given.dtype}, and {DTYPES[tensor.dtype]} was expected")
    elif of_case is None:
        if name not in ("f16", "bf16", "f32"):
            expected = "torch.float16, torch.bfloat16 or torch.float32"
            raise InputError(f"'{tensor.name}' has the dtype {given.dtype}, and {expected} was expected")
        return tensor, name
    elif name != of_case[1]:
        expected = f"{DTYPES[of_case[1]]} was expected, as '{of_case[0].name}' has"
        raise InputError(f"'{tensor.name}' has the dtype {given.dtype}, and {expected}")
    return of_case


def _check_shape(tensor: library.Tensor, given: torch.Tensor, extents: dict[str, Any]) -> None:
    """Adds the extents of the tensor's axes to those that are known."""
    if given.dim() != len(tensor.axes):
        raise InputError(f"'{tensor.name}' has the shape {list(given.shape)}, and {_shape_of(tensor)} was expected")
    for extent, here in zip(tensor.axes, given.shape):
        if extent.is_axis and here != extents.setdefault(extent.axis, here):
            _refuse_shape(tensor, given, extent, extents)


def _check_what_follows(tensor: library.Tensor, given: torch.Tensor, extents: dict[str, Any]) -> None:
    """Checks the extents that follow from those of axes."""
    for extent, here in zip(tensor.axes, given.shape):
        if not extent.is_axis and extent.axis in extents and here != extent.of(extents):
            _refuse_shape(tensor, given, extent, extents)


def _shape_of(tensor: library.Tensor) -> str:
    return "[" + ", ".join(map(str, tensor.axes)) + "]"


def _refuse_shape(tensor: library.Tensor, given: torch.Tensor, extent: library.Extent, extents: dict[str, Any]) -> NoReturn:
    where = f"{_shape_of(tensor)} was expected, where {extent.axis} is {extents[extent.axis]}"
    raise InputError(f"'{tensor.name}' has the shape {list(given.shape)}, and {where}")


def _check_strides(tensor: library.Tensor, given: torch.Tensor) -> None:
    for i in range(given.dim()):
        wrong = given.stride(i) != 1 if i + 1 == given.dim() else given.stride(i) == 0
        if given.shape[i] > 1 and wrong:
            raise InputError(
                f"'{tensor.name}' has the strides {list(given.stride())}, and no gaps along the last axis and no repeated rows "
                f"were expected, as {tensor.name}.contiguous() has them"
            )
