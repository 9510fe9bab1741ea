# SPDX-License-Identifier: Apache-2.0
"""Solutions of FlashInfer-Bench, in JSON (docs/own-op.md), as kernels of the ops of their definitions (definitions.py).

The sources of a solution are written into a folder, beside a module that has the kernel, so that a worker process can import it.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import json
import os
import re
import sys
from pathlib import Path, PurePosixPath
from typing import Any, Callable, Mapping, Sequence

from . import formula as f
from .definitions import Definition, at, json_of
from .errors import InputError

_MODULE = '''"""A solution of FlashInfer-Bench as a kernel."""

from assay import solutions

_ENTRY = solutions.Entry(__file__, {parts})


def {name}({parameters}):
    return _ENTRY({{{given}}})
'''


def made(path: str | os.PathLike[str], op: f.Op) -> Callable[..., Any]:
    """What f.solution makes."""
    if op.definition is None:
        raise InputError(f"{op!r} is made of no definition, and a solution is one of a definition's")
    definition = op.definition
    file = Path(path).name
    root = json_of(path)
    of = at(file, root, "", "definition", str)
    if of != definition.title:
        raise InputError(f"{file}: /definition: it solves '{of}', and {definition.file} has '{definition.title}'")
    spec = at(file, root, "", "spec", dict)
    language = at(file, spec, "/spec", "language", str)
    if language != "python":
        raise InputError(f"{file}: /spec/language: a solution in {language} is not taken, only one in python")
    entry, _, function = at(file, spec, "/spec", "entry_point", str).partition("::")
    sources = _sources(file, root)
    if entry not in sources or not entry.endswith(".py") or not function.isidentifier():
        raise InputError(f"{file}: /spec/entry_point: FILE.py::FUNCTION of one of {', '.join(sources)} was expected")
    parts = {
        "entry": entry,
        "function": function,
        "is_destination": bool(spec.get("destination_passing_style", True)),
        **_call_of(definition, op),
    }
    name = re.sub(r"\W", "_", at(file, root, "", "name", str), flags=re.ASCII)
    name = name if name.isidentifier() else f"solution_{name}"
    return _kernel(name, sources, parts)


def _sources(file: str, root: Mapping[str, Any]) -> dict[str, str]:
    sources = {}
    for number, node in enumerate(at(file, root, "", "sources", list)):
        place = f"/sources/{number}"
        if not isinstance(node, dict):
            raise InputError(f"{file}: {place}: an object was expected")
        path = at(file, node, place, "path", str)
        if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
            raise InputError(f"{file}: {place}/path: '{path}' leads out of the solution's folder")
        sources[path] = at(file, node, place, "content", str)
    return sources


def _call_of(definition: Definition, op: f.Op) -> dict[str, Any]:
    """How the entry is called: its arguments in the definition's order, by names of the op or as constants; and the outputs."""
    described = json.loads(op.text)
    tensors = {**described["inputs"], **described.get("weights", {})}
    known = {*tensors, *described.get("attributes", {})}
    arguments = [{"name": a.own} if a.own in known else {"constant": op.constants.get(a.name)} for a in definition.inputs]
    outputs = [given if isinstance(given, dict) else {"axes": given} for given in described["outputs"].values()]
    return {"arguments": arguments, "tensors": tensors, "outputs": outputs}


def _kernel(name: str, sources: Mapping[str, str], parts: Mapping[str, Any]) -> Callable[..., Any]:
    """The function `name` of a module of its own, beside the sources."""
    names = [a["name"] for a in parts["arguments"] if "name" in a]
    text = _MODULE.format(
        parts=repr(json.dumps(parts)),
        name=name,
        parameters=", ".join(names),
        given=", ".join(f"{n!r}: {n}" for n in names),
    )
    key = hashlib.sha256(json.dumps([text, dict(sources)]).encode()).hexdigest()[:12]
    folder = f.folder() / f"solution-{key}"
    package = folder / f"solution_{key}"
    for path, content in sources.items():
        target = package / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content, encoding="utf-8")
    module_file = folder / f"kernel_{key}.py"
    module_file.write_text(text, encoding="utf-8")
    made_spec = importlib.util.spec_from_file_location(module_file.stem, module_file)
    assert made_spec and made_spec.loader
    module = importlib.util.module_from_spec(made_spec)
    sys.modules[module_file.stem] = module
    made_spec.loader.exec_module(module)
    return getattr(module, name)


def _takes(function: Callable[..., Any], count: int) -> bool:
    """Whether a function takes so many arguments by their places; one whose arguments are unknown does."""
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:
        pass
    return True


class Entry:
    """The entry of a solution, which is imported when it is called first."""

    def __init__(self, file: str, parts: str) -> None:
        """`file`: of the module beside the sources.  `parts`: how it is called, as JSON."""
        self._folder = Path(file).resolve().parent
        self._parts = json.loads(parts)
        self._function: Callable[..., Any] | None = None

    def __call__(self, given: Mapping[str, Any]) -> Any:
        """The outputs for arguments by the op's names: tensors of torch, and numbers."""
        arguments = [given[a["name"]] if "name" in a else a["constant"] for a in self._parts["arguments"]]
        if not self._parts["is_destination"]:
            result = self._loaded()(*arguments)
            return tuple(result) if isinstance(result, (tuple, list)) else result
        outputs = self._empty(given)
        self._loaded()(*arguments, *outputs)
        return tuple(outputs)

    def _require_arguments(self, function: Callable[..., Any]) -> None:
        """Refuses an entry that takes another number of arguments, and says where the spec decides it."""
        inputs, outputs = len(self._parts["arguments"]), len(self._parts["outputs"])
        is_destination = self._parts["is_destination"]
        if _takes(function, inputs + outputs if is_destination else inputs):
            return
        what = f"the entry '{self._parts['function']}' of the solution takes {inspect.signature(function)}"
        if is_destination:
            gets = f"it gets {inputs} inputs and {outputs} to write, as its spec has 'destination_passing_style' or lacks the key"
            advice = ": with 'destination_passing_style': false it returns its outputs" if _takes(function, inputs) else ""
        else:
            gets = f"it gets {inputs} inputs alone, as its spec has 'destination_passing_style': false"
            advice = ": with true it gets the outputs too, and writes them" if _takes(function, inputs + outputs) else ""
        raise InputError(f"{what}, and {gets}{advice}")

    def _loaded(self) -> Callable[..., Any]:
        if self._function is None:
            sys.path.insert(0, str(self._folder))
            package = self._folder.name.replace("-", "_")
            module = importlib.import_module(".".join((package, *PurePosixPath(self._parts["entry"]).with_suffix("").parts)))
            function = getattr(module, self._parts["function"], None)
            if function is None:
                raise InputError(f"{self._parts['entry']} of the solution has no '{self._parts['function']}'")
            self._require_arguments(function)
            self._function = function
        return self._function

    def _empty(self, given: Mapping[str, Any]) -> Sequence[Any]:
        """Outputs of the shapes and dtypes that the op has, filled with NaN, so that what is not written is found."""
        import torch

        extents: dict[str, int] = {"1": 1}
        free = torch.float32
        for name, described in self._parts["tensors"].items():
            extents.update(zip(described["axes"].split(), given[name].shape))
            free = given[name].dtype if "dtype" not in described else free
        device = given[next(iter(self._parts["tensors"]))].device
        outputs = []
        for described in self._parts["outputs"]:
            shape = []
            for axis in described["axes"].split():
                stem, _, divisor = axis.partition("/")
                shape.append(-(-extents[stem] // int(divisor or 1)))
            dtype = {"f32": torch.float32}.get(described.get("dtype"), free)
            outputs.append(torch.full(shape, float("nan"), dtype=dtype, device=device))
        return outputs
