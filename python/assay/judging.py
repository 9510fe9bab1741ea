# SPDX-License-Identifier: Apache-2.0
"""check and golden: tensors at hand."""

from __future__ import annotations

import difflib
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Mapping

import numpy as np

from . import library, loading
from .errors import Incomplete, InputError, Mismatch
from .formula import Op
from .tensors import MemoryFile, bits_of, read_file


@dataclass(frozen=True)
class Result:
    """The verdict on tensors at hand.

    Attributes:
        record: the record of the case, whose fields reports/schema.json explains.
        text: what `validate judge` prints of it.
        suggested: the tightest of some usual declarations that the outputs meet, where that was asked; None: none does.
    """

    record: Mapping[str, Any]
    text: str
    suggested: str | None = None

    @property
    def passed(self) -> bool:
        """Whether every element that was judged is within its bound."""
        return self.record["verdict"] == "passed"

    @property
    def margin(self) -> float:
        """The largest err/bound of an element; at most 1 is right.  0 where no element has a bound."""
        return float(self.record.get("margin", 0.0))

    def __str__(self) -> str:
        return self.text


def check(op: str | Op, out: Any, *, numerics: str | None = None, suggest: bool = False, **arguments: Any) -> Result:
    """Judges outputs that were computed from tensors at hand: every element against its bound.

    Example:
        assay.check("attention_forward", (o, lse), q=q, k=k, v=v, mask="causal")

    Args:
        op: the name of an op, or an op of your own (assay.formula).
        out: its output, a tuple of outputs in the order of the contract, or a dict by name.  Outputs that are missing at the
            end of the tuple, None in it, or not in the dict are not checked.
        numerics: how they were computed, in the words of `validate describe numerics`; None: sums in f32, in any order, and as
            the `numerics` of an op of your own say.
        suggest: also look for the tightest of some usual declarations that the outputs meet.
        arguments: the tensors of the contract, with its shapes and dtypes and any strides, and its attributes.  Of an updated
            output this is what it held before.  Arrays of NumPy, tensors of torch, and what speaks DLPack are taken; those of a
            device are copied to the host once.

    Returns:
        A Result that passed.

    Raises:
        Mismatch: an output is wrong.
        InputError: a name, dtype, shape or value is not the contract's.
        Incomplete: nothing was compared, or memory was short.
        LibraryError: see `assay.LibraryError`.
    """
    loading.stop_reading()
    contract = library.describe(op)
    tensors, flags = _arguments(contract, arguments)
    outputs = _outputs(contract, out)
    numerics = numerics or (op.numerics if isinstance(op, Op) else None)
    flags += (["--numerics", numerics] if numerics else []) + (["--suggest-numerics"] if suggest else [])
    with _file(contract, tensors) as given, _file(contract, outputs) as computed:
        called = library.call(["judge", given.path, computed.path, "--json", "-", *flags], [given.fd, computed.fd])
    lines = [json.loads(line) for line in called.out.splitlines()]
    record = next((line for line in lines if line["record"] == "case"), None)
    if record is None:
        raise Incomplete(called.err.strip().splitlines()[-1].removeprefix("validate: "))
    record.pop("given", None)  # Note: it names files that no longer are
    suggested = next((line.get("numerics") for line in lines if line["record"] == "suggested"), None)
    result = Result(record, called.err.rstrip(), suggested)
    if called.code == 1:
        raise Mismatch(result.text, result)
    if called.code == 3:
        raise Incomplete(record.get("reason", "nothing was compared"), result)
    return result


def golden(op: str | Op, *, f64: bool = False, **arguments: Any) -> Any:
    """The right outputs for tensors at hand, computed in f64.

    Args:
        op: the name of an op, or an op of your own (assay.formula).
        f64: leave outputs in f64; else each is rounded once to its dtype of the contract.
        arguments: as of `assay.check`.

    Returns:
        A contiguous array of NumPy with the shape of the contract; of several outputs a tuple in the order of the contract.

    Raises:
        InputError: a name, dtype, shape or value is not the contract's; or outputs are bf16 and ml_dtypes is missing.
        Incomplete: memory was short.
        LibraryError: see `assay.LibraryError`.
    """
    loading.stop_reading()
    contract = library.describe(op)
    tensors, flags = _arguments(contract, arguments)
    with tempfile.TemporaryDirectory(prefix="assay-") as folder, _file(contract, tensors) as given:
        path = str(Path(folder) / "golden.safetensors")
        called = library.call(["golden", "--inputs", given.path, "-o", path, *flags, *(["--f64"] if f64 else [])], [given.fd])
        if called.code != 0:
            raise Incomplete(called.err.strip().splitlines()[-1].removeprefix("validate: "))
        arrays = read_file(path)
    outputs = tuple(arrays[t.name] for t in contract.outputs if t.name in arrays)
    return outputs if len(outputs) > 1 else outputs[0]


def _file(contract: library.Op, tensors: Mapping[str, tuple[str, np.ndarray]]) -> MemoryFile:
    return MemoryFile(tensors, {"op": contract.name})


def _unknown(what: str, name: str, known: Iterable[str]) -> InputError:
    near = difflib.get_close_matches(name, list(known), 1)
    return InputError(f"{what} '{name}'{f'; did you mean {near[0]!r}?' if near else ''}")


def _arguments(contract: library.Op, arguments: Mapping[str, Any]) -> tuple[dict[str, tuple[str, np.ndarray]], list[str]]:
    """The tensors, and the flags that tell the attributes."""
    tensors = {}
    flags = ["--op", contract.name]
    known = [t.name for t in contract.inputs] + [a.name for a in contract.attributes]
    for name, value in arguments.items():
        tensor, attribute = contract.tensor(name), contract.attribute(name)
        if name not in known:
            raise _unknown(f"{contract.name} has no argument", name, known)
        if tensor and value is None:
            continue
        if tensor and not (attribute and isinstance(value, (bool, str))):
            tensors[name] = bits_of(f"'{name}'", value)
            if attribute:  # Note: its second choice says that the tensor is there
                flags += ["--attribute", f"{name}={attribute.choices[1]}"]
        elif attribute:
            if isinstance(value, (bool, np.bool_)) and attribute.choices == ("no", "yes"):
                value = "yes" if value else "no"
            if not isinstance(value, (str, int, float, np.integer, np.floating)) or isinstance(value, (bool, np.bool_)):
                raise InputError(
                    f"'{name}' is of type {type(value).__name__}, and "
                    f"{'one of ' + ', '.join(attribute.choices) if attribute.choices else 'a number'} was expected"
                )
            flags += ["--attribute", f"{name}={value}"]
    return tensors, flags


def _outputs(contract: library.Op, out: Any) -> dict[str, tuple[str, np.ndarray]]:
    names = [t.name for t in contract.outputs]
    if isinstance(out, Mapping):
        for name in out:
            if name not in names:
                raise _unknown(f"{contract.name} has no output", name, names)
        given = dict(out)
    else:
        values = out if isinstance(out, (tuple, list)) else (out,)
        if len(values) > len(names):
            raise InputError(f"{len(values)} outputs were given, and {contract.name} has {', '.join(names)}")
        given = dict(zip(names, values))
    return {name: bits_of(f"'{name}'", value) for name, value in given.items() if value is not None}
