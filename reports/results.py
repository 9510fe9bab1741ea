#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of docs/results-h200.md from records:
  results.py [FOLDER] [PAGE] [--check]
Rewrites the text of PAGE between <!-- begin NAME --> and <!-- end NAME -->.  FOLDER is a device's folder in reports/baselines.
--check writes nothing.  Exit codes: 0 the page has these tables, 1 (--check) it has others, 2 bad usage."""
import os
import re

from records import BadInput, Parser, judged
from tables import comparisons, sm90, verdicts
from tables.rows import Records

HERE = os.path.dirname(os.path.abspath(__file__))
TABLES = {**comparisons.TABLES, **sm90.TABLES, **verdicts.TABLES}  # by name: makes the lines from records


def main(arguments):
    p = Parser(__doc__)
    p.add_argument("folder", nargs="?", default=os.path.join(HERE, "baselines/nvidia-h200"), metavar="FOLDER")
    p.add_argument("page", nargs="?", default=os.path.join(HERE, "../docs/results-h200.md"), metavar="PAGE")
    p.add_argument("--check", action="store_true", help="only check whether the page has these tables; write nothing")
    flags = p.parse_args(arguments)
    try:
        with open(flags.page, encoding="utf-8") as file:
            text = file.read()
    except OSError as e:
        raise BadInput(f"cannot read '{flags.page}': {e.strerror}")
    records = Records(flags.folder)
    new = text
    other = []
    for name, make in TABLES.items():
        marked = re.compile(f"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.S)
        if not marked.search(new):
            raise BadInput(f"'{flags.page}' has no marks for the table {name}")
        made = "\n".join(make(records)) + "\n"
        before = new
        new = marked.sub(lambda m: m[1] + "\n" + made + "\n" + m[2], new)
        if new != before:
            other.append(name)
    if flags.check:
        if other:
            print(f"{flags.page}: not as in the records: {', '.join(other)}")
        return int(bool(other))
    with open(flags.page, "w", encoding="utf-8") as file:
        file.write(new)
    return 0


if __name__ == "__main__":
    judged(main)
