# SPDX-License-Identifier: Apache-2.0
"""20 kernels of Triton with one planted fault each.  Prints whether the simulated machine finds it, or Triton's interpreter with
a check of the outputs, and the time of a second call:

python reports/trial/triton/faults.py                       # on the simulated machine, in two orders of threads
TRITON_INTERPRET=1 python reports/trial/triton/faults.py
"""

import os
import time

import numpy as np
import torch
import triton
import triton.language as tl

import assay.triton
from kernels import f8, normal, whole

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
REFUSED = "refused: not run"
FAULTS = {}


def fault(fn):
    FAULTS[fn.__name__] = fn
    return fn


@triton.jit
def copy_kernel(x, y, n, stored, first, STEP: tl.constexpr, LOADED: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * STEP + tl.arange(0, BLOCK)
    v = tl.load(x + first + i, mask=i < n, other=0.0) if LOADED else tl.load(x + first + i)
    tl.store(y + i, v, mask=i < stored)


@fault
def load_without_a_mask():
    x = normal(200)
    y = torch.empty(200)
    copy_kernel[(4,)](x, y, 200, 200, 0, STEP=64, LOADED=False, BLOCK=64)
    return [(y, f8(x))]


@fault
def store_mask_one_too_far():
    x = normal(200)
    y = torch.empty(200)
    copy_kernel[(4,)](x, y, 200, 201, 0, STEP=64, LOADED=True, BLOCK=64)
    return [(y, f8(x))]


@fault
def one_program_too_few():
    x = normal(200)
    y = torch.empty(200)
    copy_kernel[(200 // 64,)](x, y, 200, 200, 0, STEP=64, LOADED=True, BLOCK=64)
    return [(y, f8(x))]


@fault
def load_before_the_start():
    x = normal(200)
    y = torch.empty(200)
    copy_kernel[(4,)](x, y, 200, 200, -1, STEP=64, LOADED=True, BLOCK=64)
    return [(y[1:], f8(x)[:-1])]


@triton.jit
def shares_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * (BLOCK // 2) + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, v - tl.max(v, 0), mask=i < n)


@fault
def overlapping_tiles_of_an_output():
    x, y = torch.ones(128), torch.empty(128)
    shares_kernel[(4,)](x, y, 128, BLOCK=64)
    return [(y, np.zeros(128))]


@triton.jit
def sum_kernel(x, total, BLOCK: tl.constexpr):
    part = tl.sum(tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)), 0)
    tl.store(total, tl.load(total) + part)


@fault
def sum_without_an_atomic():
    x = whole(9, 256)
    total = torch.zeros(1, dtype=torch.int32)
    sum_kernel[(4,)](x, total, BLOCK=64)
    return [(total, x.numpy().sum().reshape(1))]


@triton.jit
def turn_kernel(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y + BLOCK - 1 - i, tl.load(x + i))
    tl.store(x + i, tl.load(y + i))  # no tl.debug_barrier() before it


@fault
def no_barrier_after_a_store():
    x = normal(256)
    y = torch.zeros(256)
    expected = f8(x)[::-1].copy()
    turn_kernel[(1,)](x, y, BLOCK=256)
    return [(x, expected)]


@triton.jit
def add_kernel(x, total, BLOCK: tl.constexpr):
    tl.atomic_add(total + tl.arange(0, BLOCK), tl.load(x + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)))


@fault
def accumulator_that_nobody_cleared():
    x = normal(4, 64)
    total = torch.empty(64)
    add_kernel[(4,)](x, total, BLOCK=64)
    return [(total, f8(x).sum(0))]


@triton.jit
def promise_kernel(x, y, step, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.max_contiguous(tl.multiple_of(tl.program_id(0) * step + i, BLOCK), BLOCK)
    tl.store(y + tl.program_id(0) * BLOCK + i, tl.load(x + at))


@fault
def promise_of_divisibility_that_is_broken():
    x = normal(400)
    y = torch.empty(4, 128)
    promise_kernel[(4,)](x, y, 65, BLOCK=128, num_warps=1)
    return [(y, np.stack([f8(x)[65 * p : 65 * p + 128] for p in range(4)]))]


@triton.jit
def row_kernel(x, y, cols, stride, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + c, mask=c < cols, other=0.0)  # `stride` is not used
    tl.store(y + row * cols + c, v, mask=c < cols)


@fault
def stride_of_padded_rows_ignored():
    x = normal(8, 64)[:, :50]
    y = torch.empty(8, 50)
    row_kernel[(8,)](x, y, 50, x.stride(0), BLOCK=64)
    return [(y, f8(x))]


@triton.jit
def product_kernel(a, b, c, M, N, K, MASKED: tl.constexpr, PRECISION: tl.constexpr, NARROW: tl.constexpr, T: tl.constexpr):
    m, n = tl.program_id(0) * T + tl.arange(0, T), tl.program_id(1) * T + tl.arange(0, T)
    acc = tl.zeros((T, T), tl.float16 if NARROW else tl.float32)
    for step in range(0, K, T):
        k = step + tl.arange(0, T)
        inside = k < K if MASKED else k < K + T
        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & inside[None, :], other=0.0)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=inside[:, None] & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc, input_precision=PRECISION, out_dtype=acc.dtype)
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


def product(K, dtype, masked=True, precision="ieee", narrow=False, tolerance=1e-4):
    a = normal(32, K, dtype=dtype)
    b = normal(K, 32, seed=1, dtype=dtype)
    c = torch.empty(32, 32)
    product_kernel[(1, 1)](a, b, c, 32, 32, K, MASKED=masked, PRECISION=precision, NARROW=narrow, T=32)
    return [(c, f8(a) @ f8(b), tolerance)]


@fault
def last_terms_of_a_product_not_masked():
    return product(40, torch.float32, masked=False)


@fault
def tf32_where_f32_is_promised():
    return product(64, torch.float32, precision="tf32")


@fault
def sums_in_16_bits():
    return product(512, torch.float16, narrow=True, tolerance=1e-2)


@triton.jit
def jacobi_kernel(a, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inner = (i > 0) & (i < n - 1)
    left, right = tl.load(a + i - 1, mask=inner, other=0.0), tl.load(a + i + 1, mask=inner, other=0.0)
    tl.store(a + i, 0.5 * (left + right), mask=inner)


@fault
def neighbours_changed_in_place():
    a = torch.ones(256)
    jacobi_kernel[(4,)](a, 256, BLOCK=64)
    return [(a, np.ones(256))]


@triton.jit
def carry_kernel(x, y, ends, BLOCK: tl.constexpr):
    pid, i = tl.program_id(0), tl.arange(0, BLOCK)
    sums = tl.cumsum(tl.load(x + pid * BLOCK + i), 0)
    before = tl.load(ends + pid - 1, mask=pid > 0, other=0)
    tl.store(y + pid * BLOCK + i, sums + before)
    tl.store(ends + pid, before + tl.sum(tl.where(i == BLOCK - 1, sums, 0), 0))


@fault
def carry_of_the_program_before():
    x = whole(9, 256)
    y = torch.empty(256, dtype=torch.int32)
    ends = torch.zeros(4, dtype=torch.int32)
    carry_kernel[(4,)](x, y, ends, BLOCK=64)
    return [(y, x.numpy().cumsum())]


@triton.jit
def online_kernel(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top = tl.full((), -float("inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)
    for start in range(0, cols, BLOCK):
        v = tl.load(x + row * cols + start + tl.arange(0, BLOCK))
        top = tl.maximum(top, tl.max(v, 0))
        total += tl.sum(tl.exp(v - top), 0)  # the sum so far belongs to the maximum before
    tl.store(y + row, top + tl.log(total))


@fault
def online_sum_not_rescaled():
    x = normal(4, 256)
    y = torch.empty(4)
    online_kernel[(4,)](x, y, 256, BLOCK=64)
    return [(y, np.log(np.exp(f8(x)).sum(1)))]


@triton.jit
def count_kernel(x, bins, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    tl.store(bins + v, tl.load(bins + v) + 1)


@fault
def histogram_without_atomics():
    x = whole(16, 128)
    bins = torch.zeros(16, dtype=torch.int32)
    count_kernel[(1,)](x, bins, BLOCK=128)
    return [(bins, np.bincount(x.numpy(), minlength=16))]


@triton.jit
def transpose_kernel(a, n, T: tl.constexpr):
    i, j = tl.program_id(0) * T + tl.arange(0, T), tl.program_id(1) * T + tl.arange(0, T)
    v = tl.load(a + i[:, None] * n + j[None, :])
    tl.store(a + j[:, None] * n + i[None, :], tl.trans(v))


@fault
def transposed_in_place():
    a = torch.full((64, 64), 3.0)
    transpose_kernel[(2, 2)](a, 64, T=32)
    return [(a, np.full((64, 64), 3.0))]


@fault
def buffer_of_a_launch_that_was_left_out():
    scratch, y = torch.empty(200), torch.empty(200)
    copy_kernel[(4,)](scratch, y, 200, 200, 0, STEP=64, LOADED=True, BLOCK=64)
    return [(y, f8(scratch))]


@triton.jit
def tail_kernel(x, y, rows, cols, BLOCK: tl.constexpr):
    at = (tl.program_id(0) * 2 + tl.arange(0, 2))[:, None] * cols + tl.arange(0, BLOCK)[None, :]
    tl.store(y + at, tl.load(x + at, mask=at < rows * cols, other=0.0) * 2, mask=tl.arange(0, BLOCK)[None, :] < cols)


@fault
def mask_of_the_columns_alone():
    x = normal(7, 60)
    y = torch.empty(7, 60)
    tail_kernel[(4,)](x, y, 7, 60, BLOCK=64)
    return [(y, 2 * f8(x))]


def checked(fn, order):
    """What finds the fault, or None."""
    try:
        if INTERPRETED:
            results = fn()
        else:
            with assay.triton.simulate("sm_80", order=order) as simulation:
                results = fn()
                for got, *_ in results:
                    flags = simulation.unwritten(got)
                    if flags is not None and flags.any():
                        return "an output that nobody wrote"
    except assay.Finding as e:
        return f"{e.kind} at {os.path.basename(e.file)}:{e.line}"
    except assay.InputError:
        return REFUSED
    except Exception as e:
        return f"{type(e).__name__}: {str(e).splitlines()[0][:60] if str(e) else ''}"
    for got, expected, *tolerance in results:
        limit = tolerance[0] if tolerance else 1e-4
        if not np.allclose(got.double().numpy(), expected, rtol=limit, atol=limit, equal_nan=True):
            return "a wrong output"
    return None


def main():
    found = 0
    spent = 0.0
    for name, fn in FAULTS.items():
        by = checked(fn, "forward") or (None if INTERPRETED else checked(fn, "reverse"))
        begin = time.perf_counter()
        checked(fn, "forward")
        seconds = time.perf_counter() - begin
        spent += seconds
        found += by not in (None, REFUSED)
        print(f"{name:42} {by or '-':60} {seconds * 1e3:8.1f} ms", flush=True)
    print(f"\n{found} of {len(FAULTS)} found; second calls took {spent * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
