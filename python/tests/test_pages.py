# SPDX-License-Identifier: Apache-2.0
"""The example of docs/python.md does what the page shows."""

import re
import subprocess
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]


def test_the_example():
    page = (TREE / "docs/python.md").read_text(encoding="utf-8")
    code = re.search(r"```python (examples/python/softmax.py)\n(.*?)```", page, re.S)
    assert code[2] in (TREE / code[1]).read_text(encoding="utf-8")
    shown = re.search(r"\$ python examples/python/softmax.py\n\.\.\.\n(.*?) · [0-9.]+ s\n", page)
    done = subprocess.run([sys.executable, code[1]], cwd=TREE, capture_output=True, text=True, check=False)
    assert shown[1] in done.stdout, done.stdout + done.stderr


def test_every_exception_is_on_the_page():
    import assay  # pylint: disable=import-outside-toplevel

    page = (TREE / "docs/python.md").read_text(encoding="utf-8")
    kinds = [name for name, e in vars(assay).items() if isinstance(e, type) and issubclass(e, Exception)]
    assert all(f"| `assay.{name}` |" in page for name in kinds)
