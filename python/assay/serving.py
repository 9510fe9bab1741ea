# SPDX-License-Identifier: Apache-2.0
"""What a worker does with the messages of a judge (docs/worker-protocol.md), where its kernel is a Python callable."""

from __future__ import annotations

import inspect
import json
import math
import mmap
import os
import re
import socket
import sys
import traceback
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import library, loading
from .errors import Finding, InputError, Unsupported
from .formula import DTYPES
from .machine import Refused
from .places import NumpyPlace, Place, place_on
from .simulated import Simulated, SimulatedPlace
from .tensors import ml_dtypes

PROTOCOL = 2
NOT_RUN = "the simulated machine does not run it: "  # begins the reason of a case that was left out for an instruction
BLAME = "InputError: "  # begins the reason of a case whose callable was given or returned the wrong thing
_OF_NUMPY = "kernels get arrays of NumPy unless device= is given, like device='cpu' for tensors of torch on the host"
_MOST_IMAGE = 1 << 30  # bytes of an image that consists of gaps for the most part
_MEMORY = ("OutOfMemoryError", "MemoryError", "_ArrayMemoryError")


@dataclass(frozen=True)
class Kernel:
    """A callable and what is declared of it.

    Attributes:
        fn: gets the tensors and attributes of a case by name; returns an output or a tuple (docs/python.md).
        op: the name of its op.
        name: 1 to 64 letters, digits and _.
        dtypes: those that it takes, of f16, bf16 and f32.
        numerics: in the words of `validate describe numerics`; None: sums in f32, in any order.
        flags: of deterministic, finite_inputs and position_matters, those that are not at their default.
        where: what runs it, in words; it follows the device in records.
    """

    fn: Callable[..., Any]
    op: str
    name: str
    dtypes: tuple[str, ...] = DTYPES
    numerics: str | None = None
    flags: Mapping[str, bool] = field(default_factory=dict)
    where: str = ""


def name_of(fn: Callable[..., Any]) -> str:
    """The name of a callable as a kernel's: 1 to 64 letters, digits and _."""
    return re.sub(r"\W", "_", getattr(fn, "__name__", type(fn).__name__), flags=re.ASCII)[:64] or "_"


def parameters_of(fn: Callable[..., Any]) -> Mapping[str, inspect.Parameter] | None:
    """The parameters that take a name; None: any name, or unknown."""
    try:
        parameters = inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return None
    if any(parameter.kind == parameter.VAR_KEYWORD for parameter in parameters.values()):
        return None
    return {
        name: parameter
        for name, parameter in parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }


def require_callable(contract: library.Op, fn: Any) -> None:
    """Raises InputError if no case of the op could be given to fn."""
    if not callable(fn):
        raise InputError(f"{fn!r} is of type {type(fn).__name__}, and a callable was expected")
    what = f"{name_of(fn)}()"
    known = {tensor.name for tensor in contract.inputs} | {a.name for a in contract.attributes}
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return
    for parameter in parameters:
        if parameter.default is not parameter.empty or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.kind == parameter.POSITIONAL_ONLY:
            raise InputError(f"{what} takes '{parameter.name}' by its position alone, and arguments are given by name")
        if parameter.name not in known:
            raise InputError(f"{what} needs '{parameter.name}', and {contract.name} has {', '.join(sorted(known))}")
    named = parameters_of(fn)
    for tensor in contract.inputs:
        if named is not None and not tensor.only_with and tensor.name not in named:
            raise InputError(f"{what} takes no '{tensor.name}', which every case of {contract.name} has")


def known_dtypes(device: str | None) -> tuple[str, ...]:
    """The dtypes whose arrays can be made here: bf16 needs torch or ml_dtypes."""
    return DTYPES if device or ml_dtypes else ("f16", "f32")


def failed(message: Mapping[str, Any], why: str) -> dict[str, Any]:
    """The answer to a message that says why nothing ran."""
    return {"id": message["id"], "status": 3, "message": why, "tainted": False, "seconds": 0.0, "ran": 0, "traffic": {}}


class Worker:
    """Answers the messages of a judge with one kernel."""

    def __init__(self, kernel: Kernel, device: str | None, simulated: Simulated | None = None) -> None:
        self._kernel = kernel
        self._contract = library.describe(kernel.op)
        self._place: Place = SimulatedPlace(simulated, device) if simulated else place_on(device)
        self._parameters = parameters_of(kernel.fn)
        self._what = f"{kernel.name}()"
        self._printed: set[str] = set()  # places of errors whose traceback was printed

    def serve(self, judge: socket.socket) -> None:
        """Answers until the judge closes the socket."""
        while True:
            text, fds, _, _ = socket.recv_fds(judge, 1 << 16, 2)
            if not text:
                return
            try:
                answer = self.reply(json.loads(text), fds)
            finally:
                for fd in fds:
                    os.close(fd)
            judge.send(json.dumps(answer).encode())

    def reply(self, message: Mapping[str, Any], fds: Sequence[int]) -> dict[str, Any]:
        """The answer to a message, whose descriptors are those of the inputs and the outputs."""
        answer = failed(message, "")
        kernel = self._kernel
        if message["protocol"] != PROTOCOL:
            return {**answer, "message": f"the message has protocol {message['protocol']}, this worker speaks {PROTOCOL}"}
        if "ask" in message:
            return {**answer, "status": 0, **self._listing(message["from"])}
        if (message["op"], message["kernel"]) != (kernel.op, kernel.name):
            return {**answer, "message": f"unknown kernel {message['op']}/{message['kernel']}"}
        if message["dtype"] not in kernel.dtypes:
            return {**answer, "status": 1, "message": f"declares no {message['dtype']}"}
        for tensor in message["tensors"]:
            if tensor["bytes"] > _MOST_IMAGE and tensor["bytes"] > 32 * math.prod(tensor["shape"]):
                return {**answer, "status": 1, "message": f"the rows of '{tensor['name']}' lie too far apart for this worker"}
        return {**answer, **self._run(message, fds)}

    def _listing(self, first: int) -> dict[str, Any]:
        kernel = self._kernel
        about = (inspect.getdoc(kernel.fn) or "").split("\n")[0][:200]
        listed = {
            "op": kernel.op,
            "kernel": kernel.name,
            "dtypes": list(kernel.dtypes),
            "about": about,
            "code": loading.code_hash(kernel.fn),
            **kernel.flags,
        }
        if kernel.numerics:
            listed["numerics"] = kernel.numerics
        device = self._place.device + (f", {kernel.where}" if kernel.where else "")
        return {
            "backend": self._place.backend,
            "device": device,
            "checks": list(self._place.checks),
            "total": 1,
            "kernels": [listed][first:],
        }

    def _run(self, order: Mapping[str, Any], fds: Sequence[int]) -> dict[str, Any]:
        """The fields of a reply to an order."""
        inputs = np.frombuffer(mmap.mmap(fds[0], 0, prot=mmap.PROT_READ), np.uint8)
        outputs = np.frombuffer(mmap.mmap(fds[1], 0), np.uint8)
        seconds = 0.0
        ran = 0
        size = order["output_bytes"]
        try:
            for run in order["runs"]:
                if run["replayed"]:
                    break
                area = outputs[ran * size : (ran + 1) * size]
                if "after" in run:
                    for _ in range(run["calls"]):
                        self._launch(order, run, run["after"], inputs, area)
                begin = perf_counter()
                changed = self._launch(order, run, run["inputs"], inputs, area)
                if changed:
                    return {"message": f"changed its input '{changed}', or wrote beside it"}
                seconds = seconds or perf_counter() - begin
                ran += 1
        except Unsupported as e:
            return {"status": 1, "message": str(e) or "raised assay.Unsupported"}
        except Refused as e:
            return {"status": 2, "message": f"{NOT_RUN}{e}"}
        except InputError as e:
            return {"message": f"{BLAME}{e}"}
        except Finding as e:
            return {"message": str(e)[:2000]}
        except BaseException as e:  # pylint: disable=broad-except  # whatever the callable raises is its own
            return self._raised(e)
        told = {"fidelity": self._place.fidelity()} if isinstance(self._place, SimulatedPlace) else {}
        return {"status": 0, "seconds": seconds, "ran": ran, **told}

    def _raised(self, e: BaseException) -> dict[str, Any]:
        kind = type(e).__name__
        if kind in _MEMORY:
            return {"status": 2, "message": f"{kind}: {e}"[:2000]}
        last = traceback.extract_tb(e.__traceback__)[-1]
        place = f"{os.path.basename(last.filename)}:{last.lineno}"
        message = f"{self._what} raised {kind}: {str(e)[:1500]}  ({place})"
        if kind in ("TypeError", "AttributeError") and isinstance(self._place, NumpyPlace):
            if "numpy.ndarray" in str(e) or "torch" in sys.modules:
                message += f"; {_OF_NUMPY}"
        if place not in self._printed:
            self._printed.add(place)
            traceback.print_exception(e)
            sys.stderr.flush()
        # Note: an error of CUDA makes every later call of the process fail.
        return {"message": message, "tainted": "CUDA" in str(e) or not isinstance(e, Exception)}

    def _launch(
        self, order: Mapping[str, Any], run: Mapping[str, Any], of_set: int, inputs: np.ndarray, area: np.ndarray
    ) -> str | None:
        """One launch on a set of inputs; its outputs go to the area.  Returns the name of an input that was changed."""
        entries = order["tensors"]
        first = of_set * order["input_bytes"]
        tensors: dict[str, Any] = {}
        returned: list[tuple[Mapping[str, Any], np.ndarray]] = []
        in_place = True  # all that is returned lies over an input
        covered = {entry["over"] for entry in entries if entry.get("over") is not None}
        self._place.begin()
        for number, entry in enumerate(entries):
            if not entry["shape"] or number in covered:
                continue  # the case lacks it, or it is handed over as the output that lies over it
            covered_input = entries[entry["over"]] if entry.get("over") is not None else None
            given = entry.get("input") if covered_input is None else covered_input["input"]
            image = None if given is None else inputs[first + given : first + given + entry["bytes"]]
            if entry["role"] != "output":
                tensors[entry["name"]] = self._place.argument(entry, image, False)
                continue
            output_image = area[entry["output"] : entry["output"] + entry["bytes"]]
            output_image[...] = run["garbage"] if image is None else image
            if image is not None:
                name = entry["name"] if covered_input is None else covered_input["name"]
                tensors[name] = self._place.argument({**entry, "name": name}, output_image, True)
            if covered_input is not None or image is None:
                returned.append((entry, output_image))
                in_place = in_place and covered_input is not None
        arguments = self._arguments(tensors, order["attributes"])
        self._place.poison([entry for entry, _ in returned], run["garbage"])
        with self._place.launching(run):
            result = self._kernel.fn(**arguments)
        changed = self._place.finish()
        if result is None and in_place:
            return changed
        values = result if isinstance(result, (tuple, list)) else (result,)
        if len(values) != len(returned) or result is None:
            raise InputError(
                f"{self._what} returned {'nothing' if result is None else f'{len(values)} outputs'}, and "
                f"{', '.join(repr(entry['name']) for entry, _ in returned)} was expected"
            )
        for value, (entry, output_image) in zip(values, returned):
            self._place.take(self._what, entry, value, output_image)
        return changed

    def _arguments(self, tensors: Mapping[str, Any], attributes: Mapping[str, Any]) -> dict[str, Any]:
        """What the callable gets.  Raises Unsupported if the case has something that it does not name."""
        arguments = dict(tensors)
        for attribute in self._contract.attributes:
            if self._contract.tensor(attribute.name) is None:  # else the tensor is there, or None, which says as much
                arguments[attribute.name] = (
                    attribute.value(attributes[attribute.name]) if attribute.name in attributes else attribute.default
                )
        if self._parameters is None:
            return arguments
        for name in arguments:
            if name not in self._parameters and (name in tensors or name in attributes):
                raise Unsupported(f"{self._what} takes no '{name}'")
        for name, parameter in self._parameters.items():
            if name not in arguments and parameter.default is parameter.empty:
                arguments[name] = None  # a tensor that the case lacks
        return {name: value for name, value in arguments.items() if name in self._parameters}
