# SPDX-License-Identifier: Apache-2.0
"""validate: a callable is judged over a suite of cases."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import socket
import sys
import tempfile
import threading
import warnings
from collections import Counter
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, Sequence

from . import library, loading
from . import shards as parts
from .errors import Incomplete, InputError, Mismatch
from .serving import BLAME, DTYPES, NOT_RUN, Kernel, Worker, known_dtypes, name_of, require_callable
from .simulated import Simulated, place_device

_HEADING = re.compile(r"[A-Z]+  [^\n]*\Z")  # of a failure that is told at length: a paragraph of one line
_BAD = ("failed", "crashed", "timeout", "suspect")


@dataclass(frozen=True)
class Failure:
    """A case that failed.

    Attributes:
        record: its record; `shrunk`: that of the smaller case which fails in the same way, None where there is none.
        again: a line that repeats it, the smaller one if there is one.
    """

    record: Mapping[str, Any]
    shrunk: Mapping[str, Any] | None
    again: str

    @property
    def reason(self) -> str:
        return str(self.record.get("reason", ""))

    @property
    def pattern(self) -> str:
        """The wrong elements in words."""
        return str(self.record.get("pattern", ""))

    @property
    def smallest(self) -> str:
        """The repro line of the smallest case that was found."""
        return str(self.shrunk["smallest"]["repro"] if self.shrunk else self.record["repro"])


@dataclass(frozen=True)
class Run:
    """The verdicts on a callable.

    Attributes:
        records: the lines of the record file, whose fields reports/schema.json explains.
        text: what `validate run` prints.
        command: the words after `validate` that were called.
    """

    records: Sequence[Mapping[str, Any]]
    text: str
    command: Sequence[str] = field(default=(), repr=False)

    @property
    def cases(self) -> list[Mapping[str, Any]]:
        """The record of each case."""
        return [r for r in self.records if r["record"] == "case"]

    @property
    def verdicts(self) -> Counter[str]:
        """How many cases have each verdict."""
        return Counter(c["verdict"] for c in self.cases)

    @property
    def passed(self) -> bool:
        incomplete = any(r.get("incomplete") for r in self.records if r["record"] == "end")
        return self.verdicts["passed"] > 0 and not self.failures and not incomplete

    @property
    def declined(self) -> str | None:
        """How few of the cases the callable takes, and why, if it takes less than half of them."""
        reasons = Counter(str(c.get("reason", "")) for c in self.cases if c["verdict"] == "unsupported")
        taken = len(self.cases) - sum(reasons.values())
        if not self.cases or 2 * taken >= len(self.cases):
            return None
        told = ", ".join(f"{count} '{reason}'" for reason, count in reasons.most_common(3))
        return f"takes {taken} of {len(self.cases)} cases ({100 * taken / len(self.cases):.0f} %); not: {told}"

    @property
    def margin(self) -> float:
        """The largest err/bound of all cases that have one; at most 1 is right."""
        return max((float(c["margin"]) for c in self.cases if "margin" in c), default=0.0)

    @property
    def failures(self) -> list[Failure]:
        smaller = {r["of"]: r for r in self.records if r["record"] == "shrunk" and "smallest" in r}
        return [
            Failure(c, smaller.get(c["repro"]), self._again(c, smaller.get(c["repro"])))
            for c in self.cases
            if c["verdict"] in _BAD
        ]

    def _again(self, case: Mapping[str, Any], shrunk: Mapping[str, Any] | None) -> str:
        repro = shrunk["smallest"]["repro"] if shrunk else case["repro"]
        judge = self.records[0].get("judges", {}).get(case["op"], "")[:8]
        return f"validate replay {case['loaded']} '{repro}{' judge=' + judge if judge else ''}'"

    def __str__(self) -> str:
        return self.text


def validate(
    op: str,
    fn: Callable[..., Any],
    *,
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
    position_matters: bool = False,
    flags: Sequence[str] = (),
    records: str | os.PathLike[str] | None = None,
    executor: Executor | Callable[[], Executor] | None = None,
    shards: int = 8,
) -> Run:
    """Judges a callable as a kernel of an op, over a suite of cases.

    Example:
        assay.validate("softmax", softmax, suite="edges", dtypes=["f32"])

    `fn` gets the tensors and attributes of a case by name: all if it has **kwargs, else those that it names.  A case that has a
    tensor, or an attribute beside its default, that fn does not name is unsupported.  Tensors have the shapes of
    `assay.describe(op)`, any strides, and must not be written; updated outputs must be.  fn returns an output, or a tuple of
    outputs in the order of the contract, in new memory.  It raises assay.Unsupported to decline a case.

    Args:
        op: the name of an op.
        fn: a function that another process can import: of a module or of a script, which is read up to its first call of this
            package.  With isolation="none" any callable.
        suite: smoke, edges, models, random, full, sanitize, fixed or errors.
        dtypes: of f16, bf16, f32; None: all for which arrays can be made (bf16 needs ml_dtypes or a device).
        numerics: how fn computes, in the words of `validate describe numerics`; None: sums in f32, in any order.
        isolation: "process": fn runs in processes of its own, in a sandbox, so that a crash or a hang costs one case.  "none":
            in a thread of this process; the records tell it.
        device: hand fn tensors of torch on this device, like "cuda" or "cpu"; None: arrays of NumPy.
        simulate: a GPU like "sm_80": what fn launches in Triton runs on the simulated machine (docs/triton.md).  Tensors are then
            those of torch on the host where it is installed, else, or with device="numpy", assay.triton.Array.
        config, watch: with simulate, as `assay.triton.simulate` takes them.  With config="all" fn is judged with each
            configuration of the autotuned kernels in its module, in turn, until one fails; names of kernels then have its number.
        deterministic: two runs give the same bits.  finite_inputs: fn takes no NaN and no infinity.  position_matters: an
            element's bits depend on its place in the tensor.
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
    contract = library.describe(op)
    require_callable(contract, fn)
    if isolation not in ("process", "none"):
        raise InputError(f"isolation is '{isolation}', and 'process' or 'none' was expected")
    if simulate is not None and config == "all":
        options = {name: value for name, value in arguments_given.items() if name not in ("op", "fn", "config", "records")}
        return _each_configuration(op, fn, options, records)
    simulated = Simulated.of(simulate, config) if simulate is not None else None
    if simulated:
        device = place_device(device)
    for dtype in dtypes or ():
        if dtype not in DTYPES:
            raise InputError(f"the dtype '{dtype}' is none of {', '.join(DTYPES)}")
        if dtype not in known_dtypes(device):
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
        return _judged(
            *_spread([*arguments, "--worker", _command(kernel, device, simulated, anywhere=True)], executor, shards), records
        )
    if isolation == "none":
        with _in_this_process(Worker(kernel, device, simulated)) as command:
            return _judged(*_called([*arguments, "--jobs", "1", "--worker", command]), records)
    jobs = ["--jobs", "1"] if device and not simulated and "--jobs" not in flags else []
    return _judged(*_called([*arguments, *jobs, "--worker", _command(kernel, device, simulated)]), records)


def _each_configuration(
    op: str, fn: Callable[..., Any], options: Mapping[str, Any], records: str | os.PathLike[str] | None
) -> Run:
    """The runs with each configuration of the autotuned kernels in the module of fn, as one."""
    module = vars(sys.modules[fn.__module__])
    count = max((len(k.configs) for k in module.values() if isinstance(getattr(k, "configs", None), list)), default=0)
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
            _write(records, lines)
    return Run(lines, "\n\n".join(run.text for run in runs), runs[-1].command)


def _write(path: str | os.PathLike[str], lines: Sequence[Mapping[str, Any]]) -> None:
    Path(path).write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


def _command(kernel: Kernel, device: str | None, simulated: Simulated | None, anywhere: bool = False) -> str:
    """The shell's words that start a worker with the kernel."""
    target, folders = loading.target_of(kernel.fn)
    on_path = shutil.which("python")
    ours = anywhere or bool(on_path and os.path.samefile(on_path, sys.executable))
    words = ["python" if ours else sys.executable, "-m", "assay.worker", target, "--op", kernel.op]
    for folder in folders:
        words += ["--path", folder]
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


def _called(arguments: Sequence[str]) -> tuple[int, list[Mapping[str, Any]], str, str, Sequence[str]]:
    """Calls the program.  Returns its exit code, its records, its output and errors, and the words that were called."""
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        path = Path(folder) / "records.jsonl"
        called = library.call([*arguments, "--json", str(path)])
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    return called.code, lines, called.out, called.err, arguments


def _spread(
    arguments: Sequence[str], executor: Executor | Callable[[], Executor], count: int
) -> tuple[int, list[Mapping[str, Any]], str, str, Sequence[str]]:
    called, lines = parts.run(arguments, executor, count)
    return called.code, lines, called.out, called.err, arguments


def _judged(
    code: int,
    lines: list[Mapping[str, Any]],
    out: str,
    err: str,
    arguments: Sequence[str],
    records: str | os.PathLike[str] | None,
) -> Run:
    """The run, or the exception that it ends in."""
    run = Run(lines, out.rstrip(), tuple(arguments))
    if records is not None:
        _write(records, lines)
    if code == 130:
        raise KeyboardInterrupt
    if code == 1:
        blamed = [c["reason"] for c in run.cases if str(c.get("reason", "")).startswith(BLAME)]
        if blamed and not run.verdicts["passed"]:
            raise InputError(blamed[0].removeprefix(BLAME))
        raise Mismatch(_failures_text(run, err), run)
    if code == 3:
        declined = sorted({str(c.get("reason", "")) for c in run.cases if c["verdict"] in ("unsupported", "skipped")})
        raise Incomplete(f"the evidence is incomplete: {'; '.join(declined[:3]) or out.strip().splitlines()[-1]}", run)
    not_run = [c["reason"] for c in run.cases if str(c.get("reason", "")).startswith(NOT_RUN)]
    if not_run:
        raise Incomplete(f"{len(not_run)} of {len(run.cases)} cases were left out: {not_run[0]}", run)
    if run.declined:
        warnings.warn(f"{run.cases[0]['op']}/{run.cases[0]['kernel']} {run.declined}", stacklevel=3)
    return run


def _failures_text(run: Run, err: str) -> str:
    """What the program prints of each kind of failure at length, its last line, and the last lines that the worker wrote."""
    parts = run.text.split("\n\n")
    text = []
    told = False
    for part in parts:
        told = bool(_HEADING.match(part)) if not part.startswith("  ") else told and not part.startswith("  op ")
        text += [part] * told
    said = [f"  {line}" for line in dict.fromkeys(err.splitlines()) if line.strip()][-12:]
    return "\n\n".join([*(text or parts[1:-1]), parts[-1], *(["\n".join(["the worker wrote", *said])] if said else [])])


@contextmanager
def _in_this_process(worker: Worker) -> Iterator[str]:
    """Serves judges in a thread.  Yields the command of the process that hands over its socket."""
    alone = threading.Lock()  # a worker that was given up, as after a timeout, may still be in the callable

    def serve(judge: socket.socket, connection: socket.socket) -> None:
        with connection, judge, alone:
            try:
                worker.serve(judge)
            except OSError:
                pass  # the judge has gone

    def listen() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # the run is over
            _, fds, _, _ = socket.recv_fds(connection, 1, 1)
            judge = socket.socket(fileno=fds[0])
            threading.Thread(target=serve, args=(judge, connection), daemon=True).start()

    with tempfile.TemporaryDirectory(prefix="assay-") as folder, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        path = str(Path(folder) / "caller")
        listener.bind(path)
        listener.listen()
        threading.Thread(target=listen, daemon=True).start()
        try:
            yield shlex.join([sys.executable, "-m", "assay.worker", "--in-caller", path])
        finally:
            listener.shutdown(socket.SHUT_RDWR)
