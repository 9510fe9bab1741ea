# SPDX-License-Identifier: Apache-2.0
"""What ATen operations on elements and along dimensions, and products, are in a formula (torch_lowering.py).

Those that move elements are in torch_moves.py.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, Callable, Sequence

import torch

from . import formula as f
from .torch_lowering import Axes, Part, Refused, Value, power

Rule = Callable[[Axes, SimpleNamespace], Any]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """The decorated function is the rule of these operations.  It gets their arguments by the names of their schema."""

    def entered(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return entered


def _value(x: Any) -> Value:
    return x if isinstance(x, Value) else Value(x)


def each(axes: Axes, function: Callable[..., Any], *operands: Any) -> Value:
    """A function of elements, of tensors and numbers that torch broadcasts."""
    symbols, dims = axes.aligned(*map(_value, operands))
    result = function(*symbols)
    return Value(float(result) if isinstance(result, bool) else result, dims)  # Note: numbers alone are compared by Python


# --- Of each element ----------------------------------------------------------------------------------------------------------


def _unary(name: str, function: Callable[[Any], Any]) -> None:
    RULES[name] = lambda axes, a: each(axes, function, a.self)


for _name in ("exp", "log", "sqrt", "rsqrt", "tanh", "erf", "sigmoid", "silu"):
    _unary(_name, getattr(f, _name))
_unary("abs", f.absolute)
_unary("neg", lambda x: -x)
_unary("square", f.square)
_unary("reciprocal", lambda x: 1.0 / x)
_unary("exp2", lambda x: f.exp(x * math.log(2)))
_unary("log2", lambda x: f.log(x) * (1 / math.log(2)))
_unary("log10", lambda x: f.log(x) * (1 / math.log(10)))
_unary("expm1", lambda x: f.exp(x) - 1.0)
_unary("relu", lambda x: f.maximum(x, 0.0))
_unary("sign", lambda x: f.where(x > 0.0, 1.0, f.where(x < 0.0, -1.0, 0.0)))
_unary("mish", lambda x: x * f.tanh(f.softplus(x)))
_unary("sin", lambda x: f.sin_turn(x, 0.0, 1.0, 1.0))
_unary("cos", lambda x: f.cos_turn(x, 0.0, 1.0, 1.0))
_unary("erfc", lambda x: 1.0 - f.erf(x))


def _binary(name: str, function: Callable[[Any, Any], Any]) -> None:
    RULES[name] = lambda axes, a: each(axes, function, a.self, a.other)


_binary("mul", lambda x, y: x * y)
_binary("maximum", f.maximum)
_binary("minimum", f.minimum)
_binary("lt", lambda x, y: x < y)
_binary("le", lambda x, y: x <= y)
_binary("gt", lambda x, y: x > y)
_binary("ge", lambda x, y: x >= y)
_binary("eq", lambda x, y: x == y)
_binary("logical_and", lambda x, y: x & y)
_binary("logical_or", f.maximum)


@rule("isnan")
def _isnan(axes: Axes, a: SimpleNamespace) -> Value:
    return _not(axes, SimpleNamespace(op="ne", self=a.self, other=a.self))


@rule("xlogy")
def _xlogy(axes: Axes, a: SimpleNamespace) -> Value:
    return each(axes, lambda x, y: f.where(x == 0.0, 0.0, x * f.log(y)), a.self, a.other)


@rule("ne", "logical_not")
def _not(axes: Axes, a: SimpleNamespace) -> Value:
    holds = each(axes, lambda x, y: x == y, a.self, a.other) if a.op == "ne" else a.self
    opposite = each(axes, lambda x: f.where(x, 0.0, 1.0), holds)
    axes.opposites[opposite.symbol] = holds.symbol
    return opposite


@rule("bitwise_and", "bitwise_or", "bitwise_not")
def _bitwise(axes: Axes, a: SimpleNamespace) -> Value:
    if a.node.meta["val"].dtype != torch.bool:
        raise Refused("formulas have no word for the bits of whole numbers")
    return RULES[a.op.replace("bitwise", "logical")](axes, a)


@rule("add", "sub", "rsub")
def _add(axes: Axes, a: SimpleNamespace) -> Value:
    left, right = (a.other, a.self) if a.op == "rsub" else (a.self, a.other)
    scaled = left if a.op == "rsub" else right
    if a.alpha != 1:
        scaled = each(axes, lambda x: x * a.alpha, scaled)
    left, right = (scaled, right) if a.op == "rsub" else (left, scaled)
    return each(axes, (lambda x, y: x + y) if a.op == "add" else (lambda x, y: x - y), left, right)


@rule("div", "floor_divide")
def _div(axes: Axes, a: SimpleNamespace) -> Value:
    mode = "floor" if a.op == "floor_divide" else getattr(a, "rounding_mode", None)
    if mode is None:
        return each(axes, lambda x, y: x / y, a.self, a.other)
    if mode != "floor" or a.node.meta["val"].dtype.is_floating_point:
        raise Refused(f"a quotient that is rounded ({mode}) has a word for whole numbers that are rounded down")
    return each(axes, lambda x, y: x // y, a.self, a.other)


@rule("remainder", "fmod")
def _remainder(axes: Axes, a: SimpleNamespace) -> Value:
    if a.node.meta["val"].dtype.is_floating_point:
        raise Refused("formulas have a remainder of whole numbers only")
    return each(axes, lambda x, y: x - y * (x // y), a.self, a.other)


@rule("pow")
def _pow(axes: Axes, a: SimpleNamespace) -> Value:
    if not isinstance(a.self, Value):
        if not a.self > 0:
            raise Refused("a power whose base is no positive constant")
        return each(axes, lambda x: f.exp(x * math.log(a.self)), a.exponent)
    return each(axes, lambda x: power(x, a.exponent), a.self)


@rule("clamp", "clamp_min", "clamp_max", "hardtanh")
def _clamp(axes: Axes, a: SimpleNamespace) -> Value:
    least = getattr(a, "min", getattr(a, "min_val", None))
    most = getattr(a, "max", getattr(a, "max_val", None))
    x = a.self
    if least is not None:
        x = each(axes, f.maximum, x, least)
    return x if most is None else each(axes, f.minimum, x, most)


@rule("log1p")
def _log1p(axes: Axes, a: SimpleNamespace) -> Value:
    if a.of_exp is not None:
        return each(axes, f.softplus, a.of_exp)
    return each(axes, lambda x: f.log(1.0 + x), a.self)


@rule("softplus")
def _softplus(axes: Axes, a: SimpleNamespace) -> Value:
    def of(x: Any) -> Any:
        scaled = x if a.beta == 1 else x * a.beta
        y = f.softplus(scaled) if a.beta == 1 else f.softplus(scaled) / a.beta
        return y if a.threshold >= 20 else f.where(scaled > a.threshold, x, y)  # Note: beyond 20 both are equal to 1e-10

    return each(axes, of, a.self)


@rule("log_sigmoid_forward")
def _log_sigmoid(axes: Axes, a: SimpleNamespace) -> Any:
    return each(axes, lambda x: -f.softplus(-x), a.self), None


@rule("gelu")
def _gelu(axes: Axes, a: SimpleNamespace) -> Value:
    return each(axes, f.gelu_tanh if a.approximate == "tanh" else f.gelu_erf, a.self)


@rule("leaky_relu")
def _leaky_relu(axes: Axes, a: SimpleNamespace) -> Value:
    return each(axes, lambda x: f.where(x > 0.0, x, x * a.negative_slope), a.self)


@rule("elu")
def _elu(axes: Axes, a: SimpleNamespace) -> Value:
    def of(x: Any) -> Any:
        inner = x if a.input_scale == 1 else x * a.input_scale
        below = (f.exp(inner) - 1.0) * (a.alpha * a.scale)
        return f.where(x > 0.0, x if a.scale == 1 else x * a.scale, below)

    return each(axes, of, a.self)


@rule("where")
def _where(axes: Axes, a: SimpleNamespace) -> Value:
    def of(condition: Any, x: Any, y: Any) -> Any:
        if isinstance(condition, (int, float)):
            return x if condition else y
        opposite = axes.opposites.get(condition) if isinstance(condition, f.Symbol) else None
        return f.where(condition, x, y) if opposite is None else f.where(opposite, y, x)

    return each(axes, of, a.condition, a.self, a.other)


# --- Along dimensions ---------------------------------------------------------------------------------------------------------


def dims_of(value: Value, dim: Any) -> list[int]:
    rank = len(value.dims)
    if dim is None or dim == []:
        return list(range(rank))
    return [d % rank for d in (dim if isinstance(dim, (list, tuple)) else [dim])] if rank else []


def _kept(value: Value, dims: Sequence[int], keepdim: bool) -> tuple[Any, ...]:
    if keepdim:
        return tuple(() if at in dims else dim for at, dim in enumerate(value.dims))
    return tuple(dim for at, dim in enumerate(value.dims) if at not in dims)


def _along(value: Value, dims: Sequence[int]) -> list[str]:
    return [part.name for at in dims for part in value.dims[at] if part.name]


def reduced(axes: Axes, word: Callable[..., Any], value: Value, dims: Sequence[int], keepdim: bool) -> Value:
    """A reduction of a tensor, such as f.sum."""
    names = _along(value, dims)
    symbol = word(value.symbol, *names) if names else value.symbol
    if word is f.sum:  # Note: a sum of what is repeated
        for at in dims:
            for part in value.dims[at]:
                symbol = symbol if part.name else symbol * axes.extent(part.axis)
    return Value(symbol, _kept(value, dims, keepdim))


def _reduction(name: str, word: Callable[..., Any]) -> None:
    RULES[name] = lambda axes, a: reduced(
        axes, word, a.self, dims_of(a.self, getattr(a, "dim", None)), getattr(a, "keepdim", False)
    )


_reduction("sum", f.sum)
_reduction("mean", f.mean)
_reduction("amax", f.max)
_reduction("any", f.max)


def _negated(axes: Axes, value: Value) -> Value:
    return each(axes, lambda x: -x, value)


@rule("amin")
def _amin(axes: Axes, a: SimpleNamespace) -> Value:
    return _negated(axes, reduced(axes, f.max, _negated(axes, a.self), dims_of(a.self, a.dim), a.keepdim))


@rule("max", "min")
def _max(axes: Axes, a: SimpleNamespace) -> Any:
    if hasattr(a, "other"):
        return each(axes, getattr(f, a.op + "imum"), a.self, a.other)
    dims = dims_of(a.self, getattr(a, "dim", None))
    keepdim = getattr(a, "keepdim", False)
    of = a.self if a.op == "max" else _negated(axes, a.self)
    found = reduced(axes, f.max, of, dims, keepdim)
    found = found if a.op == "max" else _negated(axes, found)
    return (found, None) if hasattr(a, "dim") else found


@rule("logsumexp")
def _logsumexp(axes: Axes, a: SimpleNamespace) -> Value:
    dims = dims_of(a.self, a.dim)
    return reduced(axes, f.logsumexp, axes.spread(a.self, dims), dims, a.keepdim)


@rule("_softmax", "_safe_softmax", "_log_softmax")
def _softmax(axes: Axes, a: SimpleNamespace) -> Value:
    words = {"_softmax": f.softmax, "_safe_softmax": f.softmax_or_zero, "_log_softmax": f.log_softmax}
    dims = dims_of(a.self, a.dim)
    value = axes.spread(a.self, dims)
    names = _along(value, dims)
    if not names:  # Note: of one element it is 1, and its logarithm 0
        return each(axes, lambda x: f.where(x == x, 0.0 if a.op == "_log_softmax" else 1.0, x), value)
    return Value(words[a.op](value.symbol, *names), value.dims)


def _moments(axes: Axes, value: Value, dims: Sequence[int], correction: float) -> tuple[Value, Value]:
    """The mean and the mean of squared deviations, with dimensions of size 1."""
    value = axes.spread(value, dims)
    mean = reduced(axes, f.mean, value, dims, True)
    squares = each(axes, lambda x, m: f.square(x - m), value, mean)
    if not correction:
        return mean, reduced(axes, f.mean, squares, dims, True)
    count: Any = 1.0
    for at in dims:
        for part in value.dims[at]:
            count = axes.extent(part.axis) * count
    axes.require_least([part.axis for at in dims for part in value.dims[at]], int(correction) + 1)
    return mean, each(axes, lambda s: s / (count - correction), reduced(axes, f.sum, squares, dims, True))


@rule("var", "std", "var_mean")
def _var(axes: Axes, a: SimpleNamespace) -> Any:
    dims = dims_of(a.self, getattr(a, "dim", None))
    correction = getattr(a, "correction", 1 if getattr(a, "unbiased", True) else 0)
    mean, var = _moments(axes, a.self, dims, 1 if correction is None else correction)
    if not getattr(a, "keepdim", False):
        drop = [at for at in range(len(a.self.dims)) if at not in dims]
        mean, var = (Value(v.symbol, tuple(v.dims[at] for at in drop)) for v in (mean, var))
    if a.op == "std":
        return each(axes, f.sqrt, var)
    return (var, mean) if a.op == "var_mean" else var


def _normalised(axes: Axes, x: Value, dims: Sequence[int], weight: Any, bias: Any, eps: float) -> tuple[Value, Value, Value]:
    mean, var = _moments(axes, x, dims, 0)
    scale = each(axes, lambda v: f.rsqrt(v + eps), var)
    return _affine(axes, each(axes, lambda x, m, r: (x - m) * r, x, mean, scale), weight, bias), mean, scale


def _affine(axes: Axes, y: Value, weight: Any, bias: Any) -> Value:
    if weight is not None:
        y = each(axes, lambda y, w: y * w, y, weight)
    return y if bias is None else each(axes, lambda y, b: y + b, y, bias)


@rule("native_layer_norm")
def _layer_norm(axes: Axes, a: SimpleNamespace) -> Any:
    rank = len(a.input.dims)
    dims = list(range(rank - len(a.normalized_shape), rank))
    return _normalised(axes, a.input, dims, a.weight, a.bias, a.eps)


def _of_channels(value: Value | None, rank: int) -> Value | None:
    """A vector along the dimension 1 of a tensor of this rank."""
    return None if value is None else Value(value.symbol, value.dims + ((),) * (rank - 2))


def _folded_or_not(axes: Axes, x: Value, mean: Value, scale: Value, weight: Any, bias: Any) -> Value:
    """(x - mean) scale weight + bias, which torch computes as x s + t too: by channel, s and t are computed once."""
    plain = _affine(axes, each(axes, lambda x, m, r: (x - m) * r, x, mean, scale), weight, bias)
    slope = _affine(axes, scale, weight, None)
    shift = _affine(axes, each(axes, lambda m, s: -(m * s), mean, slope), None, bias)
    return each(axes, f.either, plain, each(axes, lambda x, s, t: x * s + t, x, slope, shift))


@rule("_native_batch_norm_legit_no_training")
def _batch_norm(axes: Axes, a: SimpleNamespace) -> Any:
    rank = len(a.input.dims)
    mean, var, weight, bias = (_of_channels(v, rank) for v in (a.running_mean, a.running_var, a.weight, a.bias))
    scale = each(axes, lambda v: f.rsqrt(v + a.eps), var)
    return _folded_or_not(axes, a.input, mean, scale, weight, bias), None, None


@rule("native_group_norm")
def _group_norm(axes: Axes, a: SimpleNamespace) -> Any:
    rank = len(a.input.dims)
    channels = a.input.dims[1]
    x = a.input
    weight, bias = (_of_channels(v, rank) for v in (a.weight, a.bias))
    if a.group != 1:
        x = axes.split(x, 1, a.group)
        weight, bias = (v and axes.split(v, 0, a.group) for v in (weight, bias))
    _, mean, scale = _normalised(axes, x, list(range(1 if a.group == 1 else 2, len(x.dims))), None, None, a.eps)
    y = _folded_or_not(axes, x, mean, scale, weight, bias)
    return (y if a.group == 1 else axes.merged(y, 1, channels[0].axis)), None, None


# --- Products -----------------------------------------------------------------------------------------------------------------


def _product(axes: Axes, left: Value, right: Value) -> Value:
    """[..., i, k] times [..., k, j]."""
    columns = Value(right.symbol, right.dims[:-2] + ((), right.dims[-1], right.dims[-2]))
    rows = Value(left.symbol, left.dims[:-1] + ((), left.dims[-1]))
    product = each(axes, lambda x, y: x * y, rows, columns)
    return reduced(axes, f.sum, product, [len(product.dims) - 1], False)


@rule("mm", "bmm")
def _mm(axes: Axes, a: SimpleNamespace) -> Value:
    return _product(axes, a.self, a.mat2)


@rule("addmm")
def _addmm(axes: Axes, a: SimpleNamespace) -> Value:
    product = _product(axes, a.mat1, a.mat2)
    if a.alpha != 1:
        product = each(axes, lambda x: x * a.alpha, product)
    added = a.self if a.beta == 1 else each(axes, lambda x: x * a.beta, a.self)
    return each(axes, lambda x, y: x + y, product, added)


@rule("mv", "dot")
def _mv(axes: Axes, a: SimpleNamespace) -> Value:
    product = each(axes, lambda x, y: x * y, a.self, a.vec if a.op == "mv" else a.tensor)
    return reduced(axes, f.sum, product, [len(product.dims) - 1], False)
