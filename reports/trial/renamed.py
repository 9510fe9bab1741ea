#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rewrites declarations of unpacked kernels in the words of this tree: what a kernel stores is named by `.stores` now.

  renamed.py FOLDER    where FOLDER/OP/... are kernels of OP
"""
import pathlib
import re
import sys

TREE = pathlib.Path(__file__).resolve().parents[2]


def stored():
    """Which steps of an op a word stored, by op and word: as the judge reads old texts."""
    table = (TREE / "validate/problem/numerics/old_words.cpp").read_text(encoding="utf-8")
    return {(op, word): steps for op, word, steps in re.findall(r'\{"(\w+)", "(\w+)", "([\w,]+)"\}', table)}


def main():
    folder = pathlib.Path(sys.argv[1])
    for path in folder.rglob("*.cu"):
        text = path.read_text(encoding="utf-8")
        for (op, word), steps in stored().items():
            if op == path.relative_to(folder).parts[0]:
                text = text.replace(f".{word} = true", f'.stores = "{steps}"')
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
