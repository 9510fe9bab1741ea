#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults planted in the PTX of datasets/ptx: which of them `validate run --ptx` finds.

Each fault of faults.txt is applied to a copy of its module.  The copy runs `smoke` by its outputs alone, `smoke` with the watch,
and, if neither found it, three seeds of `random` with the watch.  --sound runs the modules as they are.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile

FOLDER = pathlib.Path(__file__).parents[2] / "datasets" / "ptx"
SEEDS = (11, 12, 13)


def squeezed(line):
    return re.sub(r"\s+", "", line)


def counts(line):
    """Whether the line is an instruction or a label."""
    return bool(line.strip()) and not line.strip().startswith(("//", ".loc"))


def faults(path):
    """The faults of a file: name, kernel, kind, condition, and edits (which match, old lines, new lines)."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        text = line[2:].strip()
        head = re.fullmatch(r"\[(\w+) (\w+) (\w+)\]", line)
        if head:
            kernel, name, kind = head.groups()
            found.append({"kernel": kernel, "name": f"{kernel}/{name}", "kind": kind, "when": "", "edits": []})
        elif line.startswith("when: "):
            found[-1]["when"] = line[6:]
        elif line.startswith("@"):
            found[-1]["edits"].append((int(line[1:]), [], []))
        elif line[:1] in ("-", "+") and text:
            if not found[-1]["edits"]:
                found[-1]["edits"].append((1, [], []))
            found[-1]["edits"][-1][1 if line[0] == "-" else 2].append(text)
        elif line and not line.startswith("#"):
            raise SystemExit(f"{path}:{number}: the line is no part of a fault")
    return found


def applied(text, fault):
    """The module with the fault in it."""
    lines = text.splitlines()
    for which, old, new in fault["edits"]:
        code = [i for i, line in enumerate(lines) if counts(line)]
        wanted = [squeezed(line) for line in old]
        places = [
            code[i : i + len(wanted)]
            for i in range(len(code))
            if [squeezed(lines[j]) for j in code[i : i + len(wanted)]] == wanted
        ]
        if len(places) < which:
            raise SystemExit(f"{fault['name']}: {len(places)} places match, and {which} were expected")
        for j in places[which - 1][1:]:
            lines[j] = ""
        lines[places[which - 1][0]] = "\n".join("\t" + line for line in new)
    return "\n".join(lines) + "\n"


def judged(options, ptx, launch, *words):
    """The exit code of a run, the number of cases that passed, and its first finding."""
    command = [options.validate, "run", "--ptx", ptx, "--launch", launch, "--jobs", "2", "--color", "never", "--no-shrink"]
    command += ["--timeout", "20", *words]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "ASSAY_DATASETS": str(options.datasets)})
    passed = re.search(r"(\d+) passed", done.stdout)
    reason = re.search(r"^(?:FAILED|CRASHED|TIMEOUT|SUSPECT)\s+\S+\s+\S+\s+(.*)", done.stdout, re.M)
    text = reason[1] if reason else (done.stderr or done.stdout).strip().splitlines()[-1]
    return done.returncode, int(passed[1]) if passed else 0, text[:300]


def run_sound(options, names):
    for name in names:
        ptx, launch = FOLDER / f"{name}.ptx", FOLDER / f"{name}.json"
        runs = [("--suite", "smoke"), ("--suite", "smoke", "--watch")]
        runs += [("--suite", "random", "--count", "40", "--watch", "--seed", str(seed)) for seed in SEEDS]
        for words in runs:
            code, passed, text = judged(options, ptx, launch, *words)
            print(json.dumps({"sound": name, "run": " ".join(words), "code": code, "passed": passed, "text": text}), flush=True)


def run_fault(options, fault, folder):
    ptx, launch = folder / f"{fault['kernel']}.ptx", FOLDER / f"{fault['kernel']}.json"
    ptx.write_text(applied((FOLDER / ptx.name).read_text(), fault))
    record = {"fault": fault["name"], "kind": fault["kind"]}
    for key, words in (("outputs", []), ("watch", ["--watch"])):
        code, _, text = judged(options, ptx, launch, "--suite", "smoke", "--fail-fast", *words)
        record[key] = code == 1
        record[f"{key}_text"] = text
        record[f"{key}_code"] = code
    for seed in () if record["outputs"] or record["watch"] else SEEDS:
        code, _, text = judged(options, ptx, launch, "--suite", "random", "--count", "40", "--watch", "--seed", str(seed))
        if code == 1:
            record.update({"random": seed, "random_text": text})
            break
    print(json.dumps(record), flush=True)


def table(path):
    """The outcome of records, as Markdown."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    kinds = collections.defaultdict(lambda: [0] * 5)
    for r in (r for r in records if "fault" in r):
        caught = r["outputs"] or r["watch"]
        # A finding of the machine is a word and a colon, as in `out_of_bounds: ...`.
        compared = r["outputs"] and not re.match(r"(?!aggregate)[a-z_]+: ", r["outputs_text"])
        row = (1, compared, r["outputs"], caught, caught or "random" in r)
        for counted in (kinds[r["kind"]], kinds["~all"]):
            for i, one in enumerate(row):
                counted[i] += one
    print("| kind | planted | `smoke`, wrong outputs first | `smoke` | with the watch too | three seeds of `random` too |")
    print("|---|---|---|---|---|---|")
    for kind, row in sorted(kinds.items()):
        print(f"| {kind.strip('~')} | " + " | ".join(map(str, row)) + " |")
    missed = [r["fault"] for r in records if "fault" in r and not (r["outputs"] or r["watch"] or "random" in r)]
    print("\nmissed:", ", ".join(missed) or "none")
    sound = [r for r in records if "sound" in r]
    alarms = [f"{r['sound']} {r['run']}: {r['text']}" for r in sound if r["code"] in (1, 2)]
    print(f"sound: {len(sound)} runs, {sum(r['passed'] for r in sound)} cases passed; false alarms:", "; ".join(alarms) or "none")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="kernels, or faults as KERNEL/NAME (default: all)")
    parser.add_argument("--faults", default="faults.txt", help="a file of datasets/ptx (default: %(default)s)")
    parser.add_argument("--validate", default="build/bin/validate")
    parser.add_argument("--datasets", default=FOLDER.parent, type=pathlib.Path)
    parser.add_argument("--sound", action="store_true", help="run the modules as they are")
    parser.add_argument("--dry", action="store_true", help="only apply the faults, and run nothing")
    parser.add_argument("--table", type=pathlib.Path, metavar="RECORDS", help="print the outcome of what earlier calls wrote")
    options = parser.parse_args()
    if options.table:
        return table(options.table)
    if options.sound:
        return run_sound(options, options.names or sorted(p.stem for p in FOLDER.glob("*.json")))
    with tempfile.TemporaryDirectory() as folder:
        for fault in faults(FOLDER / options.faults):
            if options.names and not {fault["kernel"], fault["name"]} & set(options.names):
                continue
            if options.dry:
                changed = applied((FOLDER / f"{fault['kernel']}.ptx").read_text(), fault)
                print(fault["name"], len(changed))
            else:
                run_fault(options, fault, pathlib.Path(folder))


if __name__ == "__main__":
    main()
