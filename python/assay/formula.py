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
import itertools
import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence, Union

from . import loading
from .errors import InputError

DTYPES = ("f16", "bf16", "f32")
VARIABLE = "ASSAY_OP_FILES"  # in the environment: the files of ops in use, with colons between

__all__ = [
    "Op",
    "absolute",
    "cos_turn",
    "either",
    "erf",
    "exp",
    "extent",
    "from_definition",
    "from_torch",
    "gelu_erf",
    "gelu_tanh",
    "index",
    "log",
    "log_softmax",
    "logsumexp",
    "max",
    "maximum",
    "mean",
    "minimum",
    "op",
    "put",
    "read",
    "rounded_to",
    "rsqrt",
    "scan",
    "sigmoid",
    "silu",
    "sin_turn",
    "softmax",
    "softmax_or_zero",
    "softplus",
    "solution",
    "sqrt",
    "square",
    "step",
    "sum",
    "take",
    "tanh",
    "where",
]

Tensors = Mapping[str, Union[str, Mapping[str, Any]]]
Bounds = Mapping[str, Union[int, "tuple[int, int]"]]  # the least extents of axes, or the least and the largest


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


def _named(function: Callable[..., Symbol], name: str, doc: str) -> Callable[..., Symbol]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _function(name: str) -> Callable[[Value], Symbol]:
    return _named(lambda x: _written(name + "({0})", x), name, f"{name} of each element of x.")


def _pair(name: str) -> Callable[[Value, Value], Symbol]:
    doc = f"{name} of two arrays a and b, element by element."
    return _named(lambda a, b: _written(name + "({0}, {1})", a, b), name, doc)


def _reduction(name: str, doc: str) -> Callable[..., Symbol]:
    def function(x: Value, *axes: str) -> Symbol:
        if not axes:
            raise InputError(f"f.{name}(x, 'cols'): the axes are missing")
        return _written(f"{name}[{', '.join(axes)}]" + "({0})", x)

    return _named(function, name, doc)


square = _function("square")
absolute = _function("absolute")
round = _function("round")  # noqa: A001
floor = _function("floor")
ceil = _function("ceil")
pow2_floor = _function("pow2_floor")
pow2_ceil = _function("pow2_ceil")
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
sum = _reduction("sum", "The sum of x along axes, which the result lacks.")  # noqa: A001
mean = _reduction("mean", "The mean of x along axes, which the result lacks.")
max = _reduction("max", "The maximum of x along axes, which the result lacks.")  # noqa: A001
logsumexp = _reduction("logsumexp", "The logarithm of the sum of exponentials of x along axes, which the result lacks.")
softmax = _reduction("softmax", "The softmax of x along axes.")
softmax_or_zero = _reduction("softmax_or_zero", "The softmax of x along axes; rows of minus infinity alone have weights of 0.")
log_softmax = _reduction("log_softmax", "The logarithm of the softmax of x along axes.")


def where(condition: Value, a: Value, b: Value) -> Symbol:
    """a where a condition holds, else b.  Of a condition on attributes and extents, such as form == "tanh", only one is computed."""
    return _written("where({0}, {1}, {2})", condition, a, b)


def take(a: Symbol, axis: str, indices: Symbol) -> Symbol:
    """The elements of an array `a` at these indices along one of its axes, `axis`, which the result lacks.

    The result has the axes of the indices.
    """
    return _written(f"take[{axis}]" + "({0}, {1})", a, indices)


def put(a: Symbol, axis: str, indices: Symbol) -> Symbol:
    """The reverse of `take`: the elements of `a` go to the places `indices` of a new axis, `axis`; where none goes there is 0."""
    return _written(f"put[{axis}]" + "({0}, {1})", a, indices)


def index(axis: str, extent: Value | None = None) -> Symbol:
    """The positions 0, 1, ... along `axis`; with an `extent`, along a new one that no tensor has."""
    return _written(f"index[{axis}]") if extent is None else _written(f"index[{axis}]" + "({0})", extent)


def extent(axis: str) -> Symbol:
    """The extent of `axis`, a number."""
    return _written(f"extent[{axis}]")


def step(name: str, a: Symbol) -> Symbol:
    """A result `a` that kernels may store before it is read: those that declare its `name`."""
    return _written(f"step[{name}]" + "({0})", a)


def rounded_to(dtype: str, a: Symbol) -> Symbol:
    """A result `a` that the op itself rounds to a `dtype`, like "f16"."""
    return _written(f"rounded_to[{dtype}]" + "({0})", a)


def cos_turn(position: Value, above: Value, below: Value, base: Value) -> Symbol:
    """The cosine of the angle position base^(above / below)."""
    return _written("cos_turn({0}, {1}, {2}, {3})", position, above, below, base)


def sin_turn(position: Value, above: Value, below: Value, base: Value) -> Symbol:
    """The sine of the angle position base^(above / below)."""
    return _written("sin_turn({0}, {1}, {2}, {3})", position, above, below, base)


def either(a: Symbol, b: Symbol, way: str = "") -> Symbol:
    """Two ways to compute the same.  The answer is that of `a`; kernels that declare `way` have the errors of `b`, and without a
    name any kernel may compute either."""
    return _written(("either[" + way + "]" if way else "either") + "({0}, {1})", a, b)


def scan(axis: str, first: Any, step: Callable[[Any], tuple[Any, Any]]) -> tuple[Any, Any]:
    """A recurrence: one step after the other along an axis.

    Example: h[t] = gate[t] h[t-1] + x[t]
        def step(h):
            h = gate * h + x
            return h, h

        last, y = f.scan("steps", first, step)

    Args:
        axis: its name.
        first: the state before the first step, or a tuple of several.
        step: gets the state before a step, or a tuple of them, and returns the states after it and what it puts out: an array, or a
            tuple.  In it arrays with the axis are their elements at the step, so that it sums along other axes alone.

    Returns:
        The states after the last step, and what all steps put out, along the axis; each as `step` returned it.
    """
    firsts = tuple(map(_symbol, first)) if isinstance(first, tuple) else (_symbol(first),)
    states = tuple(Symbol("", is_leaf=True) for _ in firsts)
    returned = step(states if isinstance(first, tuple) else states[0])
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise InputError("the step of a scan returns two things: the states after it, and what it puts out")
    after, out = (tuple(map(_symbol, r)) if isinstance(r, tuple) else (_symbol(r),) for r in returned)
    if len(after) != len(states):
        raise InputError(f"the step of a scan returns {len(after)} states, and {len(states)} were expected")
    made = Scan(axis, firsts, states, after, out)
    last = made.results[: len(states)]
    all_out = made.results[len(states) :]
    return last if isinstance(first, tuple) else last[0], all_out if isinstance(returned[1], tuple) else all_out[0]


class Scan(Symbol):
    """A recurrence.  What its steps share, as it has no state in it, is computed before."""

    __slots__ = ("axis", "firsts", "states", "after", "out", "results")
    __hash__ = object.__hash__

    def __init__(
        self,
        axis: str,
        firsts: tuple[Symbol, ...],
        states: tuple[Symbol, ...],
        after: tuple[Symbol, ...],
        out: tuple[Symbol, ...],
    ) -> None:
        """`states`: leaves, whose names are found when the scan is written; `after` and `out`: what a step makes of them."""
        super().__init__("", firsts + _without(states, after + out))
        self.axis = axis
        self.firsts = firsts
        self.states = states
        self.after = after
        self.out = out
        self.results = tuple(Symbol("", (self,)) for _ in after + out)

    def write(self, writer: _Writer) -> None:
        """Adds the line that assigns its results."""
        for state in self.states:
            state.text = writer.fresh("state")
        out = [writer.fresh("out") for _ in self.out]
        after = [writer.fresh("next") for _ in self.after]
        firsts = ", ".join(f"{s.text} = {writer.texts.get(f, f.text)}" for s, f in zip(self.states, self.firsts))
        steps = _Writer(writer.names, writer.texts)
        steps.write(dict(zip((*after, *out), (*self.after, *self.out))))
        lines = [*steps.lines, *(f"{s.text} = {name}" for s, name in zip(self.states, after))]
        results = [*(state.text for state in self.states), *out]
        writer.texts.update(zip(self.results, results))
        writer.lines.append(f"{', '.join(results)} = scan[{self.axis}]({firsts}) {{ {'; '.join(lines)} }}")


def _without(states: tuple[Symbol, ...], results: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
    """The largest parts of the results that no state is in."""
    depends: dict[Symbol, bool] = {state: True for state in states}
    stack = [(result, False) for result in results]
    while stack:
        symbol, is_done = stack.pop()
        if is_done:
            depends[symbol] = any(depends[part] for part in symbol.of)
        elif symbol not in depends:
            stack.append((symbol, True))
            stack.extend((part, False) for part in symbol.of)
    found: dict[Symbol, None] = {}
    seen: set[Symbol] = set()
    left = list(results)
    while left:
        symbol = left.pop()
        if symbol in seen:
            continue
        seen.add(symbol)
        if not depends[symbol]:
            found[symbol] = None
        else:
            left.extend(symbol.of)
    return tuple(found)


class Op:
    """An op of one's own, which stands where functions of this package take the name of an op.

    Attributes:
        name: the function's.
        text: the op as JSON, as `validate run --op-file` reads it.
        numerics: what a kernel of it declares that declares nothing, in the words of `validate describe numerics`; None: sums in
            f32, in any order.
        names: those of arguments by which kernels take them, where these are not the op's, by the op's.
        constants: what kernels get too, if they name it.
        dtypes: those in which its reference was read, and no other; None: it was read in all, or has none.
        definition: what it was made of, an `assay.definitions.Definition`; None: none.
    """

    def __init__(self, name: str, text: str, numerics: str | None = None) -> None:
        self.name = name
        self.text = text
        self.numerics = numerics
        self.names: Mapping[str, str] = {}
        self.constants: Mapping[str, Any] = {}
        self.dtypes: tuple[str, ...] | None = None
        self.definition: Any = None

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the file of the op to `path`."""
        Path(path).write_text(self.text, encoding="utf-8")

    @property
    def path(self) -> Path:
        """Where `use` writes its file: in a folder of this user's, among temporary files."""
        return folder() / f"{self.name}-{hashlib.sha256(self.text.encode()).hexdigest()[:12]}.json"

    def use(self) -> str:
        """Makes the op known to this process and to those that it starts.  Returns its name.

        Its file stays, so that printed commands can be repeated.
        """
        path = self.path
        if not path.exists():
            temporary = path.with_suffix(f".{os.getpid()}")
            self.write(temporary)
            temporary.replace(path)
        self.forget()
        known = os.environ.get(VARIABLE)
        os.environ[VARIABLE] = f"{known}:{path}" if known else str(path)
        return self.name

    def forget(self) -> None:
        """Makes the op unknown again, and others of its name: one that is refused would stop every call of the program."""
        known = [file for file in os.environ.pop(VARIABLE, "").split(":") if file]
        others = [file for file in known if not Path(file).name.startswith(f"{self.name}-")]
        if others:
            os.environ[VARIABLE] = ":".join(others)


def files_of(name: str, files: str) -> str:
    """Those of the files of ops, with colons between, that an op needs: without those which `Op.use` wrote for ops of other names."""
    others = re.compile(rf"(?!{re.escape(name)}-)[a-z0-9_]+-[0-9a-f]{{12}}\.json")
    kept = (file for file in files.split(":") if Path(file).parent != folder() or not others.fullmatch(Path(file).name))
    return ":".join(kept)


def folder() -> Path:
    """Where files of ops and kernels are written that worker processes read: of this user, among temporary files."""
    made = Path(tempfile.gettempdir()) / f"assay-ops-{os.getuid()}"
    made.mkdir(mode=0o700, exist_ok=True)
    return made


def op(
    *,
    inputs: Tensors,
    outputs: Tensors,
    weights: Tensors | None = None,
    attributes: Mapping[str, float | Sequence[str]] | None = None,
    axes: Bounds | None = None,
    legal: Sequence[str] = (),
    about: str | None = None,
) -> Callable[[Callable[..., Any]], Op]:
    """Makes an op of a function that computes its outputs.

    Args:
        inputs: each input's axes, outermost first, like "tokens hidden"; or a dict of `axes`, `dtype`, `holds` and `present_if`.
        outputs: the same of outputs.  The function returns as many: one array, or a tuple in this order.
        weights: inputs that are parameters.
        attributes: numbers with their defaults, and choices as lists of words, the default first.
        axes: the least extents of axes for which it is defined, where that is not 1; or the least and the largest, like (4, 4).
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
        return written(
            function.__name__,
            about or inspect.getdoc(function),
            results,
            inputs=inputs,
            outputs=outputs,
            weights=weights,
            attributes=attributes,
            axes=axes,
            legal=legal,
        )

    return made


def from_torch(
    reference: Callable[..., Any],
    *,
    inputs: Tensors | None = None,
    weights: Tensors | None = None,
    outputs: Tensors | Sequence[str] | None = None,
    attributes: Mapping[str, float] | None = None,
    axes: Bounds | None = None,
    legal: Sequence[str] = (),
    about: str | None = None,
    name: str | None = None,
    dtypes: Sequence[str] | None = None,
) -> Op:
    """Makes an op of a function or a module of PyTorch, which says what is right.

    Example:
        def norm(x, gamma):
            return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * gamma

        op = f.from_torch(norm, inputs={"x": "rows cols"}, weights={"gamma": "cols"})

    It is traced in each dtype, with the extents of axes as symbols, and written as a formula, which must be the same in all.  The
    formula's answers are then compared with the reference's in f64, for a few sizes and values.

    Args:
        reference: takes the inputs, the weights and the attributes by name, and returns a tensor or a tuple.  A module's own
            parameters are weights.
        inputs: each input's axes, outermost first, like "tokens hidden" or ("tokens", "hidden"); or a dict of `axes`, `dtype` and
            `holds`.
        weights: the same of parameters.  Those of a module are named as in its state_dict, with _ in place of dots.
        outputs: their names in the order in which they are returned; None: y, or y0, y1, ...  Axes that are given too, in a dict,
            must be those that are returned.
        attributes: numbers that may differ between cases, with their defaults.  All others are constants.
        axes, legal, about: as of `op`.
        name: the op's; None: the reference's.
        dtypes: those of f16, bf16 and f32 for which the reference is right, and kernels are judged; None: all.

    Raises:
        InputError: PyTorch is missing; the reference does what a formula cannot say, and the message begins with its line; it
            computes something else in one dtype than in another; or the formula's answers are not the reference's.
        LibraryError: see `assay.LibraryError`.
    """
    loading.stop_reading()
    dtypes = dtypes_of(dtypes)
    made = _reader_of_torch().made
    op = made(
        reference,
        {} if inputs is None else inputs,
        {} if weights is None else weights,
        outputs,
        {} if attributes is None else attributes,
        {} if axes is None else axes,
        legal,
        about,
        name,
        dtypes=dtypes,
    )
    op.dtypes = dtypes
    return op


def dtypes_of(dtypes: Sequence[str] | str | None) -> tuple[str, ...] | None:
    """The dtypes that are given; a text is one, or several with commas between.  None: none are.

    Raises:
        InputError: one is none of f16, bf16 and f32.
    """
    known = dtypes.split(",") if isinstance(dtypes, str) else tuple(dtypes or ())
    for dtype in known:
        if dtype not in DTYPES:
            raise InputError(f"the dtype '{dtype}' is none of {', '.join(DTYPES)}")
    return tuple(known) or None


def _reader_of_torch() -> Any:
    """The module that reads references in PyTorch.  Raises InputError without torch."""
    try:
        from . import torch_reference
    except ImportError as e:
        raise InputError(f"a reference in PyTorch needs the package torch: {e}") from None
    return torch_reference


def from_definition(
    path: str | os.PathLike[str],
    *,
    attributes: Mapping[str, float] | None = None,
    constants: Mapping[str, int | None] | None = None,
    name: str | None = None,
    dtypes: Sequence[str] | None = None,
) -> Op:
    """Makes an op of a definition of FlashInfer-Bench, whose reference says what is right (docs/own-op.md).

    Example:
        op = f.from_definition("rmsnorm_h4096.json")
        assay.validate(op, kernel)

    Args:
        path: the file.  Its tensors have the shapes that it gives: lists of axes, constant or not.
        attributes: numbers among its inputs.  One of float is an attribute with this default, another a constant.  Those that are
            not named keep the default of the reference's parameter.
        constants: extents of axes, in place of those in the file; None: any extent, for kernels that take any.
        name: the op's; None: the definition's.
        dtypes: those of f16, bf16 and f32 for which the reference is read, and kernels are judged; None: that of its tensors.

    Raises:
        InputError: a part of the file is missing or wrong, or says what no op has, and the message names the place; or as
            `from_torch`.
        LibraryError: see `assay.LibraryError`.
    """
    loading.stop_reading()
    _reader_of_torch()
    from . import definitions

    return definitions.made(path, attributes, constants, name, dtypes_of(dtypes))


def solution(path: str | os.PathLike[str], op: Op) -> Callable[..., Any]:
    """A solution of FlashInfer-Bench in Python as a kernel, which takes and returns tensors of torch (docs/own-op.md).

    Example:
        op = f.from_definition("rmsnorm_h4096.json")
        assay.validate(op, f.solution("my_rmsnorm.json", op), device="cpu")

    Args:
        path: the file.  Its entry gets the inputs by their places.  If its spec has `destination_passing_style`, which is the
            default, it also gets the outputs, which hold NaN, and writes them; else it returns them.
        op: that of the definition which it solves.

    Raises:
        InputError: a part of the file is missing or wrong, and the message names the place; it is in a language that is compiled;
            or it solves another definition.
    """
    from . import solutions

    return solutions.made(path, op)


def written(name: str, about: str | None, results: Sequence[Any], **parts: Any) -> Op:
    """The op of these results.

    Args:
        name, about: of the op.
        results: a symbol or a number for each output.
        parts: `inputs`, `outputs`, `weights`, `attributes`, `axes` and `legal`, as of `op`.
    """
    described: dict[str, Any] = {"op": name}
    if about:
        described["about"] = about
    for key in ("axes", "inputs", "weights", "outputs"):
        if parts[key]:
            described[key] = dict(parts[key])
    attributes = parts["attributes"] or {}
    if attributes:
        described["attributes"] = {k: v if isinstance(v, (int, float)) else list(v) for k, v in attributes.items()}
    if parts["legal"]:
        described["legal"] = list(parts["legal"])
    outputs = parts["outputs"]
    writer = _Writer({*parts["inputs"], *(parts["weights"] or {}), *attributes, *outputs})
    writer.write(dict(zip(outputs, map(_symbol, results))))
    described["formula"] = writer.lines
    return Op(name, json.dumps(described, indent=2) + "\n")


def text_of(number: Symbol) -> str:
    """A number or a condition that is computed from extents, as a condition of an op has it."""
    parts = (part.text if part.is_leaf or part.text.startswith("extent[") else f"({text_of(part)})" for part in number.of)
    return number.text.format(*parts)


def read(path: str | os.PathLike[str]) -> Op:
    """The op of a JSON file.

    Args:
        path: the file, as `validate run --op-file` takes it.

    Raises:
        InputError: it has no JSON with a name of an op.  What else is wrong in it is told where the op is used.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        root = json.loads(text)
    except OSError as e:
        raise InputError(f"{path}: it cannot be read: {e.strerror}") from None
    except ValueError as e:
        raise InputError(f"{path}: it is not JSON: {e}") from None
    if isinstance(root, dict) and "op" not in root and "reference" in root:
        raise InputError(f"{path}: it is a definition, which f.from_definition reads")
    if not isinstance(root, dict) or not isinstance(root.get("op"), str):
        raise InputError(f"{path}: it is not the file of an op: an object with the key 'op' was expected")
    return Op(root["op"], text)


def name_of_op(given: str | Op) -> str:
    """The name of an op that is `given` by its name, or is one's own, which is then known."""
    return given.use() if isinstance(given, Op) else given


class _Writer:
    """Lines of text that assign symbols to names.  What is used more than once has a line of its own."""

    def __init__(self, names: set[str], texts: Mapping[Symbol, str] = {}) -> None:
        """`names`: that are taken.  `texts`: what is written already."""
        self.names = names
        self.texts = dict(texts)
        self.lines: list[str] = []

    def write(self, results: Mapping[str, Symbol]) -> None:
        """Adds the lines that assign the results."""
        order, uses = self._order(results)
        for symbol in order:
            if isinstance(symbol, Scan):
                symbol.write(self)
            if isinstance(symbol, Scan) or symbol in self.texts:
                continue
            text = symbol.text.format(*(self.texts.get(part, part.text) for part in symbol.of))
            is_call = symbol.text.endswith((")", "]")) and symbol.text[0].isalpha()
            if uses[symbol] == 1 and len(text) < 100:
                self.texts[symbol] = text if is_call else f"({text})"
                continue
            self.texts[symbol] = self.fresh("t")
            self.lines.append(f"{self.texts[symbol]} = {text}")
        for name, symbol in results.items():
            text = self.texts.get(symbol, symbol.text)
            self.lines.append(f"{name} = {text[1:-1] if text.startswith('(') and _is_enclosed(text) else text}")

    def fresh(self, stem: str) -> str:
        """A name that is not taken yet."""
        name = next(f"{stem}{i}" for i in itertools.count(1) if f"{stem}{i}" not in self.names)
        self.names.add(name)
        return name

    def _order(self, results: Mapping[str, Symbol]) -> tuple[list[Symbol], dict[Symbol, int]]:
        """Symbols that are not written yet, each after what it is made of; and how often each is used, where a scan counts twice."""
        uses: dict[Symbol, int] = {}
        order: list[Symbol] = []
        stack = [(symbol, False) for symbol in reversed(list(results.values()))]
        while stack:
            symbol, is_done = stack.pop()
            if is_done:
                order.append(symbol)
                continue
            if symbol.is_leaf or symbol in self.texts:
                continue
            uses[symbol] = uses.get(symbol, 0) + 1
            if uses[symbol] == 1:
                stack.append((symbol, True))
                stack.extend((part, False) for part in reversed(symbol.of) for _ in range(1 + isinstance(symbol, Scan)))
        return order, uses


def _is_enclosed(text: str) -> bool:
    """Whether the first parenthesis of the text is closed by its last."""
    depth = 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return i == len(text) - 1
    return False
