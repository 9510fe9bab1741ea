# SPDX-License-Identifier: Apache-2.0
"""Traces a reference in PyTorch: its ATen operations, with the sizes of axes as symbols (torch_reference.py).

Importing this module imports torch.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import math
import re
import sys
import traceback
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import fx
from torch._decomp import core_aten_decompositions
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functional_call, functionalize
from torch.fx import traceback as node_places
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext
from torch.overrides import TorchFunctionMode

from .errors import InputError

INPUT = "placeholder"  # what torch.fx calls a node that is an input of the graph
DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "i32": torch.int64, "i64": torch.int64}
_OF_NUMPY = (torch.Tensor.numpy, torch.Tensor.__array__)
NARROW = (torch.float16, torch.bfloat16)
_FOLDERS = (str(Path(torch.__file__).parent), str(Path(__file__).parent))

# Composed of others by torch, and lowered as they are, since formulas have a word or a tighter form for them.
_KEPT = "softplus silu logsumexp mish _safe_softmax gelu leaky_relu elu log_sigmoid_forward var var_mean xlogy".split()


@dataclass(frozen=True)
class Port:
    """A tensor that a reference gets.

    Attributes:
        name: as an argument has it.
        axes: their names, outermost first; "1" is a single value.
        dtype: of DTYPES; None: that of the case.
        holds: what its elements are; None: any numbers.
    """

    name: str
    axes: tuple[str, ...]
    dtype: str | None = None
    holds: str | None = None


@dataclass(frozen=True)
class Reference:
    """What is traced, and run to compare.

    Attributes:
        call: a function or a module.
        ports: what it gets, in the order of the op: inputs, then weights.
        parameters: the names in a module's state_dict of those that are its own, by the port's name.
        numbers: attributes with their defaults.
        fixed: axes of one extent, whose sizes are numbers in the trace.
    """

    call: Callable[..., Any]
    ports: tuple[Port, ...]
    parameters: Mapping[str, str]
    numbers: Mapping[str, float]
    fixed: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_module(self) -> bool:
        """Whether it is a module, with parameters of its own."""
        return isinstance(self.call, torch.nn.Module)

    def run(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """Its outputs for these tensors and numbers, by name."""
        given = {name: value for name, value in values.items() if name not in self.parameters}
        own = {self.parameters[name]: value for name, value in values.items() if name in self.parameters}
        call: Any = self.call
        if self.is_module:
            out = functional_call(call, own, (), given)
        elif is_positional(call):
            out = call(*given.values())
        else:
            out = call(**given)
        return tuple(out) if isinstance(out, (tuple, list)) else (out,)


def is_positional(function: Any) -> bool:
    """Whether it is one of torch's own in C++, whose arguments have other names."""
    return isinstance(function, types.BuiltinFunctionType)


@dataclass(frozen=True)
class Trace:
    """What is left of a reference.

    Attributes:
        graph: its ATen operations; each node's meta has its place, and its value with symbols as sizes.
        axes: the axis of each symbol; fixed ones have none.
        sizes: the example of each axis's size; of a fixed one its extent.
        conditions: equations of symbols that hold where it is defined.
    """

    graph: fx.Graph
    axes: Mapping[Any, str]
    sizes: Mapping[str, int]
    conditions: Sequence[Any]


def place_of(frames: Sequence[traceback.FrameSummary]) -> str:
    """ "FILE:LINE: " of the innermost frame that is neither torch's nor ours; empty: there is none."""
    own = [frame for frame in frames if not frame.filename.startswith(_FOLDERS) and not frame.filename.startswith("<")]
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}: " if own else ""


def _own_frame() -> Any:
    """The innermost frame that is neither torch's nor ours."""
    frame: Any = sys._getframe(1)
    while frame and (frame.f_code.co_filename.startswith(_FOLDERS) or frame.f_code.co_filename.startswith("<")):
        frame = frame.f_back
    return frame


class Sizes:
    """The symbols that stand for the extents of axes while a reference is traced."""

    def __init__(self, ports: Sequence[Port], tensors: Sequence[Any]) -> None:
        self.axes: dict[Any, str] = {}
        self.env: Any = None
        for port, tensor in zip(ports, tensors):
            for axis, size in zip(port.axes, tensor.shape):
                if isinstance(size, torch.SymInt):
                    self.axes[size.node.expr] = axis
                    self.env = size.node.shape_env

    def require_free(self, who: str | None = None) -> None:
        """Refuses an axis whose size became a fixed number.  `who`: whose code did it; None: the line that torch has noted."""
        if self.env is None or not self.env.replacements:
            return
        symbol = next((symbol for symbol in self.axes if symbol in self.env.replacements), None)
        if symbol is None:
            return
        guards = (guard for guard in self.env.guards if symbol in guard.expr.free_symbols)
        frame = next((guard.sloc.framework_loc for guard in guards), None)
        place = place_of([frame]) if isinstance(frame, traceback.FrameSummary) else ""
        if who and not place:
            raise InputError(f"{who} makes a fixed number of the extent of '{self.axes[symbol]}'")
        raise InputError(
            f"{place}the reference makes a fixed number of the extent of '{self.axes[symbol]}': keep x.shape[...] as it is, without "
            f"int() or a loop over it, and give axes that are always equal one name"
        )

    def conditions(self) -> list[Any]:
        """What was taken to be equal, as halves of an axis are.  Refuses a reference whose own code compares sizes otherwise."""
        equal = []
        advice = "keep one way, and name the extents for which it is right in axes= or legal="
        for guard in self.env.guards if self.env else ():
            frame = guard.sloc.framework_loc
            if guard.expr.is_Relational and type(guard.expr).__name__ == "Equality" and guard.expr.free_symbols <= set(self.axes):
                equal.append(guard.expr)
            elif isinstance(frame, traceback.FrameSummary) and place_of([frame]):
                raise InputError(
                    f"{place_of([frame])}a size decides what is computed, and an op is the same for all sizes: {advice}"
                )
        return equal

    def named(self, text: str) -> str:
        """A message with the names of axes in place of symbols."""
        names = {str(symbol): axis for symbol, axis in self.axes.items()}
        return re.sub(r"\bs\d+\b", lambda found: names.get(found[0], found[0]), text)


class Replaced(TorchFunctionMode):
    """Functions of torch that are computed by others of the same value, from which a formula can be read.

    It also keeps the place of each call, for messages.
    """

    def __init__(self, is_module: bool) -> None:
        super().__init__()
        self.is_module = is_module
        self.outermost = _own_frame()  # the caller of this package
        self.sizes: Sizes | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        frame = _own_frame()
        is_known = frame is not None and frame is not self.outermost
        place = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}: " if is_known else ""
        node_places.set_stack_trace([place])
        if self.sizes is None:
            return self._called(func, place, args, kwargs or {})
        self.sizes.require_free()
        result = self._called(func, place, args, kwargs or {})
        self.sizes.require_free(f"{place}{getattr(func, '__name__', 'torch')}: torch")
        return result

    def _called(self, func: Any, place: str, args: Any, kwargs: Any) -> Any:
        if func in _OF_NUMPY and self.sizes is not None:
            raise InputError(f"{place}the reference calls NumPy, which cannot be traced: use functions of torch")
        if func is F.linear and self.sizes is not None:
            return _linear(*args, **kwargs)
        if func is F.scaled_dot_product_attention:
            return _attention(place, *args, **kwargs)
        if func is F.rms_norm:
            return _rms_norm(place, *args, **kwargs)
        if func is F.layer_norm and self.is_module:
            return _layer_norm(*args, **kwargs)
        if func in (F.dropout, torch.dropout) and _is_training(*args, **kwargs):
            raise InputError(f"{place}dropout in training is random: call .eval() of the module, or give the mask as an input")
        return func(*args, **kwargs)


def _is_training(x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> bool:
    return training and p > 0


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """torch's own fixes sizes where there is a bias."""
    if bias is None or x.dim() < 2:
        return torch.matmul(x, weight.transpose(0, 1)) if bias is None else torch.matmul(x, weight.transpose(0, 1)) + bias
    rows = torch.addmm(bias, x.reshape(-1, x.shape[-1]), weight.transpose(0, 1))
    return rows.view(*x.shape[:-1], weight.shape[0])


def _attention(
    place: str,
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: Any = None,
    enable_gqa: bool = False,
) -> Any:
    """As torch documents it.  torch's own splits the scale over both factors."""
    if dropout_p > 0:
        raise InputError(f"{place}dropout is random: leave dropout_p at 0")
    if enable_gqa:
        if query.shape[-3] % key.shape[-3] != 0:
            raise InputError(f"{place}the heads of q are no multiple of those of k")
        group = query.shape[-3] // key.shape[-3]
        shared = torch.arange(query.shape[-3]) // group
        key = torch.index_select(key, -3, shared)
        value = torch.index_select(value, -3, shared)
    scores = query @ key.transpose(-2, -1) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        seen = torch.arange(key.shape[-2])[None, :] <= torch.arange(query.shape[-2])[:, None]
        scores = torch.where(seen, scores, -torch.inf)
    if attn_mask is not None:
        scores = torch.where(attn_mask, scores, -torch.inf) if attn_mask.dtype == torch.bool else scores + attn_mask
    return torch.ops.aten._safe_softmax.default(scores, -1) @ value


def _rms_norm(place: str, input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """As torch documents it.  torch's own rounds eps to f32."""
    if eps is None:
        raise InputError(f"{place}rms_norm without eps has another one for each dtype: give eps")
    x = input.double() if input.dtype == torch.float64 else input.float()
    y = x * torch.rsqrt(x.square().mean(tuple(range(-len(normalized_shape), 0)), keepdim=True) + eps)
    return (y if weight is None else y * weight).to(input.dtype)


def _layer_norm(x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Of a module, whose widths are those of its parameters' axes."""
    return F.layer_norm(x, x.shape[-len(normalized_shape) :], weight, bias, eps)


def sizes_of(axes: Sequence[str], fixed: Mapping[str, int]) -> dict[str, int]:
    """An example of sizes: distinct but for fixed ones, and such that an axis can be halved, or parted in three where there are few.

    Those of heads are a multiple of kv_heads.
    """
    primes = (n for n in itertools.count(5) if all(n % k for k in range(2, int(n**0.5) + 1)))
    factor = 12 if len(axes) <= 4 else 4
    free = (factor * n for n in primes if factor * n not in fixed.values())
    sizes = {axis: fixed[axis] if axis in fixed else next(free) for axis in axes}
    if "heads" in sizes and "kv_heads" in sizes and not fixed:
        sizes["heads"] = 4 * sizes["kv_heads"]
    return sizes


def axes_of(ports: Sequence[Port]) -> list[str]:
    """The names of all axes, in the order in which they first stand."""
    return list(dict.fromkeys(axis for port in ports for axis in port.axes if axis != "1"))


class NotTraced(InputError):
    """A reference does not run on tensors of one dtype, or does what no graph has; in another dtype it may."""


def trace(reference: Reference, floats: torch.dtype) -> Trace:
    """Traces a reference on tensors of the dtype `floats`, but for those that have one of their own.

    Raises:
        NotTraced: it cannot be traced so.  The message begins with the line.
        InputError: it does what no graph has in any dtype, such as a decision by a size.
    """
    mode = Replaced(reference.is_module)
    try:
        return _traced(reference, floats, mode)
    except InputError:
        raise
    except Exception as e:  # pylint: disable=broad-except  # torch raises many kinds
        told = e
    where = place_of(traceback.extract_tb(told.__traceback__))
    if "DataDependent" in type(told).__name__:
        raise InputError(f"{where}a tensor's value decides what is computed: write torch.where in place of if") from None
    why = (str(told).strip() or "no reason is given").splitlines()[0].rstrip(".")
    why = mode.sizes.named(why) if mode.sizes else why
    if "ufunc" in why:
        raise NotTraced(f"{where}NumPy takes no size that stands for any extent: use math, like math.sqrt(x.shape[-1])") from None
    kept = f"; {_kept_tensors(reference)}" if _kept_tensors(reference) else ""
    raise NotTraced(f"{where}it cannot be traced: {type(told).__name__}: {why}{kept}") from None


def _kept_tensors(reference: Reference) -> str:
    """What to do about tensors of a module whose extents are fixed, since they have no axes; empty: it has none."""
    if not isinstance(reference.call, torch.nn.Module):
        return ""
    named = reference.parameters.values()
    for path, tensor in reference.call.named_buffers():
        if tensor.dim() and path not in named:
            return f"the extents of the buffer '{path}' are fixed: give it axes in weights="
    for module in reference.call.modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor) and value.dim():
                return f"the extents of the tensor '{name}' are fixed: make it a buffer by register_buffer, with axes in weights="
    return ""


def _traced(reference: Reference, floats: torch.dtype, mode: Replaced) -> Trace:
    sizes = sizes_of(axes_of(reference.ports), reference.fixed)
    fake = FakeTensorMode(shape_env=ShapeEnv(), allow_non_fake_inputs=True)
    examples: list[Any] = []
    for port in reference.ports:
        shape = [sizes.get(axis, 1) for axis in port.axes]
        tensor = torch.empty(shape, dtype=DTYPES[port.dtype] if port.dtype else floats)
        kinds = [DimDynamic.STATIC if axis == "1" or axis in reference.fixed else DimDynamic.DUCK for axis in port.axes]
        examples.append(fake.from_tensor(tensor, symbolic_context=StatelessSymbolicContext(dynamic_sizes=kinds)))
    numbers = [fake.from_tensor(torch.zeros((), dtype=torch.float64)) for _ in reference.numbers]
    names = [*(port.name for port in reference.ports), *reference.numbers]

    def call(*values: Any) -> Any:
        mode.sizes = Sizes(reference.ports, values)
        with mode:
            return reference.run(dict(zip(names, values)))

    table = {op: rule for op, rule in core_aten_decompositions().items() if op._schema.name.split("::")[1] not in _KEPT}
    with node_places.preserve_node_meta(), _quiet(), _symbolic_roots():
        made = make_fx(functionalize(call), decomposition_table=table, tracing_mode="symbolic", _allow_non_fake_inputs=True)(
            *examples, *numbers
        )
    assert mode.sizes
    mode.sizes.require_free()
    conditions = mode.sizes.conditions()
    inputs = [node for node in made.graph.nodes if node.op == INPUT]
    for node in made.graph.nodes:
        if node.target is torch.ops.aten.copy_.default and node.args[0] in inputs:
            name = names[inputs.index(node.args[0])]
            raise InputError(f"{place(node.args[1])}the reference writes into '{name}': clone it first")
    made.graph.eliminate_dead_code()
    return Trace(made.graph, mode.sizes.axes, sizes, conditions)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Without torch's own log of what cannot be traced, since it is told as one sentence."""
    loggers = [logging.getLogger(name) for name in ("torch.fx.experimental.symbolic_shapes", "torch._subclasses.fake_tensor")]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before):
            logger.disabled = disabled


@contextlib.contextmanager
def _symbolic_roots() -> Iterator[None]:
    """With a math.sqrt that leaves a size symbolic, as math.sqrt(x.shape[-1]) stands in many references."""
    of_number = math.sqrt

    def sqrt(x: Any) -> Any:
        return torch.sym_float(x) ** 0.5 if isinstance(x, (torch.SymInt, torch.SymFloat)) else of_number(x)

    math.sqrt = sqrt  # type: ignore[assignment]
    try:
        yield
    finally:
        math.sqrt = of_number


def place(node: fx.Node) -> str:
    """ "FILE:LINE: " of the reference's line that made a node; empty: it is unknown."""
    return node.stack_trace or ""
