# SPDX-License-Identifier: Apache-2.0
"""Shared by the scripts in this folder: flags, reading records (JSON Lines, reports/schema.json), printing tables, exit codes."""
import argparse
import gzip
import json
import os
import sys


class BadInput(Exception):
    """A wrong flag or a wrong file; the script ends with exit code 2."""


class Parser(argparse.ArgumentParser):
    def __init__(self, about):
        super().__init__(
            prog=os.path.basename(sys.argv[0]), description=about, formatter_class=argparse.RawDescriptionHelpFormatter
        )

    def error(self, message):
        raise BadInput(message)


def judged(main):
    """Runs main(arguments) and exits with its result, or with 2 and a sentence on wrong input."""
    try:
        sys.exit(main(sys.argv[1:]))
    except (BadInput, KeyError) as error:
        print(
            f"{os.path.basename(sys.argv[0])}: {f'a record lacks {error}' if isinstance(error, KeyError) else error}",
            file=sys.stderr,
        )
        sys.exit(2)


def records_of(paths):
    """Yields the records of all files, in order.  Files that end in .gz are unpacked."""
    for path in paths:
        try:
            with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    if not line.strip():
                        continue
                    record = json.loads(line)
                    if not isinstance(record, dict) or "record" not in record:
                        raise ValueError("no record")
                    yield record
        except OSError as e:
            raise BadInput(f"cannot read '{path}': {e.strerror or e}")
        except ValueError as e:
            raise BadInput(f"{path}, line {number}: {e}")


def show(columns, rows, markdown):
    """Prints a table: aligned columns, or Markdown."""
    if markdown:
        for cells in [columns, ["---"] * len(columns)] + rows:
            print("| " + " | ".join(cells) + " |")
        return
    widths = [max(len(row[i]) for row in [columns] + rows) for i in range(len(columns))]
    for row in [columns] + rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def number_of(record, field):
    """A number of a record, also "nan" and "inf"; None if it is missing, for which older records have null."""
    value = record.get(field)
    return None if value is None else float(value)


def level_of(case):
    return case.get("fidelity", "not told").split(":")[0].split(";")[0]


def bits_by_kernel(pairs, level):
    """Of each kernel and fidelity, from pairs of one case on two machines: how many outputs have equal bits, worst err/bound, seconds."""
    rows = {}
    for a, b in pairs:
        row = rows.setdefault(
            (f"{a['op']}/{a['kernel']}", level(a)),
            {"dtypes": set(), "outputs": 0, "equal": 0, "margins": [0, 0], "seconds": [0, 0]},
        )
        row["dtypes"].add(a["dtype"])
        row["outputs"] += 1
        row["equal"] += a["digest"] == b["digest"]
        row["margins"] = [max(m, number_of(case, "margin") or 0) for m, case in zip(row["margins"], (a, b))]
        row["seconds"] = [t + case.get("seconds", 0) for t, case in zip(row["seconds"], (a, b))]
    return dict(sorted(rows.items()))


def bits_cells(rows):
    return [
        [kernel, level, " ".join(sorted(r["dtypes"])), str(r["outputs"]), str(r["equal"])] + [f"{m:.3f}" for m in r["margins"]]
        for (kernel, level), r in rows.items()
    ]


def bits_total(rows):
    return f"{sum(r['equal'] for r in rows.values())} of {sum(r['outputs'] for r in rows.values())} outputs have equal bits"
