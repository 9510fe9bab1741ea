#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes bench records for the tests of compare and report: the rows of recorded files, with samples of six processes drawn
around their medians, spread as on a GPU.
  make_records.py OUT RECORDS... [--seed N] [--rows N] [--factor F of the first row's times] [--processes N] [--date D]
    [--suites: puts each row in a published table, and adds step, DRAM bytes, resources, times of other programs and profiles]"""
import argparse
import json
import random

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("records", nargs="+")
for name, default in (("seed", 1), ("rows", 20), ("factor", 1.0), ("processes", 6)):
    parser.add_argument("--" + name, type=type(default), default=default)
parser.add_argument("--date", default="2026-11-21T12:00:00Z")
parser.add_argument("--suites", action="store_true")
a = parser.parse_args()
draw = random.Random(a.seed)
lines = [json.loads(line) for path in a.records for line in open(path)]
head = next(j for j in lines if j["record"] == "run")
head["date"] = a.date
rows = [j for j in lines if j["record"] == "bench"]
own = {
    op: sorted(
        {r["kernel"] for r in rows if r["op"] == op and r["kernel"] != "unfused" and not r["kernel"].startswith("baseline_")},
        key=lambda k: (k != "naive", k),
    )
    for op in {r["op"] for r in rows}
}


def extend(row):
    """Adds the fields that a row of a published table has."""
    kernel, own_here, times = row["kernel"], own[row["op"]], row["time_us"]
    row["suite"] = {
        "name": "claims-" + row["op"].replace("_", "-"),
        "table": f"Times of {row['op']}, {row['dtype']}",
        "label": "(" + ",".join(part.split("=")[1] for part in row["shape"].split()) + ")",
        "reported": {"pytorch_us": round(2 * times["median"], 1), "speedup": "1.2-1.5x", "note": "<b>as & it said</b>"},
    }
    if kernel in own_here:
        row["step"] = own_here.index(kernel)
    moved = row["bytes"]["unfused_formula" if kernel == "unfused" else "formula"]
    row["dram"] = {"read_bytes": round(0.6 * moved), "written_bytes": round(0.42 * moved)}
    row["resources"] = [
        {
            "function": f"{row['op']}_{kernel}_{i}",
            "registers": 64 + 32 * i,
            "static_shared": 1024 * i,
            "dynamic_shared": 49152,
            "local_bytes": 16 * i,
            "threads": 256,
            "blocks": draw.randrange(1, 17000),
            "blocks_per_sm": 4 - i,
            "occupancy": 0.5 - 0.1 * i,
        }
        for i in range(2 if kernel == "unfused" else 1)
    ]


def elsewhere(row):
    """Timings of the row's problem by another program."""
    for kernel, factor in (
        ("pytorch_eager", 1.9),
        ("pytorch_eager_graph", 1.7),
        ("pytorch_compile", 1.1),
        ("pytorch_sdpa_flash", 0),
    ):
        record = {
            "record": "timing",
            "source": "pytorch 2.11.0+cu130",
            "op": row["op"],
            "kernel": kernel,
            "backend": "cuda",
            "dtype": row["dtype"],
            "shape": row["shape"],
            "what": "F.of(x)",
        }
        if factor:
            us = factor * row["time_us"]["median"]
            record["time_us"] = {"median": us, "p5": us, "p95": us, "min": us, "max": us, "mean": us, "std": 0.0, "samples": 30}
        elif "attention" not in row["op"]:
            continue
        else:
            record["left_out"] = "no kernel for this shape"
        yield record


def profile(row):
    return {
        "record": "profile",
        **{k: row[k] for k in ("op", "kernel", "dtype", "shape")},
        "function": f"{row['op']}_{row['kernel']}_0",
        "time_us": row["time_us"]["median"],
        "registers": 64,
        "occupancy_theoretical": 0.5,
        "occupancy_achieved": 0.43,
        "memory_share": 0.91,
        "compute_share": 0.12,
        "dram_share": 0.9,
        "dram_read_bytes": 0.6 * row["bytes"]["formula"],
        "dram_written_bytes": 0.4 * row["bytes"]["formula"],
        "stalls": {"barrier": 0.11, "long_scoreboard": 0.62, "wait": 0.09},
    }


seen = set()
with open(a.out, "w") as out:
    print(json.dumps(head), file=out)
    for i in range(a.rows):
        row = json.loads(json.dumps(rows[i % len(rows)]))
        if i >= len(rows):
            row["shape"] += f" part={i // len(rows)}"
        median = row["time_us"]["median"] * (a.factor if i == 0 else 1)
        row["samples_us"] = []
        for _ in range(a.processes):
            here = median * draw.gauss(1, 0.002)
            row["samples_us"].append([round(here * draw.gauss(1, 0.004), 3) for _ in range(30)])
        row["code"] = "0123456789abcdef"
        row["time_us"].update({"median": median, "mean": median, "std": 0.004 * median, "samples": 30 * a.processes})
        row["machine"] = {
            "sm_mhz_min": 1980,
            "sm_mhz_max": 1980,
            "memory_mhz": 3201,
            "power_w_max": 400,
            "temperature_c_max": 50,
            "throttle": [],
        }
        if a.suites:
            extend(row)
        print(json.dumps(row), file=out)
        problem = (row["op"], row["dtype"], row["shape"])
        if a.suites and row["kernel"] in own[row["op"]] and problem not in seen:
            seen.add(problem)
            for record in (*elsewhere(row), profile(row)):
                print(json.dumps(record), file=out)
