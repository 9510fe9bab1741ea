#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times PyTorch on the rows of datasets/bench and writes `timing` records (reports/schema.json), which reports set beside ours:
  pytorch_rows.py OUT.jsonl [--suite NAME ...] [--op OP ...] [--dtype DTYPE ...] [--seconds S] [--compile] [--budget S]
  pytorch_rows.py --list        prints the rows, as the records name them; needs no PyTorch
  pytorch_rows.py --self-test   checks each expression against its formula, on the CPU
Exit codes: 0 done, 1 a self-test failed or the device was lost, 2 bad usage, 77 no PyTorch or no GPU here."""
import datetime
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
import time

from pytorch.rows import rows_of
from records import BadInput, Parser

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def flags_of(arguments):
    p = Parser(__doc__)
    p.add_argument("out", nargs="?", help="file for the records")
    p.add_argument("--suite", action="append", default=[], metavar="NAME", help="rows of datasets/bench/suites/NAME.json")
    p.add_argument("--op", action="append", default=[], help="only rows of this op")
    p.add_argument("--dtype", action="append", default=[], help="f16, bf16 or f32")
    p.add_argument("--shape", action="append", default=[], metavar="TEXT", help='time this shape of one --op: "rows=3 cols=5"')
    p.add_argument("--seconds", type=float, default=0.1, help="how long to time each kernel of a row")
    p.add_argument("--datasets", default=os.path.join(ROOT, "datasets"), help="folder of the datasets")
    p.add_argument("--compile", action="store_true", help="also time torch.compile, which takes minutes")
    p.add_argument("--kernel", action="append", default=[], metavar="NAME", help="time only this kernel, as the records name it")
    p.add_argument("--only-compile", action="store_true", help="--compile --kernel pytorch_compile")
    p.add_argument("--compile-seconds", type=float, default=120, help="how long compiling a row may take")
    p.add_argument("--budget", type=float, default=math.inf, metavar="S", help="seconds for all rows; later ones are left out")
    p.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: to try the script; its times mean nothing")
    p.add_argument("--list", action="store_true", help="print the rows and time nothing")
    p.add_argument("--self-test", action="store_true", help="check each expression against its formula")
    flags = p.parse_args(arguments)
    if not all(s > 0 for s in (flags.seconds, flags.compile_seconds, flags.budget)):
        raise BadInput("--seconds, --compile-seconds and --budget must be above 0")
    if flags.only_compile:
        flags.compile = True
        flags.kernel = flags.kernel + ["pytorch_compile"]
    if not (flags.out or flags.list or flags.self_test):
        raise BadInput("name a file for the records, or --list, or --self-test")
    return flags


def said_by(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=20).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def head_of(torch, flags):
    """The `run` record, with which every record file begins."""
    with open(os.path.join(ROOT, "CMakeLists.txt")) as f:
        version = re.search(r"project\(\w+ VERSION ([0-9.]+)", f.read()).group(1)
    libraries = {"PyTorch": torch.__version__}
    if flags.device == "cuda":
        cudnn = torch.backends.cudnn.version() or 0
        libraries |= {"CUDA": torch.version.cuda, "cuDNN": f"{cudnn // 10000}.{cudnn // 100 % 100}.{cudnn % 100}"}
    head = {
        "record": "run",
        "schema": 1,
        "version": version,
        "commit": said_by("git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12") or "unknown",
        "compiler": "Python " + sys.version.split()[0],
        "build": "no TF32, products of f16 and bf16 summed in f32",
        "backend": flags.device,
        "device": torch.cuda.get_device_name(0) if flags.device == "cuda" else "the host's CPU",
        "host": f"{os.cpu_count()} cores",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "suite": ",".join(flags.suite) or "bench",
        "seed": 2026,
        "libraries": libraries,
    }
    driver = said_by("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader") if flags.device == "cuda" else ""
    return head | ({"driver": driver.splitlines()[0]} if driver else {})


def settle(torch):
    """Makes PyTorch compute as our kernels declare: sums in f32, no TF32.  Turns gradients off; some ops turn them on again."""
    torch.set_grad_enabled(False)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


def without_vllm(row, source):
    why = "it is installed, but not timed by this script" if importlib.util.find_spec("vllm") else "vLLM is not installed"
    return {
        "record": "timing",
        "source": source,
        "op": row.op,
        "kernel": "vllm",
        "backend": "cuda",
        "dtype": row.dtype,
        "shape": row.shape,
        "what": "vLLM's paged attention",
        "left_out": why,
    }


def show(j):
    told = (
        f"left out: {j['left_out']}"
        if "left_out" in j
        else f"{j['time_us']['median']:>9.2f} µs [{j['time_us']['p5']:.2f}, {j['time_us']['p95']:.2f}]"
    )
    print(f"  {j['op']:<18} {j['kernel']:<28} {j['dtype']:<5} {j['shape']:<44} {told}", flush=True)


def time_all(torch, rows, flags):
    from pytorch.timing import RowTimer

    settle(torch)
    timer = RowTimer(
        flags.device, flags.seconds, flags.compile_seconds if flags.compile else 0, flags.kernel, flags.started + flags.budget
    )
    source = "pytorch " + torch.__version__
    with open(flags.out, "w") as out:

        def write(j):
            out.write(json.dumps(j) + "\n")
            out.flush()

        write(head_of(torch, flags))
        for row in rows:
            try:
                for j in timer.records(row, source):
                    write(j)
                    show(j)
            except RuntimeError as e:
                print(f"{row.key()}: the device is lost: {str(e).splitlines()[0]}", file=sys.stderr)
                return 1
            if row.op == "paged_attention" and flags.device == "cuda" and not flags.kernel:
                j = without_vllm(row, source)
                write(j)
                show(j)
            timer.free()
    print(f"{len(rows)} rows")
    return 0


def main(arguments):
    started = time.monotonic()
    try:
        flags = flags_of(arguments)
        flags.started = started
        rows = [] if flags.self_test else rows_of(flags.datasets, flags.op, flags.suite, flags.dtype, flags.shape)
        if flags.out and not flags.list:
            open(flags.out, "a").close()
    except BadInput as e:
        print(f"pytorch_rows.py: {e}", file=sys.stderr)
        return 2
    except OSError as e:
        print(f"pytorch_rows.py: cannot write '{flags.out}': {e.strerror}", file=sys.stderr)
        return 2
    if flags.list:
        sys.stdout.write("".join(row.key() + "\n" for row in rows))
        return 0
    # Note: PyTorch reads it when imported.  A row has few kernels, so more compile workers would only take longer to start.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", str(min(8, os.cpu_count() or 1)))
    try:
        import torch
    except ImportError as e:
        print(f"PyTorch cannot be imported, so nothing is timed ({e}).", file=sys.stderr)
        return 77
    if flags.self_test:
        from pytorch.self_test import self_test

        settle(torch)
        return self_test()
    if flags.device == "cuda" and not torch.cuda.is_available():
        print("PyTorch sees no GPU here, so nothing is timed; --device cpu tries the script out.", file=sys.stderr)
        return 77
    return time_all(torch, rows, flags)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
