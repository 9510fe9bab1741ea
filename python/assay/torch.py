# SPDX-License-Identifier: Apache-2.0
"""Assay's CUDA kernels as operators of PyTorch, one for each op (docs/python.md):  assay.torch.layernorm(x, gamma, beta)

Each takes the tensors and attributes of `assay.describe(op)` by name, on a CUDA device, and returns new dense outputs.  They are
torch.library custom ops `assay::OP` with fake implementations, made when this module is imported.
"""

from __future__ import annotations

import inspect
import json
from typing import Any, Callable, Mapping, NamedTuple, Sequence

import torch

# Note: by these, code that torch.compile makes looks at tensors and allocates them, in a third of the time of other functions.
from torch._C._dynamo.guards import _empty_strided_cpu, _empty_strided_cuda, assert_size_stride

from . import library
from .errors import InputError
from .kernels import CUDA, HOST, Call, Given, kernels
from .models import replace as replace

__all__: list[str] = []  # the names of the ops

_DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "i32": torch.int32, "i64": torch.int64}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_NOT_OFFERED = ("in_place",)  # an output of a custom op may not be the memory of an input
_MOST_CALLS = 4096  # that are kept
_ALIGNMENT = 256  # bytes; two addresses that differ by a multiple of this take the same kernel


def _kind(x: torch.Tensor) -> tuple[Any, ...]:
    return x.shape, x.stride(), x.dtype, x.device, x.data_ptr() % _ALIGNMENT


class _Made(NamedTuple):
    """A call, the names of its inputs, its outputs by name, shape and dtype, and their addresses modulo _ALIGNMENT."""

    call: Call
    inputs: list[str]
    outputs: list[tuple[str, list[Any], torch.dtype]]
    places: list[int]


def _stream(index: int) -> int | None:
    """The current stream of a GPU, of the host (-1) 0; None: the GPU is not the current one."""
    if index < 0:
        return 0
    return torch._C._cuda_getCurrentRawStream(index) if torch._C._cuda_getDevice() == index else None


class _Operator:
    """An op: its arguments, what is asked of them, and its calls."""

    def __init__(self, op: library.Op) -> None:
        self.op = op
        # An attribute that only says whether tensors are given is read from them.
        self.implied = {t.only_with for t in op.tensors if t.only_with and "=" not in t.only_with}
        given = sorted(op.inputs, key=lambda t: t.only_with is not None)
        self.attributes = [a for a in op.attributes if a.name not in self.implied and a.name not in _NOT_OFFERED]
        self.names = [t.name for t in given] + [a.name for a in self.attributes]
        self.defaults: dict[str, Any] = {t.name: None for t in given if t.only_with}
        self.defaults.update((a.name, a.default if a.choices else float(a.default)) for a in self.attributes)
        self.updated = [t.name for t in given if t.role == "updated"]
        self.returned = [t for t in op.outputs if t.role == "output"]
        self.as_list = any(t.only_with for t in self.returned)
        self.schema = self._schema(given)
        self._calls: dict[Any, _Made] = {}

    def _schema(self, given: list[library.Tensor]) -> str:
        arguments = []
        for i, t in enumerate(given):
            kind = f"Tensor(a{i}!)" if t.role == "updated" else "Tensor"
            arguments.append(f"{kind}? {t.name}=None" if t.only_with else f"{kind} {t.name}")
        for a in self.attributes:
            default = self.defaults[a.name]
            kind = "bool" if isinstance(default, bool) else "str" if a.choices else "float"
            arguments.append(f"{kind} {a.name}={json.dumps(default) if kind == 'str' else default}")
        results = ["Tensor[]"] if self.as_list else ["Tensor"] * len(self.returned)
        return f"({', '.join(arguments)}) -> {results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}"

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments by name.  PyTorch leaves out those that have their defaults."""
        return {**self.defaults, **dict(zip(self.names, args)), **kwargs}

    def outputs(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[library.Tensor, list[Any]]], str]:
        """The values of all attributes, the outputs with their shapes, and the dtype of the case.

        Raises:
            InputError: an argument has a wrong dtype, shape, device or stride, or is missing; the message names it.
        """
        attributes = {a.name: arguments[a.name] for a in self.attributes}
        tensors = {t: arguments[t.name] for t in self.op.inputs}
        for a in self.attributes:
            if a.choices and not isinstance(a.default, bool) and attributes[a.name] not in a.choices:
                raise InputError(f"'{a.name}' is '{attributes[a.name]}', and one of {', '.join(a.choices)} was expected")
        for name in self.implied:
            attribute = self.op.attribute(name)
            assert attribute
            there = any(x is not None for t, x in tensors.items() if t.only_with == name)
            attributes[name] = attribute.value(attribute.choices[there])
        first = next((t, x) for t, x in tensors.items() if x is not None)
        case: tuple[library.Tensor, str] | None = None
        extents: dict[str, Any] = {"1": 1}
        for t, x in tensors.items():
            if (x is not None) != library.is_there(self.op, t, attributes):
                what = "is missing, which a case has" if x is None else "was given, which a case has only"
                raise InputError(f"'{t.name}' {what} with '{t.only_with}'")
            if x is None:
                continue
            if x.device != first[1].device:
                raise InputError(f"'{t.name}' is on the device {x.device}, and '{first[0].name}' on {first[1].device}")
            case = self._dtype(t, x, case)
            self._shape(t, x, extents)
            _strides(t, x)
        assert case
        shapes = [(t, [extents[a] for a in t.axes]) for t in self.returned if library.is_there(self.op, t, attributes)]
        return attributes, shapes, case[1]

    @staticmethod
    def _dtype(t: library.Tensor, x: torch.Tensor, case: tuple[library.Tensor, str] | None) -> tuple[library.Tensor, str] | None:
        """The tensor that sets the dtype of the case, and this."""
        name = _NAMES.get(x.dtype)
        if t.dtype:
            if name != t.dtype:
                raise InputError(f"'{t.name}' has the dtype {x.dtype}, and {_DTYPES[t.dtype]} was expected")
        elif case is None:
            if name not in ("f16", "bf16", "f32"):
                expected = "torch.float16, torch.bfloat16 or torch.float32"
                raise InputError(f"'{t.name}' has the dtype {x.dtype}, and {expected} was expected")
            return t, name
        elif name != case[1]:
            of_case = f"{_DTYPES[case[1]]} was expected, as '{case[0].name}' has"
            raise InputError(f"'{t.name}' has the dtype {x.dtype}, and {of_case}")
        return case

    @staticmethod
    def _shape(t: library.Tensor, x: torch.Tensor, extents: dict[str, Any]) -> None:
        axes = "[" + ", ".join(t.axes[:-1] + (t.axes[-1] + " + 1" * t.extent_plus_one,)) + "]"
        if x.dim() != len(t.axes):
            raise InputError(f"'{t.name}' has the shape {list(x.shape)}, and {axes} was expected")
        for i, axis in enumerate(t.axes):
            extent = x.shape[i] - (1 if t.extent_plus_one and i + 1 == len(t.axes) else 0)
            if axis not in extents:
                extents[axis] = extent
            elif extent != extents[axis]:
                where = f"{axes} was expected, where {axis} is {extents[axis]}"
                raise InputError(f"'{t.name}' has the shape {list(x.shape)}, and {where}")

    def fake(self, *args: Any, **kwargs: Any) -> Any:
        arguments = self.bound(args, kwargs)
        _, shapes, dtype = self.outputs(arguments)
        like = next(x for x in arguments.values() if isinstance(x, torch.Tensor))
        return self._result([like.new_empty(shape, dtype=_DTYPES[t.dtype or dtype]) for t, shape in shapes])

    def _result(self, outputs: list[torch.Tensor]) -> Any:
        if self.as_list:
            return outputs
        return None if not outputs else outputs[0] if len(outputs) == 1 else tuple(outputs)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        arguments = self.bound(args, kwargs)
        index = next(x for x in arguments.values() if isinstance(x, torch.Tensor)).get_device()
        stream = _stream(index)
        if stream is not None:
            return self.launched(arguments, (CUDA, index), stream)
        with torch.cuda.device(index):
            return self.launched(arguments, (CUDA, index), torch._C._cuda_getCurrentRawStream(index))

    def launched(self, arguments: Mapping[str, Any], device: tuple[int, int], stream: int) -> Any:
        """The outputs of a launch on the tensors' device: `device` as DLPack has it."""
        made, outputs = self.made(arguments, device)
        addresses = {name: arguments[name].data_ptr() for name in made.inputs}
        addresses.update((name, y.data_ptr()) for (name, _, _), y in zip(made.outputs, outputs))
        size = made.call.workspace_bytes
        workspace = arguments[made.inputs[0]].new_empty(size, dtype=torch.uint8) if size else None
        made.call.launch(addresses, stream, 0 if workspace is None else workspace.data_ptr())
        return self._result(outputs)

    def made(self, arguments: Mapping[str, Any], device: tuple[int, int]) -> tuple[_Made, list[torch.Tensor]]:
        """The call of the kernel that is preferred for these arguments, and new outputs."""
        values = [arguments[name] for name in self.names]
        like = next(x for x in values if isinstance(x, torch.Tensor))
        # What decides how the call is made.  Arguments that are like those of a call before are not checked again.
        key = (device, *[_kind(x) if isinstance(x, torch.Tensor) else x for x in values])
        made = self._calls.get(key)
        outputs = [like.new_empty(shape, dtype=dtype) for _, shape, dtype in made.outputs] if made else []
        if made is None or made.places != [y.data_ptr() % _ALIGNMENT for y in outputs]:
            made, outputs = self._make(arguments, device, like)
            if len(self._calls) >= _MOST_CALLS:
                self._calls.clear()
            self._calls[key] = made
        return made, outputs

    def _make(
        self, arguments: Mapping[str, Any], device: tuple[int, int], like: torch.Tensor
    ) -> tuple[_Made, list[torch.Tensor]]:
        attributes, shapes, dtype = self.outputs(arguments)
        tensors = {t.name: arguments[t.name] for t in self.op.inputs if arguments[t.name] is not None}
        inputs = list(tensors)
        outputs = [like.new_empty(shape, dtype=_DTYPES[t.dtype or dtype]) for t, shape in shapes]
        tensors.update((t.name, y) for (t, _), y in zip(shapes, outputs))
        given = {n: Given(_NAMES[x.dtype], tuple(x.shape), x.stride(), x.data_ptr()) for n, x in tensors.items()}
        call = kernels().choose(self.op, dtype, given, attributes, device)
        made = [(t.name, shape, y.dtype) for (t, shape), y in zip(shapes, outputs)]
        return _Made(call, inputs, made, [y.data_ptr() % _ALIGNMENT for y in outputs]), outputs

    def refuse(self, *args: Any, **kwargs: Any) -> Any:
        """What the op does on the host."""
        arguments = self.bound(args, kwargs)
        self.outputs(arguments)
        name, x = next((n, x) for n, x in arguments.items() if isinstance(x, torch.Tensor))
        raise InputError(f"'{name}' is on the device {x.device}, and cuda was expected")

    def signature(self) -> inspect.Signature:
        kind, empty = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.empty
        return inspect.Signature([inspect.Parameter(n, kind, default=self.defaults.get(n, empty)) for n in self.names])

    def doc(self) -> str:
        def lines(tensors: Any) -> str:
            said = []
            for t in tensors:
                only = f", only with {t.only_with}" if t.only_with else ""
                said.append(f"    {t.name}: {t.dtype or 'dtype of the case'} [{', '.join(t.axes)}]{only}")
            return "\n".join(said) or "    nothing"

        return (
            f"{self.op.about}\nArgs:\n{lines(self.op.inputs)}\nReturns:\n{lines(self.returned)}\n"
            "Raises:\n    InputError: an argument is not as above, is not on a CUDA device, or its last axis has gaps.\n"
            "    LibraryError: there is no shared object of kernels.\n"
        )


def _strides(t: library.Tensor, x: torch.Tensor) -> None:
    for i in range(x.dim()):
        wrong = x.stride(i) != 1 if i + 1 == x.dim() else x.stride(i) == 0
        if x.shape[i] > 1 and wrong:
            raise InputError(
                f"'{t.name}' has the strides {list(x.stride())}, and no gaps along the last axis and no repeated rows were "
                f"expected, as {t.name}.contiguous() has them"
            )


class Direct:
    """An op as a function of its tensors, on one device, for code that calls it with like tensors again and again.

    Tensors that are like those of the call before, in shape, strides, dtype, device and alignment, are not looked at further:
    their addresses go into the call that was made then.

    Args:
        operator: the op.
        names: of the tensors that are given, in their order.
        view: makes of the tensors what the op takes, the same memory in another shape.
        results: makes of the outputs and the tensors what is returned, dense views of all outputs.
        attributes: of all calls.
    """

    def __init__(
        self,
        operator: _Operator,
        names: Sequence[str],
        view: Callable[..., Sequence[torch.Tensor]],
        results: Callable[..., Sequence[torch.Tensor]],
        attributes: Mapping[str, Any],
    ) -> None:
        self._operator = operator
        self._names = names
        self._view = view
        self._results = results
        self._attributes = attributes
        self._last: Any = None

    def __call__(self, *given: torch.Tensor) -> Any:
        if self._last is None:
            return self._first(given)
        call, places, index, like, new, outputs, workspace_bytes = self._last
        addresses = []
        try:
            for x, (shape, stride, dtype, place) in zip(given, like):
                assert_size_stride(x, shape, stride)
                address = x.data_ptr()
                if address % _ALIGNMENT != place or x.dtype is not dtype or x.get_device() != index:
                    return self._first(given)
                addresses.append(address)
        except AssertionError:
            return self._first(given)
        stream = _stream(index)
        if stream is None:
            return self._first(given)
        made = []
        for shape, stride, dtype, place in outputs:
            y = new(shape, stride, dtype)
            address = y.data_ptr()
            if address % _ALIGNMENT != place:
                return self._first(given)
            addresses.append(address)
            made.append(y)
        if workspace_bytes:
            workspace = new((workspace_bytes,), (1,), torch.uint8)
            call.launch_at(places, addresses, stream, workspace.data_ptr())
        else:
            call.launch_at(places, addresses, stream, 0)
        return made[0] if len(made) == 1 else made

    def _first(self, given: Sequence[torch.Tensor]) -> Any:
        index = given[0].get_device()
        if _stream(index) is None:
            with torch.cuda.device(index):
                return self._first(given)
        views = self._view(*given)
        arguments = self._operator.bound((), {**dict(zip(self._names, views)), **self._attributes})
        made, outputs = self._operator.made(arguments, (HOST, 0) if index < 0 else (CUDA, index))
        call = made.call
        results = list(self._results(outputs, *given))
        places = call.places([*self._names, *(name for name, _, _ in made.outputs)])
        like = [(tuple(x.shape), x.stride(), x.dtype, x.data_ptr() % _ALIGNMENT) for x in given]
        returned = [(tuple(y.shape), y.stride(), y.dtype, y.data_ptr() % _ALIGNMENT) for y in results]
        new = _empty_strided_cpu if index < 0 else _empty_strided_cuda
        is_same_memory = all(v.data_ptr() == x.data_ptr() for v, x in zip(views, given))
        self._last = (call, places, index, like, new, returned, call.workspace_bytes) if is_same_memory else None
        workspace = given[0].new_empty(call.workspace_bytes, dtype=torch.uint8)
        call.launch_at(places, [x.data_ptr() for x in (*views, *outputs)], _stream(index) or 0, workspace.data_ptr())
        return results[0] if len(results) == 1 else results


operators: dict[str, _Operator] = {}


def _add_gradients(op: Any, forward: _Operator) -> None:
    """Gives attention_forward its gradients, for what attention_backward takes: a mask and a scale."""

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        arguments = forward.bound(inputs, {})
        ctx.refused = [n for n in forward.names[3:] if n not in ("mask", "scale") and arguments[n] != forward.defaults[n]]
        ctx.mask, ctx.scale = arguments["mask"], arguments["scale"]
        o, lse = output
        ctx.mark_non_differentiable(lse)
        ctx.save_for_backward(arguments["q"], arguments["k"], arguments["v"], o, lse)

    def backward(ctx: Any, do: torch.Tensor, _: Any) -> tuple[Any, ...]:
        if ctx.refused:
            raise InputError(f"attention_backward has no '{ctx.refused[0]}', so attention_forward with it has no gradient")
        q, k, v, o, lse = ctx.saved_tensors
        gradients = torch.ops.assay.attention_backward(q, k, v, o, lse, do.contiguous(), ctx.mask, ctx.scale)
        return (*gradients, *[None] * (len(forward.names) - 3))

    op.register_autograd(backward, setup_context=setup_context)


def _register(name: str) -> Any:
    operator = operators[name] = _Operator(library.describe(name))
    op = torch.library.custom_op(
        f"assay::{name}", operator.run, mutates_args=operator.updated, device_types="cuda", schema=operator.schema
    )
    op.register_fake(operator.fake)
    op.register_kernel("cpu")(operator.refuse)
    if name == "attention_forward":
        _add_gradients(op, operator)
    op.__doc__ = operator.doc()
    op.__name__ = name  # type: ignore[attr-defined]
    op.__signature__ = operator.signature()  # type: ignore[attr-defined]
    return op


for _op in json.loads(library.call(["list", "ops", "--json"]).out)["ops"]:
    globals()[_op["op"]] = _register(_op["op"])
    __all__.append(_op["op"])
