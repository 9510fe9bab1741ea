# SPDX-License-Identifier: Apache-2.0
"""Cases take no more memory than they are told to need, but for a fifth: two here, six shapes of every op by reports/memory.py."""
import sys

from command_line import SOURCES, run


def test_memory(validate):
    run(
        sys.executable,
        SOURCES / "reports/memory.py",
        validate,
        "--least",
        "embedding/naive f32 tokens=1500 vocab=1500 hidden=4096",
        "gemm_swiglu/mma_tiled f16 tokens=1536 hidden=16 ffn=2048",
    )
