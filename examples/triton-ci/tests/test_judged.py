"""The kernels as Assay judges them, on a simulated GPU:  pytest tests/test_judged.py"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
import kernels  # noqa: E402

EXP = "function_error=128 quotient_error=4 flushes_subnormals"  # of Triton's exp and of its division


@pytest.mark.assay(op="softmax", simulate="sm_80", suite="sanitize", numerics=f"accumulate=f32 chain=1 {EXP}")
def softmax(x):
    return kernels.softmax(x)


@pytest.mark.assay(op="row_reduce", simulate="sm_80", suite="sanitize", numerics="accumulate=f32 chain=1")
def row_sum(x):
    return kernels.row_sum(x)
