# SPDX-License-Identifier: Apache-2.0
"""Assay from Python: judges what NumPy, PyTorch and Triton compute, element by element (docs/python.md)."""

from . import formula as formula  # ops of one's own
from .benching import Bench, bench
from .errors import Error, Finding, Incomplete, InputError, LibraryError, Mismatch, Unsupported
from .judging import Result, check, golden
from .library import Attribute, Op, Tensor, __version__, describe
from .running import validate
from .runs import Failure, Run

__all__ = [
    "Attribute",
    "Bench",
    "Error",
    "Failure",
    "Finding",
    "Incomplete",
    "InputError",
    "LibraryError",
    "Mismatch",
    "Op",
    "Result",
    "Run",
    "Tensor",
    "Unsupported",
    "__version__",
    "bench",
    "check",
    "describe",
    "golden",
    "validate",
]
