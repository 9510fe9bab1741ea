#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records as bench writes them, for the tests of compare and report: the rows of recorded files with samples of six processes
drawn around their medians, as wide as a GPU's.
  make_records.py OUT RECORDS... [--seed N] [--rows N] [--factor F of the first row's times] [--processes N] [--date D]"""
import argparse, json, random

parser = argparse.ArgumentParser()
parser.add_argument("out"), parser.add_argument("records", nargs="+")
for name, default in (("seed", 1), ("rows", 20), ("factor", 1.0), ("processes", 6)):
    parser.add_argument("--" + name, type=type(default), default=default)
parser.add_argument("--date", default="2026-11-21T12:00:00Z")
a = parser.parse_args()
draw = random.Random(a.seed)
lines = [json.loads(line) for path in a.records for line in open(path)]
head = next(j for j in lines if j["record"] == "run")
head["date"] = a.date
rows = [j for j in lines if j["record"] == "bench"]
with open(a.out, "w") as out:
    print(json.dumps(head), file=out)
    for i in range(a.rows):
        row = json.loads(json.dumps(rows[i % len(rows)]))
        if i >= len(rows): row["shape"] += f" part={i // len(rows)}"
        median = row["time_us"]["median"] * (a.factor if i == 0 else 1)
        row["samples_us"] = []
        for _ in range(a.processes):
            here = median * draw.gauss(1, 0.002)
            row["samples_us"].append([round(here * draw.gauss(1, 0.004), 3) for _ in range(30)])
        row["code"] = "0123456789abcdef"
        row["time_us"].update({"median": median, "mean": median, "std": 0.004 * median, "samples": 30 * a.processes})
        row["machine"] = {"sm_mhz_min": 1980, "sm_mhz_max": 1980, "memory_mhz": 3201, "power_w_max": 400, "temperature_c_max": 50, "throttle": []}
        print(json.dumps(row), file=out)
