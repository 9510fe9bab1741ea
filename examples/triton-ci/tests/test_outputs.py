"""Outputs against NumPy's:  TRITON_INTERPRET=1 pytest tests/test_outputs.py"""

import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))
import kernels  # noqa: E402

x = torch.from_numpy(np.random.default_rng(0).standard_normal((33, 700)).astype("f4"))


def test_softmax():
    e = np.exp(x.numpy() - x.numpy().max(1, keepdims=True))
    assert np.allclose(kernels.softmax(x).numpy(), e / e.sum(1, keepdims=True), atol=1e-6)


def test_row_sum():
    assert np.allclose(kernels.row_sum(x).numpy(), x.numpy().sum(1), atol=1e-4)
