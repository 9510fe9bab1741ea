# SPDX-License-Identifier: Apache-2.0
"""Launches kernels on tensors of PyTorch.  Calls are kept, so that arguments like those of a call before are not checked again."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple

import torch

from . import library
from .errors import InputError
from .kernels import CUDA, Call, Given, kernels
from .torch_checks import checked
from .torch_interface import DTYPES, NAMES, Interface

ALIGNMENT = 256  # bytes; two addresses that differ by a multiple of this take the same kernel
_MOST_CALLS = 4096  # that are kept


class Made(NamedTuple):
    """A call of a kernel for arguments of one kind.

    Attributes:
        call: the call.
        inputs: the names of the tensors that it is given.
        outputs: each new output's name, shape and dtype.
        places: the outputs' addresses modulo ALIGNMENT, in bytes.
    """

    call: Call
    inputs: list[str]
    outputs: list[tuple[str, list[Any], torch.dtype]]
    places: list[int]


def stream_of(index: int) -> int | None:
    """The current stream of a GPU, of the host (-1) 0; None: the GPU is not the current one."""
    if index < 0:
        return 0
    return torch._C._cuda_getCurrentRawStream(index) if torch._C._cuda_getDevice() == index else None


def _kind_of(x: torch.Tensor) -> tuple[Any, ...]:
    return x.shape, x.stride(), x.dtype, x.device, x.data_ptr() % ALIGNMENT


class Operator(Interface):
    """An op as PyTorch calls it."""

    def __init__(self, op: library.Op) -> None:
        super().__init__(op)
        self._calls: dict[Any, Made] = {}  # by what decides how a call is made

    def fake(self, *args: Any, **kwargs: Any) -> Any:
        """The outputs without their values: the fake implementation."""
        arguments = self.bound(args, kwargs)
        case = checked(self, arguments)
        like = next(x for x in arguments.values() if isinstance(x, torch.Tensor))
        return self.result([like.new_empty(shape, dtype=DTYPES[t.dtype or case.dtype]) for t, shape in case.outputs])

    def refuse(self, *args: Any, **kwargs: Any) -> Any:
        """What the op does on the host.

        Raises:
            InputError: always.
        """
        arguments = self.bound(args, kwargs)
        checked(self, arguments)
        name, x = next((n, x) for n, x in arguments.items() if isinstance(x, torch.Tensor))
        raise InputError(f"'{name}' is on the device {x.device}, and cuda was expected")

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """What the op does on a GPU: the outputs of a launch on its current stream."""
        arguments = self.bound(args, kwargs)
        index = next(x for x in arguments.values() if isinstance(x, torch.Tensor)).get_device()
        stream = stream_of(index)
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
        return self.result(outputs)

    def made(self, arguments: Mapping[str, Any], device: tuple[int, int]) -> tuple[Made, list[torch.Tensor]]:
        """The call of the kernel that is preferred for these arguments, and new outputs."""
        values = [arguments[name] for name in self.names]
        like = next(x for x in values if isinstance(x, torch.Tensor))
        key = (device, *[_kind_of(x) if isinstance(x, torch.Tensor) else x for x in values])
        made = self._calls.get(key)
        outputs = [like.new_empty(shape, dtype=dtype) for _, shape, dtype in made.outputs] if made else []
        if made is None or made.places != [y.data_ptr() % ALIGNMENT for y in outputs]:
            made, outputs = self._make(arguments, device, like)
            if len(self._calls) >= _MOST_CALLS:
                self._calls.clear()
            self._calls[key] = made
        return made, outputs

    def _make(self, arguments: Mapping[str, Any], device: tuple[int, int], like: torch.Tensor) -> tuple[Made, list[torch.Tensor]]:
        case = checked(self, arguments)
        tensors = {t.name: arguments[t.name] for t in self.op.inputs if arguments[t.name] is not None}
        inputs = list(tensors)
        outputs = [like.new_empty(shape, dtype=DTYPES[t.dtype or case.dtype]) for t, shape in case.outputs]
        tensors.update((t.name, y) for (t, _), y in zip(case.outputs, outputs))
        given = {name: Given(NAMES[x.dtype], tuple(x.shape), x.stride(), x.data_ptr()) for name, x in tensors.items()}
        call = kernels().choose(self.op, case.dtype, given, case.attributes, device)
        made = [(t.name, shape, y.dtype) for (t, shape), y in zip(case.outputs, outputs)]
        return Made(call, inputs, made, [y.data_ptr() % ALIGNMENT for y in outputs]), outputs
