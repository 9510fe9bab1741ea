# SPDX-License-Identifier: Apache-2.0
"""validate: a callable is judged over a suite of cases."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tempfile
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

from . import library, loading
from . import shards as parts
from .errors import Incomplete, InputError, Mismatch
from .formula import Bounds, Op, Tensors, dtypes_of, from_definition, from_torch
from .in_caller import served_here
from .runs import Run, judged, write_records
from .serving import Kernel, Worker, known_dtypes, name_of, require_callable
from .simulated import Simulated, place_device


def validate(
    op: str | Op | Callable[..., Any] | None = None,
    fn: Callable[..., Any] | None = None,
    *,
    reference: Callable[..., Any] | Op | str | os.PathLike[str] | None = None,
    inputs: Tensors | None = None,
    weights: Tensors | None = None,
    outputs: Tensors | Sequence[str] | None = None,
    attributes: Mapping[str, float] | None = None,
    axes: Bounds | None = None,
    suite: str = "smoke",
    dtypes: Sequence[str] | None = None,
    numerics: str | None = None,
    isolation: str = "process",
    device: str | None = None,
    simulate: str | None = None,
    config: str | int = 0,
    watch: bool = True,
    deterministic: bool = True,
    finite_inputs: bool = False,
    position_matters: bool | None = None,
    flags: Sequence[str] = (),
    records: str | os.PathLike[str] | None = None,
    executor: Executor | Callable[[], Executor] | None = None,
    shards: int = 8,
) -> Run:
    """Judges a callable as a kernel of an op, over a suite of cases.

    Example:
        assay.validate("softmax", softmax, suite="edges", dtypes=["f32"])
        assay.validate(kernel, reference=torch_function, inputs={"x": "rows cols"})

    `fn` gets the tensors and attributes of a case by name: all if it has **kwargs, else those that it names.  A case that has a
    tensor, or an attribute beside its default, that fn does not name is unsupported.  Tensors have the shapes of
    `assay.describe(op)`, any strides, and must not be written; updated outputs must be.  fn returns an output, or a tuple of
    outputs in the order of the contract, in new memory.  It raises assay.Unsupported to decline a case.

    Args:
        op: the name of an op, or an op of your own (assay.formula).
        fn: a function that another process can import: of a module or of a script, which is read up to its first call of this
            package.  With isolation="none" any callable.
        reference, inputs, weights, outputs, attributes, axes: a function or a module of PyTorch takes the place of the op, as
            `assay.formula.from_torch` reads it; fn is then the first argument.  A path is that of a definition of
            FlashInfer-Bench, as `assay.formula.from_definition` reads it, which has the tensors.  An op that is made already is
            taken as it is.
        suite: smoke, edges, models, random, full, sanitize, fixed or errors.
        dtypes: of f16, bf16, f32, a single one as a text too; None: all for which arrays can be made (bf16 needs ml_dtypes or a
            device).
        numerics: how fn computes, in the words of `validate describe numerics`; None: sums in f32, in any order, and as the
            `numerics` of an op of your own say.
        isolation: "process": fn runs in processes of its own, in a sandbox, so that a crash or a hang costs one case.  "none":
            in a thread of this process; the records tell it.
        device: hand fn tensors of torch on this device, like "cuda" or "cpu"; None: arrays of NumPy.
        simulate: a GPU like "sm_80": what fn launches in Triton runs on the simulated machine (docs/triton.md).  Tensors are then
            those of torch on the host where it is installed, else, or with device="numpy", assay.triton.Array.
        config, watch: with simulate, as `assay.triton.simulate` takes them.  With config="all" fn is judged with each
            configuration of the autotuned kernels in its module, in turn, until one fails; names of kernels then have its number.
        deterministic: two runs give the same bits.  finite_inputs: fn takes no NaN and no infinity.
        position_matters: an element's bits depend on its place in the tensor.  None: they do with device="cpu", where PyTorch
            computes the last elements of a row in another way than the others, and else do not.
        flags: more flags of `validate run`, like ["--seed", "7", "--timeout", "10"]; times are in seconds.
        records: a path to write the record file to.
        executor: spreads the run over the workers of a concurrent.futures.Executor, or of a new one that a function without
            arguments makes, and makes again if it breaks.  The shard of a lost worker is run again.
        shards: into how many parts it is spread.

    Returns:
        A Run in which every case that was judged passed.

    Raises:
        Mismatch: a case failed, crashed, hung or proves nothing.
        InputError: a name or value is wrong; or fn returned the wrong thing wherever it was called.
        Incomplete: nothing was judged, or less than was asked for.
        LibraryError: see `assay.LibraryError`.
    """
    arguments_given = dict(locals())
    loading.stop_reading()
    of_reference = {"inputs": inputs, "weights": weights, "outputs": outputs, "attributes": attributes, "axes": axes}
    dtypes = dtypes_of(dtypes)
    op, fn = _op_and_kernel(op, fn, reference, of_reference, dtypes)
    if isinstance(op, Op):
        numerics = numerics or op.numerics
        dtypes = dtypes or op.dtypes
        unread = [dtype for dtype in dtypes or () if op.dtypes and dtype not in op.dtypes]
        if unread:
            read = ", ".join(op.dtypes or ())
            raise InputError(
                f"the reference of '{op.name}' was read in {read} alone: name {unread[0]} in dtypes= where the op is made"
            )
        if (op.names or op.constants) and callable(fn):
            fn = loading.Renamed(fn, op.names, op.constants)
    contract = library.describe(op)
    op = contract.name
    require_callable(contract, fn)
    if isolation not in ("process", "none"):
        raise InputError(f"isolation is '{isolation}', and 'process' or 'none' was expected")
    if simulate is not None and config == "all":
        others = ("op", "fn", "config", "records", "reference", *of_reference)
        options = {name: value for name, value in arguments_given.items() if name not in others}
        options.update(numerics=numerics, dtypes=dtypes)
        return _each_configuration(op, fn, options, records)
    simulated = Simulated.parsed(simulate, config) if simulate is not None else None
    if position_matters is None:
        position_matters = not simulated and device == "cpu"
    if simulated:
        device = place_device(device)
    if not set(dtypes or ()) <= set(known_dtypes(device)):
        raise InputError("bf16 arrays need the package ml_dtypes, or a device")
    declared = {"deterministic": deterministic, "finite_inputs": finite_inputs, "position_matters": position_matters}
    kernel = Kernel(
        fn,
        op,
        simulated.named(name_of(fn)) if simulated else name_of(fn),
        tuple(dtypes or known_dtypes(device)),
        numerics,
        declared,
        "in the caller's process, without isolation" if isolation == "none" else "",
    )
    arguments = ["run", "--op", op, "--suite", suite, "--dtype", ",".join(kernel.dtypes), *flags]
    if simulated:  # Note: the first case of each specialisation waits for Triton's compiler
        arguments += ["--watch"] * watch + ([] if "--timeout" in flags else ["--timeout", "300"])
    if executor is not None:
        if isolation == "none":
            raise InputError("an executor's workers cannot share this process, so that isolation='process' is needed")
        arguments += ["--worker", _worker_command(kernel, device, simulated, anywhere=True)]
        return judged(*parts.run(arguments, executor, shards), arguments, records)
    if isolation == "none":
        with served_here(Worker(kernel, device, simulated)) as command:
            arguments += ["--jobs", "1", "--worker", command]
            return judged(*_called(arguments), arguments, records)
    arguments += ["--jobs", "1"] if device and not simulated and "--jobs" not in flags else []
    arguments += ["--worker", _worker_command(kernel, device, simulated)]
    return judged(*_called(arguments), arguments, records)


def _op_and_kernel(
    first: Any, second: Any, reference: Any, of_reference: Mapping[str, Any], dtypes: Sequence[str] | None
) -> tuple[str | Op, Callable[..., Any]]:
    """The op and the kernel that the arguments of `validate` give: both, or a kernel and its reference."""
    given = [name for name, value in of_reference.items() if value is not None]
    if reference is None:
        if given:
            raise InputError(f"{given[0]} is that of a reference, and none is given")
        if second is None or not isinstance(first, (str, Op)):
            raise InputError("an op and a kernel were expected, or a kernel and its reference")
        return first, second
    if second is not None:
        raise InputError("with a reference, the kernel is the first argument and the only one without a name")
    if first is None:
        raise InputError("the kernel is missing, which is the first argument")
    if isinstance(reference, Op):
        if given:
            raise InputError(f"the op '{reference.name}' has its {given[0]}, and others were given")
        return reference, first
    if isinstance(reference, (str, os.PathLike)):
        if given and given != ["attributes"]:
            other = next(name for name in given if name != "attributes")
            raise InputError(f"the definition '{os.fspath(reference)}' has its {other}, and others were given")
        return from_definition(reference, attributes=of_reference["attributes"], dtypes=dtypes), first
    return from_torch(reference, dtypes=dtypes, **of_reference), first


def _each_configuration(
    op: str, fn: Callable[..., Any], options: Mapping[str, Any], records: str | os.PathLike[str] | None
) -> Run:
    """The runs with each configuration of the autotuned kernels in the module of fn, as one."""
    module = vars(sys.modules[fn.__module__])
    count = max(
        (len(member.configs) for member in module.values() if isinstance(getattr(member, "configs", None), list)), default=0
    )
    if not count:
        raise InputError(f"config is 'all', and '{fn.__module__}' has no autotuned kernel")
    runs: list[Run] = []
    try:
        for number in range(count):
            runs.append(validate(op, fn, config=number, **options))
    except (Mismatch, Incomplete) as e:
        runs += [e.result] if isinstance(e.result, Run) else []
        raise
    finally:
        lines = [line for run in runs for line in run.records]
        if records is not None:
            write_records(records, lines)
    return Run(lines, "\n\n".join(run.text for run in runs), runs[-1].command)


def _worker_command(kernel: Kernel, device: str | None, simulated: Simulated | None, anywhere: bool = False) -> str:
    """The shell's words that start a worker with the kernel."""
    renamed = kernel.fn if isinstance(kernel.fn, loading.Renamed) else None
    target, folders = loading.target_of(renamed.fn if renamed else kernel.fn)
    on_path = shutil.which("python")
    ours = anywhere or bool(on_path and os.path.samefile(on_path, sys.executable))
    words = ["python" if ours else sys.executable, "-m", "assay.worker", target, "--op", kernel.op]
    for folder in folders:
        words += ["--path", folder]
    if renamed:
        words += ["--arguments", json.dumps({"names": renamed.names, "constants": renamed.constants})]
    if kernel.dtypes != known_dtypes(device):
        words += ["--dtypes", ",".join(kernel.dtypes)]
    if kernel.numerics:
        words += ["--numerics", kernel.numerics]
    if device:
        words += ["--device", device]
    if simulated:
        words += ["--simulate", simulated.arch, *(["--config", str(simulated.config)] if simulated.config else [])]
    for flag, standard in (("deterministic", True), ("finite_inputs", False), ("position_matters", False)):
        if kernel.flags[flag] != standard:
            words.append("--nondeterministic" if flag == "deterministic" else "--" + flag.replace("_", "-"))
    return shlex.join(words)


def _called(arguments: Sequence[str]) -> tuple[library.Called, list[Mapping[str, Any]]]:
    """Calls the program with these words.  Returns what the call left, and its records."""
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        path = Path(folder) / "records.jsonl"
        called = library.call([*arguments, "--json", str(path)])
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return called, [json.loads(line) for line in lines]
