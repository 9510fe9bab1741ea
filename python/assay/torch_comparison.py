# SPDX-License-Identifier: Apache-2.0
"""Compares the answers of an op that was read from a reference with those of the reference itself (torch_reference.py)."""

from __future__ import annotations

import contextlib
import json
import math
import warnings
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from . import formula as f
from . import judging
from .errors import Error, Incomplete, InputError, Mismatch
from .torch_lowering import holds
from .torch_tracing import Port, Reference, Replaced, Trace, axes_of

FLOATS = (torch.float16, torch.bfloat16, torch.float32)
_MANY = 1 << 20  # elements of a tensor that is compared once
_DIFFERENCE = 1e-9  # of a result in f64: what two ways to compute it may differ by


class _Widest(TorchDispatchMode):
    """Computes in f64 whatever format is asked for."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if kwargs.get("dtype") in FLOATS:
            kwargs["dtype"] = torch.float64
        args = tuple(torch.float64 if isinstance(a, torch.dtype) and a in FLOATS else a for a in args)
        return func(*args, **kwargs)


@contextlib.contextmanager
def _in_f64(of: Reference) -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad(), Replaced(of.is_module), _Widest():
            yield
    finally:
        torch.set_default_dtype(before)


def compare(
    op: f.Op,
    of: Reference,
    names: Sequence[str],
    bounds: f.Bounds,
    is_legal: Callable[[Mapping[str, int]], bool],
    traced: Trace,
    more: Sequence[Any],
) -> None:
    """Refuses an op whose answers are not the reference's, for a few sizes and values."""
    rng = np.random.default_rng(0)
    admits_zeros = True
    for number, sizes in enumerate(_sizes(of, bounds, is_legal, traced, more)):
        for is_positive in (False, True):
            values = {port.name: _drawn(port, sizes, rng, is_positive) for port in of.ports}
            numbers = {name: value * (1 + number) for name, value in of.numbers.items()}
            _compare_one(op, of, names, sizes, values, numbers)
            admits_zeros = admits_zeros and (number > 0 or _admits_zeros(op, of, values, numbers))
    if admits_zeros:
        warnings.warn(
            f"{op.name}: an output of zeros would pass in the small cases that were tried, since its bound is too wide",
            stacklevel=4,
        )


def _admits_zeros(op: f.Op, of: Reference, values: Mapping[str, np.ndarray], numbers: Mapping[str, float]) -> bool:
    """Whether zeros are within the bounds of the right answers."""
    given = {**_as_declared(of, values), **numbers}
    right = judging.golden(op, **given)
    zeros = tuple(np.zeros_like(y) for y in right) if isinstance(right, tuple) else np.zeros_like(right)
    try:
        return judging.check(op, zeros, **given).passed
    except Mismatch:
        return False
    except Incomplete:  # since zeros would pass
        return True


def _sizes(
    of: Reference, bounds: f.Bounds, is_legal: Callable[[Mapping[str, int]], bool], traced: Trace, more: Sequence[Any]
) -> list[dict[str, int]]:
    """Three small sets of sizes for which the op is defined, one of ones where it is for these; a single one of large tensors."""
    axes = axes_of(of.ports)
    rng = np.random.default_rng(1)
    conditions = [*traced.conditions, *more]
    chosen = [[3 + i for i in range(len(axes))], [6 - i % 4 for i in range(len(axes))], [1] * len(axes)]
    chosen += [list(rng.integers(1, 9, len(axes))) for _ in range(1000)]
    found = []
    for extents in chosen:
        sizes = {axis: _within(int(n), bounds.get(axis, 1)) for axis, n in zip(axes, extents)}
        values = {symbol: sizes[axis] for symbol, axis in traced.axes.items()}
        if sizes not in found and is_legal(sizes) and all(holds(e, values) for e in conditions):
            found.append(sizes)
        elements = [math.prod(sizes.get(axis, 1) for axis in port.axes) for port in of.ports]
        if len(found) == 3 or (found and max(elements, default=1) > _MANY):
            break
    if not found:
        raise InputError("the reference is defined for none of a thousand sets of sizes up to 8")
    return found


def _within(size: int, bounds: int | tuple[int, int]) -> int:
    least, most = (bounds, size) if isinstance(bounds, int) else bounds
    return max(least, min(size, most))


def _drawn(port: Port, sizes: Mapping[str, int], rng: np.random.Generator, is_positive: bool) -> np.ndarray:
    shape = [sizes.get(axis, 1) for axis in port.axes]
    kind, _, rest = (port.holds or "").partition("(")
    words = [word.strip() for word in rest.rstrip(")").split(",")]
    if kind == "indices_of":
        return rng.integers(0, sizes[words[0]], shape).astype(np.int64)
    if kind == "positions_of_tokens":
        return rng.integers(0, 64, shape).astype(np.int64)
    if kind == "between":
        lowest, highest = (float(word) for word in words)
        if np.isfinite(lowest) and np.isfinite(highest):
            drawn = rng.uniform(lowest, highest, shape)
        else:
            far = rng.exponential(1.0, shape)
            drawn = lowest + far if np.isfinite(lowest) else highest - far if np.isfinite(highest) else far - 1
    elif kind:
        raise InputError(f"'{port.name}': an op of a reference has no tensor that holds {port.holds}")
    else:
        drawn = rng.standard_normal(shape)
        drawn = np.abs(drawn) if is_positive else drawn
    return drawn.astype(np.float32).astype({"f16": np.float16}.get(port.dtype or "", np.float32))


def _compare_one(
    op: f.Op,
    of: Reference,
    names: Sequence[str],
    sizes: Mapping[str, int],
    values: Mapping[str, np.ndarray],
    numbers: Mapping[str, float],
) -> None:
    try:
        of_op = judging.golden(op, f64=True, **_as_declared(of, values), **numbers)
    except InputError as e:
        legal = json.loads(op.text).get("legal")
        why = f"the op is defined only where {' and '.join(legal)}, and the program tries other extents: " if legal else ""
        raise InputError(f"{why}{e}") from None
    tensors = {name: torch.from_numpy(value) for name, value in values.items()}
    tensors = {name: t.double() if t.is_floating_point() else t for name, t in tensors.items()}
    said = ", ".join(f"{axis}={n}" for axis, n in sizes.items())
    try:
        with _in_f64(of):
            of_reference = of.run({**tensors, **numbers})
    except Error:
        raise
    except Exception as e:
        raise InputError(f"the reference fails for {said}: {type(e).__name__}: {(str(e) or '?').splitlines()[0]}") from None
    for name, ours, theirs in zip(names, of_op if isinstance(of_op, tuple) else (of_op,), of_reference):
        theirs = theirs.double().numpy().reshape(ours.shape)
        finite = np.abs(theirs[np.isfinite(theirs)])
        allowed = _DIFFERENCE * np.abs(theirs) + _DIFFERENCE / 100 * finite.max(initial=0)
        with np.errstate(invalid="ignore"):
            is_equal = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs)) | (np.abs(ours - theirs) <= allowed)
        if not is_equal.all():
            raise InputError(
                f"the output '{name}' of the op that was read from the reference is not the reference's for {said}: "
                f"{ours[~is_equal][0]:.9g} in place of {theirs[~is_equal][0]:.9g}; so it cannot be used"
            )


def _as_declared(of: Reference, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The tensors in dtypes that the op has."""
    narrow = {port.name: np.int32 for port in of.ports if port.dtype == "i32"}
    return {name: value.astype(narrow.get(name, value.dtype)) for name, value in values.items()}
