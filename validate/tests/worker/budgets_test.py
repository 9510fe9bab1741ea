#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run ends within 5 s of its budget, whatever it does: 12 combinations of suite, op and subcommand.

  budgets_test.py BINARIES
"""
import os
import subprocess
import sys
import tempfile
import time

BINARIES = os.path.realpath(sys.argv[1])
HERE = os.path.dirname(os.path.realpath(__file__))
BUDGET_S, GRACE_S = 2, 5
RUN = ["validate", "run", "--backend", "simt"]
SELFCHECK = ["validate", "selfcheck", "--backend", "simt"]
COMBINATIONS = [
    [*RUN, "--suite", "smoke"],
    [*RUN, "--suite", "edges"],
    [*RUN, "--suite", "full", "--op", "softmax,layernorm,rope"],
    [*RUN, "--suite", "long"],
    [*RUN, "--suite", "long", "--op", "linear", "--dtype", "f32", "--kernel", "naive"],
    [*RUN, "--suite", "long", "--op", "attention_backward"],
    [*RUN, "--suite", "edges", "--op", "transformer_layer", "--all-relations"],
    [*RUN, "--suite", "random", "--op", "attention_forward", "--watch"],
    [*RUN, "--suite", "edges", "--op", "paged_attention", "--sectors"],
    ["validate", "run", "--worker", f"python3 {HERE}/attacker.py slow", "--suite", "smoke", "--dtype", "f32"],
    [*SELFCHECK, "--suite", "smoke"],
    [*SELFCHECK, "--suite", "edges", "--op", "attention_forward", "--every-case"],
]


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for program, *words in COMBINATIONS:
            path = os.path.join(BINARIES, program)
            if not os.path.exists(path):
                sys.exit(f"{path} is not built")
            began = time.monotonic()
            done = subprocess.run(
                [path, *words, "--budget", f"{BUDGET_S}s"],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=600,
                check=False,
            )
            seconds = time.monotonic() - began
            late = seconds > BUDGET_S + GRACE_S
            wrong += late or done.returncode != 3
            print(f"{'LATE   ' if late else ''}{seconds:5.1f} s, exit {done.returncode}: {program} {' '.join(words)}")
    if wrong:
        sys.exit(f"{wrong} of {len(COMBINATIONS)} did not end with exit code 3 within {BUDGET_S} + {GRACE_S} s")


main()
