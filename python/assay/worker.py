# SPDX-License-Identifier: Apache-2.0
"""The process of a worker (docs/worker-protocol.md) whose kernel is a Python function:

validate run --worker 'python -m assay.worker kernels.py:softmax --op softmax'
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
from typing import Sequence

from . import library, loading
from .errors import InputError
from .serving import Kernel, Worker, failed, known_dtypes, name_of, require_callable
from .simulated import Simulated, place_device


def _refuse(judge: socket.socket, why: str) -> None:
    """Answers every message with a reason."""
    while True:
        text = judge.recv(1 << 16)
        if not text:
            return
        listing = {"backend": "host", "device": "", "checks": [], "total": 0, "kernels": []}
        judge.send(json.dumps({**failed(json.loads(text), why), **listing}).encode())


def _hand_over(path: str) -> None:
    """Gives the judge's socket to the process that listens at the path, and waits until that has closed it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.connect(path)
        socket.send_fds(caller, [b"\0"], [3])
        os.close(3)
        caller.recv(1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Answers a judge until it closes its socket, descriptor 3."""
    parser = argparse.ArgumentParser(prog="python -m assay.worker", description="judges a Python callable as a kernel")
    parser.add_argument("target", help="FILE.py:FUNCTION or MODULE:FUNCTION; with --in-caller a socket's path")
    parser.add_argument("--op", help="the op that it computes")
    parser.add_argument("--dtypes", default="", help="f16,bf16,f32: those that it takes (default: all that can be made here)")
    parser.add_argument("--numerics", help="how it computes, as `validate describe numerics` says (default: sums in f32)")
    parser.add_argument("--device", help="give it tensors of torch on this device, like cuda")
    parser.add_argument("--simulate", metavar="ARCH", help="run its Triton kernels on the simulated machine, as a GPU like sm_80")
    parser.add_argument("--config", default="0", help="with --simulate, which configuration autotuned kernels run with")
    parser.add_argument("--path", action="append", default=[], help="a folder to import from")
    parser.add_argument("--arguments", default="{}", help=argparse.SUPPRESS)  # of loading.Renamed, as JSON
    parser.add_argument("--nondeterministic", action="store_true", help="two runs may give different bits")
    parser.add_argument("--finite-inputs", action="store_true", help="it takes no NaN and no infinity")
    parser.add_argument("--position-matters", action="store_true", help="an element's bits depend on its place")
    parser.add_argument("--in-caller", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    try:
        if options.in_caller:
            return _hand_over(options.target)
        judge = socket.socket(fileno=3)
    except OSError as e:
        sys.exit(f"descriptor 3 is no socket of a judge: {e.strerror}  (validate run --worker)")
    try:
        fn = loading.load(options.target, options.path)
        if options.arguments != "{}":
            fn = loading.Renamed(fn, **json.loads(options.arguments))
        if not options.op:
            raise InputError("--op is missing")
        require_callable(library.describe(options.op), fn)
        flags = {
            "deterministic": not options.nondeterministic,
            "finite_inputs": options.finite_inputs,
            "position_matters": options.position_matters,
        }
        simulated = Simulated.parsed(options.simulate, options.config) if options.simulate else None
        if simulated:
            options.device = place_device(options.device)
        dtypes = tuple(dtype for dtype in options.dtypes.split(",") if dtype) or known_dtypes(options.device)
        name = simulated.named(name_of(fn)) if simulated else name_of(fn)
        kernel = Kernel(fn, options.op, name, dtypes, options.numerics, flags)
        worker = Worker(kernel, options.device, simulated)
    except Exception as e:  # pylint: disable=broad-except  # the judge tells it
        why = str(e) if isinstance(e, InputError) else f"{type(e).__name__}: {e}"
        return _refuse(judge, " ".join(why.split())[:1000])
    try:
        worker.serve(judge)
    except (BrokenPipeError, ConnectionResetError):
        os._exit(76)
    sys.stdout.flush()
    return None


if __name__ == "__main__":
    main()
