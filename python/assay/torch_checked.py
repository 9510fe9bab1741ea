# SPDX-License-Identifier: Apache-2.0
"""Runs the reference of a definition (definitions.py) on tensors without memory, for what it asserts of sizes.

Importing this module imports torch.
"""

from __future__ import annotations

import traceback
from typing import Any, Callable, Mapping

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from .torch_tracing import DTYPES


def failed_assertion(
    call: Callable[..., Any],
    tensors: Mapping[str, Mapping[str, Any]],
    extents: Mapping[str, int],
    free: str,
    numbers: Mapping[str, float],
) -> int:
    """The line of the assertion that fails; 0: none does, or the reference stops at a value.

    Args:
        call: the reference, by names of the op.
        tensors: `axes` and `dtype` of each.
        extents: of all axes.
        free: the dtype of tensors that have none, as torch names it.
        numbers: what else it gets.
    """
    with FakeTensorMode(), torch.no_grad():
        values: dict[str, Any] = dict(numbers)
        for name, given in tensors.items():
            shape = [extents.get(axis, 1) for axis in given["axes"].split()]
            values[name] = torch.empty(shape, dtype=DTYPES[given["dtype"]] if "dtype" in given else getattr(torch, free))
        try:
            call(**values)
        except AssertionError as e:
            return traceback.extract_tb(e.__traceback__)[-1].lineno or 0
        except Exception:  # pylint: disable=broad-except  # it is told where the reference is traced
            return 0
    return 0
