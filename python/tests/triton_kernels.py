# SPDX-License-Identifier: Apache-2.0
"""Kernels of Triton for test_triton.py, on torch or on arrays of assay.triton alike."""

import triton
import triton.language as tl

import assay
import assay.triton as simulated


@triton.jit
def softmax_kernel(x, y, rows, cols, x_row, x_col, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        v = tl.load(x + row * x_row + c * x_col, mask=c < cols, other=-float("inf")).to(tl.float32)
        e = tl.where(c < cols, tl.exp(v - tl.max(v, 0)), 0)
        tl.store(y + row * cols + c, (e / tl.sum(e, 0)).to(y.dtype.element_ty), mask=c < cols)


def launched(x, programs, skipped=0):
    rows, cols = x.shape
    y = simulated.empty_like(x)
    if rows:
        softmax_kernel[(min(programs, rows),)](x, y, rows - skipped, cols, *x.stride(), BLOCK=triton.next_power_of_2(cols))
    return y


def softmax(x):
    return launched(x, 5)


def softmax_without_the_last_row(x):
    return launched(x, 5, skipped=1)


@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w) for b, w in ((64, 2), (128, 4), (256, 8))], key=["n"])
@triton.jit
def add_kernel(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def unmasked_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)  # THE UNMASKED LOAD
    tl.store(y + i, v, mask=i < n)


@triton.jit
def sum_kernel(x, total, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    s = tl.sum(tl.load(x + tl.program_id(0) * BLOCK + i), 0)
    tl.store(total, tl.load(total) + s)  # THE RACE


@triton.jit
def sum_atomic_kernel(x, total, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum(tl.load(x + tl.program_id(0) * BLOCK + i), 0))


@triton.jit
def ticket_kernel(parts, ticket, total, PROGRAMS: tl.constexpr, SEM: tl.constexpr):
    tl.store(parts + tl.program_id(0), 1)
    if tl.atomic_add(ticket, 1, sem=SEM) == PROGRAMS - 1:
        tl.store(total, tl.sum(tl.load(parts + tl.arange(0, PROGRAMS)), 0))


@triton.jit
def double_in_place_kernel(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) * 2)


@triton.jit
def reversed_in_place_kernel(x, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(x + BLOCK - 1 - i, v)
    tl.store(x + i, tl.load(x + i) + 1)  # NOTHING ORDERS THIS LOAD AFTER THE STORE


@triton.jit
def promised_kernel(x, y, step, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.multiple_of(tl.program_id(0) * step + i, BLOCK)
    tl.store(y + tl.program_id(0) * BLOCK + i, tl.load(x + tl.max_contiguous(at, BLOCK)))  # THE PROMISE


def add(a, b):
    z = simulated.empty_like(a)
    n = a.numel()
    if not (a.is_contiguous() and b.is_contiguous()):
        raise assay.Unsupported("takes no gaps")
    if n:
        add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](a, b, z, n)
    return z


@triton.jit
def integer_product_kernel(x, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + i * N + j).to(tl.int8)
    tl.store(x + i * N + j, tl.dot(v, v).to(tl.float32))


def softmax_by_integers(x):
    if x.dtype.itemsize == 2:  # refused for one of two dtypes
        integer_product_kernel[(1,)](simulated.zeros((32, 32)), N=32)
    return softmax(x)
