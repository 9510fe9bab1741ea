# SPDX-License-Identifier: Apache-2.0
"""What `validate run --op-file FILE.py` calls:

python3 -m assay.op_file FILE.py
"""

from __future__ import annotations

import sys
from typing import Sequence

from . import loading
from .errors import InputError
from .formula import Op


def main(arguments: Sequence[str]) -> None:
    """Prints the paths of the files of all ops that a Python file makes."""
    if len(arguments) != 1:
        raise SystemExit("usage: python3 -m assay.op_file FILE.py")
    try:
        module, _ = loading.module_of(arguments[0])
    except InputError as e:
        raise SystemExit(str(e)) from None
    except Exception as e:
        raise SystemExit(f"{type(e).__name__}: {e}") from None
    ops = [member for member in vars(module).values() if isinstance(member, Op)]
    if not ops:
        raise SystemExit("it has no function with @assay.formula.op above it")
    for op in ops:
        op.use()
        print(op.path)


if __name__ == "__main__":
    main(sys.argv[1:])
