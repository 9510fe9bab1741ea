# SPDX-License-Identifier: Apache-2.0
"""Makes formulas of a traced reference (torch_tracing.py): arrays whose dimensions are named axes.

A dimension of a tensor is a tuple of parts: none if its size is 1, one axis mostly, several where a view has merged axes.  The rule
of each operation is in torch_rules.py.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Iterable, Mapping, Sequence

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

    def __init__(self, of_symbols: Mapping[Any, str], taken: Iterable[str]) -> None:
        """`taken`: names that no new axis may have."""
        self.of_symbols = of_symbols
        self.symbols = {axis: symbol for symbol, axis in of_symbols.items()}
        self.taken = {*taken, *self.symbols}
        self.legal: list[str] = []  # conditions on extents that the rules found
        self.opposites: dict[Symbol, Symbol] = {}  # of conditions: what does not hold where they hold
        self.positions: dict[tuple[str, str], Symbol] = {}

    def fresh(self, axis: str, used: Iterable[str]) -> str:
        """Another name for an axis that an array has twice."""
        beside = {*used, *self.taken}
        return next(f"{axis}_{i}" for i in range(2, len(beside) + 3) if f"{axis}_{i}" not in beside)

    def position(self, axis: str, name: str) -> Symbol:
        """0, 1, ... along the axis `name`, which is as long as `axis`."""
        if (axis, name) not in self.positions:
            self.positions[axis, name] = f.index(name) if name == axis else f.index(name, f.extent(axis))
        return self.positions[axis, name]

    def parts(self, size: Any) -> Dim:
        """The parts of a dimension of this size along which values are repeated."""
        if not is_symbolic(size):
            if int(size) == 1:
                return ()
            raise Refused(f"a dimension of size {size}, which is the extent of no axis")
        expression = size.node.expr
        factors = expression.args if expression.is_Mul else (expression,)
        if any(factor not in self.of_symbols for factor in factors):
            raise Refused(f"a dimension of size {self.said(expression)}, which is the extent of no axis")
        return tuple(Part(self.of_symbols[factor], None) for factor in factors)

    def said(self, expression: Any) -> str:
        """A size as text, with the names of axes."""
        return str(expression.subs({symbol: type(symbol)(axis) for symbol, axis in self.of_symbols.items()}))

    def number(self, value: Any) -> Any:
        """A number of the graph, which may be computed from sizes."""
        return self._number(value.node.expr) if is_symbolic(value) else value

    def _number(self, e: Any) -> Any:
        kind = type(e).__name__
        if e in self.of_symbols:
            return f.extent(self.of_symbols[e])
        if e.is_Integer:
            return int(e)
        if e.is_Float or e.is_Rational:
            return float(e)
        of = [self._number(argument) for argument in e.args]
        if kind == "ToFloat":
            return of[0]
        if e.is_Add or e.is_Mul:
            total = of[0]
            for term in of[1:]:
                total = total + term if e.is_Add else total * term
            return total
        if kind in ("FloatTrueDiv", "IntTrueDiv"):
            return of[0] / of[1]
        if kind in ("FloorDiv", "CleanDiv"):
            return of[0] // of[1]
        if kind in ("FloatPow", "PowByNatural", "Pow"):
            return power(of[0], of[1])
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
        used = {name for value in values for name in value.names}
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
                raise Refused(f"a dimension of {' times '.join(own)} meets one of {' times '.join(axes)}")
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
                    name = self.fresh(part.axis, names) if part.axis in names else part.axis
                    names.add(name)
                    symbol = f.where(self.position(part.axis, name) >= 0, symbol, symbol)
                parts.append(Part(part.axis, name))
            made[at] = tuple(parts)
        return Value(symbol, tuple(made))

    def viewed(self, value: Value, shape: Sequence[Any]) -> Value:
        """The tensor with another shape, whose dimensions may merge axes or part what was merged."""
        left = [part for dim in value.dims for part in dim]
        dims = []
        for size in shape:
            dim: list[Part] = []
            expression = size.node.expr if is_symbolic(size) else size
            while self._product(dim) != expression:
                if not left:
                    raise Refused(self._parted(value, shape))
                dim.append(left.pop(0))
                if expression == 1:
                    raise Refused(self._parted(value, shape))
            dims.append(tuple(dim))
        return Value(value.symbol, tuple(dims))

    def _product(self, dim: Sequence[Part]) -> Any:
        total: Any = 1
        for part in dim:
            total = total * self.symbols[part.axis]
        return total

    def _parted(self, value: Value, shape: Sequence[Any]) -> str:
        now = ", ".join(" times ".join(p.axis for p in dim) or "1" for dim in value.dims)
        new = ", ".join(self.said(size.node.expr) if is_symbolic(size) else str(size) for size in shape)
        return f"a view of [{now}] as [{new}] parts an axis: declare its parts as axes of their own"

    def output(self, value: Value) -> tuple[Symbol, str]:
        """The array of an output and its axes, as an op declares them."""
        value = self.spread(value, range(len(value.dims)))
        if any(len(dim) > 1 for dim in value.dims):
            raise Refused("an output has a dimension of several axes: return it before they are merged")
        axes = [part.axis for dim in value.dims for part in dim]
        if len(set(axes)) < len(axes):
            raise Refused(f"an output has the axis '{max(axes, key=axes.count)}' twice")
        return self.named(value, axes).symbol, " ".join(dim[0].axis if dim else "1" for dim in value.dims) or "1"


def _in_order(value: Value, target: Sequence[Dim]) -> Value:
    """The tensor with the parts of repeated dimensions in the target's order."""
    dims = []
    for own, dim in zip(value.dims, target):
        is_other = own and [part.axis for part in own] != [part.axis for part in dim]
        dims.append(tuple(replace(part, name=None) for part in dim) if is_other else own)
    return Value(value.symbol, tuple(dims))


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
