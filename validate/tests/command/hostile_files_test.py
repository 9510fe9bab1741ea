#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that are wrong in one place, and repro lines, are refused in one sentence or mean what they say: no crash, no hang, and
nothing of them that steers a terminal.

  hostile_files_test.py VALIDATE SOURCE

Each value of a file is replaced, one at a time, by each of a list of wrong ones; each key is left out and given twice."""
import collections
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HANGS = 600  # seconds that only a hanging command takes, even on the slowest host
WRONG = [None, -1, 1e308, 2**63, "", "\u001b[2J\u0007\n", "x" * 100_000, [], {"a": {}}, "../../etc/passwd\u0000"]
FEW = [None, -1, 2**63, "\u001b[2J", [], {}]


def places(value, path=()):
    """The path of every value in a tree of JSON; of a list's elements the first only, since the others are read alike."""
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    if isinstance(value, list) and value:
        yield from places(value[0], (*path, 0))


def replaced(value, path, by):
    if not path:
        return by
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], by)
    return copy


def without(value, path):
    copy = dict(value)
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = without(value[path[0]], path[1:])
    return copy


def broken(value, wrong=FEW):
    """Texts of JSON, each with one fault."""
    text = json.dumps(value)
    for path in places(value):
        for by in wrong:
            yield json.dumps(replaced(value, path, by))
        if all(isinstance(key, str) for key in path):
            yield json.dumps(without(value, path))
    for key in value:
        yield text[:-1] + f', "{key}": {json.dumps(value[key])}' + "}"  # given twice
    for at in (0, 1, len(text) // 2, len(text) - 1):
        yield text[:at]  # cut short
    yield text + text
    yield text.replace('"', "'")
    yield "\ufeff" + text
    yield "[" * 5_000


class Checks:
    def __init__(self, validate):
        self.validate = validate
        self.count = 0
        self.codes = collections.Counter()
        self.failed = 0

    def works(self, *arguments):
        """What is right works, or a refusal of what is wrong would say nothing."""
        said = subprocess.run([self.validate, *arguments], capture_output=True, stdin=subprocess.DEVNULL, text=True)
        if said.returncode:
            self.fail("the right input", arguments, f"exit code {said.returncode}: {said.stderr[:300]}")

    def run(self, what, *arguments):
        self.count += 1
        try:
            said = subprocess.run([self.validate, *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=HANGS)
        except subprocess.TimeoutExpired:
            return self.fail(what, arguments, "hangs")
        self.codes[said.returncode] += 1
        text = (said.stdout + said.stderr).decode(errors="backslashreplace")
        if said.returncode not in (0, 1, 2, 3):
            self.fail(what, arguments, f"exit code {said.returncode}: {text[-300:]}")
        elif said.returncode == 2 and not re.fullmatch(r"validate: [^\n]{1,1000}\n", said.stderr.decode(errors="replace")):
            self.fail(what, arguments, f"not one sentence: {text[:600]!r}")
        elif re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text):
            self.fail(what, arguments, f"control characters: {text[:300]!r}")

    def fail(self, what, arguments, why):
        self.failed += 1
        print(f"FAILED  {what[:300]!r}\n  {' '.join(arguments)[:300]}\n  {why}")


def write(path, text):
    with open(path, "wb") as file:
        file.write(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    return path


def records(checks, run_of):
    """Files of records: `report` reads every field, `compare` what it needs."""
    lines = [json.loads(line) for line in run_of("--op", "softmax", "--kernel", "naive", "--dtype", "f16", "--suite", "sanitize")]
    times = {
        "record": "bench",
        "op": "softmax",
        "kernel": "naive",
        "dtype": "f16",
        "shape": "rows=1",
        "time_us": {"median": 5, "p5": 4, "p95": 6, "min": 3, "max": 7, "samples": 9},
        "flops": 1,
        "bytes": {"formula": 1, "unfused_formula": 1},
        "copy_rate_bytes_per_s": 1,
        "share_of_copy": 0.5,
        "margin_after_timing": 0.3,
    }
    kinds = {line["record"]: line for line in lines} | {"bench": times}
    whole = [json.dumps(kinds[kind]) for kind in ("run", "case", "bench", "end")]
    good = write("good.jsonl", "\n".join(whole) + "\n")
    checks.works("report", "--partial", good, "-o", "page.md")
    checks.works("compare", "--partial", good, good)
    for at, kind in enumerate(("run", "case", "bench", "end")):
        for text in broken(kinds[kind], WRONG if kind == "case" else FEW):
            path = write("bad.jsonl", "\n".join([*whole[:at], text, *whole[at + 1 :]]) + "\n")
            if kind == "case":
                checks.run(text, "report", "--partial", path, "-o", "page.md")
            else:
                checks.run(text, "compare", "--partial", good, path)


def datasets(checks, source):
    """Datasets, a launch file and a model's configuration, which decide what is run."""
    shutil.copytree(os.path.join(source, "datasets"), "data")
    listed = ("list", "cases", "--op", "softmax", "--suite", "full", "--datasets", "data")
    for name, command in (
        ("models/gpt2-124m.json", listed),
        ("edges/softmax.json", listed),
        ("bench/softmax.json", ("bench", "--memory", "--op", "softmax", "--datasets", "data")),
    ):
        path = os.path.join("data", name)
        with open(path, encoding="utf-8") as file:
            good = file.read()
        checks.works(*command)
        for text in broken(json.loads(good)):
            write(path, text)
            checks.run(f"{name}: {text}", *command)
        write(path, good)
    with open(os.path.join(source, "examples/ptx/softmax.json"), encoding="utf-8") as file:
        launch = json.load(file)
    command = (
        "replay",
        "--backend",
        "simt",
        "--no-shrink",
        "--ptx",
        os.path.join(source, "examples/ptx/softmax.ptx"),
        "--launch",
        "launch.json",
        "softmax/warp_per_row f32 rows=2 cols=3",
    )
    write("launch.json", json.dumps(launch))
    checks.works(*command)
    for text in broken(launch):
        write("launch.json", text)
        checks.run(text, *command)
    model = os.path.join(source, "datasets/checkpoints/bytes")
    with open(os.path.join(model, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    command = ("model", "--config", "config.json", "--weights", model, "--golden", "--prompt-ids", "1", "--tokens", "1")
    write("config.json", json.dumps(config))
    checks.works(*command)
    for text in broken(config):
        write("config.json", text)
        checks.run(text, *command)


def tensors(checks):
    """Files of tensors that a kernel elsewhere made."""
    line = "softmax/naive f32 rows=2 cols=3 seed=1"
    checks.works("inputs", line, "-o", "in.safetensors")
    command = ("golden", "--inputs", "bad.safetensors", "-o", "out.safetensors")
    shutil.copy("in.safetensors", "bad.safetensors")
    checks.works(*command)
    with open("in.safetensors", "rb") as file:
        good = file.read()
    size = struct.unpack("<Q", good[:8])[0]
    header = json.loads(good[8 : 8 + size])
    body = good[8 + size :]
    for text in broken(header):
        raw = text.encode("utf-8", "surrogatepass")
        write("bad.safetensors", struct.pack("<Q", len(raw)) + raw + body)
        checks.run(text, *command)
    for length in (0, 1, size - 1, size + 1, len(good), 2**32, 2**63, 2**64 - 1):
        write("bad.safetensors", struct.pack("<Q", length) + good[8:])
        checks.run(f"a header of {length} bytes", *command)


def repro_lines(checks):
    parts = ["softmax/naive", "f32", "rows=2", "cols=3", "fill=normal", "layout=padded", "seed=5"]
    replay = ("replay", "--backend", "simt", "--no-shrink")
    checks.works(*replay, " ".join(parts))
    wrong = [
        "",
        "=",
        "x",
        "rows=",
        "=3",
        "rows=-1",
        "rows=1e9",
        "rows=99999999999999999999",
        "rows=0x10",
        "rows=2.5",
        "rows=nan",
        "cols=9223372036854775807",
        "fill=",
        "fill=\u001b[2J",
        "fill=nothing",
        "layout=x",
        "seed=-1",
        "seed=18446744073709551616",
        "softmax/",
        "/naive",
        "softmax/naive/naive",
        "softmax\u0000",
        "f64",
        "f16,f32",
        "mask=causal",
        "\u00e9" * 300,
        "a=b=c",
        "--backend",
        "%s%n",
        "rows=1 rows=2",
    ]
    for at in range(len(parts)):
        for by in wrong:
            line = " ".join([*parts[:at], by, *parts[at + 1 :]])
            if "\u0000" not in line:
                checks.run(line, *replay, line)
        checks.run(f"without {parts[at]}", *replay, " ".join(parts[:at] + parts[at + 1 :]))


def main():
    validate, source = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    checks = Checks(validate)

    def run_of(*arguments):
        subprocess.run(
            [validate, "run", "--backend", "simt", "--quiet", "--json", "run.jsonl", *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        with open("run.jsonl", encoding="utf-8") as file:
            return file.readlines()

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        records(checks, run_of)
        datasets(checks, source)
        tensors(checks)
        repro_lines(checks)
        os.chdir(source)
    codes = ", ".join(f"{n} with exit code {code}" for code, n in sorted(checks.codes.items()))
    print(f"{checks.count} wrong inputs: {codes}; {checks.failed} failed")
    return 1 if checks.failed or checks.count < 500 or checks.codes[2] < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
