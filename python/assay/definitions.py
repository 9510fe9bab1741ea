# SPDX-License-Identifier: Apache-2.0
"""Definitions of FlashInfer-Bench, in JSON, as ops (docs/own-op.md).

A definition has axes, which are constant or vary, tensors and numbers, and a reference in PyTorch, which says what is right.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import json
import os
import re
import traceback
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Sequence

from . import formula as f
from .errors import InputError

FLOATS = {"float16": "f16", "bfloat16": "bf16", "float32": "f32"}
WHOLE = {"int32": "i32", "int64": "i64"}
_SHORT = {"f16": "float16", "fp16": "float16", "half": "float16", "bf16": "bfloat16", "f32": "float32", "fp32": "float32"}
_SHORT.update({"float": "float32", "i32": "int32", "i64": "int64", "int": "int32", "long": "int64"})
_POSITIONS = re.compile(r"pos|positions?|pos(ition)?_ids")  # of tensors that hold places in a text
_SIGNS = {ast.Eq: "==", ast.LtE: "<=", ast.GtE: ">=", ast.Lt: "<", ast.Gt: ">", ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}


@dataclass(frozen=True)
class Argument:
    """A tensor or a number of a definition.

    Attributes:
        name: in the file.
        own: its name in the op, of small letters.
        shape: the names of its axes in the op, outermost first; None: it is a number.
        dtype: as in the file.
        is_optional: whether a call may lack it.
    """

    name: str
    own: str
    shape: tuple[str, ...] | None
    dtype: str
    is_optional: bool

    @property
    def is_float(self) -> bool:
        """Whether it holds floating-point numbers."""
        return self.dtype in FLOATS


@dataclass(frozen=True)
class Definition:
    """What a file says.

    Attributes:
        file: its name, for messages.
        title: its name in the file.
        name, about: of the op.
        axes: the axes' names in the op, by those in the file.
        constants: the extents of constant axes, by their names in the op.
        constraints: texts on the names of the file.
        inputs, outputs: in their order.
        reference: the text.
    """

    file: str
    title: str
    name: str
    about: str
    axes: Mapping[str, str]
    constants: Mapping[str, int]
    constraints: Sequence[str]
    inputs: Sequence[Argument]
    outputs: Sequence[Argument]
    reference: str


# --- Reading --------------------------------------------------------------------------------------------------------------------


def json_of(path: str | os.PathLike[str]) -> Mapping[str, Any]:
    """The object of a JSON file.  Raises InputError if there is none."""
    try:
        root = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as e:
        raise InputError(f"{path}: it cannot be read: {e.strerror}") from None
    except ValueError as e:
        raise InputError(f"{path}: it is not JSON: {e}") from None
    if not isinstance(root, dict):
        raise InputError(f"{path}: an object was expected")
    return root


def at(file: str, node: Mapping[str, Any], place: str, key: str, kind: type, default: Any = None) -> Any:
    """The value of a key, of a kind; `default` if there is none."""
    words = {str: "a text", dict: "an object", list: "a list", int: "a whole number"}
    value = node.get(key, default)
    if not isinstance(value, kind) or isinstance(value, bool):
        where = f"{place}/{key}" if key in node else place or "/"
        missing = "" if key in node else f"'{key}' is missing: "
        raise InputError(f"{file}: {where}: {missing}{words[kind]} was expected")
    return value


def read(path: str | os.PathLike[str]) -> Definition:
    """Reads a definition and checks its parts.

    Raises:
        InputError: a part is missing or wrong; the message has the file and the place.
    """
    file = Path(path).name
    root = json_of(path)
    if "op" in root and "formula" in root:
        raise InputError(
            f"{file}: it is the file of an op, which f.read reads, and no definition: assay.validate(f.read(path), kernel)"
        )
    name = at(file, root, "", "name", str)
    taken: set[str] = set()
    axes: dict[str, str] = {}
    constants: dict[str, int] = {}
    for axis, node in at(file, root, "", "axes", dict).items():
        place = f"/axes/{axis}"
        if not isinstance(node, dict) or node.get("type") not in ("const", "var"):
            raise InputError(f"{file}: {place}: an object whose 'type' is const or var was expected")
        axes[axis] = _small(axis, taken)
        if node["type"] == "const":
            extent = at(file, node, place, "value", int)
            if extent < 1:
                raise InputError(f"{file}: {place}/value: {extent} is no extent")
            constants[axes[axis]] = extent
    names: set[str] = set(f.__all__) - {"op", "read", "from_torch", "from_definition", "solution"}
    inputs = _arguments(file, root, "inputs", axes, names)
    outputs = _arguments(file, root, "outputs", axes, names)
    constraints = root.get("constraints") or []
    if not isinstance(constraints, list) or not all(isinstance(text, str) for text in constraints):
        raise InputError(f"{file}: /constraints: a list of texts was expected")
    return Definition(
        file,
        name,
        _small(name, set()),
        str(root.get("description") or ""),
        axes,
        constants,
        constraints,
        inputs,
        outputs,
        at(file, root, "", "reference", str),
    )


def _arguments(file: str, root: Mapping[str, Any], key: str, axes: Mapping[str, str], taken: set[str]) -> list[Argument]:
    found = []
    for name, node in at(file, root, "", key, dict).items():
        place = f"/{key}/{name}"
        if not isinstance(node, dict):
            raise InputError(f"{file}: {place}: an object was expected")
        shape = node.get("shape")
        if shape is not None and not isinstance(shape, list):
            raise InputError(f"{file}: {place}/shape: a list of axes or null was expected")
        for axis in shape or ():
            if axis not in axes:
                raise InputError(f"{file}: {place}/shape: '{axis}' is none of the axes {', '.join(axes)}")
        dtype = at(file, node, place, "dtype", str)
        if dtype in _SHORT:
            raise InputError(f"{file}: {place}/dtype: the word for '{dtype}' is '{_SHORT[dtype]}'")
        own = None if not shape else tuple(axes[axis] for axis in shape)  # Note: a tensor without axes is a number
        found.append(Argument(name, _small(name, taken), own, dtype, bool(node.get("optional"))))
    if not found:
        raise InputError(f"{file}: /{key}: there is none")
    return found


def _small(name: str, taken: set[str]) -> str:
    """The name in small letters, digits and _, which no other has yet."""
    own = re.sub(r"[^a-z0-9_]+", "_", name.lower())
    own = own if own[:1].isalpha() else f"x{own}"
    found = next(one for one in itertools.chain((own, f"{own}_"), (f"{own}_{i}" for i in itertools.count(2))) if one not in taken)
    taken.add(found)
    return found


# --- The reference --------------------------------------------------------------------------------------------------------------


class _WithoutChecks(ast.NodeTransformer):
    """Drops `assert`: what it says of sizes is checked once, on their own, and of values it is no part of the computation."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Puts `pass` in its place."""
        return ast.copy_location(ast.Pass(), node)


def _function(definition: Definition, has_checks: bool) -> Callable[..., Any]:
    """The function that the reference's text defines."""
    place = f"{definition.file}: reference"
    try:
        tree = ast.parse(definition.reference)
    except SyntaxError as e:
        raise InputError(f"{place}:{e.lineno}: it is not Python: {e.msg}") from None
    tree = tree if has_checks else ast.fix_missing_locations(_WithoutChecks().visit(tree))
    module: dict[str, Any] = {"__name__": f"reference_of_{definition.name}"}
    try:
        exec(compile(tree, place, "exec"), module)  # pylint: disable=exec-used  # a definition is a program of its author
    except Exception as e:
        own = [frame.lineno for frame in traceback.extract_tb(e.__traceback__) if frame.filename == place]
        line = own[-1] if own else 1
        raise InputError(f"{place}:{line}: it cannot be run: {type(e).__name__}: {e}") from None
    if not callable(module.get("run")):
        raise InputError(f"{place}: it has no function 'run'")
    return module["run"]


class _Call:
    """The reference as a function of what the op has, by name."""

    def __init__(self, definition: Definition, function: Callable[..., Any], given: Mapping[str, Any]) -> None:
        """`given`: the numbers that are constants of the op, by the definition's names."""
        self.definition = definition
        self.function = function
        self.__name__ = definition.name
        self.__doc__ = definition.about
        self.parameters = self._matched()
        self.constants = {
            self.parameters[a.own].name: given[a.name] for a in definition.inputs if a.name in given and a.own in self.parameters
        }

    def _matched(self) -> dict[str, inspect.Parameter]:
        """The reference's parameter of each input, which has its name.  Optional inputs may have none.

        Note: FlashInfer-Bench gives the inputs by their places, so that both must have one order.
        """
        file = self.definition.file
        kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        named = {p.name: p for p in inspect.signature(self.function).parameters.values() if p.kind not in kinds}
        inputs = self.definition.inputs
        for a in inputs:
            if a.name not in named and not a.is_optional:
                raise InputError(f"{file}: /inputs/{a.name}: the reference has no parameter for it, only {', '.join(named)}")
        own = [a.name for a in inputs if a.name in named]
        for p in named.values():
            if p.default is p.empty and p.name not in own:
                raise InputError(f"{file}: the reference needs '{p.name}', which is none of the inputs")
        order = [name for name in named if name in own]
        if order != own:
            raise InputError(
                f"{file}: the reference takes {', '.join(order)}, and the inputs are {', '.join(own)}: one order was expected"
            )
        return {a.own: named[a.name] for a in inputs if a.name in named}

    def __call__(self, **values: Any) -> Any:
        own = {self.parameters[name].name: value for name, value in values.items()}
        result = self.function(**own, **self.constants)
        if isinstance(result, Mapping):
            missing = [a.name for a in self.definition.outputs if a.name not in result]
            if missing:
                raise InputError(f"{self.definition.file}: the reference returns no '{missing[0]}'")
            result = tuple(result[a.name] for a in self.definition.outputs)
        count = len(result) if isinstance(result, (tuple, list)) else 1
        if count != len(self.definition.outputs):
            raise InputError(
                f"{self.definition.file}: the reference returns {count} tensor{'' if count == 1 else 's'}, and the definition has "
                f"{len(self.definition.outputs)} outputs"
            )
        return result


# --- The op ---------------------------------------------------------------------------------------------------------------------


def made(
    path: str | os.PathLike[str],
    attributes: Mapping[str, float] | None = None,
    constants: Mapping[str, int | None] | None = None,
    name: str | None = None,
    dtypes: Sequence[str] | None = None,
) -> f.Op:
    """What f.from_definition makes."""
    for key, given in (("constants", constants), ("attributes", attributes)):
        if given is not None and not isinstance(given, Mapping):
            raise InputError(f"{key} is of type {type(given).__name__}, and a dict was expected")
    definition = _with_constants(read(path), constants or {})
    numbers, given = _numbers(definition, attributes or {})
    call = _Call(definition, _function(definition, False), given)
    tensors = _tensors(definition, call, numbers, given)
    parts = _Parts(definition, tensors)
    parts.dtypes = tuple(dtypes or parts.dtypes)
    failed = parts.failed_check(_Call(definition, _function(definition, True), given), numbers)
    if failed and not constants:
        raise InputError(failed)
    if failed:  # Note: it may only say which extents the file has
        warnings.warn(f"{failed}, and is passed over, since constants= changes the extents of the file", stacklevel=3)
    own = {a.name: numbers[a.own] for a in definition.inputs if a.own in numbers}
    # Note: what decides by a number or an extent can be read where that is a constant.
    ways = [(call, numbers, {}), (call, numbers, parts.constants)]
    ways = ways if parts.constants else ways[:1]
    if numbers:
        fixed_call = _Call(definition, call.function, {**given, **own})
        ways += [(fixed_call, {}, fixed) for _, _, fixed in ways]
    op, numbers = _first_of(parts, ways, name)
    op.names = {a.own: a.name for a in definition.inputs if a.own != a.name and (a in tensors or a.own in numbers)}
    op.constants = {**given, **{n: x for n, x in own.items() if not numbers}}
    op.dtypes = parts.dtypes
    op.definition = definition
    return op


def _first_of(parts: _Parts, ways: Sequence[tuple[_Call, Mapping[str, float], Mapping[str, int]]], name: str | None) -> Any:
    """The op of the first way to read the reference that succeeds, and its numbers."""
    told: InputError | None = None
    for call, numbers, fixed in ways:
        try:
            return parts.op(call, name, numbers, fixed), numbers
        except InputError as e:
            told = e
    assert told
    raise told


def _with_constants(definition: Definition, other: Mapping[str, int | None]) -> Definition:
    """The definition with these extents of axes, which are then constant; None: any extent."""
    constants: dict[str, int] = dict(definition.constants)
    for axis, extent in other.items():
        if axis not in definition.axes:
            raise InputError(f"{definition.file}: '{axis}' is none of its axes: {', '.join(definition.axes)}")
        if extent is not None and (isinstance(extent, bool) or not isinstance(extent, int) or extent < 1):
            expected = "an extent of at least 1, or None for any, was expected"
            raise InputError(f"{definition.file}: constants: '{axis}' is {extent!r}, and {expected}")
        own = definition.axes[axis]
        if extent is None:
            constants.pop(own, None)
        else:
            constants[own] = extent
    return replace(definition, constants=constants)


def _numbers(definition: Definition, attributes: Mapping[str, float]) -> tuple[dict[str, float], dict[str, Any]]:
    """The attributes of the op with their defaults, by its names; and the constants, by the definition's."""
    scalars = {a.name: a for a in definition.inputs if a.shape is None}
    for name in attributes:
        if name not in scalars:
            raise InputError(f"{definition.file}: '{name}' is none of its numbers: {', '.join(scalars) or 'it has none'}")
        if not isinstance(attributes[name], (int, float)):
            raise InputError(f"{definition.file}: attributes: '{name}' is {attributes[name]!r}, and a number was expected")
    numbers = {a.own: float(attributes[n]) for n, a in scalars.items() if n in attributes and a.is_float}
    constants = {n: attributes[n] for n, a in scalars.items() if n in attributes and not a.is_float}
    return numbers, constants


def _tensors(definition: Definition, call: _Call, numbers: Mapping[str, float], given: Mapping[str, Any]) -> list[Argument]:
    """The tensors that the op has: those that the reference cannot do without.  Refuses what no op has, and missing numbers."""
    kept = []
    for a in definition.inputs:
        parameter = call.parameters.get(a.own)
        has_default = parameter is None or parameter.default is not inspect.Parameter.empty
        if a.shape is None:
            if not has_default and a.own not in numbers and a.name not in given:
                what = "an attribute with this default" if a.is_float else "a constant, since it decides what is computed"
                raise InputError(
                    f"{definition.file}: /inputs/{a.name}: it has no number: attributes={{'{a.name}': ...}} was expected, "
                    f"which makes it {what}"
                )
        elif not (has_default and a.is_optional):
            if a.dtype not in FLOATS and a.dtype not in WHOLE:
                raise InputError(f"{definition.file}: /inputs/{a.name}: an op has no tensor of {a.dtype}")
            kept.append(a)
    return kept


class _Parts:
    """What f.from_torch takes, made of a definition."""

    def __init__(self, definition: Definition, tensors: Sequence[Argument]) -> None:
        self.definition = definition
        self.constants: dict[str, int] = {}  # extents of axes that tensors have
        formats = [a.dtype for a in tensors if a.is_float]
        narrow = [dtype for dtype in formats if dtype != "float32"]
        free = max(narrow or formats or ["float32"], key=(narrow or formats or ["float32"]).count)
        self.free = free
        self.dtypes: tuple[str, ...] = (FLOATS[free],)  # in which the reference is read
        self.tensors = {a.own: self._described(a) for a in tensors}
        axes = {axis for given in self.tensors.values() for axis in given["axes"].split()}
        self.variable = sorted(axes - set(self.constants) - {"1"})
        has_variable = {name: any(a in self.variable for a in given["axes"].split()) for name, given in self.tensors.items()}
        is_input = {name: has or not any(has_variable.values()) for name, has in has_variable.items()}
        self.inputs = {name: given for name, given in self.tensors.items() if is_input[name]}
        self.weights = {name: given for name, given in self.tensors.items() if not is_input[name]}
        self.conditions: list[Any] = []  # compiled constraints on axes that vary
        self.legal = [text for text in map(self._legal, definition.constraints) if text]

    def _described(self, a: Argument) -> dict[str, Any]:
        """A tensor as from_torch takes it.  A constant axis that it has twice becomes two of the same extent."""
        described: dict[str, Any] = {}
        axes: list[str] = []
        for axis in a.shape or ():
            extent = self.definition.constants.get(axis)
            own = next(n for n in itertools.chain((axis,), (f"{axis}_{i}" for i in itertools.count(2))) if n not in axes)
            if own != axis and extent is None:
                raise InputError(f"{self.definition.file}: /inputs/{a.name}/shape: it has '{axis}' twice, whose extent varies")
            if extent is not None:
                self.constants[own] = extent
            axes.append(own)
        described["axes"] = " ".join(axes)
        if a.dtype != self.free:
            described["dtype"] = FLOATS.get(a.dtype) or WHOLE[a.dtype]
        return described

    def _legal(self, constraint: str) -> str | None:
        """A constraint as a condition of an op; None: it follows from constants, or is on axes that only outputs have."""
        place = f"{self.definition.file}: /constraints"
        try:
            node = ast.parse(constraint, mode="eval").body
        except SyntaxError:
            raise InputError(f"{place}: '{constraint}' is no condition") from None
        axes = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        known = {axis for axis in axes if axis in self.definition.axes}
        of_values = any(isinstance(n, (ast.Call, ast.Subscript)) for n in ast.walk(node))
        if of_values and ".shape[" not in constraint:
            raise InputError(
                f"{place}: '{constraint}' is on values of a tensor, and an op has conditions on extents and attributes only"
            )
        if axes != known and not of_values:
            others = ", ".join(sorted(axes - known))
            raise InputError(f"{place}: '{constraint}' has {others}, and the axes are {', '.join(self.definition.axes)}")
        own = {self.definition.axes[axis] for axis in known}
        if own <= set(self.definition.constants) and not of_values:
            extents = {axis: self.definition.constants[self.definition.axes[axis]] for axis in known}
            if not eval(compile(ast.Expression(node), place, "eval"), {}, extents):  # pylint: disable=eval-used  # names, numbers
                raise InputError(f"{place}: '{constraint}' does not hold for its constant axes")
            return None
        if of_values or not own <= {*self.variable, *self.definition.constants}:
            return None
        text = self._text(node, constraint)
        self.conditions.append(compile(ast.Expression(node), place, "eval"))
        return text

    def _is_legal(self, sizes: Mapping[str, int]) -> bool:
        """Whether the constraints hold for these sizes of axes, with the definition's of constant ones."""
        extents = {axis: self.definition.constants.get(own, sizes.get(own)) for axis, own in self.definition.axes.items()}
        return all(eval(condition, {}, extents) for condition in self.conditions)  # pylint: disable=eval-used  # names, numbers

    def _text(self, node: ast.AST, constraint: str) -> str:
        if isinstance(node, ast.Name):
            own = self.definition.axes.get(node.id)
            if own:
                extent = self.definition.constants.get(own)
                return f"extent[{own}]" if extent is None else str(extent)
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return str(node.value)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _SIGNS:
            left, right = (self._text(side, constraint) for side in (node.left, node.comparators[0]))
            return f"{left} {_SIGNS[type(node.ops[0])]} {right}"
        if isinstance(node, ast.BinOp):
            left, right = self._text(node.left, constraint), self._text(node.right, constraint)
            if type(node.op) in _SIGNS:
                return f"({left} {_SIGNS[type(node.op)]} {right})"
            if isinstance(node.op, ast.FloorDiv):
                return f"quotient({left}, {right})"
            if isinstance(node.op, ast.Mod):
                return f"({left} - {right} * quotient({left}, {right}))"
        raise InputError(f"{self.definition.file}: /constraints: '{constraint}' is no condition that an op can say")

    def failed_check(self, call: _Call, numbers: Mapping[str, float]) -> str | None:
        """Which assertion of the reference fails for its constant axes and a few extents of the others; None: none does.

        Tensors without memory are given, so that those on values are passed over.
        """
        from . import torch_checked

        for n in (16, 3):
            extents = {**self.constants, **{axis: n for axis in self.variable}}
            if not self._is_legal(extents):
                continue
            failed = torch_checked.failed_assertion(call, self.tensors, extents, self.free, numbers)
            if failed:
                said = ", ".join(f"{axis}={extent}" for axis, extent in extents.items())
                return f"{self.definition.file}: reference:{failed}: its assertion fails for {said}"
        return None

    def op(self, call: _Call, name: str | None, numbers: Mapping[str, float], fixed: Mapping[str, int]) -> f.Op:
        """The op, read at the extents `fixed`; or at any, if there are none."""
        from . import torch_reference

        outputs = [a.own for a in self.definition.outputs]
        op = torch_reference.made(
            call,
            self.inputs,
            self.weights,
            outputs,
            numbers,
            {},
            self.legal,
            self.definition.about or None,
            name,
            fixed,
            {} if fixed else self.constants,
            {name: "positions_of_tokens" for name in self.tensors if _POSITIONS.fullmatch(name)},
            self._is_legal,
            self.dtypes,
        )
        return f.Op(op.name, self._with_outputs(op.text), op.numerics)

    def _with_outputs(self, text: str) -> str:
        """The op's text with the dtypes of outputs that the definition has."""
        described = json.loads(text)
        for a in self.definition.outputs:
            given = described["outputs"][a.own]
            axes = given if isinstance(given, str) else given["axes"]
            if a.dtype not in FLOATS:
                raise InputError(f"{self.definition.file}: /outputs/{a.name}: an op has no output of {a.dtype}")
            self._require_shape(a, axes)
            described["outputs"][a.own] = axes if a.dtype == self.free else {"axes": axes, "dtype": FLOATS[a.dtype]}
        return json.dumps(described, indent=2) + "\n"

    def _require_shape(self, a: Argument, axes: str) -> None:
        """Refuses an output whose axes are not those of the definition, but for extents that only outputs have."""
        own = axes.split() if a.shape or axes != "1" else []
        expected = [str(axis) for axis in a.shape or ()]
        extents = [self._extent(axis) for axis in own]
        wanted = [self.definition.constants.get(axis, axis) for axis in expected]
        is_same = len(extents) == len(wanted) and all(
            e == w or (isinstance(w, str) and w not in self.variable) for e, w in zip(extents, wanted)
        )
        if not is_same:
            said = ", ".join(expected) or "no axes"
            raise InputError(
                f"{self.definition.file}: /outputs/{a.name}: it has the axes {said}, and the reference returns {axes}"
            )

    def _extent(self, axis: str) -> Any:
        """The extent of an axis of an output, as "hidden/2" is, or its name if that varies."""
        stem, _, divisor = axis.partition("/")
        extent = 1 if stem == "1" else self.constants.get(stem, stem)
        return -(-extent // int(divisor)) if divisor and isinstance(extent, int) else extent if not divisor else axis
