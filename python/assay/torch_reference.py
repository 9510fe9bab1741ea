# SPDX-License-Identifier: Apache-2.0
"""Ops of references in PyTorch (docs/own-op.md): traced (torch_tracing.py), written as a formula (torch_lowering.py), and compared
with the reference (torch_comparison.py).

Importing this module imports torch.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable, Mapping, NamedTuple, Sequence

import numpy as np
import torch
from torch import fx

from . import formula as f
from . import library
from .errors import InputError
from .torch_arguments import require_bounds, require_names, require_numbers, require_reference, tensors_of
from .torch_comparison import FLOATS, compare
from .torch_dtypes import Difference, difference
from .torch_lowering import Axes, Part, Refused, Value, as_symbol, first_place, holds, is_symbolic
from .torch_moves import MOVES
from .torch_rules import RULES
from .torch_tracing import DTYPES, INPUT, NARROW, NotTraced, Port, Reference, Trace, axes_of, place, trace

_DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}  # in the order in which they are preferred
_UNNAMED = ("_to_copy", "_local_scalar_dense")  # words of torch's own, whose messages say what they do
_WEIGHTS = ("_softmax", "_safe_softmax")  # whose results have a step of their own in every formula: `weights`


def made(
    reference: Callable[..., Any],
    inputs: f.Tensors,
    weights: f.Tensors,
    outputs: f.Tensors | Sequence[str] | None,
    attributes: Mapping[str, float],
    axes: f.Bounds,
    legal: Sequence[str],
    about: str | None,
    name: str | None,
    fixed: Mapping[str, int] = {},
    constant: Mapping[str, int] = {},
    contents: Mapping[str, str] = {},
    is_legal: Callable[[Mapping[str, int]], bool] = lambda sizes: True,
    dtypes: Sequence[str] | None = None,
) -> f.Op:
    """What f.from_torch makes.

    Args:
        reference ... name: as of f.from_torch.
        fixed: extents of axes at which it is traced and compared, since the reference is written for them.
        constant: extents of axes that the op has always, though it is traced and compared at any.
        contents: what tensors of whole numbers hold that are no places at which the reference takes elements.
        is_legal: whether sizes of axes obey `legal`.
        dtypes: those in which it must be the same.
    """
    require_reference(reference)
    inputs, weights = tensors_of("inputs", inputs), tensors_of("weights", weights)
    require_numbers(attributes)
    require_names(outputs)
    ports = tuple(_port(key, given) for group in (inputs, weights) for key, given in group.items())
    require_bounds(axes, axes_of(ports))
    of = Reference(reference, ports, _parameters(reference, weights), dict(attributes), fixed)
    _require_arguments(of)
    formula, results, shapes, kept = _read(of, dtypes or tuple(_DTYPES))
    of, inputs, weights = _with_contents(of, formula.axes, inputs, weights, contents)
    bounds = {**axes, **{axis: (n, n) for axis, n in fixed.items()}}
    names = _names_of_outputs(outputs, len(results), {*(port.name for port in ports), *attributes})
    _require_outputs(outputs, shapes, kept)
    described = {n: {"axes": a, "dtype": "f32"} if d == torch.float32 else a for n, a, d in zip(names, shapes, kept)}
    name = name or _free(_name_of(reference))
    numerics = formula.numerics(results)

    def op_within(bounds: f.Bounds) -> f.Op:
        text = f.written(
            name,
            about or _about(reference),
            results,
            inputs=inputs,
            weights=weights,
            outputs=described,
            attributes=attributes,
            axes=bounds,
            legal=[*legal, *formula.conditions(bounds)],
        ).text
        return f.Op(name, text, numerics)

    compared = op_within(bounds)
    try:
        compare(compared, of, names, bounds, is_legal, formula.traced, formula.axes.conditions)
    except BaseException:
        compared.forget()
        raise
    return op_within({**bounds, **{axis: (n, n) for axis, n in constant.items()}}) if constant else compared


# --- What is given --------------------------------------------------------------------------------------------------------------


def _port(name: str, given: Any) -> Port:
    options = {"axes": given} if isinstance(given, str) else dict(given)
    if "present_if" in options:
        raise InputError(f"'{name}': an op of a reference has no tensor that may be missing")
    names = tuple(str(options["axes"]).split())
    for axis in names:
        if not re.fullmatch(r"[a-z][a-z0-9_]*|1", axis):
            raise InputError(f"'{name}': '{axis}' is no axis of which a reference can be traced: a name, or 1, was expected")
        if axis != "1" and names.count(axis) > 1:
            raise InputError(f"'{name}' has the axis '{axis}' twice, and an axis of an op stands once in a tensor")
    dtype = options.get("dtype")
    if dtype is not None and dtype not in DTYPES:
        raise InputError(f"'{name}': the dtype '{dtype}' is none of {', '.join(DTYPES)}")
    return Port(name, names, dtype, options.get("holds"))


def _with_contents(
    of: Reference, axes: Axes, inputs: f.Tensors, weights: f.Tensors, otherwise: Mapping[str, str]
) -> tuple[Reference, f.Tensors, f.Tensors]:
    """The reference and its tensors, with what those of whole numbers hold: places at which it takes elements, or `otherwise`."""
    indexed = {symbol.text: along for symbol, along in axes.indexed.items() if isinstance(symbol, f.Symbol) and symbol.is_leaf}
    ports = []
    for port in of.ports:
        if port.dtype in ("i32", "i64") and port.holds is None:
            along = indexed.get(port.name, set()) & set(axes.own)
            holds_what = f"indices_of({along.pop()})" if len(along) == 1 else otherwise.get(port.name)
            if holds_what is None:
                raise InputError(f"'{port.name}' is of whole numbers: say what it holds, like 'indices_of(vocab)'")
            port = replace(port, holds=holds_what)
        ports.append(port)
    contents = {port.name: port.holds for port in ports if port.holds}
    groups = (
        {name: {**dict(given), "holds": contents[name]} if name in contents else given for name, given in group.items()}
        for group in (inputs, weights)
    )
    return replace(of, ports=tuple(ports)), *groups


def _parameters(reference: Any, weights: f.Tensors) -> dict[str, str]:
    """The names in the module's state_dict of the weights, by the names that they have in the op."""
    if not isinstance(reference, torch.nn.Module):
        return {}
    buffers = dict(reference.named_buffers())
    own = {_name_of_parameter(path): path for path in [*dict(reference.named_parameters()), *buffers]}
    for name in weights:
        if name not in own:
            raise InputError(f"the module has no parameter '{name}', only {', '.join(own) or 'none'}")
    for name, path in own.items():
        if name not in weights and path not in buffers:
            raise InputError(f"the parameter '{path}' of the module has no axes: weights={{'{name}': '...'}} was expected")
    return {name: path for name, path in own.items() if name in weights}


def _name_of_parameter(path: str) -> str:
    name = path.replace(".", "_").lower()
    return name if name[:1].isalpha() else f"p{name}"


def _require_arguments(of: Reference) -> None:
    """Refuses names that the reference does not take, and arguments that it lacks."""
    given = [*(port.name for port in of.ports if port.name not in of.parameters), *of.numbers]
    try:
        signature = inspect.signature(of.call.forward if of.is_module else of.call)  # type: ignore[attr-defined]
    except ValueError:  # one of torch's own
        return
    try:
        signature.bind(**dict.fromkeys(given))
    except TypeError as e:
        if not given:
            raise InputError(f"the reference takes {signature}, and no inputs were given: inputs={{...}} was expected") from None
        raise InputError(
            f"the arguments of the reference are those of {signature}, and {', '.join(given)} were given: {e}"
        ) from None


def _name_of(reference: Any) -> str:
    name = getattr(reference, "__name__", type(reference).__name__)
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    name = re.sub(r"[^a-z0-9_]+", "_", name).strip("_")
    return name if name[:1].isalpha() and name != "lambda" else "reference"


def _free(name: str) -> str:
    """A name that no op of this package has."""
    is_own = any(Path(file).name.startswith(f"{name}-") for file in os.environ.get(f.VARIABLE, "").split(":"))
    listed = (line.split(" ")[0] for line in library.call(["list", "ops"]).out.splitlines())
    return f"{name}_of_torch" if name in listed and not is_own else name


def _about(reference: Any) -> str:
    """The first paragraph of a function's docstring."""
    return " ".join((inspect.getdoc(reference) or "").split("\n\n")[0].split()) if inspect.isfunction(reference) else ""


def _names_of_outputs(names: f.Tensors | Sequence[str] | None, count: int, taken: set[str]) -> list[str]:
    if names is None:
        own = (
            (["y"], ["out"], ["result"])
            if count == 1
            else ([f"{stem}{i}" for i in range(count)] for stem in ("y", "out", "result"))
        )
        return next(names for names in own if not taken & set(names))
    names = [names] if isinstance(names, str) else list(names)
    if len(names) != count:
        tensors = f"{count} tensor{'' if count == 1 else 's'}"
        raise InputError(f"the reference returns {tensors}, and outputs= has {len(names)}: {', '.join(names)}")
    return names


def _require_outputs(outputs: Any, shapes: Sequence[str], dtypes: Sequence[torch.dtype | None]) -> None:
    """Refuses outputs that are given with other axes than the reference returns, or with another dtype."""
    if not isinstance(outputs, Mapping):
        return
    for (name, given), shape, dtype in zip(tensors_of("outputs", outputs).items(), shapes, dtypes):
        options = {"axes": given} if isinstance(given, str) else given
        if options["axes"].split() != shape.split():
            raise InputError(f"the output '{name}' has the axes {options['axes']}, and the reference returns {shape}")
        returned = "f32" if dtype == torch.float32 else None
        if options.get("dtype", returned) != returned:
            raise InputError(
                f"the output '{name}' has the dtype {options['dtype']}, and the reference returns {_said_dtypes([dtype])}"
            )


# --- The same in each dtype -----------------------------------------------------------------------------------------------------


class _Reading(NamedTuple):
    """What was read of a reference in one dtype: the formula, its results, their axes, and the dtypes that they always have."""

    formula: _Formula
    results: list[f.Symbol]
    shapes: list[str]
    dtypes: list[torch.dtype | None]


def _read(of: Reference, dtypes: Sequence[str]) -> _Reading:
    """What the reference is in all of these dtypes, which leaves out those on whose tensors it does not run.

    It is read in one of 16 bits if it runs there, so that its roundings to these show.

    Raises:
        InputError: it runs in none of these, differs between them, or does what no formula says.
    """
    readings: dict[str, _Reading] = {}
    told: NotTraced | None = None
    for dtype in _DTYPES:
        if dtype in dtypes:
            try:
                readings[dtype] = _read_in(of, dtype)
            except NotTraced as e:
                told = e
    if not readings:
        raise InputError(str(told))
    (first, reading), *others = readings.items()
    for dtype, other in others:
        found = _difference(reading, other)
        if found:
            raise InputError(
                f"{found.place}the reference computes something else in {dtype} than in {first}: {found.right} in place of "
                f"{found.left}; write one reference for each, without a branch, and name its dtypes, like dtypes=['{dtype}']"
            )
    if list(dtypes) == ["f32"]:
        with contextlib.suppress(InputError):
            narrow = _read_in(of, "bf16")
            return reading if _difference(narrow, reading) else narrow
    return reading


def _read_in(of: Reference, dtype: str) -> _Reading:
    formula = _Formula(of, trace(of, _DTYPES[dtype]))
    return _Reading(formula, *formula.results())


def _difference(left: _Reading, right: _Reading) -> Difference | None:
    """Where two readings differ: in what is computed or, if both are of 16 bits, in the dtypes of outputs or in roundings."""
    results = [[as_symbol(result) for result in reading.results] for reading in (left, right)]
    found = difference(*results, right.formula.places)
    if found or left.shapes != right.shapes:
        return found or Difference("", f"outputs of axes {', '.join(left.shapes)}", ", ".join(right.shapes))
    if left.formula.is_narrow and right.formula.is_narrow:
        if left.dtypes != right.dtypes:
            return Difference("", *(f"outputs of {_said_dtypes(reading.dtypes)}" for reading in (left, right)))
        steps = [reading.formula.numerics(reading.results) or "no roundings" for reading in (left, right)]
        return Difference("", *steps) if steps[0] != steps[1] else None
    return None


def _said_dtypes(dtypes: Sequence[torch.dtype | None]) -> str:
    return ", ".join("f32" if dtype else "the inputs' dtype" for dtype in dtypes)


# --- The formula ----------------------------------------------------------------------------------------------------------------


class _Formula:
    """The arrays of a graph's nodes."""

    def __init__(self, of: Reference, traced: Trace) -> None:
        self.of = of
        self.graph = traced.graph
        self.traced = traced
        self.arrays: dict[f.Symbol, bool] = {}
        names = [*(port.name for port in of.ports), *of.numbers]
        self.axes = Axes(traced.axes, traced.sizes, names)
        self.values: dict[fx.Node, Any] = {}
        self.steps: dict[f.Symbol, tuple[str, Any]] = {}  # the name of each, and what it stores
        self.places: dict[f.Symbol, str] = {}  # "FILE:LINE: " of the line that made each
        self.is_narrow = any(p.meta["val"].dtype in NARROW for p in self.graph.nodes if p.op == INPUT)

    def results(self) -> tuple[list[f.Symbol], list[str], list[torch.dtype | None]]:
        """The arrays of the outputs, their axes, and the dtypes of those in f32 though the inputs are not."""
        inputs = iter([*self.of.ports, *self.of.numbers])
        for node in self.graph.nodes:
            try:
                if node.op == INPUT:
                    self.values[node] = self._input(next(inputs), node)
                elif node.op == "get_attr":
                    self.values[node] = self._constant(node)
                elif node.op == "call_function":
                    self.values[node] = self._called(node)
                    self._note_place(node)
                else:
                    return self._outputs(node)
            except Refused as e:
                is_named = node.op == "call_function" and _word(node) not in _UNNAMED
                who = f"{_word(node).lstrip('_')}: " if is_named else ""
                raise InputError(f"{'' if node.op == 'output' else place(node)}{who}{e}") from None
        raise InputError("the reference returns nothing")

    def _note_place(self, node: fx.Node) -> None:
        """Notes the line that made a node's array, and what its step stores."""
        value = self.values[node]
        symbol = value.symbol if isinstance(value, Value) else None
        for one in (symbol, self.steps[symbol][1] if symbol in self.steps else None):
            if isinstance(one, f.Symbol):
                self.places.setdefault(one, place(node))

    def _input(self, given: Port | str, node: fx.Node) -> Value:
        if isinstance(given, str):
            return Value(f.Symbol(given, is_leaf=True))
        symbol = f.Symbol(given.name, is_leaf=True)
        single = [axis for axis in given.axes if self.of.fixed.get(axis) == 1]
        for axis in single:
            symbol = f.take(symbol, axis, first_place())
        return Value(symbol, tuple(() if axis in ("1", *single) else (Part(axis, axis),) for axis in given.axes))

    def _constant(self, node: fx.Node) -> Value:
        tensor = getattr(self.graph.owning_module, str(node.target))
        if tensor.dim() == 0:
            return Value(float(tensor) if tensor.is_floating_point() else int(tensor))
        if self.of.is_module:
            tensors = [*self.of.call.named_buffers(), *self.of.call.named_parameters()]  # type: ignore[attr-defined]
            for path, own in tensors:
                if own is tensor or (own.shape == tensor.shape and bool((own == tensor).all())):
                    expected = f"weights={{'{_name_of_parameter(path)}': '...'}} was expected"
                    raise Refused(f"the buffer '{path}' has no axes: {expected}")
        raise Refused(f"a tensor of shape {list(tensor.shape)} that is no input: give it as one")

    def _called(self, node: fx.Node) -> Any:
        value = node.meta.get("val")
        if isinstance(value, (int, float, torch.SymInt, torch.SymFloat)):
            if any(str(symbol).startswith(("u", "zuf", "zf")) for symbol in _symbols_of(value)):
                raise Refused("a tensor's value becomes a Python number: keep it a tensor, without .item() or float()")
            return value
        if _word(node) == "getitem":
            found = self.values[node.args[0]][node.args[1]]
            if found is None:
                raise Refused(f"formulas have no word for the result {node.args[1]} of '{_word(node.args[0])}'")
            return self._stored(node, found)
        rule = RULES.get(_word(node))
        if rule is None:
            raise Refused("formulas have no word for it")
        return self._stored(node, rule(self.axes, self._arguments(node)))

    def _arguments(self, node: fx.Node) -> SimpleNamespace:
        schema = node.target._schema.arguments  # type: ignore[union-attr]
        given = {argument.name: argument.default_value for argument in schema}
        given.update(zip((argument.name for argument in schema), node.args))
        given.update(node.kwargs)
        arguments = SimpleNamespace(**{name: self._given(x) for name, x in given.items()}, node=node, op=_word(node))
        arguments.of_exp = self._under_exp(node) if arguments.op == "log1p" else None
        return arguments

    def _given(self, x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return [self._given(one) for one in x]
        x = self.values[x] if isinstance(x, fx.Node) else x
        return self.axes.number(x) if is_symbolic(x) else x

    def _under_exp(self, node: fx.Node) -> Value | None:
        """What the argument of a node is the exponential of."""
        argument = node.args[0]
        is_exp = isinstance(argument, fx.Node) and argument.op == "call_function" and _word(argument) == "exp"
        return self.values[argument.args[0]] if is_exp else None

    def _stored(self, node: fx.Node, value: Any) -> Any:
        """The value, as a step that kernels may store where the reference has it in 16 bits."""
        tensor = node.meta.get("val")
        word = _word(node)
        if not isinstance(value, Value) or value.symbol in self.steps or getattr(tensor, "dtype", None) not in NARROW:
            return value
        source = node.args[0]
        is_cast = word == "_to_copy" and isinstance(source, fx.Node) and source.meta["val"].dtype not in NARROW
        is_part = word == "getitem" and isinstance(source, fx.Node) and _word(source) not in MOVES - {"max", "min"}
        if (
            (word in MOVES and not is_cast and not is_part)
            or not isinstance(value.symbol, f.Symbol)
            or not self._is_array(value.symbol)
        ):
            return value
        stem = "cast" if is_cast else _word(source) if is_part else word
        stem = re.sub(r"[^a-z]", "", stem)
        taken = {name for name, _ in self.steps.values()}
        name = next(f"{stem}{i}" for i in range(1, len(taken) + 2) if f"{stem}{i}" not in taken)
        is_weights = word in _WEIGHTS
        symbol = value.symbol if is_weights else f.step(name, value.symbol)
        self.steps[symbol] = ("weights" if is_weights else name, value.symbol)
        return Value(symbol, value.dims)

    def conditions(self, bounds: f.Bounds) -> list[str]:
        """The conditions on extents within bounds for which the formula is the reference, without those that follow from others.

        Raises:
            InputError: one that is on axes of one extent does not hold.
        """
        rng = np.random.default_rng(4)
        symbols = list(self.axes.of_symbols)
        ranges = {symbol: bounds.get(axis) for symbol, axis in self.axes.of_symbols.items()}
        single = {symbol: b[0] for symbol, b in ranges.items() if isinstance(b, tuple) and b[0] == b[1]}
        tried = [{**dict(zip(symbols, map(int, rng.integers(1, 33, len(symbols))))), **single} for _ in range(300)]
        kept = []
        for condition in sorted({*self.traced.conditions, *self.axes.conditions}, key=lambda e: len(str(e))):
            within = [sizes for sizes in tried if holds(condition, sizes)]
            if len(within) < len(tried):
                text = f.text_of(self.axes.number_of(condition))
                if condition.free_symbols <= set(single):
                    raise InputError(f"the reference is defined only where {text}")
                kept.append(text)
                tried = within
        return kept

    def _is_array(self, symbol: Any) -> bool:
        """Whether it is no number."""
        if symbol not in self.arrays:
            is_leaf = symbol.text in {port.name for port in self.of.ports}
            is_place = symbol.text.startswith("index[")
            self.arrays[symbol] = is_leaf or is_place or any(self._is_array(part) for part in symbol.of)
        return self.arrays[symbol]

    def numerics(self, results: Sequence[f.Symbol]) -> str | None:
        """What the reference declares as a kernel: the steps of these results that it stores, and its form of GELU."""
        reached: set[f.Symbol] = set()
        read: set[f.Symbol] = set()  # those that a result is computed from, and not only is
        left = list(results)
        while left:
            symbol = left.pop()
            if symbol not in reached:
                reached.add(symbol)
                read.update(symbol.of)
                left.extend(symbol.of)
        steps = list(dict.fromkeys(name for symbol, (name, _) in self.steps.items() if symbol in read))
        words = [f"stores={','.join(steps)}"] if steps else []
        words += ["cancelling_gelu"] if any(symbol.text.startswith("gelu_") for symbol in reached) else []
        return " ".join(words) or None

    def _outputs(self, node: fx.Node) -> tuple[list[f.Symbol], list[str], list[torch.dtype | None]]:
        returned = node.args[0] if isinstance(node.args[0], (list, tuple)) else (node.args[0],)
        symbols, shapes, dtypes = [], [], []
        for one in returned:
            if not isinstance(one, fx.Node):
                kind = (
                    "None" if one is None else "a dict" if isinstance(one, Mapping) else f"an object of type {type(one).__name__}"
                )
                raise InputError(f"the reference returns {kind}, and a tensor or a tuple of tensors was expected")
            dtype = one.meta["val"].dtype
            if dtype not in FLOATS and dtype != torch.float64:
                raise InputError(f"{place(one)}the reference returns {dtype}, and outputs are floating-point numbers")
            value = self.values[one]
            if value.symbol in self.steps:  # Note: the output is rounded anyway
                value = Value(self.steps[value.symbol][1], value.dims)
            symbol, shape = self.axes.output(value)
            symbols.append(symbol)
            shapes.append(shape)
            dtypes.append(dtype if self.is_narrow and dtype == torch.float32 else None)
        return symbols, shapes, dtypes


def _word(node: Any) -> str:
    """The name of a node's operation, without its overload."""
    schema = getattr(node.target, "_schema", None)
    if not schema:
        return getattr(node.target, "__name__", str(node.target))
    return schema.name.split("::")[1].removesuffix("_")  # Note: torch's own code writes into what only it has


def _symbols_of(value: Any) -> list[Any]:
    return list(value.node.expr.free_symbols) if is_symbolic(value) else []
