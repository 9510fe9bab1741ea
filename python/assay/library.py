# SPDX-License-Identifier: Apache-2.0
"""The program `validate`: where it is, what it says, and the contracts of its ops."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Sequence

from . import formula
from .errors import InputError, LibraryError

__version__ = "0.1.0"
VARIABLE = "ASSAY_VALIDATE"  # in the environment: the program to use


@dataclass(frozen=True)
class Called:
    """What a call of the program left: its exit code (docs/judging.md), its output and its errors."""

    code: int
    out: str
    err: str


def program() -> str:
    """The path of `validate`: that of ASSAY_VALIDATE, the one in this package, or the one on PATH.

    Raises:
        LibraryError: there is none, or it has another version than this package.
    """
    bundled = Path(__file__).parent / "bin" / "validate"
    named = os.environ.get(VARIABLE)
    path = named or (str(bundled) if bundled.exists() else _on_path())
    if not path:
        raise LibraryError(f"the program 'validate' is neither in this package nor on PATH, and {VARIABLE} does not name it")
    _require_version(path)
    return path


def _on_path() -> str | None:
    """A `validate` on PATH that is not this package's own script, which would start itself."""
    own_folder = Path(sys.executable).parent
    places = [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if folder and Path(folder) != own_folder]
    return shutil.which("validate", path=os.pathsep.join(places))


@functools.lru_cache(maxsize=None)
def _require_version(path: str) -> None:
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    except OSError as e:
        raise LibraryError(f"the program '{path}' cannot be started: {e.strerror}") from None
    version = answer.stdout.split(" ")[0].strip()
    if answer.returncode == 2:  # it does not run on this processor
        raise LibraryError(_sentence(answer.stderr))
    if answer.returncode != 0 or not version:
        why = answer.stderr.strip().splitlines()
        raise LibraryError(f"the program '{path}' does not tell its version{': ' + why[0] if why else ''}")
    if version != __version__:
        raise LibraryError(f"the program '{path}' has the version {version}, and this package needs {__version__}")


def call(arguments: Sequence[str], pass_fds: Sequence[int] = ()) -> Called:
    """Calls the program and waits for it.  What the workers of this call need to start Python comes first on their PATH.

    Raises:
        InputError: it refuses its input (exit code 2); the message is its sentence.
        LibraryError: it cannot be called, or it was killed.
    """
    environment = {**os.environ, VARIABLE: os.path.abspath(program()) if os.sep in program() else program()}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment.get("PATH", os.defpath)])
    environment["NO_COLOR"] = "1"
    if "--op" in arguments and environment.get(formula.VARIABLE):  # so that a line to repeat names no file of another op
        files = formula.files_of(arguments[list(arguments).index("--op") + 1], environment.pop(formula.VARIABLE))
        environment.update({formula.VARIABLE: files} if files else {})
    done = subprocess.run(
        [program(), *arguments], capture_output=True, pass_fds=pass_fds, env=environment, check=False, stdin=subprocess.DEVNULL
    )
    out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    if done.returncode == 2:
        raise InputError(_sentence(err))
    if done.returncode not in (0, 1, 3, 130):
        raise LibraryError(f"'{program()} {arguments[0]}' ended with the code {done.returncode}: {_sentence(err)}")
    return Called(done.returncode, out, err)


def _sentence(err: str) -> str:
    """The last line that the program wrote to its standard error, without its name and without the names of descriptors."""
    lines = (
        [line for line in err.splitlines() if line.startswith("validate: ")] or err.strip().splitlines() or ["it said nothing"]
    )
    text = re.sub(
        r"^'/proc/self/fd/\d+'(:| cannot)",
        lambda match: "the tensors cannot" if match[1] == " cannot" else "",
        lines[-1].removeprefix("validate: "),
    )
    text = re.sub(r"'/proc/self/fd/\d+'", "the tensors", text)
    return re.sub(r"  \(validate [^()]*--help\)$", "", text).strip()


def main() -> None:
    """Becomes the program, with the arguments of this process: the command `validate` that the wheel installs."""
    try:
        path = program()
    except LibraryError as e:
        print(f"validate: {e}", file=sys.stderr)
        sys.exit(2)
    os.execv(path, ["validate", *sys.argv[1:]])


# --- Contracts ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Extent:
    """An extent of a tensor: that of an axis, or one that follows from it, as a number of blocks.

    Attributes:
        axis: its name.
        divisor: elements of the axis for each of these; the last may have fewer.
        more: how many there are beyond that.
    """

    axis: str
    divisor: int = 1
    more: int = 0

    @classmethod
    def of_text(cls, text: str) -> "Extent":
        """The extent that `validate describe` writes: cols, cols/128, batch+1."""
        first, _, more = text.partition("+")
        axis, _, divisor = first.partition("/")
        return cls(axis, int(divisor or 1), int(more or 0))

    def __str__(self) -> str:
        divided = f"/{self.divisor}" if self.divisor != 1 else ""
        return f"{self.axis}{divided}" + (f"+{self.more}" if self.more else "")

    @property
    def is_axis(self) -> bool:
        """Whether it is the axis's own."""
        return self.divisor == 1 and self.more == 0

    def of(self, extents: Mapping[str, Any]) -> Any:
        """Its value, where the axes have these extents."""
        n = extents[self.axis]
        return n if self.is_axis else -(-n // self.divisor) + self.more


@dataclass(frozen=True)
class Tensor:
    """A tensor of an op.

    Attributes:
        name: as an argument has it.
        role: input, weight, output, or updated: an output that the op reads and changes.
        axes: its extents, outermost first.
        dtype: its own, by our names; None: that of the case, f16, bf16 or f32.
        only_with: the attribute, or attribute=word|word, without which a case lacks the tensor; None: it is always there.
    """

    name: str
    role: str
    axes: tuple[Extent, ...]
    dtype: str | None = None
    only_with: str | None = None

    @property
    def is_output(self) -> bool:
        """Whether the op writes it."""
        return self.role in ("output", "updated")


@dataclass(frozen=True)
class Attribute:
    """An attribute of an op.

    Attributes:
        name: as an argument has it.
        default: what it is where it is left out.
        choices: the words that it may be, True and False where these are no and yes; empty: it is a number.
    """

    name: str
    default: float | int | str | bool
    choices: tuple[str, ...] = ()

    def value(self, text: object) -> float | int | str | bool:
        """An order's or the program's `text` as the value that a callable gets: a word, True or False, or a number, whole ones as
        int."""
        if self.choices == ("no", "yes"):
            return text == "yes"
        if self.choices:
            return str(text)
        number = float(text)  # type: ignore[arg-type]
        return int(number) if number.is_integer() else number


@dataclass(frozen=True)
class Op:
    """The contract of an op: `validate describe OP`.

    Attributes:
        name: of the op.
        about: the formula and the source, in words.
        axes: what each axis counts, by its name.
        tensors, attributes: in the order of the contract.
    """

    name: str
    about: str
    axes: Mapping[str, str]
    tensors: tuple[Tensor, ...]
    attributes: tuple[Attribute, ...]

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        """What a callable gets: inputs, weights and updated outputs."""
        return tuple(t for t in self.tensors if t.role != "output")

    @property
    def outputs(self) -> tuple[Tensor, ...]:
        """Outputs and updated outputs."""
        return tuple(t for t in self.tensors if t.is_output)

    def tensor(self, name: str) -> Tensor | None:
        """The tensor of this name; None: there is none."""
        return next((t for t in self.tensors if t.name == name), None)

    def attribute(self, name: str) -> Attribute | None:
        """The attribute of this name; None: there is none."""
        return next((a for a in self.attributes if a.name == name), None)


def is_there(op: Op, tensor: Tensor, attributes: Mapping[str, object]) -> bool:
    """Whether a case with these attributes has the tensor."""
    if not tensor.only_with:
        return True
    name, _, words = tensor.only_with.partition("=")
    attribute = op.attribute(name)
    assert attribute
    value = attributes.get(name, attribute.default)
    return value in words.split("|") if words else value != attribute.default


def describe(op: str | formula.Op) -> Op:
    """The contract of an op: its tensors with their axes and dtypes, and its attributes.

    Args:
        op: the name of an op, one of `validate list ops`, or an op of your own.

    Returns:
        An Op.

    Raises:
        InputError: there is no such op.
        LibraryError: see `assay.LibraryError`.
    """
    try:
        return _described(formula.name_of_op(op), os.environ.get(formula.VARIABLE))
    except InputError:
        if isinstance(op, formula.Op):
            op.forget()
        raise


@functools.lru_cache(maxsize=None)
def _described(op: str, _files: str | None) -> Op:
    description = json.loads(call(["describe", op, "--json"]).out)
    attributes = []
    for a in description["attributes"]:
        bare = Attribute(a["attribute"], 0, tuple(a["choices"]))
        attributes.append(Attribute(bare.name, bare.value(a["default"]), bare.choices))
    return Op(
        description["op"],
        description["about"],
        {a["axis"]: a["meaning"] for a in description["axes"]},
        tuple(
            Tensor(t["tensor"], t["role"], tuple(map(Extent.of_text, t["axes"])), t.get("dtype"), t.get("only_with"))
            for t in description["tensors"]
        ),
        tuple(attributes),
    )
