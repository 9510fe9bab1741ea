#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that an AArch64 machine gives the verdicts of this one: builds ops for it, judges them there by qemu-user, and compares.

  aarch64.py SOURCE BUILD CMAKE OP...    builds in BUILD/aarch64; the verdicts of this machine are those of BUILD/bin/validate
  aarch64.py --self-test                 cases that differ are told

Single instructions must also give there what a GPU gave.
"""
import json
import math
import os
import re
import shutil
import subprocess
import sys

PREFIX = "/usr/aarch64-linux-gnu"  # the loader and the C library, of Debian's cross compiler
SKIPPED = 77
DIGITS = 4  # of numbers that are compared, as in a ledger: sums of f64 and the C library may differ in the last of their 17
LAST_BITS = 1e-12  # by which such sums differ at most, relatively
TIMES = {"seconds"}
LEAST_QEMU = 8  # before, it keeps 24 bytes for each of the 2^32 pages that the simulated machine reserves


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(SKIPPED)


def fail(why):
    print(f"FAILED: {why}")
    sys.exit(1)


# --- what is compared


def cases_of(path):
    """The cases of a file of records, by their repro lines."""
    with open(path, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return {record["repro"]: record for record in records if record["record"] == "case"}


def tie(here, there):
    """Whether two elements are equally wrong but for the last bits of their goldens, so that either may be the worst of a case."""
    if here.keys() != there.keys() or not {"index", "golden", "bound"} <= here.keys():
        return False
    numbers = [(here[key], there[key]) for key in ("golden", "bound")]
    if not all(isinstance(number, float) for pair in numbers for number in pair):  # a NaN or an infinity is a word
        return False
    close = all(math.isclose(*pair, rel_tol=LAST_BITS) for pair in numbers)
    return close and all(here[key] == there[key] for key in here.keys() - {"index", "golden", "bound"})


def alike(here, there):
    """Whether two values of a record are the same, numbers to so many digits."""
    if isinstance(here, dict) and isinstance(there, dict):
        if tie(here, there):
            return True
        return here.keys() == there.keys() and all(alike(here[key], there[key]) for key in here)
    if isinstance(here, list) and isinstance(there, list):
        return len(here) == len(there) and all(map(alike, here, there))
    if isinstance(here, float) and isinstance(there, float):
        return f"{here:.{DIGITS}g}" == f"{there:.{DIGITS}g}"
    return here == there


def differences(here, there):
    """A sentence for each case or field that differs."""
    told = [f"{repro}: only one of the machines has this case" for repro in sorted(here.keys() ^ there.keys())]
    for repro in sorted(here.keys() & there.keys()):
        a, b = here[repro], there[repro]
        for field in sorted((a.keys() | b.keys()) - TIMES):
            if not alike(a.get(field), b.get(field)):
                told.append(f"{repro}: {field} is {a.get(field)} here and {b.get(field)} on AArch64")
    return told


# --- the build for AArch64, and how its programs run


class Build:
    def __init__(self, source, build, cmake):
        self.source = source
        self.folder = os.path.join(build, "aarch64")
        self.cmake = cmake
        self.compiler = shutil.which("aarch64-linux-gnu-gcc")
        self.qemu = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
        if not (self.compiler and shutil.which("aarch64-linux-gnu-g++") and self.qemu):
            skip("no cross compiler for AArch64, or no qemu-user  (apt-get install -y g++-aarch64-linux-gnu qemu-user)")
        said = subprocess.run([self.qemu, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
        if int(re.search(r"version (\d+)", said)[1]) < LEAST_QEMU:
            skip(
                f"{self.qemu} is older than version {LEAST_QEMU}  (Debian 12: apt-get install -y -t bookworm-backports qemu-user)"
            )
        os.makedirs(self.folder, exist_ok=True)

    def step(self, what, *command):
        """Runs a command of the build; `what` says what it means that it fails."""
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if ended.returncode:
            print(ended.stdout[-6000:])
            fail(what)

    def libraries(self):
        folder = os.path.join(self.folder, "libraries")
        if not os.path.exists(folder):
            script = os.path.join(self.source, "cmake/aarch64_libraries.sh")
            unpacked = subprocess.run(["sh", script, folder + ".new"], stderr=subprocess.PIPE, text=True)
            if unpacked.returncode:
                skip("no libraries for AArch64: " + unpacked.stderr.strip().splitlines()[-1])
            os.rename(folder + ".new", folder)
        return folder

    def make(self, ops):
        tree = os.path.join(self.folder, "build")
        flags = ["--toolchain", os.path.join(self.source, "cmake/aarch64.cmake"), f"-DASSAY_AARCH64_LIBRARIES={self.libraries()}"]
        flags += [f"-DASSAY_ONLY={';'.join(ops)}", "-DASSAY_TESTS=OFF", "-DASSAY_CUDA=OFF", "-DASSAY_UNITY=ON"]
        self.step("the build for AArch64 does not configure", self.cmake, "-S", self.source, "-B", tree, *flags)
        jobs = str(os.cpu_count())
        self.step("the tree does not compile for AArch64", self.cmake, "--build", tree, "-j", jobs, "--target", "validate")
        children = os.path.join(self.folder, "children.so")
        flags = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o", children]
        self.step("aarch64_children.c", self.compiler, *flags, os.path.join(self.source, "cmake/tests/aarch64_children.c"))
        self.validate = [self.qemu, "-L", PREFIX, "-E", f"LD_PRELOAD={children}", os.path.join(tree, "bin/validate")]

    def run(self, *arguments):
        variables = {**os.environ, "ASSAY_QEMU": self.qemu, "ASSAY_QEMU_PREFIX": PREFIX}
        return judged([*self.validate, *arguments], env=variables)


def judged(command, **how):
    """Runs a command of ours; returns its exit code and the last line of what it said.  A bad verdict is compared like any other."""
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    if ended.returncode > 1:
        print(ended.stdout[-6000:])
        fail(f"exit code {ended.returncode} of {' '.join(command)}")
    return ended.returncode, ended.stdout.strip().splitlines()[-1]


def main(source, build, cmake, *ops):
    os.environ["OMP_WAIT_POLICY"] = "passive"
    os.chdir(source)  # where a run finds its datasets
    there = Build(source, build, cmake)
    there.make(ops)
    here = os.path.join(build, "bin/validate")
    cases = 0
    told = []
    recorded = {"here": [], "there": []}
    for op in ops:
        files = {machine: os.path.join(there.folder, machine, op + ".jsonl") for machine in recorded}
        run = ["run", "--backend", "simt", "--suite", "first", "--timeout", "3600", "--jobs", "1", "--op", op, "--json"]
        for machine, start in ("here", lambda *a: judged([here, *a])), ("there", there.run):
            os.makedirs(os.path.dirname(files[machine]), exist_ok=True)
            print(f"{op}, {machine}: {start(*run, files[machine])[1]}", flush=True)
            recorded[machine] += ["--sound", files[machine]]
        of_here = cases_of(files["here"])
        cases += len(of_here)
        told += differences(of_here, cases_of(files["there"]))
    print("\n".join(told[:40]))

    ledgers = [os.path.join(there.folder, machine + ".tsv") for machine in recorded]
    for ledger, files in zip(ledgers, recorded.values()):
        judged([here, "ledger", ledger, *files])
    code, said = judged([here, "ledger-diff", *ledgers])
    print(said, flush=True)
    if told or code:
        fail(f"{len(told)} differences in {cases} cases")
    for name, forms in ("probes.jsonl", []), ("ptx_probes.jsonl.gz", ["--ptx", "--digests", "1"]):
        of_gpu = os.path.join("reports/baselines/nvidia-h200", name)
        code, said = there.run("probe", "--backend", "simt", *forms, "--against", of_gpu)
        print(f"{name}, there: {said}", flush=True)
        if code:
            fail(f"{name}: instructions differ")
    print(f"{cases} cases are the same on AArch64")


def self_test():
    case = {"repro": "a", "verdict": "passed", "margin": 0.51234567, "digest": "00ff", "seconds": 1.0, "worst": {"index": [1, 2]}}
    here = {"a": case}
    worst = {"tensor": "o", "index": [1, 2], "got": 0.5, "golden": 0.1 + 0.2, "bound": 0.01}
    for told, changed in (
        (0, {"seconds": 2.0, "margin": 0.51234568}),
        (1, {"verdict": "failed"}),
        (1, {"margin": 0.5124}),
        (1, {"digest": "00fe"}),
        (1, {"worst": {"index": [1, 3]}}),
        (1, {"caught_by": ["T1"]}),
        (2, {"verdict": "failed", "margin": 2.0}),
    ):
        found = differences(here, {"a": {**case, **changed}})
        if len(found) != told:
            fail(f"{changed}: {found}")
    for told, changed in (
        (0, {"index": [1, 3], "golden": 0.3}),
        (1, {"index": [1, 3], "golden": 0.3 + 1e-9}),
        (1, {"index": [1, 3], "bound": 0.01 + 1e-9}),
        (1, {"index": [1, 3], "got": 0.5 + 1e-9}),
        (1, {"index": [1, 3], "tensor": "lse"}),
        (1, {"index": [1, 3], "golden": "nan"}),
    ):
        found = differences({"a": {**case, "worst": worst}}, {"a": {**case, "worst": {**worst, **changed}}})
        if len(found) != told:
            fail(f"{changed}: {found}")
    if len(differences(here, {})) != 1 or len(differences({}, here)) != 1:
        fail("a case of one machine alone")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    else:
        main(*sys.argv[1:])
