#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns ncu's output into records.
  profile.py --metrics                      prints the metrics that ncu must collect
  profile.py LAUNCHED.jsonl NCU.csv         prints `profile` records; the n-th launch in ncu's table is the n-th of bench --once
  profile.py --compare RECORDS PROFILE      compares DRAM bytes by ncu with those by bench --dram, on the same rows
"""
import csv
import json
import sys

# Field of a profile record: (ncu's metric, {ncu's unit: factor to our unit}).  "%" marks a share, which is at most 1.
FIELDS = {
    "time_us": (
        "gpu__time_duration.sum",
        {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3, "s": 1e6, "second": 1e6},
    ),
    "registers": ("launch__registers_per_thread", {"register/thread": 1, "": 1}),
    "occupancy_theoretical": ("sm__maximum_warps_per_active_cycle_pct", {"%": 0.01}),
    "occupancy_achieved": ("sm__warps_active.avg.pct_of_peak_sustained_active", {"%": 0.01}),
    "memory_share": ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", {"%": 0.01}),
    "compute_share": ("sm__throughput.avg.pct_of_peak_sustained_elapsed", {"%": 0.01}),
    "dram_share": ("dram__throughput.avg.pct_of_peak_sustained_elapsed", {"%": 0.01}),
    "dram_read_bytes": ("dram__bytes_read.sum", {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}),
    "dram_written_bytes": ("dram__bytes_write.sum", {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}),
}
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
STALLS = (
    "barrier branch_resolving dispatch_stall drain gmma imc_miss lg_throttle long_scoreboard math_pipe_throttle membar "
    "mio_throttle misc no_instruction not_selected selected short_scoreboard sleeping tex_throttle wait"
).split()
SHOWN_STALLS = 3
AGREE = 0.03  # share by which two counts of the same bytes may differ
LEAST_BYTES = 64e6  # smaller kernels are not judged: earlier contents of the cache change their bytes too much
L2_BYTES = 50 * 2**20  # L2 cache of an H200


class Wrong(Exception):
    pass


def number(text):
    """A cell as a number; None if ncu has no value ("n/a", "(!) nan", empty)."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None


def table(path):
    """Reads ncu's table, which is a header, a line of units and a row per launch.  Returns (rows as dictionaries, units)."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = file.read().splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), None)
    if start is None:
        said = [line for line in lines if line.startswith(("==ERROR==", "==WARNING=="))]
        raise Wrong("ncu profiled nothing: " + (said[0] if said else "no table in " + path))
    cells = list(csv.reader(line for line in lines[start:] if line.startswith('"')))
    header, units, rows = cells[0], cells[1], cells[2:]
    if units[0]:
        raise Wrong("ncu's table has no line of units")
    for row in rows:
        if len(row) != len(header):
            raise Wrong(f"launch {row[0]} of ncu's table has {len(row)} cells, its header {len(header)}")
    rows = [dict(zip(header, row)) for row in rows]
    return sorted(rows, key=lambda row: int(row["ID"])), dict(zip(header, units))


def identifier(name):
    """A bare name: `run` of "void assay::on_gpu::room::<unnamed>::run<__half, (int)8>(const T1 *)", and of its short form."""
    for noise in ("<unnamed>::", "(anonymous namespace)::"):
        name = name.replace(noise, "")
    return name.split("<")[0].split("(")[0].split("::")[-1].split()[-1]


def profile(launched, function, row, units):
    record = {"record": "profile"}
    record.update({key: launched[key] for key in ("op", "kernel", "dtype", "shape")})
    record["function"] = function
    for field, (metric, factors) in FIELDS.items():
        value = number(row.get(metric, ""))
        if value is None:
            continue
        unit = units[metric]
        if unit not in factors:
            raise Wrong(f"{metric} is in '{unit}', not in {' or '.join(factors)}")
        value *= factors[unit]
        record[field] = int(value) if field == "registers" else min(value, 1.0) if "%" in factors else value
    stalls = {reason: number(row.get(STALL.format(reason), "")) or 0 for reason in STALLS}
    total = sum(stalls.values())
    del stalls["selected"]  # not a stall: the warp issued
    most = sorted(stalls, key=stalls.get, reverse=True)[:SHOWN_STALLS]
    if total > 0:
        record["stalls"] = {reason: round(stalls[reason] / total, 4) for reason in most if stalls[reason] > 0}
    return record


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def profiles(launched_path, csv_path):
    rows, units = table(csv_path)
    launches = []
    for record in lines_of(launched_path):
        if record["record"] in ("run", "left_out"):
            print(json.dumps(record, ensure_ascii=False))
        elif record["record"] == "launched":
            launches += [(record, f["function"]) for f in record["functions"]]
    for place, ((launched, function), row) in enumerate(zip(launches, rows), 1):
        if identifier(row["Kernel Name"]) != identifier(function):
            raise Wrong(
                f"launch {place} is {function} of {launched['op']}/{launched['kernel']}, and ncu saw {row['Kernel Name']}"
            )
        print(json.dumps(profile(launched, function, row, units), ensure_ascii=False))
    if len(rows) != len(launches):
        raise Wrong(f"{len(launches)} functions were launched, and ncu saw {len(rows)}")


def beside(dram, functions):
    """Returns (ncu's bytes over those of bench, a text) for one kernel and its functions.
    Note: ncu stops counting when the kernel ends; bench also counts writes that are then still in the cache.  So writes that ncu
    lacks count as left in the cache, up to its size.  ncu's writes include a few MB that others had left in the cache, so the
    sum of reads and writes is judged, not each."""
    read, written = (sum(f[f"dram_{way}_bytes"] for f in functions) for way in ("read", "written"))
    left = min(max(dram["written_bytes"] - written, 0), L2_BYTES)
    ratio = (read + written + left) / (dram["read_bytes"] + dram["written_bytes"])
    return ratio, (
        f"ncu reads {1e-6 * read:.2f} MB and writes {1e-6 * written:.2f}, bench {1e-6 * dram['read_bytes']:.2f} and "
        f"{1e-6 * dram['written_bytes']:.2f}; {1e-6 * left:.2f} left in the cache: {ratio:.4f}"
    )


def compare(bench_path, profile_path):
    """Prints a line per kernel that both have.  Judges only kernels of one function, since ncu flushes the cache before each."""
    key = lambda record: tuple(record[field] for field in ("op", "kernel", "dtype", "shape"))
    seen = {}
    for record in lines_of(profile_path):
        if record["record"] == "profile" and "dram_read_bytes" in record and "dram_written_bytes" in record:
            seen.setdefault(key(record), []).append(record)
    judged = wrong = 0
    for record in lines_of(bench_path):
        if record["record"] != "bench" or "dram" not in record or key(record) not in seen:
            continue
        functions, dram = seen[key(record)], record["dram"]
        small = dram["read_bytes"] + dram["written_bytes"] < LEAST_BYTES
        ratio, words = beside(dram, functions) if not small else (1, f"less than {1e-6 * LEAST_BYTES:.0f} MB")
        one = len(functions) == 1 and not small
        fault = one and abs(ratio - 1) > AGREE
        judged += one
        wrong += fault
        told = "DISAGREES" if fault else "agrees" if one else "not judged" + ("" if small else f", {len(functions)} functions")
        print(f"{'/'.join(key(record)[:2])} {' '.join(key(record)[2:])}: {words}: {told}")
    print(f"{judged} kernels judged, {wrong} disagree")
    return 1 if wrong or not judged else 0


def main(arguments):
    if arguments == ["--metrics"]:
        print(",".join([metric for metric, _ in FIELDS.values()] + [STALL.format(reason) for reason in STALLS]))
        return 0
    if len(arguments) == 3 and arguments[0] == "--compare":
        return compare(*arguments[1:])
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    profiles(*arguments)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (Wrong, OSError, ValueError, KeyError) as error:
        print(f"profile.py: {error}", file=sys.stderr)
        sys.exit(1)
