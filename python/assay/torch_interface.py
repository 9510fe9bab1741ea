# SPDX-License-Identifier: Apache-2.0
"""An op as an operator of PyTorch: the names, the defaults and the order of its arguments, its schema, signature and docstring."""

from __future__ import annotations

import inspect
import json
from typing import Any, Iterable, Mapping

import torch

from . import library
from .tensors import THEIR_NAMES

DTYPES = {name: getattr(torch, theirs) for name, theirs in THEIR_NAMES.items() if hasattr(torch, theirs)}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
_NOT_OFFERED = ("in_place",)  # an output of a custom op may not be the memory of an input


class Interface:
    """The arguments and outputs of an op.

    Attributes:
        op: its contract.
        implied: the attributes that are no arguments, since they only say whether tensors are given.
        attributes: those that are.
        names: of all arguments in their order: tensors that every case has, other tensors, attributes.
        defaults: of the arguments that may be left out.
        updated: the names of the tensors that the op changes.
        returned: the outputs that are made anew.
        returns_list: whether these are returned as a list, since some cases lack some.
        schema: what torch.library takes.
    """

    def __init__(self, op: library.Op) -> None:
        self.op = op
        self.implied = {t.only_with for t in op.tensors if t.only_with and "=" not in t.only_with}
        self.attributes = [a for a in op.attributes if a.name not in self.implied and a.name not in _NOT_OFFERED]
        inputs = sorted(op.inputs, key=lambda t: t.only_with is not None)
        self.names = [t.name for t in inputs] + [a.name for a in self.attributes]
        self.defaults: dict[str, Any] = {t.name: None for t in inputs if t.only_with}
        self.defaults.update((a.name, a.default if a.choices else float(a.default)) for a in self.attributes)
        self.updated = [t.name for t in inputs if t.role == "updated"]
        self.returned = [t for t in op.outputs if t.role == "output"]
        self.returns_list = any(t.only_with for t in self.returned)
        self.schema = self._schema(inputs)

    def _schema(self, inputs: Iterable[library.Tensor]) -> str:
        arguments = []
        for i, tensor in enumerate(inputs):
            kind = f"Tensor(a{i}!)" if tensor.role == "updated" else "Tensor"
            arguments.append(f"{kind}? {tensor.name}=None" if tensor.only_with else f"{kind} {tensor.name}")
        for attribute in self.attributes:
            default = self.defaults[attribute.name]
            kind = "bool" if isinstance(default, bool) else "str" if attribute.choices else "float"
            arguments.append(f"{kind} {attribute.name}={json.dumps(default) if kind == 'str' else default}")
        results = ["Tensor[]"] if self.returns_list else ["Tensor"] * len(self.returned)
        return f"({', '.join(arguments)}) -> {results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}"

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """All arguments by name.  PyTorch leaves out those that have their defaults."""
        return {**self.defaults, **dict(zip(self.names, args)), **kwargs}

    def result(self, outputs: list[torch.Tensor]) -> Any:
        """What a call returns: the outputs as a list, as a tuple, alone, or None where there is none."""
        if self.returns_list:
            return outputs
        return None if not outputs else outputs[0] if len(outputs) == 1 else tuple(outputs)

    def signature(self) -> inspect.Signature:
        """What inspect.signature() says of the operator."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        empty = inspect.Parameter.empty
        return inspect.Signature([inspect.Parameter(n, kind, default=self.defaults.get(n, empty)) for n in self.names])

    def doc(self) -> str:
        """What help() shows of the operator: dtypes and shapes of its tensors, its attributes, and what it raises."""

        def lines(tensors: Iterable[library.Tensor]) -> list[str]:
            described = []
            for t in tensors:
                only = f", only with {t.only_with}" if t.only_with else ""
                changed = ", which is changed" if t.role == "updated" else ""
                described.append(f"    {t.name}: {t.dtype or 'dtype of the case'} [{', '.join(map(str, t.axes))}]{only}{changed}")
            return described

        attributes = []
        for a in self.attributes:
            values = "one of " + ", ".join(str(a.value(choice)) for choice in a.choices) if a.choices else "a number"
            attributes.append(f"    {a.name}: {values}; {self.defaults[a.name]} if it is left out")
        return "\n".join(
            [
                self.op.about,
                "Args:",
                *lines(self.op.inputs),
                *attributes,
                "Returns:",
                *(lines(self.returned) or ["    nothing"]),
                "Raises:",
                "    InputError: an argument is not as above, is not on a CUDA device, or its last axis has gaps.",
                "    LibraryError: there is no shared object of kernels.",
                "",
            ]
        )
