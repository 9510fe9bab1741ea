#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every op with every fill, typed by hand with one small shape, is passed by each sound kernel or refused in one sentence.
The dtypes take turns over the fills.

  typed_test.py VALIDATE [OP...]"""
import re
import subprocess
import sys

# Extents that are powers of four where a fill is exact for those alone.
EXTENTS = {
    "rows": 5,
    "cols": 64,
    "tokens": 6,
    "hidden": 64,
    "out": 24,
    "batch": 2,
    "seq_q": 7,
    "seq_k": 9,
    "heads": 4,
    "kv_heads": 2,
    "head_dim": 16,
    "vocab": 64,
    "ffn": 32,
    "pages": 8,
    "page_size": 4,
    "max_pages": 3,
}
DTYPES = ("f16", "bf16", "f32")


def call(*command):
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def section(text, title):
    """The first words of the lines of a section of `describe`."""
    body = re.search(rf"\n{title}[^\n]*\n((?:  .*\n?)+)", text)[1]
    return [line.split()[0] for line in body.splitlines() if re.match(r"  \S", line)]


def lines_of(validate, op, first):
    """One line for each fill; the dtypes take turns, beginning with that of number `first`."""
    about = call(validate, "describe", op).stdout
    axes, fills = (section(about, title) for title in ("axes", "fills"))
    shape = " ".join(f"{axis}={EXTENTS[axis]}" for axis in axes)
    return [f"{op} {DTYPES[(first + i) % 3]} {shape} fill={fill}" for i, fill in enumerate(fills)]


def refused(validate, line):
    """Whether the line is refused, in one sentence; None if it is in another way."""
    said = call(validate, "replay", "--backend", "simt", "--no-shrink", line)
    if said.returncode != 2:
        return False
    return True if re.fullmatch(r"validate: fill '\w+' [^\n]*\n", said.stderr) and not said.stdout else None


def main():
    validate, ops = sys.argv[1], sys.argv[2:]
    ops = ops or [line.split()[0] for line in call(validate, "list", "ops").stdout.splitlines()[1:] if re.match(r"\S+ +\d", line)]
    faults = total = no = 0
    for number, op in enumerate(ops):
        lines = lines_of(validate, op, number)
        while True:
            said = call(validate, "replay", "--backend", "simt", "--no-shrink", "--timeout", "3600", *lines)
            if said.returncode != 2:
                break
            fill = re.match(r"validate: fill '(\w+)' [^\n]*\n$", said.stderr)
            these = [line for line in lines if fill and line.endswith(f"fill={fill[1]}") and refused(validate, line)]
            if not these:
                print(f"FAILED  {op}: {said.stderr}")
                faults += 1
                lines = []
                break
            no += len(these)
            lines = [line for line in lines if line not in these]
        total += len(lines)
        for line, verdict in re.findall(r"^(\S.*)\n  verdict +(.*)", said.stdout if lines else "", re.M):
            if not re.match("passed|unsupported|skipped: not built for backend simt", verdict):  # a library's kernel
                print(f"FAILED  {line}\n  {verdict}")
                faults += 1
    print(f"{total} lines judged, {no} refused, {faults} faults")
    return 1 if faults or total == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
