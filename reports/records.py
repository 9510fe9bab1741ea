# SPDX-License-Identifier: Apache-2.0
"""Records (JSON Lines, reports/schema.json) as the scripts beside this file read them, and the tables that they print."""
import gzip, json


class BadInput(Exception):
    """What a person or a file got wrong; exit code 2."""


def records_of(paths):
    """Every record of the files, in order; those that end in .gz are unpacked."""
    for path in paths:
        try:
            with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    if not line.strip(): continue
                    record = json.loads(line)
                    if not isinstance(record, dict) or "record" not in record: raise ValueError("no record")
                    yield record
        except OSError as e:
            raise BadInput(f"cannot read '{path}': {e.strerror or e}")
        except ValueError as e:
            raise BadInput(f"{path}, line {number}: {e}")


def row_of(record):
    """What a kernel was run on: the same for every record of that row."""
    return tuple(record[field] for field in ("op", "dtype", "shape"))


def show(columns, rows, markdown):
    """Lines with the columns side by side, or a table in Markdown."""
    if markdown:
        for cells in [columns, ["---"] * len(columns)] + rows: print("| " + " | ".join(cells) + " |")
        return
    widths = [max(len(row[i]) for row in [columns] + rows) for i in range(len(columns))]
    for row in [columns] + rows: print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
