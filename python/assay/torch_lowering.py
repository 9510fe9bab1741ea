# SPDX-License-Identifier: Apache-2.0
"""Makes formulas of a traced reference (torch_tracing.py): arrays whose dimensions are named axes.

A dimension of a tensor is a tuple of parts: none if its size is 1, one axis mostly, several where a view has merged axes.  The rule
of each operation is in torch_rules.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Iterable, Mapping, Sequence

import sympy
from torch.utils._sympy.functions import FloorDiv

from . import formula as f
from .errors import InputError
from .formula import Symbol

_FUNCTIONS = {"OpaqueUnaryFn_sqrt": "sqrt", "OpaqueUnaryFn_exp": "exp", "OpaqueUnaryFn_log": "log"}


class Refused(Exception):
    """What a rule cannot say; where it stands is added to the message."""


@dataclass(frozen=True)
class Part:
    """An axis of a dimension.

    Attributes:
        axis: whose extent it has.
        name: the formula's axis that stands for it; None: the values are repeated along it.
    """

    axis: str
    name: str | None


Dim = tuple  # of parts


@dataclass(frozen=True)
class Value:
    """A tensor: an array of the formula and which of its axes each dimension has."""

    symbol: Symbol
    dims: tuple[Dim, ...] = ()

    @property
    def names(self) -> list[str]:
        """The axes of the array."""
        return [part.name for dim in self.dims for part in dim if part.name]


class Axes:
    """The axes of an op, and the sizes of its tensors in terms of them."""

    def __init__(self, of_symbols: Mapping[Any, str], sizes: Mapping[str, int], taken: Iterable[str]) -> None:
        """`sizes`: an example, by which equal sizes are told.  `taken`: names that no new axis may have."""
        self.of_symbols = of_symbols
        self.example = {symbol: sizes[axis] for symbol, axis in of_symbols.items()}
        self.symbols = {axis: symbol for symbol, axis in of_symbols.items()}
        self.symbols |= {axis: sympy.Integer(n) for axis, n in sizes.items() if axis not in self.symbols}  # fixed ones
        self.own = dict(self.symbols)  # those of tensors, without parts of them
        self.taken = {*taken, *self.symbols}
        self.conditions: list[Any] = []  # on extents, for which it is defined
        self.made: dict[str, Symbol] = {}  # extents of axes that no tensor has, as a part of one
        self.opposites: dict[Symbol, Symbol] = {}  # of conditions: what does not hold where they hold
        self.positions: dict[tuple[str, str], Symbol] = {}
        self.wholes: dict[str, str] = {}  # of a part of an axis, that axis
        self.indexed: dict[Symbol, set[str]] = {}  # of places, the axes along which they are

    def fresh(self, axis: str, used: Iterable[str]) -> str:
        """Another name for an axis that an array has twice."""
        beside = {*used, *self.taken}
        return next(f"{axis}_{i}" for i in range(2, len(beside) + 3) if f"{axis}_{i}" not in beside)

    def free(self, axis: str, used: Iterable[str]) -> str:
        """The axis's own name, or another where an array has it."""
        return self.fresh(axis, used) if axis in used else axis

    def position(self, axis: str, name: str) -> Symbol:
        """0, 1, ... along the axis `name`, which is as long as `axis`."""
        if (axis, name) not in self.positions:
            is_own = name == axis and axis not in self.made
            self.positions[axis, name] = f.index(name) if is_own else f.index(name, self.extent(axis))
        return self.positions[axis, name]

    def extent(self, axis: str) -> Symbol:
        """The extent of an axis."""
        return self.made[axis] if axis in self.made else f.extent(axis)

    def require_least(self, axes: Sequence[str], least: int) -> None:
        """The op is defined where the product of these extents is at least so much."""
        self.conditions.append(sympy.Ge(math.prod(self.symbols[axis] for axis in axes), least, evaluate=False))

    def part_of(self, axis: str, size: Any) -> str:
        """The axis of a part of an axis."""
        return self._part_of(axis, _expression(size))

    def _part_of(self, axis: str, expression: Any) -> str:
        known = next((name for name, symbol in self.symbols.items() if symbol == expression), None)
        if known:
            return known
        name = next(f"{axis}_part{i}" for i in range(1, len(self.symbols) + 2) if f"{axis}_part{i}" not in self.symbols)
        if expression.free_symbols:
            self.conditions.append(sympy.Ge(expression, 1, evaluate=False))
        self.made[name] = as_symbol(self.number_of(expression))
        self.symbols[name] = expression
        self.wholes[name] = self.wholes.get(axis, axis)
        self.taken.add(name)
        return name

    def parts(self, size: Any) -> Dim:
        """The parts of a dimension of this size along which values are repeated."""
        if not is_symbolic(size):
            return () if int(size) == 1 else (Part(self.part_of("fixed", int(size)), None),)
        expression = size.node.expr
        axes = {symbol: axis for axis, symbol in self.symbols.items()}
        factors = expression.args if expression not in axes and expression.is_Mul else (expression,)
        parts = []
        for factor in factors:
            if factor not in axes:
                of = next((axis for symbol, axis in self.of_symbols.items() if symbol in factor.free_symbols), None)
                if of is None and not factor.is_Integer:
                    raise Refused(f"a dimension of size {self.said(expression)}, which no extent gives")
                axes[factor] = self._part_of(of or "fixed", factor)
            parts.append(Part(axes[factor], None))
        return tuple(parts)

    def is_whole(self, dim: Dim, size: Any) -> bool:
        """Whether a dimension has this size."""
        return self._example_of(dim) == self._example_size(size)

    def axis_of(self, dim: Dim) -> str | None:
        """The axis of a tensor that is as long as a dimension."""
        size = self._example_of(dim)
        return next((axis for axis in self.own if self._example_of((Part(axis, None),)) == size), None)

    def _unused_axis_of(self, dim: Dim, used: Sequence[str]) -> str | None:
        """The axis of a tensor that is as long as a dimension, at best its own, and one that is not used yet if there is one."""
        of_size = [axis for axis in self.own if self._example_of((Part(axis, None),)) == self._example_of(dim)]
        of_size.sort(key=lambda axis: (axis in used, [part.axis for part in dim] != [axis]))
        return of_size[0] if of_size else None

    def _example_of(self, dim: Iterable[Part]) -> int:
        return math.prod(int(self.symbols[part.axis].subs(self.example)) for part in dim)

    def _example_size(self, size: Any) -> int:
        return int(size.node.expr.subs(self.example)) if is_symbolic(size) else int(size)

    def said(self, expression: Any) -> str:
        """A size as text, with the names of axes."""
        return str(expression.subs({symbol: type(symbol)(axis) for symbol, axis in self.of_symbols.items()}))

    def number(self, value: Any) -> Any:
        """A number of the graph, which may be computed from sizes."""
        return self.number_of(value.node.expr) if is_symbolic(value) else value

    def number_of(self, e: Any) -> Any:
        """A number that is computed from symbols."""
        kind = type(e).__name__
        if e in self.of_symbols:
            return f.extent(self.of_symbols[e])
        if e.is_Integer:
            return int(e)
        if e.is_Float or e.is_Rational:
            return float(e)
        of = [self.number_of(argument) for argument in e.args]
        if kind == "ToFloat":
            return of[0]
        if e.is_Add:
            terms = sorted(e.args, key=lambda term: bool(term.could_extract_minus_sign()))
            total = self.number_of(terms[0])
            for term in terms[1:]:
                total = total - self.number_of(-term) if term.could_extract_minus_sign() else total + self.number_of(term)
            return total
        if e.is_Mul:
            total = of[0]
            for factor in of[1:]:
                total = total * factor
            return total
        if kind in ("FloatTrueDiv", "IntTrueDiv"):
            return of[0] / of[1]
        if kind in ("FloorDiv", "CleanDiv"):
            return as_symbol(of[0]) // of[1]
        if kind in ("Mod", "PythonMod"):
            return of[0] - of[1] * (as_symbol(of[0]) // of[1])
        if kind in ("FloatPow", "PowByNatural", "Pow"):
            return power(of[0], of[1])
        if kind == "Equality":
            return as_symbol(of[0]) == of[1]
        if kind == "GreaterThan":
            return as_symbol(of[0]) >= of[1]
        if kind in ("Max", "Min"):
            return (f.maximum if kind == "Max" else f.minimum)(*of)
        if kind in _FUNCTIONS:
            return getattr(f, _FUNCTIONS[kind])(of[0])
        raise Refused(f"formulas cannot compute the number {self.said(e)}")

    # --- Names of axes ----------------------------------------------------------------------------------------------------

    def named(self, value: Value, names: Sequence[str | None]) -> Value:
        """The tensor with these names for the parts of its dimensions, in their order.  Repeated parts stay so."""
        parts = [part for dim in value.dims for part in dim]
        changed = [(part, new) for part, new in zip(parts, names) if part.name and new and part.name != new]
        symbol = value.symbol
        held = []
        for part, new in changed:  # Note: first to names that no array has, so that two can be exchanged
            old = str(part.name)
            if new in value.names:
                aside = self.fresh(part.axis, [*value.names, *filter(None, names), *(name for name, _, _ in held)])
                symbol = self._moved(symbol, part.axis, old, aside)
                old = aside
            held.append((old, part.axis, new))
        for old, axis, new in held:
            symbol = self._moved(symbol, axis, old, new)
        given = iter(names)
        dims = tuple(tuple(Part(p.axis, n if p.name else None) for p, n in zip(dim, given)) for dim in value.dims)
        return Value(symbol, dims)

    def _moved(self, symbol: Symbol, axis: str, old: str, new: str) -> Symbol:
        position = self.position(axis, new)
        return position if symbol is self.positions.get((axis, old)) else f.take(symbol, old, position)

    def aligned(self, *values: Value) -> tuple[list[Symbol], tuple[Dim, ...]]:
        """The arrays of tensors that torch broadcasts, with the same names in the same dimensions; and these dimensions."""
        rank = max(len(value.dims) for value in values)
        padded = [Value(value.symbol, ((),) * (rank - len(value.dims)) + value.dims) for value in values]
        for at in range(rank):
            dims = [v.dims[at] for v in padded if v.dims[at]]
            fewest = min(dims, key=self._oddness, default=())
            if len(fewest) > 1 and any([p.axis for p in dim] != [p.axis for p in fewest] for dim in dims):
                known = self.axis_of(fewest)
                fewest = (Part(known, None),) if known else fewest
            padded = [self._matched(v, at, fewest) if v.dims[at] else v for v in padded]
        used = {name for value in padded for name in value.names}
        target: list[Dim] = []
        for at in range(rank):
            target.append(self._common([v.dims[at] for v in padded if v.dims[at]], used, target))
        symbols = []
        for value in padded:
            names = [part.name for own, dim in zip(value.dims, target) if own for part in dim]
            symbols.append(self.named(_in_order(value, target), names).symbol)
        return symbols, tuple(target)

    def _common(self, dims: Sequence[Dim], used: set[str], before: Sequence[Dim]) -> Dim:
        if not dims:
            return ()
        pattern = next((dim for dim in dims if any(part.name for part in dim)), dims[0])
        axes = [part.axis for part in pattern]
        for dim in dims:
            own = [part.axis for part in dim]
            if own != axes and (sorted(own) != sorted(axes) or any(part.name for part in dim)):
                raise Refused(f"a dimension of {_said(dim)} meets one of {_said(pattern)}")
        there = {part.name for dim in before for part in dim}
        parts = []
        for i, axis in enumerate(axes):
            names = [dim[i].name for dim in dims if [p.axis for p in dim] == axes and dim[i].name]
            name = next((n for n in names if n not in there), None)
            if names and not name:
                name = self.fresh(axis, used)
            used |= {name} if name else set()
            there.add(name)
            parts.append(Part(axis, name))
        return tuple(parts)

    def spread(self, value: Value, dims: Iterable[int]) -> Value:
        """The tensor as an array that has an axis for each part of these dimensions, also where values are repeated."""
        symbol = value.symbol
        names = set(value.names)
        made = list(value.dims)
        for at in dims:
            parts = []
            for part in made[at]:
                name = part.name
                if not name:
                    name = self.free(part.axis, names)
                    names.add(name)
                    symbol = f.where(self.position(part.axis, name) >= 0, symbol, symbol)
                parts.append(Part(part.axis, name))
            made[at] = tuple(parts)
        return Value(symbol, tuple(made))

    def _oddness(self, dim: Dim) -> tuple[int, int]:
        return len(dim), sum(part.axis in self.made for part in dim)

    def _matched(self, value: Value, at: int, dim: Dim) -> Value:
        """The tensor with the axes of another dimension of the same size in place of its own."""
        own = [part.axis for part in value.dims[at]]
        axes = [part.axis for part in dim]
        if own == axes or (sorted(own) == sorted(axes) and not any(part.name for part in value.dims[at])):
            return value
        while axes and own and axes[0] == own[0]:
            axes.pop(0)
            own.pop(0)
        begin = len(dim) - len(axes)
        while axes and own and axes[-1] == own[-1]:
            axes.pop()
            own.pop()
        if len(axes) != 1:
            raise Refused(f"a dimension of {_said(value.dims[at])} meets one of {_said(dim)}")
        return self._joined(value, at, begin, len(own), axes[0])

    def _joined(self, value: Value, at: int, begin: int, count: int, axis: str) -> Value:
        """The tensor with one axis in place of `count` parts of a dimension, which are as long together."""
        parts = value.dims[at][begin : begin + count]
        is_there = any(part.name for part in parts)
        name = self.free(axis, value.names)
        place: Any = self.position(axis, name)
        symbol = value.symbol
        for i, part in reversed(list(enumerate(parts))):
            outer = place // self.extent(part.axis) if i else None
            if part.name:
                symbol = f.take(symbol, part.name, place if outer is None else place - outer * self.extent(part.axis))
            place = outer
        new = (*value.dims[at][:begin], Part(axis, name if is_there else None), *value.dims[at][begin + count :])
        return Value(symbol, (*value.dims[:at], new, *value.dims[at + 1 :]))

    def viewed(self, value: Value, shape: Sequence[Any]) -> Value:
        """The tensor with another shape, whose dimensions merge axes or part them."""
        symbol = value.symbol
        left = [part for dim in value.dims for part in dim]
        sizes = list(shape)
        dims: list[Dim] = []
        while sizes:
            new = [sizes.pop(0)]
            if self._example_size(new[0]) == 1:
                dims.append(())
                continue
            old: list[Part] = []
            while self._example_of(old) != math.prod(map(self._example_size, new)):
                is_short = self._example_of(old) < math.prod(map(self._example_size, new))
                if not (left if is_short else sizes):
                    raise Refused(self._parted(value, shape))
                if is_short:
                    old.append(left.pop(0))
                else:
                    new.append(sizes.pop(0))
            if len(new) > 1 and len(old) > 1:
                raise Refused(self._parted(value, shape))
            if len(new) == 1:
                dims.append(tuple(old))
            else:
                used = [*value.names, *(p.name for dim in dims for p in dim if p.name)]
                symbol, parts = self._split(symbol, old[0], [_expression(size) for size in new], used)
                dims.extend(parts)
        return Value(symbol, tuple(dims))

    def split(self, value: Value, at: int, count: int) -> Value:
        """The tensor with two dimensions in place of one of a single axis: `count` groups, and what each has."""
        value = self.single(value, at)
        size = self.symbols[value.dims[at][0].axis]
        self.conditions.append(sympy.Eq(sympy.Mod(size, count), 0, evaluate=False))
        sizes = [sympy.Integer(count), FloorDiv(size, count)]
        symbol, dims = self._split(value.symbol, value.dims[at][0], sizes, value.names)
        return Value(symbol, (*value.dims[:at], *dims, *value.dims[at + 1 :]))

    def merged(self, value: Value, at: int, axis: str) -> Value:
        """The tensor with one dimension of an axis in place of the two at `at`."""
        dims = (*value.dims[:at], value.dims[at] + value.dims[at + 1], *value.dims[at + 2 :])
        return self._joined(Value(value.symbol, dims), at, 0, len(dims[at]), axis)

    def _split(self, symbol: Symbol, part: Part, sizes: Sequence[Any], used: Sequence[str]) -> tuple[Symbol, list[Dim]]:
        """An array and dimensions of these sizes in place of one part."""
        place: Any = None
        dims: list[Dim] = []
        taken = {*used} - {part.name}
        for size in sizes:
            if size == 1:
                dims.append(())
                continue
            axis = self._part_of(part.axis, size)
            name = self.free(axis, taken)
            taken.add(name)
            position = self.position(axis, name)
            place = place * self.extent(axis) + position if place is not None else position
            dims.append((Part(axis, name if part.name else None),))
        return (f.take(symbol, part.name, place) if part.name else symbol), dims

    def _parted(self, value: Value, shape: Sequence[Any]) -> str:
        now = ", ".join(_said(dim) for dim in value.dims)
        new = ", ".join(self.said(size.node.expr) if is_symbolic(size) else str(size) for size in shape)
        return f"a view of [{now}] as [{new}]: declare the parts of an axis as axes of their own"

    def output(self, value: Value) -> tuple[Symbol, str]:
        """The array of an output and its axes, as an op declares them."""
        chosen: list[str] = []
        single = [axis for axis, size in self.own.items() if size == 1]  # of extent 1, where a dimension has no part
        value = Value(value.symbol, tuple(dim or ((Part(single.pop(0), None),) if single else ()) for dim in value.dims))
        for at, dim in enumerate(value.dims):
            known = self._unused_axis_of(dim, chosen) or (self._whole(dim) if len(dim) > 1 else None)
            chosen += [known] if dim and known else []
            if dim and known and [part.axis for part in dim] != [known]:
                value = self._joined(value, at, 0, len(dim), known)
        value = self.spread(value, range(len(value.dims)))
        if any(len(dim) > 1 for dim in value.dims):
            raise Refused("an output has a dimension of several axes: return it before they are merged")
        axes = [self._declared(part.axis) for dim in value.dims for part in dim]
        if len(set(axes)) < len(axes):
            raise Refused(f"an output has the axis '{max(axes, key=axes.count)}' twice")
        shape = " ".join(self._declared(dim[0].axis) if dim else "1" for dim in value.dims) or "1"
        return self.named(value, axes).symbol, shape

    def single(self, value: Value, at: int) -> Value:
        """The tensor with a single axis in the dimension `at`, where it has several."""
        dim = value.dims[at]
        if len(dim) < 2:
            return value
        axis = self.axis_of(dim) or self._whole(dim)
        if axis is None:
            raise Refused(f"places of a dimension of {_said(dim)}")
        return self._joined(value, at, 0, len(dim), axis)

    def _whole(self, dim: Dim) -> str | None:
        """An axis for all parts of a dimension, if they are of one axis."""
        size = math.prod(self.symbols[part.axis] for part in dim)
        of = [axis for symbol, axis in self.of_symbols.items() if symbol in size.free_symbols]
        if size.is_Integer:
            return self._part_of(dim[0].axis, size)
        return self._part_of(of[0], size) if len(of) == 1 else None

    def _declared(self, axis: str) -> str:
        """The axis as a tensor of the op has it: "cols/2" of a half."""
        if axis not in self.made:
            return axis
        size = self.symbols[axis]
        of = next((a for s, a in self.of_symbols.items() if s in size.free_symbols), None)
        of = of or next((a for a in (self.wholes[axis], *self.own) if self._is_multiple(a, size)), None)
        example = int(size.subs(self.example))
        whole = self._example_of((Part(of, None),)) if of else 0
        if of is None or whole % example:
            raise Refused(
                f"an output has a dimension of size {self.said(size)}, and a tensor's is that of an axis or of its n-th part"
            )
        name = f"{of}/{whole // example}"
        if self.symbols[of].free_symbols:
            self.conditions.append(sympy.Eq(sympy.Mod(self.symbols[of], whole // example), 0, evaluate=False))
        self.positions[axis, name] = f.index(name)
        return name

    def _is_multiple(self, axis: str, size: Any) -> bool:
        """Whether a size is the n-th part of a fixed axis."""
        whole = self.own.get(axis)
        return bool(whole is not None and whole.is_Integer and size.is_Integer and whole % size == 0)


def _expression(size: Any) -> Any:
    return size.node.expr if is_symbolic(size) else sympy.Integer(int(size))


def _said(dim: Dim) -> str:
    return " times ".join(part.axis for part in dim) or "1"


def _in_order(value: Value, target: Sequence[Dim]) -> Value:
    """The tensor with the parts of repeated dimensions in the target's order."""
    dims = []
    for own, dim in zip(value.dims, target):
        is_other = own and [part.axis for part in own] != [part.axis for part in dim]
        dims.append(tuple(replace(part, name=None) for part in dim) if is_other else own)
    return Value(value.symbol, tuple(dims))


def as_symbol(x: Any) -> Symbol:
    """A number as a symbol."""
    return x if isinstance(x, Symbol) else Symbol(repr(x), is_leaf=True)


def first_place() -> Symbol:
    """0, as an array."""
    return f.max(f.index("one", 1), "one")


def holds(condition: Any, sizes: Mapping[Any, int]) -> bool:
    """Whether a condition on extents holds for these sizes of symbols."""
    return bool(condition.subs(sizes).doit() == True)  # noqa: E712


def is_symbolic(size: Any) -> bool:
    """Whether a number of the graph is computed from sizes."""
    return hasattr(size, "node") and not size.node.expr.is_number


def power(x: Any, exponent: Any) -> Any:
    """x to a power of which formulas have a word, or a product of few factors."""
    if not isinstance(exponent, (int, float)):
        raise Refused("a power whose exponent is no constant")
    if exponent < 0 and exponent not in (-0.5,):
        return 1.0 / power(x, -exponent)
    simple = {0: lambda: 1.0, 0.5: lambda: f.sqrt(x), -0.5: lambda: f.rsqrt(x), 1: lambda: x, 1.5: lambda: x * f.sqrt(x)}
    if exponent in simple:
        return simple[exponent]()
    if exponent != int(exponent) or exponent > 8:
        raise Refused(f"formulas have no word for a power of {exponent}")
    half = f.square(power(x, int(exponent) // 2))
    return half * x if exponent % 2 else half
