#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The asynchronous faults of datasets/ptx on a GPU: what compute-sanitizer says of each, beside what the simulated machine says.

Each module, as it is and with each fault, multiplies 200 x 328 by 328 x 72 in a process of its own: without a tool, then under
racecheck, memcheck and synccheck.  Writes a JSON line for each module and, with --table, prints earlier lines as Markdown.
"""

import argparse
import concurrent.futures
import ctypes
import hashlib
import json
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

import ptx_faults

TOKENS, HIDDEN, OUT = 200, 328, 72
TOOLS = ("racecheck", "memcheck", "synccheck")
NOT_READY = 600  # CUDA_ERROR_NOT_READY
F16 = 6  # of cuTensorMapEncodeTiled, as is SWIZZLE
SWIZZLE = {64: 2, 128: 3}


class Driver:
    def __init__(self):
        self.lib = ctypes.CDLL(os.environ.get("ASSAY_LIBCUDA", "libcuda.so.1"))
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)

    def call(self, name, *arguments):
        code = getattr(self.lib, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.lib.cuGetErrorString(code, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'unknown').decode()} ({code})")

    def memory(self, data):
        at = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoD_v2", at, data, ctypes.c_size_t(len(data)))
        return at

    def map(self, at, rows, columns, box, swizzle):
        space = ctypes.create_string_buffer(192)
        begin = ctypes.addressof(space) + 63 & ~63
        u64, u32 = ctypes.c_uint64, ctypes.c_uint32
        self.call(
            "cuTensorMapEncodeTiled",
            ctypes.c_void_p(begin),
            F16,
            u32(2),
            at,
            (u64 * 2)(columns, rows),
            (u64 * 1)(2 * columns),
            (u32 * 2)(*box),
            (u32 * 2)(1, 1),
            0,
            SWIZZLE[swizzle],
            3,
            0,
        )
        return (ctypes.c_ubyte * 128).from_buffer_copy(ctypes.string_at(begin, 128))


def halves(count, step):
    """Small whole numbers, so that sums are exact in any order."""
    return struct.pack(f"<{count}e", *((i * step >> 4) % 5 - 2 for i in range(count)))


def run_one(path, module, limit):
    """Launches a module and says what became of it."""
    text = path.read_bytes()
    driver = Driver()
    x, weight, bias = (driver.memory(halves(n, step)) for n, step in ((TOKENS * HIDDEN, 40503), (OUT * HIDDEN, 30011), (OUT, 7)))
    y, scratch = driver.memory(b"\xff" * (2 * TOKENS * OUT)), driver.memory(bytes(384 * 4 * 3))
    i32, i64 = ctypes.c_int32, ctypes.c_int64
    sizes = [i32(TOKENS), i32(HIDDEN), i32(OUT)]
    null = ctypes.c_uint64(0)
    grid = (4, 3)
    block = 128
    shared = 18432
    if module == "linear_wgmma":
        grid = (1, 2)
        block = 384
        shared = 69680
        values = [
            driver.map(x, TOKENS, HIDDEN, (64, 128), 128),
            driver.map(weight, OUT, HIDDEN, (64, 32), 128),
            driver.map(y, TOKENS, OUT, (32, 64), 64),
            bias,
            i32(HIDDEN),
            i32(OUT),
        ]
    elif module == "triton_linear_boxes":
        shared = 12304
        values = [x, weight, y, *sizes, i64(HIDDEN), i64(HIDDEN), i64(OUT), scratch, null]
    else:
        values = [x, weight, bias, y, *sizes, i64(HIDDEN), i64(HIDDEN), null, null]
    handle, entry = ctypes.c_void_p(), ctypes.c_void_p()
    driver.call("cuModuleLoadDataEx", ctypes.byref(handle), text, 0, None, None)
    driver.call("cuModuleGetFunction", ctypes.byref(entry), handle, re.search(rb"\.entry\s+(\w+)", text)[1])
    driver.call("cuFuncSetAttribute", entry, 8, shared)  # the most dynamic shared memory
    pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
    driver.call("cuLaunchKernel", entry, *grid, 1, block, 1, 1, shared, None, pointers, None)
    end = time.monotonic() + limit
    while driver.lib.cuStreamQuery(None) == NOT_READY:
        if time.monotonic() > end:
            return {"gpu": "hangs"}
        time.sleep(0.002)
    driver.call("cuCtxSynchronize")
    out = ctypes.create_string_buffer(2 * TOKENS * OUT)
    driver.call("cuMemcpyDtoH_v2", out, y, ctypes.c_size_t(len(out)))
    return {"gpu": "ends", "digest": hashlib.sha256(out.raw).hexdigest()[:16]}


def one(path, module, limit):
    try:
        said = run_one(path, module, limit)
    except RuntimeError as e:
        said = {"gpu": "stops", "text": str(e)}
    print("OUTCOME " + json.dumps(said), flush=True)
    os._exit(0)  # a kernel that hangs must not be waited for


def called(command, limit):
    """The output of a command, which is killed with its children after so many seconds."""
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True
    )
    try:
        return child.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        return child.communicate()[0] + "\nOUTCOME " + json.dumps({"gpu": "hangs"})


def tried(options, fault, folder):
    """The record of a module with a fault, or as it is."""
    name = fault["name"].replace("/", ".")
    text = (ptx_faults.FOLDER / f"{fault['kernel']}.ptx").read_text()
    text = ptx_faults.applied(text, fault) if fault["edits"] else text
    # A driver knows no PTX of a later version than its own.
    path = folder / f"{name}.ptx"
    path.write_text(re.sub(r"^\.version 9\.[1-9]", ".version 9.0", text, flags=re.M))
    record = {"fault": fault["name"], "kind": fault["kind"]}
    if options.validate:
        launch = ptx_faults.FOLDER / f"{fault['kernel']}.json"
        code, _, found = ptx_faults.judged(
            options, path, launch, "--backend", "simt", "--suite", "smoke", "--fail-fast", "--watch"
        )
        word = re.match(r"([a-z_]+): ", found)
        record["simt"] = "clean" if code == 0 else word[1] if word else found
    for tool in () if options.no_gpu else ("", *options.tools.split(",")):
        if record.get("gpu") == "hangs" and tool != "racecheck":
            continue
        command = [sys.executable, __file__, "--one", str(path), fault["kernel"], "--limit", str(options.limit)]
        if tool:
            command = ["compute-sanitizer", "--tool", tool, "--target-processes", "all", *command]
        out = called(command, 2 * options.limit + 10)
        (folder / f"{name}.{tool or 'plain'}.log").write_text(out)
        ends = re.findall(r"^OUTCOME (.*)", out, re.M)
        outcome = json.loads(ends[-1]) if ends else {"gpu": "dies"}
        if not tool:
            record.update(outcome)
            continue
        found = re.search(
            r"^=+ ((?:Error|Warning): .*|Invalid .*|Barrier error .*|Potential .*|Race reported .*|Program hit .*|.*[Mm]isaligned.*)",
            out,
            re.M,
        )
        counts = re.search(r"(?:ERROR|RACECHECK) SUMMARY: (.*)", out)
        record[tool] = (
            found[1][:160] if found else outcome["gpu"] if outcome["gpu"] != "ends" else "clean" if counts else "no summary"
        )
    print(json.dumps(record), flush=True)


def table(path):
    records = [json.loads(line) for line in path.read_text().splitlines()]
    sound = {r["fault"]: r.get("digest") for r in records if not r["kind"]}
    counts = {t: [0, 0] for t in ("simt", *TOOLS)}
    print(
        "| fault | kind | simt | outputs on the GPU |"
        + "".join(f" {t} |" for t in TOOLS)
        + "\n|---|---|---|---|"
        + "---|" * len(TOOLS)
    )
    for r in sorted(records, key=lambda r: (r["kind"] != "", r["kind"], r["fault"])):
        same = r.get("digest") == sound.get(r["fault"].split("/")[0])
        result = {"ends": "right" if same else "wrong"}.get(r.get("gpu"), r.get("gpu", ""))
        for t, n in counts.items():
            n[0 if r["kind"] else 1] += r.get(t, "clean") not in ("clean", "hangs", "dies", "no summary", "stops")
        print(
            f"| {r['fault']} | {r['kind'] or 'sound'} | {r.get('simt', '')} | {result} |"
            + "".join(f" {r.get(t, '')} |" for t in TOOLS)
        )
    faults = sum(1 for r in records if r["kind"])
    print(
        f"\n{faults} faults of {len({r['kind'] for r in records if r['kind']})} kinds, {len(sound)} modules as they are. Reported, of faults and of sound modules: "
        + ", ".join(f"{t} {n[0]} and {n[1]}" for t, n in counts.items())
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="modules, or faults as MODULE/NAME (default: all)")
    parser.add_argument("--validate", help="the program, for the column of the simulated machine")
    parser.add_argument("--datasets", default=ptx_faults.FOLDER.parent, type=pathlib.Path)
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--limit", type=float, default=5, help="seconds after which a launch hangs (default: %(default)s)")
    parser.add_argument("--logs", type=pathlib.Path, help="a folder for the modules and the tools' output")
    parser.add_argument("--no-gpu", action="store_true", help="the column of the simulated machine alone")
    parser.add_argument("--one", nargs=2, metavar=("PTX", "MODULE"), help="launch one module and say what became of it")
    parser.add_argument("--table", type=pathlib.Path, metavar="RECORDS", help="print the outcome of an earlier call")
    options = parser.parse_args()
    if options.table:
        return table(options.table)
    if options.one:
        return one(pathlib.Path(options.one[0]), options.one[1], options.limit)
    faults = ptx_faults.faults(ptx_faults.FOLDER / "faults_async.txt")
    modules = [{"name": k, "kernel": k, "kind": "", "edits": []} for k in dict.fromkeys(f["kernel"] for f in faults)]
    with tempfile.TemporaryDirectory() as other, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = options.logs or pathlib.Path(other)
        folder.mkdir(parents=True, exist_ok=True)
        wanted = [f for f in modules + faults if not options.names or {f["kernel"], f["name"]} & set(options.names)]
        for done in [pool.submit(tried, options, fault, folder) for fault in wanted]:
            done.result()


if __name__ == "__main__":
    main()
