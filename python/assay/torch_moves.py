# SPDX-License-Identifier: Apache-2.0
"""What ATen operations that move elements, or make them from nothing, are in a formula (torch_lowering.py)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Callable, Sequence

import torch

from . import formula as f
from .torch_lowering import Axes, Part, Refused, Value, first_place
from .torch_rules import dims_of, each, rule

# Results that are no new numbers, so that a kernel does not round them again.
MOVES = set(
    (
        "view _unsafe_view reshape permute transpose t unsqueeze squeeze expand clone alias detach constant_pad_nd "
        "lift_fresh_copy slice select split_with_sizes split unbind cat flip index index_select gather embedding "
        "select_scatter slice_scatter where maximum minimum clamp clamp_min clamp_max relu hardtanh abs neg amax amin "
        "max min full full_like new_full scalar_tensor arange getitem _to_copy copy sign empty empty_permuted "
        "empty_like any"
    ).split()
)

# --- Shapes -------------------------------------------------------------------------------------------------------------------


@rule("view", "_unsafe_view", "reshape")
def _view(axes: Axes, a: SimpleNamespace) -> Value:
    return axes.viewed(a.self, a.node.meta["val"].shape)


@rule("permute")
def _permute(axes: Axes, a: SimpleNamespace) -> Value:
    return Value(a.self.symbol, tuple(a.self.dims[d] for d in a.dims))


@rule("transpose")
def _transpose(axes: Axes, a: SimpleNamespace) -> Value:
    dims = list(a.self.dims)
    dims[a.dim0], dims[a.dim1] = dims[a.dim1], dims[a.dim0]
    return Value(a.self.symbol, tuple(dims))


@rule("t")
def _t(axes: Axes, a: SimpleNamespace) -> Value:
    return Value(a.self.symbol, a.self.dims[::-1])


@rule("unsqueeze")
def _unsqueeze(axes: Axes, a: SimpleNamespace) -> Value:
    at = a.dim % (len(a.self.dims) + 1)
    return Value(a.self.symbol, a.self.dims[:at] + ((),) + a.self.dims[at:])


@rule("squeeze")
def _squeeze(axes: Axes, a: SimpleNamespace) -> Value:
    dims = dims_of(a.self, getattr(a, "dim", None))
    return Value(a.self.symbol, tuple(dim for at, dim in enumerate(a.self.dims) if dim or at not in dims))


@rule("expand")
def _expand(axes: Axes, a: SimpleNamespace) -> Value:
    shape = a.node.meta["val"].shape
    own = ((),) * (len(shape) - len(a.self.dims)) + a.self.dims
    return Value(a.self.symbol, tuple(dim or axes.parts(size) for dim, size in zip(own, shape)))


@rule("clone", "alias", "detach", "lift_fresh_copy")
def _same(axes: Axes, a: SimpleNamespace) -> Value:
    return a.self


@rule("copy")
def _copy(axes: Axes, a: SimpleNamespace) -> Value:
    shape = a.node.meta["val"].shape
    return _expand(axes, SimpleNamespace(self=a.src, node=a.node)) if len(shape) else a.src


def _said(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


@rule("_to_copy")
def _cast(axes: Axes, a: SimpleNamespace) -> Value:
    before = a.node.args[0].meta["val"].dtype
    after = a.node.meta["val"].dtype
    if after.is_floating_point and after.itemsize < 2:
        raise Refused(f"a cast to {_said(after)} rounds by more than kernels do, and formulas have no word for that format")
    if before.is_floating_point and not after.is_floating_point:
        raise Refused(f"a cast of {_said(before)} to {_said(after)} cuts digits off")
    if after == torch.bool and before != torch.bool:
        return each(axes, lambda x: f.where(x == 0, 0.0, 1.0), a.self)
    return a.self


@rule("slice")
def _slice(axes: Axes, a: SimpleNamespace) -> Value:
    start = 0 if a.start is None else a.start
    if isinstance(start, int) and start < 0:
        start = axes.extent(a.self.dims[a.dim][0].axis) + start if a.self.dims[a.dim] else 0
    size = a.node.meta["val"].shape[a.dim]
    return _part_from(axes, a.self, a.dim % len(a.self.dims), start, size, a.step)


def _part_from(axes: Axes, x: Value, at: int, start: Any, size: Any, step: int = 1) -> Value:
    """The part of a dimension from `start` on."""
    dim = x.dims[at]
    if not dim or axes.is_whole(dim, size):
        return x
    x = axes.single(x, at)
    dim = x.dims[at]
    if isinstance(size, int) and size == 1:
        return _place(axes, x, at, start, ((),))
    axis = axes.part_of(dim[0].axis, size)
    is_first = isinstance(start, int) and start == 0

    def place(within: Any) -> Any:
        within = within if step == 1 else within * step
        return within if is_first else within + start

    return _part(axes, x, at, axis, place)


@rule("split_with_sizes", "split")
def _split(axes: Axes, a: SimpleNamespace) -> tuple[Value, ...]:
    at = a.dim % len(a.self.dims)
    start: Any = None
    parts = []
    for tensor in a.node.meta["val"]:
        size = tensor.shape[at]
        parts.append(_part_from(axes, a.self, at, 0 if start is None else start, size))
        start = axes.number(size) if start is None else start + axes.number(size)
    return tuple(parts)


@rule("unbind")
def _unbind(axes: Axes, a: SimpleNamespace) -> tuple[Value, ...]:
    count = len(a.node.meta["val"])
    return tuple(_select(axes, SimpleNamespace(self=a.self, dim=a.dim, index=i)) for i in range(count))


def _part(axes: Axes, x: Value, at: int, axis: str, place: Callable[[Any], Any]) -> Value:
    """The elements of x at these places of a dimension, along an axis."""
    names = {*x.names} - {x.dims[at][0].name}
    name = axes.free(axis, names)
    own = x.dims[at][0].name
    symbol = f.take(x.symbol, own, place(axes.position(axis, name))) if own else x.symbol
    return Value(symbol, (*x.dims[:at], (Part(axis, name if own else None),), *x.dims[at + 1 :]))


@rule("flip")
def _flip(axes: Axes, a: SimpleNamespace) -> Value:
    x = a.self
    for at in a.dims:
        x = axes.single(x, at)
        if x.dims[at]:
            axis = x.dims[at][0].axis
            x = _part(axes, x, at % len(x.dims), axis, lambda place, axis=axis: axes.extent(axis) - 1 - place)
    return x


@rule("select")
def _select(axes: Axes, a: SimpleNamespace) -> Value:
    at = a.dim % len(a.self.dims)
    x = axes.single(a.self, at)
    start = a.index
    if isinstance(start, int) and start < 0 and x.dims[at]:
        axes.require_least([x.dims[at][0].axis], -start)
        start = axes.extent(x.dims[at][0].axis) + start
    return _place(axes, x, at, start, ())


def _place(axes: Axes, x: Value, at: int, place: Any, dims: tuple[Any, ...]) -> Value:
    """The elements of x at one place of a dimension, with `dims` in place of it."""
    dims = (*x.dims[:at], *dims, *x.dims[at + 1 :])
    if not x.dims[at] or not x.dims[at][0].name:
        return Value(x.symbol, dims)
    if isinstance(place, int):
        axes.require_least([x.dims[at][0].axis], place + 1)
    first = first_place()
    is_first = isinstance(place, int) and place == 0
    return Value(f.take(x.symbol, x.dims[at][0].name, first if is_first else first + place), dims)


@rule("cat")
def _cat(axes: Axes, a: SimpleNamespace) -> Value:
    at = a.dim % len(a.tensors[0].dims)
    whole = axes.parts(a.node.meta["val"].shape[at])
    if len(whole) != 1:
        raise Refused("a join along a dimension of several axes")
    axis = whole[0].axis
    tensors = [axes.single(x, at) for x in a.tensors]
    used = {name for x in tensors for name in x.names}
    name = axes.free(axis, used)
    place = axes.position(axis, name)
    begin: Any = None
    joined = None
    for x in tensors:
        size: Any = axes.extent(x.dims[at][0].axis) if x.dims[at] else 1
        symbol = x.symbol
        if x.dims[at] and x.dims[at][0].name:
            within = place if begin is None else f.maximum(place - begin, 0)
            within = f.minimum(within, size - 1)
            symbol = f.take(symbol, x.dims[at][0].name, within)
        piece = Value(symbol, (*x.dims[:at], (Part(axis, name if symbol is not x.symbol else None),), *x.dims[at + 1 :]))
        begin = size if begin is None else begin + size
        here = Value(place < begin, ((),) * at + ((Part(axis, name),),) + ((),) * (len(x.dims) - at - 1))
        joined = piece if joined is None else each(axes, lambda h, x, y: f.where(h, x, y), before, joined, piece)
        before = here
    return joined


@rule("select_scatter", "slice_scatter")
def _scatter(axes: Axes, a: SimpleNamespace) -> Value:
    """The tensor with `src` written over one place of a dimension, or over a part of it."""
    at = a.dim % len(a.self.dims)
    x = axes.spread(axes.single(a.self, at), [at])
    is_place = a.op == "select_scatter"
    if not is_place and axes.is_whole(a.self.dims[at], a.node.args[1].meta["val"].shape[at]):
        return a.src
    start = a.index if is_place else 0 if a.start is None else a.start
    if not x.dims[at]:
        return Value(a.src.symbol, (*a.src.dims[:at], (), *a.src.dims[at:]))
    axis = x.dims[at][0].axis
    name = str(x.dims[at][0].name)
    if isinstance(start, int) and start < 0:
        start = axes.extent(axis) + start
    src = Value(a.src.symbol, (*a.src.dims[:at], (), *a.src.dims[at:])) if is_place else axes.single(a.src, at)
    if getattr(a, "step", 1) != 1:
        raise Refused("a write over every n-th place")
    position = axes.position(axis, name)
    here = position == start
    if src.dims[at]:
        part = src.dims[at][0]
        size = axes.extent(part.axis)
        is_all = [p.axis for p in src.dims[at]] == [axis]
        here = (position >= start) & (position < start + size)
        within = position if is_all else f.minimum(f.maximum(position - start, 0), size - 1)
        moved = f.take(src.symbol, part.name, within) if part.name and not is_all else src.symbol
        src = Value(moved, (*src.dims[:at], (Part(axis, name if part.name and not is_all else part.name),), *src.dims[at + 1 :]))
    mask = Value(here, ((),) * at + ((Part(axis, name),),) + ((),) * (len(x.dims) - at - 1))
    return each(axes, lambda h, s, y: f.where(h, s, y), mask, src, x)


@rule("constant_pad_nd")
def _pad(axes: Axes, a: SimpleNamespace) -> Value:
    x = a.self
    for i in range(0, len(a.pad), 2):
        at = len(x.dims) - 1 - i // 2
        before, after = a.pad[i : i + 2]
        if isinstance(before, int) and before == 0 and isinstance(after, int) and after == 0:
            continue
        x = axes.single(x, at)
        if not x.dims[at]:
            raise Refused("a border of a dimension of size 1")
        own = x.dims[at][0]
        value = axes.spread(x, [at])
        axis = axes.part_of(own.axis, a.node.meta["val"].shape[at])
        size = axes.extent(own.axis)
        name = axes.free(axis, {*value.names} - {value.dims[at][0].name})
        place = axes.position(axis, name) - before
        inside = f.take(value.symbol, value.dims[at][0].name, f.minimum(f.maximum(place, 0), size - 1))
        symbol = f.where((place >= 0) & (place < size), inside, _number_of(a.value))
        x = Value(symbol, (*value.dims[:at], (Part(axis, name),), *value.dims[at + 1 :]))
    return x


@rule("cumsum", "cumprod")
def _cumulated(axes: Axes, a: SimpleNamespace) -> Value:
    at = a.dim % len(a.self.dims)
    value = axes.spread(axes.single(a.self, at), [at])
    if not value.dims[at]:
        return value
    is_sum = a.op == "cumsum"

    def step(total: Any) -> Any:
        total = total + value.symbol if is_sum else total * value.symbol
        return total, total

    return Value(f.scan(str(value.dims[at][0].name), 0.0 if is_sum else 1.0, step)[1], value.dims)


# --- Made from nothing ----------------------------------------------------------------------------------------------------------


def _filled(axes: Axes, a: SimpleNamespace, number: Any) -> Value:
    return Value(number, tuple(axes.parts(size) for size in a.node.meta["val"].shape))


@rule("full", "full_like", "new_full")
def _full(axes: Axes, a: SimpleNamespace) -> Value:
    return _filled(axes, a, _number_of(a.fill_value))


@rule("scalar_tensor")
def _scalar(axes: Axes, a: SimpleNamespace) -> Value:
    return Value(_number_of(a.s))


@rule("empty", "empty_permuted", "empty_like")
def _empty(axes: Axes, a: SimpleNamespace) -> Value:
    return _filled(axes, a, None)


def _number_of(x: Any) -> Any:
    return float(x) if isinstance(x, bool) else x


@rule("arange")
def _arange(axes: Axes, a: SimpleNamespace) -> Value:
    dim = axes.parts(a.node.meta["val"].shape[0])
    start = getattr(a, "start", 0)
    step = getattr(a, "step", 1)
    if not dim:
        return Value(start, ((),))
    if len(dim) != 1:
        raise Refused("the places of a dimension of several axes")
    at = axes.position(dim[0].axis, dim[0].axis)
    at = at if isinstance(step, int) and step == 1 else at * step
    at = at if isinstance(start, int) and start == 0 else at + start
    return Value(at, ((Part(dim[0].axis, dim[0].axis),),))


# --- Places -------------------------------------------------------------------------------------------------------------------


def _taken(axes: Axes, x: Value, at: Sequence[int], places: Sequence[Value], to: int) -> Value:
    """The elements of x at these places along its dimensions `at`, whose own dimensions then stand at `to`."""
    if any(len(x.dims[i]) != 1 for i in at):
        raise Refused("places along a dimension that is no single axis")
    symbols, own = axes.aligned(*places)
    along = [x.dims[i][0] for i in at]
    for place, part in zip(places, along):
        axes.indexed.setdefault(place.symbol, set()).add(part.axis)
    kept = tuple(dim for i, dim in enumerate(x.dims) if i not in at)
    taken = [i for i, place in enumerate(symbols) if place is not axes.positions.get((along[i].axis, along[i].name))]
    beside = {part.name for dim in kept for part in dim} | {along[i].name for i in taken[1:]}
    names: list[str | None] = []
    for part in (part for dim in own for part in dim):
        is_twice = part.name is not None and part.name in beside
        used = {*filter(None, beside), *x.names, *filter(None, names)}
        names.append(axes.fresh(part.axis, used) if is_twice else part.name)
    is_new = any(part.name != name for part, name in zip((p for dim in own for p in dim), names))
    array = x.symbol
    for i in range(len(at)) if is_new else taken:
        if along[i].name:
            array = f.take(array, along[i].name, axes.named(Value(symbols[i], own), names).symbol)
    return Value(array, kept[:to] + axes.named(Value(symbols[0], own), names).dims + kept[to:])


@rule("index")
def _index(axes: Axes, a: SimpleNamespace) -> Value:
    at = [i for i, places in enumerate(a.indices) if places is not None]
    places = [a.indices[i] for i in at]
    if any(node.meta["val"].dtype == torch.bool for node in a.node.args[1] if node is not None):
        raise Refused("a mask that selects elements makes a tensor whose size depends on values")
    is_adjacent = at[-1] - at[0] == len(at) - 1
    return _taken(axes, a.self, at, places, at[0] if is_adjacent else 0)


@rule("index_select")
def _index_select(axes: Axes, a: SimpleNamespace) -> Value:
    at = a.dim % len(a.self.dims)
    return _taken(axes, a.self, [at], [a.index], at)


@rule("embedding")
def _embedding(axes: Axes, a: SimpleNamespace) -> Value:
    return _taken(axes, a.weight, [0], [a.indices], 0)


@rule("gather")
def _gather(axes: Axes, a: SimpleNamespace) -> Value:
    at = a.dim % len(a.self.dims)
    if len(a.self.dims[at]) != 1:
        raise Refused("places along a dimension that is no single axis")
    other = [[part.axis for part in dim] for i, dim in enumerate(a.self.dims) if i != at]
    if other != [[part.axis for part in dim] for i, dim in enumerate(a.index.dims) if i != at]:
        raise Refused("gather from a part of an axis")
    aside = Value(a.self.symbol, tuple(() if i == at else dim for i, dim in enumerate(a.self.dims)))
    places = Value(a.index.symbol, a.index.dims)
    (_, place), dims = axes.aligned(aside, places)
    along = a.self.dims[at][0].name
    array = axes.named(a.self, _names_beside(a.self, at, dims)).symbol
    return Value(f.take(array, along, place) if along else array, dims)


def _names_beside(x: Value, at: int, dims: Sequence[Any]) -> list[Any]:
    """The names of the parts of x, with those of `dims` but for the dimension `at`."""
    return [
        own.name if i == at else new.name for i, dim in enumerate(x.dims) for own, new in zip(dim, dim if i == at else dims[i])
    ]
