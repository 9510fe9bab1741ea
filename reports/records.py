# SPDX-License-Identifier: Apache-2.0
"""What the scripts beside this file share: their flags, the records (JSON Lines, reports/schema.json) that they read, the tables that
they print, and how those that judge end."""
import argparse, gzip, json, os, sys


class BadInput(Exception):
    """What a person or a file got wrong; exit code 2."""


class Parser(argparse.ArgumentParser):
    def __init__(self, about):
        super().__init__(prog=os.path.basename(sys.argv[0]), description=about, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message): raise BadInput(message)


def flags_of(about, arguments, within, of, least, unit, what):
    """Of a script that judges: files of records, what they may be off by, and from where on."""
    p = Parser(about)
    p.add_argument("files", nargs="+", metavar="RECORDS")
    p.add_argument("--markdown", action="store_true", help="a table in Markdown")
    p.add_argument("--within", type=float, default=within, metavar="SHARE", help=f"of {of}, that may be off")
    p.add_argument("--least", type=float, default=least, metavar=unit, help=what)
    flags = p.parse_args(arguments)
    if not (flags.within > 0 and flags.least > 0): raise BadInput("--within and --least must be above 0")
    return flags


def judged(main):
    """Ends the process with what main(arguments) returns, or with 2 and a sentence."""
    try:
        sys.exit(main(sys.argv[1:]))
    except (BadInput, KeyError) as error:
        print(f"{os.path.basename(sys.argv[0])}: {f'a record lacks {error}' if isinstance(error, KeyError) else error}", file=sys.stderr)
        sys.exit(2)


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
