#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one call of the judge or of a worker fail in each of many small runs (interpose.cpp), and checks what each run says:
no verdict differs from that of the unbroken run unless it is skipped and names the machine, no record is torn or whole though
cases are missing, the exit code is that of the record, and nothing hangs.

  faults_test.py BINARIES LIBRARY [--sites SHARE] [--calls N] [--seed N] [--only RUN] [--fail SITE] [--list] [--from-main]
"""
import argparse
import collections
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

HANGS = 600  # seconds that only a hanging run takes

here = os.path.dirname(os.path.abspath(__file__))
flags = argparse.ArgumentParser()
flags.add_argument("binaries")
flags.add_argument("library")
flags.add_argument("--sites", type=float, default=1, help="the share of sites that fail")
flags.add_argument("--calls", type=int, default=2000, help="how many random calls fail")
flags.add_argument("--seed", type=int, default=1)
flags.add_argument("--only", default="", help="one of the runs, by name")
flags.add_argument("--fail", default="", help="only this site, or call, as ASSAY_FAULTS_FAIL takes it; prints the run's output")
flags.add_argument("--part", default="1/1", help="I/N: only the I-th of N parts")
flags.add_argument("--list", action="store_true", help="print what each failure led to")
flags.add_argument("--from-main", action="store_true", help="nothing fails before main()")
flags = flags.parse_args()
flags.binaries = os.path.abspath(flags.binaries)

hostile_plugin = os.path.join(os.path.dirname(os.path.abspath(flags.library)), "hostile.so")
sanitize = "--suite sanitize --dtype f32 --quiet".split()
judged = (
    "run --set hostile --backend simt --op layernorm_residual --kernel naive,doubles_an_element --shard 2/18".split() + sanitize
)
RUNS = {
    "judged": [*judged, "--no-shrink"],
    "shrunk": [*judged, "--shrink", "50ms", "--jobs", "1"],
    "selfcheck": ["selfcheck", "--backend", "simt", "--kernel", "softmax/dropped_tail", "--shard", "1/8", *sanitize],
    "plugin": "run --backend host --kernel sound,changes_its_input --shard 1/8 --no-shrink --plugin".split()
    + [hostile_plugin, *sanitize],
}


class Run:
    """A run of the command with, or without, a failure."""

    def __init__(self, folder, name, fail="", sites=None):
        self.name = name
        self.records, state = os.path.join(folder, "run.jsonl"), os.path.join(folder, "state")
        if os.path.exists(self.records):
            os.unlink(self.records)
        with open(state, "wb") as file:
            file.write(bytes(4096))
        environment = dict(
            os.environ,
            LD_PRELOAD=os.path.abspath(flags.library),
            ASSAY_FAULTS_STATE=state,
            OMP_WAIT_POLICY="passive",
            ASSAY_DATASETS=os.path.join(here, "../../../datasets"),
        )
        if flags.from_main:
            environment["ASSAY_FAULTS_FROM_MAIN"] = "1"
        if fail:
            environment["ASSAY_FAULTS_FAIL"] = fail
        if sites:
            environment["ASSAY_FAULTS_SITES"] = sites
        self.hung = False
        try:
            done = subprocess.run(
                [os.path.join(flags.binaries, "validate"), *RUNS[name], "--json", self.records],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=HANGS,
            )
            self.code = done.returncode
            self.said = (done.stdout + done.stderr).decode(errors="replace")
            self.errors = done.stderr.decode(errors="replace")
        except subprocess.TimeoutExpired:
            self.hung = True
            self.code = None
            self.said = ""
            self.errors = ""
        with open(state, "rb") as file:
            failed, judge, workers = struct.unpack("QQQ", file.read(24))
        self.failed = failed == 1
        self.calls = {"j": judge, "w": workers}
        self.text = open(self.records, "rb").read() if os.path.exists(self.records) else b""

    def lines(self):
        return [json.loads(line) for line in self.text.decode().splitlines()]


def verdicts(lines):
    return {j["repro"]: j["verdict"] for j in lines if j["record"] == "case"}


def wrongs(run, clean):
    """What is wrong with what a run says, given the unbroken one."""
    if run.hung:
        return ["hangs"]
    wrong = []
    if run.text and not run.text.endswith(b"\n"):
        return ["torn: the record ends within a line"]
    try:
        lines = run.lines()
    except ValueError as error:
        return [f"torn: {error}"]
    right = verdicts(clean.lines())
    skipped = 0
    for j in lines:
        if j["record"] != "case":
            continue
        if j["repro"] not in right:
            wrong.append(f"another case: {j['repro']}")
        elif j["verdict"] == "skipped" and right[j["repro"]] != "skipped":
            skipped += 1
            if not j["reason"].startswith("machine: ") or not j.get("incomplete"):
                wrong.append(f"skipped, and the machine is not named: {j['reason']}")
        elif j["verdict"] != right[j["repro"]]:
            wrong.append(f"verdict {j['verdict']}, not {right[j['repro']]}: {j['repro']}: {j.get('reason')}")
    if sum(j["record"] == "case" for j in lines) != len(verdicts(lines)):
        wrong.append("a case is recorded twice")
    caught = "failed" in verdicts(lines).values()  # all that selfcheck asks of its broken kernel
    ends = [j for j in lines if j["record"] == "end"]
    whole = len(ends) == 1 and not ends[0]["interrupted"] and not ends[0]["incomplete"]
    if len(ends) > 1 or (ends and lines[-1] is not ends[0]):
        wrong.append("records follow the end record")
    if whole and (skipped or set(verdicts(lines)) != set(right)):
        wrong.append(f"a whole record with {len(verdicts(lines)) - skipped} of {len(right)} cases")
    if run.code is not None and run.code < 0:
        wrong.append(f"the judge died of signal {-run.code}: {run.errors.strip()[-200:]}")
    elif run.code == 0 and not (whole and clean.code == 0) and not (clean.name == "selfcheck" and ends and caught):
        wrong.append("exit code 0")
    elif whole and run.code not in (clean.code, 2, 3):  # 2, 3: the summary could not be printed
        wrong.append(f"exit code {run.code} of a whole record, not {clean.code}")
    elif run.code not in (0, 1, 2, 3):
        wrong.append(f"exit code {run.code}")
    elif run.code == 1 and not caught:
        wrong.append("exit code 1, and no verdict says that a kernel is wrong")
    if run.code != clean.code and not whole and not run.errors.strip() and not skipped:
        wrong.append(f"exit code {run.code} without a word")
    return wrong


def main():
    found = collections.Counter()
    tried = 0
    reached = 0
    outcomes = collections.Counter()
    known = {}
    part, parts = map(int, flags.part.split("/"))
    rng = random.Random(flags.seed)
    with tempfile.TemporaryDirectory() as folder:
        for name in RUNS:
            if flags.only not in ("", name):
                continue
            sites_file = os.path.join(folder, "sites")
            open(sites_file, "w").close()
            clean = Run(folder, name, sites=sites_file)
            if clean.hung or not any(j["record"] == "end" for j in clean.lines()):
                print(f"FAILED  {name}: the unbroken run does not end: {clean.said}")
                return 1
            sites = {}
            for line in open(sites_file):
                number, what = line.rstrip().split(" ", 1)
                sites[number] = what
            if flags.fail:
                run = Run(folder, name, flags.fail)
                print(run.said, run.text.decode(), f"exit code {run.code}, failed {run.failed}", *wrongs(run, clean), sep="\n")
                continue
            # A site of the program that an earlier run has as well has failed there.
            of_program = known.setdefault(RUNS[name][0], set())
            share = [s for s in sorted(sites) if s not in of_program and rng.random() < flags.sites]
            of_program |= set(sites)
            each = flags.calls // (len(RUNS) if not flags.only else 1)
            ask = share + [f"{who}:{rng.randint(1, clean.calls[who])}" for who in rng.choices("jw", k=each)]
            ask = ask[part - 1 :: parts]
            print(
                f"{name}: {len(sites)} sites, {clean.calls['j']} calls of the judge and {clean.calls['w']} of workers; "
                f"{len(ask)} failures",
                flush=True,
            )
            for fail in ask:
                run = Run(folder, name, fail)
                tried += 1
                reached += run.failed
                wrong_here = wrongs(run, clean)
                unread = run.hung or any(wrong.startswith("torn") for wrong in wrong_here)
                outcomes[(run.code, None if unread else "skipped" in verdicts(run.lines()).values())] += 1
                for wrong in wrong_here:
                    found[wrong.split(":")[0]] += 1
                    print(f"FAILED  {name} --fail {fail}  {sites.get(fail, '')}\n  {wrong}", flush=True)
                if flags.list:
                    print(f"{name} {fail} {sites.get(fail, '')}: exit {run.code}: {run.errors.strip()[:200]}", flush=True)
    print(f"{tried} failures, {reached} of them reached, {sum(found.values())} wrong", dict(found))
    print("exit codes, and whether a case was skipped:", dict(outcomes))
    return 1 if found or (reached == 0 and not flags.fail) else 0


sys.exit(main())
