#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workers that once got a pass without deserving it, or held a run up, do no more; files that were once overwritten are not.

  attacks_test.py BINARIES
"""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import time

VALIDATE = os.path.join(os.path.realpath(sys.argv[1]), "validate")
HERE = os.path.dirname(os.path.realpath(__file__))
failed = []


def check(what, got, expected):
    if got != expected:
        failed.append(what)
        print(f"FAILED  {what}\n  expected  {expected}\n  got       {got}")


def call(*words, limit=600):
    """Calls the command; returns its exit code, all that it printed, and the seconds it took."""
    began = time.monotonic()
    done = subprocess.run(
        [VALIDATE, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=limit, check=False
    )
    return done.returncode, " ".join((done.stdout + done.stderr).split()), time.monotonic() - began


def attack(how, *flags, suite="first"):
    return call("run", "--worker", f"python3 {HERE}/attacker.py {how}", "--suite", suite, "--dtype", "f32", "--no-shrink", *flags)


def passes_that_show_nothing():
    code, text, _ = attack("ones", suite="smoke")
    check("ones where one column is all that is taken: exit code", code, 1)
    check("ones: the reason", "a fault shows only in cases that the kernel does not take" in text, True)
    code, text, _ = attack("lax")
    check("10 % off, as declared: exit code", code, 1)
    check("10 % off: the reason", "proves little: the kernel declares quotient_error=8e+06 (48 %), and at most 1 %" in text, True)
    check("10 % off: the declaration is told", "held to accumulate=f32 chain=1 quotient_error=8e+06 (as declared)" in text, True)
    for how in ("MemoryError", "machine"):
        code, text, _ = attack(how)
        check(f"{how} where it could not know: exit code", code, 3)
        check(f"{how}: the reason", "evidence incomplete" in text, True)
        check(f"{how}, accepted", attack(how, "--partial")[0], 0)
    code, text, _ = attack("picky")
    check(
        "few cases are taken: told", "NOT TAKEN softmax/picky takes 1 of 5 cases (20 %); not: 4 'cols must be few'" in text, True
    )
    check("few cases are taken: exit codes", (code, attack("picky", "--strict")[0]), (0, 3))


def strict():
    code, text, _ = call("run", "--backend", "simt", "--op", "softmax", "--kernel", "naive", "--suite", "smoke", "--strict")
    check("--strict on a kernel that takes all", (code, "NOT TAKEN" in text), (0, False))
    code, text, _ = attack("sound", "--strict")
    check("--strict on a worker that takes nearly all", (code, "--strict:" in text), (0, False))


def clock():
    code, text, seconds = attack("slow", "--budget", "3s")
    check("a slow worker and a budget: exit code", code, 3)
    check("a slow worker and a budget: skipped", "the budget of 3 s was spent" in text and "timeout" not in text, True)
    check(f"a slow worker and a budget of 3 s: {seconds:.0f} s", seconds < 25, True)
    code, text, seconds = call(
        "run", "--backend", "simt", "--suite", "long", "--op", "linear", "--kernel", "naive", "--dtype", "f32", "--budget", "5s"
    )
    check("long cases and a budget: exit code", code, 3)
    check(f"long cases and a budget of 5 s: {seconds:.0f} s", seconds < 30, True)
    code, text, seconds = call(
        "run",
        "--worker",
        f"python3 {HERE}/attacker.py half_closed",
        "--suite",
        "sanitize",
        "--dtype",
        "f32",
        "--no-shrink",
        "--timeout",
        "1s",
    )
    cases = text.count("the worker's socket was closed")
    check("a half-closed socket: exit code", code, 1)
    check(f"a half-closed socket and a timeout of 1 s: {seconds:.0f} s", seconds < 30 and cases > 0, True)


def files():
    line = "softmax f32 rows=3 cols=5"
    for name in ("in.npz", "in.safetensors"):
        call("inputs", line, "-o", name)
        call("golden", line, "-o", "out.npz")
        for words in (
            ["judge", name, "out.npz", "--json", name],
            ["judge", name, "out.npz", "--json", "./out.npz"],
            ["golden", "--inputs", name, "-o", "./" + name],
            ["run", "--backend", "simt", "--inputs", name, "--json", name],
            ["run", "--backend", "simt", "--inputs", name, "--md", name],
            ["run", "--backend", "simt", "--inputs", name, "--junit", name],
        ):
            before = open(words[-1], "rb").read()
            code, text, _ = call(*words)
            check(" ".join(words), (code, "is named as input and as output" in text), (2, True))
            check(" ".join(words) + ": the file", open(words[-1], "rb").read() == before, True)
    call("run", "--backend", "simt", "--op", "softmax", "--kernel", "naive", "--suite", "sanitize", "--json", "r.jsonl")
    for words in (
        ["run", "--backend", "simt", "--suite", "sanitize", "--op", "softmax", "--same-as", "r.jsonl", "--json", "r.jsonl"],
        ["run", "--backend", "simt", "--last-failed", "r.jsonl", "--json", "r.jsonl"],
        ["report", "r.jsonl", "-o", "r.jsonl"],
        ["merge", "r.jsonl", "--json", "r.jsonl"],
        ["probe", "--backend", "simt", "--against", "r.jsonl", "--json", "r.jsonl"],
    ):
        code, text, _ = call(*words)
        check(" ".join(words), (code, "is named as input and as output" in text), (2, True))


def nothing_shown():
    call("inputs", "softmax f32 rows=0 cols=5", "-o", "empty.npz")
    call("golden", "--inputs", "empty.npz", "-o", "none.npz")
    code, text, _ = call("judge", "empty.npz", "none.npz")
    check("no rows", (code, "nothing was shown" in text), (3, True))
    call("inputs", "softmax f32 rows=3 cols=5", "-o", "nan.safetensors")
    with open("nan.safetensors", "r+b") as file:
        file.seek(8 + struct.unpack("<Q", file.read(8))[0])
        file.write(struct.pack("<f", math.nan) * 15)
    call("golden", "--inputs", "nan.safetensors", "-o", "nans.safetensors")
    code, text, _ = call("judge", "nan.safetensors", "nans.safetensors")
    check("all right values are NaN", (code, "no right value is a finite number" in text), (3, True))
    call("inputs", "linear f16 tokens=3 hidden=4096 out=4", "-o", "long.safetensors")
    with open("long.safetensors", "r+b") as file:  # so that no fill is known to have made them
        file.seek(8 + struct.unpack("<Q", file.read(8))[0])
        file.write(struct.pack("<e", 1.5))
    zeros = json.dumps({"y": {"dtype": "F16", "shape": [3, 4], "data_offsets": [0, 24]}}).encode()
    with open("zeros.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(zeros)) + zeros + bytes(24))
    check("zeros", call("judge", "long.safetensors", "zeros.safetensors")[0], 1)
    code, text, _ = call("judge", "long.safetensors", "zeros.safetensors", "--numerics", "accumulate=f16 chain=1")
    check("zeros where the declaration lets them pass", (code, "nothing was shown" in text), (3, True))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in (passes_that_show_nothing, strict, clock, files, nothing_shown):
            part()
    if failed:
        sys.exit(f"{len(failed)} checks failed")
    print("all attacks are met")


main()
