# SPDX-License-Identifier: Apache-2.0
"""Ops of one's own: a function of arrays says what is right (docs/own-op.md).

Example:
    from assay import formula as f

    @f.op(inputs={"x": "rows cols"}, weights={"gamma": "cols"}, outputs={"y": "rows cols"}, attributes={"epsilon": 1e-6})
    def my_norm(x, gamma, epsilon):
        return x * f.rsqrt(f.mean(x * x, "cols") + epsilon) * gamma

    assay.validate(my_norm, kernel)

The function runs once, with symbols in place of arrays and attributes, and leaves lines of text, which the judge reads.  Arrays
broadcast by the names of their axes, and f.sum(x * w, "hidden") of arrays with different axes is a matrix product.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence, Union

from .errors import InputError

VARIABLE = "ASSAY_OP_FILES"  # in the environment: the files of ops in use, with colons between

Tensors = Mapping[str, Union[str, Mapping[str, Any]]]


class Symbol:
    """An array or a number of a formula, which is not computed but written down."""

    __slots__ = ("text", "of", "is_leaf")
    __array_ufunc__ = None  # so that NumPy leaves operators to this class
    __hash__ = object.__hash__

    def __init__(self, text: str, of: tuple[Symbol, ...] = (), is_leaf: bool = False) -> None:
        """`text` has {0}, {1}, ... in the places of `of`."""
        self.text = text
        self.of = of
        self.is_leaf = is_leaf

    def __add__(self, other: Value) -> Symbol:
        return _written("{0} + {1}", self, other)

    def __radd__(self, other: Value) -> Symbol:
        return _written("{0} + {1}", other, self)

    def __sub__(self, other: Value) -> Symbol:
        return _written("{0} - {1}", self, other)

    def __rsub__(self, other: Value) -> Symbol:
        return _written("{0} - {1}", other, self)

    def __mul__(self, other: Value) -> Symbol:
        return _written("{0} * {1}", self, other)

    def __rmul__(self, other: Value) -> Symbol:
        return _written("{0} * {1}", other, self)

    def __truediv__(self, other: Value) -> Symbol:
        return _written("{0} / {1}", self, other)

    def __rtruediv__(self, other: Value) -> Symbol:
        return _written("{0} / {1}", other, self)

    def __floordiv__(self, other: Value) -> Symbol:
        return _written("quotient({0}, {1})", self, other)

    def __neg__(self) -> Symbol:
        return _written("-{0}", self)

    def __pow__(self, power: Any) -> Symbol:
        if power != 2:
            raise InputError(f"a power of {power} is no word of formulas; ** 2 is, and f.sqrt and f.rsqrt are")
        return _written("square({0})", self)

    def __lt__(self, other: Value) -> Symbol:
        return _written("{0} < {1}", self, other)

    def __le__(self, other: Value) -> Symbol:
        return _written("{0} <= {1}", self, other)

    def __gt__(self, other: Value) -> Symbol:
        return _written("{0} > {1}", self, other)

    def __ge__(self, other: Value) -> Symbol:
        return _written("{0} >= {1}", self, other)

    def __eq__(self, other: object) -> Symbol:  # type: ignore[override]
        return _written("{0} == {1}", self, Symbol(other, is_leaf=True) if isinstance(other, str) else other)

    def __and__(self, other: Value) -> Symbol:
        return _written("{0} && {1}", self, other)

    def __bool__(self) -> bool:
        raise InputError("a condition on what is not known yet: write f.where(condition, a, b) in place of if")


Value = Union[Symbol, int, float]


def _symbol(value: Any) -> Symbol:
    if isinstance(value, Symbol):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"a {type(value).__name__} in a formula, where an array or a number was expected")
    if value != value:
        raise InputError("a number of a formula is NaN")
    text = ("inf" if value > 0 else "-inf") if value in (float("inf"), float("-inf")) else repr(value)
    return Symbol(f"({text})" if text.startswith("-") else text, is_leaf=True)


def _written(text: str, *of: Any) -> Symbol:
    return Symbol(text, tuple(map(_symbol, of)))


def _function(name: str) -> Callable[[Value], Symbol]:
    def function(x: Value) -> Symbol:
        return _written(name + "({0})", x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} of each element."
    return function


def _pair(name: str) -> Callable[[Value, Value], Symbol]:
    def function(a: Value, b: Value) -> Symbol:
        return _written(name + "({0}, {1})", a, b)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} of two arrays, element by element."
    return function


def _reduction(name: str, doc: str) -> Callable[..., Symbol]:
    def function(x: Value, *axes: str) -> Symbol:
        if not axes:
            raise InputError(f"f.{name}(x, 'cols'): the axes are missing")
        return _written(f"{name}[{', '.join(axes)}]" + "({0})", x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


square = _function("square")
absolute = _function("absolute")
exp = _function("exp")
log = _function("log")
tanh = _function("tanh")
erf = _function("erf")
sigmoid = _function("sigmoid")
softplus = _function("softplus")
silu = _function("silu")
gelu_tanh = _function("gelu_tanh")
gelu_erf = _function("gelu_erf")
sqrt = _function("sqrt")
rsqrt = _function("rsqrt")
maximum = _pair("maximum")
minimum = _pair("minimum")
sum = _reduction("sum", "The sum along axes, which the result lacks.")  # noqa: A001
mean = _reduction("mean", "The mean along axes, which the result lacks.")
max = _reduction("max", "The maximum along axes, which the result lacks.")  # noqa: A001
logsumexp = _reduction("logsumexp", "The logarithm of the sum of exponentials along axes, which the result lacks.")
softmax = _reduction("softmax", "The softmax along axes.")
softmax_or_zero = _reduction("softmax_or_zero", "The softmax along axes; rows of minus infinity alone have weights of 0.")
log_softmax = _reduction("log_softmax", "The logarithm of the softmax along axes.")


def where(condition: Value, a: Value, b: Value) -> Symbol:
    """a where a condition holds, else b.  Of a condition on attributes and extents, such as form == "tanh", only one is computed."""
    return _written("where({0}, {1}, {2})", condition, a, b)


def take(a: Symbol, axis: str, indices: Symbol) -> Symbol:
    """The elements of an array at these indices along one of its axes, which the result lacks; it has the axes of the indices."""
    return _written(f"take[{axis}]" + "({0}, {1})", a, indices)


def put(a: Symbol, axis: str, indices: Symbol) -> Symbol:
    """The reverse of `take`: the elements go to these places of a new axis; where none goes there is 0."""
    return _written(f"put[{axis}]" + "({0}, {1})", a, indices)


def index(axis: str, extent: Value | None = None) -> Symbol:
    """The positions 0, 1, ... along an axis; with an extent, along a new one that no tensor has."""
    return _written(f"index[{axis}]") if extent is None else _written(f"index[{axis}]" + "({0})", extent)


def extent(axis: str) -> Symbol:
    """The extent of an axis, a number."""
    return _written(f"extent[{axis}]")


def step(name: str, a: Symbol) -> Symbol:
    """A result that kernels may store before it is read: those that declare its name."""
    return _written(f"step[{name}]" + "({0})", a)


def rounded_to(dtype: str, a: Symbol) -> Symbol:
    """A result that the op itself rounds to a dtype, like "f16"."""
    return _written(f"rounded_to[{dtype}]" + "({0})", a)


class Op:
    """An op of one's own, which stands where functions of this package take the name of an op.

    Attributes:
        name: the function's.
        text: the op as JSON, as `validate run --op-file` reads it.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the file of the op."""
        Path(path).write_text(self.text, encoding="utf-8")

    @property
    def path(self) -> Path:
        """Where `use` writes its file: in a folder of this user's, among temporary files."""
        folder = Path(tempfile.gettempdir()) / f"assay-ops-{os.getuid()}"
        return folder / f"{self.name}-{hashlib.sha256(self.text.encode()).hexdigest()[:12]}.json"

    def use(self) -> str:
        """Makes the op known to this process and to those that it starts.  Returns its name.

        Its file stays, so that printed commands can be repeated.
        """
        path = self.path
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if not path.exists():
            temporary = path.with_suffix(f".{os.getpid()}")
            self.write(temporary)
            temporary.replace(path)
        known = [file for file in os.environ.get(VARIABLE, "").split(":") if file]
        others = [file for file in known if not Path(file).name.startswith(f"{self.name}-")]
        os.environ[VARIABLE] = ":".join([*others, str(path)])
        return self.name


def op(
    *,
    inputs: Tensors,
    outputs: Tensors,
    weights: Tensors | None = None,
    attributes: Mapping[str, float | Sequence[str]] | None = None,
    axes: Mapping[str, int] | None = None,
    legal: Sequence[str] = (),
    about: str | None = None,
) -> Callable[[Callable[..., Any]], Op]:
    """Makes an op of a function that computes its outputs.

    Args:
        inputs: each input's axes, outermost first, like "tokens hidden"; or a dict of `axes`, `dtype`, `holds` and `present_if`.
        outputs: the same of outputs.  The function returns as many: one array, or a tuple in this order.
        weights: inputs that are parameters.
        attributes: numbers with their defaults, and choices as lists of words, the default first.
        axes: the least extents of axes for which it is defined, where that is not 1.
        legal: conditions on extents and attributes for which it is defined, like "extent[heads] >= 2".
        about: what it computes; None: the function's docstring.

    Raises:
        InputError: the function does what a formula cannot say.
    """

    def made(function: Callable[..., Any]) -> Op:
        names = [*inputs, *(weights or {}), *(attributes or {})]
        taken = list(inspect.signature(function).parameters)
        for name in taken:
            if name not in names:
                raise InputError(f"{function.__name__}: '{name}' is no tensor and no attribute of the op")
        results = function(**{name: Symbol(name, is_leaf=True) for name in taken})
        results = results if isinstance(results, tuple) else (results,)
        if len(results) != len(outputs):
            raise InputError(f"{function.__name__}: it returns {len(results)} arrays, and the op has {len(outputs)} outputs")
        described: dict[str, Any] = {"op": function.__name__}
        said = about or inspect.getdoc(function)
        if said:
            described["about"] = said
        for key, value in (("axes", axes), ("inputs", inputs), ("weights", weights), ("outputs", outputs)):
            if value:
                described[key] = dict(value)
        if attributes:
            described["attributes"] = {k: v if isinstance(v, (int, float)) else list(v) for k, v in attributes.items()}
        if legal:
            described["legal"] = list(legal)
        described["formula"] = _lines(dict(zip(outputs, map(_symbol, results))), {*names, *outputs})
        return Op(function.__name__, json.dumps(described, indent=2) + "\n")

    return made


def name_of_op(given: str | Op) -> str:
    """The name of an op that is given by its name, or is one's own, which is then known."""
    return given.use() if isinstance(given, Op) else given


def _lines(results: Mapping[str, Symbol], names: set[str]) -> list[str]:
    """Lines of text that assign the results.  What is used more than once has a line of its own."""
    uses: dict[Symbol, int] = {}
    order: list[Symbol] = []  # each after what it is made of
    stack = [(symbol, False) for symbol in reversed(list(results.values()))]
    while stack:
        symbol, is_done = stack.pop()
        if is_done:
            order.append(symbol)
            continue
        uses[symbol] = uses.get(symbol, 0) + 1
        if uses[symbol] == 1 and not symbol.is_leaf:
            stack.append((symbol, True))
            stack.extend((part, False) for part in reversed(symbol.of))
    texts: dict[Symbol, str] = {}
    lines = []
    count = 0
    for symbol in order:
        parts = [texts.get(part, part.text) for part in symbol.of]
        text = symbol.text.format(*parts)
        is_call = symbol.text.endswith((")", "]")) and symbol.text[0].isalpha()
        if uses[symbol] == 1 and len(text) < 100:
            texts[symbol] = text if is_call else f"({text})"
            continue
        count += 1
        while f"t{count}" in names:
            count += 1
        lines.append(f"t{count} = {text}")
        texts[symbol] = f"t{count}"
    for name, symbol in results.items():
        text = texts.get(symbol, symbol.text)
        lines.append(f"{name} = {text[1:-1] if text.startswith('(') and _is_enclosed(text) else text}")
    return lines


def _is_enclosed(text: str) -> bool:
    """Whether the first parenthesis of the text is closed by its last."""
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return i == len(text) - 1
    return False
