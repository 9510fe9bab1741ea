# SPDX-License-Identifier: Apache-2.0
"""Writes the PTX of kernels of examples/triton and of triton_boxes.py.  It needs Triton and no GPU.

PYTHONPATH=../../python:../../examples/triton python3 triton_kernels.py
"""

import pathlib
import re

import products
import rows
import triton
import triton_boxes
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


def write(name, kernel, types, constants, divisible=(), arch=80, **options):
    """The PTX of one kernel.  `types` are those of its parameters in order, constants left out; `divisible` are pointers at
    multiples of 16 and numbers that are multiples of 8."""
    names = [n for n in kernel.arg_names if n not in constants]
    signature = dict(zip(names, types.split(), strict=True)) | {n: "constexpr" for n in constants}
    pointers = {n for n in names if signature[n][0] == "*"}
    attributes = {(kernel.arg_names.index(n),): [["tt.divisibility", 16 if n in pointers else 8]] for n in divisible}
    ordered = {n: signature[n] for n in kernel.arg_names}
    source = ASTSource(kernel, ordered, constexprs=constants, attrs=attributes)
    text = triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options).asm["ptx"]
    # No debugging sections nor what points to them, and file names without their folders.
    text = re.sub(r"\n\t\.section\s+\.debug.*", "\n", text, flags=re.S)
    text = re.sub(r", function_name .*?, inlined_at [\d ]+", "", text)
    text = re.sub(r'(\.file\s+\d+) "(?:[^"]*/)?([^"/]*)"', r'\1 "\2"', text)
    pathlib.Path(name).write_text(text)


write("triton_softmax.ptx", rows.softmax_kernel, "*fp32 *fp32 i32 i64", {"x_col": 1, "BLOCK": 512}, num_warps=4)
write(
    "triton_layernorm_residual.ptx",
    rows.layernorm_residual_kernel,
    "*fp16 *fp16 *fp16 *fp16 *fp16 i32 i64 i64 fp32",
    {"x_col": 1, "r_col": 1, "g_col": 1, "b_col": 1, "BLOCK": 256},
    num_warps=4,
)
write(
    "triton_gelu_linear.ptx",
    products.gelu_linear_kernel,
    "*fp16 *fp16 *fp16 *fp16 i32 i32 i32 i64 i64",
    {"x_col": 1, "w_col": 1, "b_col": 1, "BIAS": 1, "ERF": 0, "M": 32, "N": 32, "K": 16},
    ("x", "w", "hidden", "x_row", "w_row"),
    num_warps=2,
    num_stages=3,
)
write(
    "triton_gelu_linear_sm90.ptx",
    products.gelu_linear_kernel,
    "*fp16 *fp16 *fp16 *fp16 i32 i32 i32 i64 i64",
    {"x_col": 1, "w_col": 1, "b_col": 1, "BIAS": 1, "ERF": 0, "M": 64, "N": 32, "K": 32},
    ("x", "w", "hidden", "x_row", "w_row"),
    arch=90,
    num_warps=4,
    num_stages=3,
)
write(
    "triton_linear_boxes.ptx",
    triton_boxes.linear_boxes_kernel,
    "*fp16 *fp16 *fp16 i32 i32 i32 i64 i64 i64",
    {"M": 64, "N": 32, "K": 32},
    ("x", "weight", "y"),
    arch=90,
    num_warps=4,
    num_stages=2,
)
