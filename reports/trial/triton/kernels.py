# SPDX-License-Identifier: Apache-2.0
"""Kernels of Triton in many habits, written from Triton's documentation, each with its answer by NumPy (docs/triton.md).

Each function of KERNELS launches on tensors of torch on the host and returns pairs of what came and what was expected.
"""

import numpy as np
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from triton.tools.tensor_descriptor import TensorDescriptor

KERNELS = {}


def kernel(fn):
    KERNELS[fn.__name__] = fn
    return fn


def normal(*shape, seed=0, dtype=torch.float32):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal(shape).astype("f4")).to(dtype)


def whole(high, *shape, seed=0, dtype=torch.int32):
    return torch.from_numpy(np.random.default_rng(seed).integers(0, high, shape)).to(dtype)


def f8(t):
    return t.float().numpy().astype("f8")


# --- products


@triton.jit
def split_k_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    pid, part = tl.program_id(0), tl.program_id(1)
    tiles_n = tl.cdiv(N, BN)
    m = (pid // tiles_n) * BM + tl.arange(0, BM)
    n = (pid % tiles_n) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for step in range(part, tl.cdiv(K, BK), SPLIT):
        k = step * BK + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc += tl.dot(x, y)
    tl.atomic_add(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@kernel
def split_k():
    a = normal(70, 200, dtype=torch.float16)
    b = normal(200, 50, seed=1, dtype=torch.float16)
    c = torch.zeros(70, 50)
    split_k_kernel[(3 * 2, 4)](a, b, c, 70, 50, 200, BM=32, BN=32, BK=32, SPLIT=4)
    return [(c, f8(a) @ f8(b))]


@triton.jit
def persistent_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0)):
        width = GROUP * tiles_n
        group = tile // width
        rows = min(tiles_m - group * GROUP, GROUP)
        pm = group * GROUP + (tile % width) % rows
        pn = (tile % width) // rows
        m = (pm * BM + tl.arange(0, BM)) % M
        n = (pn * BN + tl.arange(0, BN)) % N
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for step in range(0, tl.cdiv(K, BK)):
            k = step * BK + tl.arange(0, BK)
            x = tl.load(a + m[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
            y = tl.load(b + k[:, None] * N + n[None, :], mask=k[:, None] < K, other=0.0)
            acc = tl.dot(x, y, acc)
        m = pm * BM + tl.arange(0, BM)
        n = pn * BN + tl.arange(0, BN)
        tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@kernel
def persistent():
    a, b = normal(100, 80, dtype=torch.bfloat16), normal(80, 90, seed=1, dtype=torch.bfloat16)
    c = torch.empty(100, 90, dtype=torch.float32)
    persistent_kernel[(3,)](a, b, c, 100, 90, 80, BM=32, BN=32, BK=32, GROUP=2)
    return [(c, f8(a) @ f8(b))]


@triton.jit
def block_pointer_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm, pn = tl.program_id(0), tl.program_id(1)
    x = tl.make_block_ptr(a, shape=(M, K), strides=(K, 1), offsets=(pm * BM, 0), block_shape=(BM, BK), order=(1, 0))
    y = tl.make_block_ptr(b, shape=(K, N), strides=(N, 1), offsets=(0, pn * BN), block_shape=(BK, BN), order=(1, 0))
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        u = tl.load(x, boundary_check=(0, 1), padding_option="zero")
        v = tl.load(y, boundary_check=(0, 1), padding_option="zero")
        acc += tl.dot(u, v, input_precision="ieee")
        x = tl.advance(x, (0, BK))
        y = tl.advance(y, (BK, 0))
    z = tl.make_block_ptr(c, shape=(M, N), strides=(N, 1), offsets=(pm * BM, pn * BN), block_shape=(BM, BN), order=(1, 0))
    tl.store(z, acc, boundary_check=(0, 1))


@kernel
def block_pointers():
    a = normal(50, 70)
    b = normal(70, 40, seed=1)
    c = torch.empty(50, 40)
    block_pointer_kernel[(2, 2)](a, b, c, 50, 40, 70, BM=32, BN=32, BK=16)
    return [(c, f8(a) @ f8(b))]


@triton.jit
def int8_dot_kernel(a, b, c, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    tl.store(c + i * N + j, tl.dot(tl.load(a + i * N + j), tl.load(b + i * N + j)))


@kernel
def int8_product():
    a, b = whole(255, 32, 32).sub(127).to(torch.int8), whole(255, 32, 32, seed=1).sub(127).to(torch.int8)
    c = torch.empty(32, 32, dtype=torch.int32)
    int8_dot_kernel[(1,)](a, b, c, N=32)
    return [(c, f8(a) @ f8(b))]


@triton.jit
def int4_kernel(x, w, scale, y, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    m, n = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        packed = tl.load(w + (k[:, None] // 8) * N + n[None, :], mask=n[None, :] < N, other=0)
        nibble = (packed >> ((k[:, None] % 8) * 4)) & 0xF
        s = tl.load(scale + (k[:, None] // GROUP) * N + n[None, :], mask=n[None, :] < N, other=0.0)
        weight = ((nibble - 8).to(tl.float32) * s).to(tl.float16)
        acc += tl.dot(tl.load(x + m[:, None] * K + k[None, :]), weight)
    tl.store(y + m[:, None] * N + n[None, :], acc, mask=n[None, :] < N)


@kernel
def int4_weights():
    x = normal(16, 64, dtype=torch.float16)
    scale = normal(2, 40, seed=1).abs()
    nibbles = whole(16, 64, 40, seed=2).numpy().astype("i8")
    packed = np.zeros((8, 40), "u4")
    for k in range(64):
        packed[k // 8] |= nibbles[k].astype("u4") << np.uint32(4 * (k % 8))
    w = torch.from_numpy(packed.view("i4"))
    y = torch.empty(16, 40)
    int4_kernel[(2,)](x, w, scale, y, 64, 40, BM=16, BN=32, BK=32, GROUP=32)
    weight = ((nibbles.astype("f4") - 8) * scale.numpy().repeat(32, 0)).astype("f2")
    return [(y, f8(x) @ weight.astype("f8"))]


@triton.jit
def batched_kernel(a, b, c, B: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, B)[:, None, None] * N * N + tl.arange(0, N)[None, :, None] * N + tl.arange(0, N)[None, None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at), input_precision="tf32x3"))


@kernel
def batched_product():
    a = normal(4, 16, 16)
    b = normal(4, 16, 16, seed=1)
    c = torch.empty(4, 16, 16)
    batched_kernel[(1,)](a, b, c, B=4, N=16)
    return [(c, f8(a) @ f8(b))]


# --- reductions, scans, sorts


@triton.jit
def histogram_atomic_kernel(x, bins, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + i, mask=i < n, other=0), 1, mask=i < n)


@kernel
def histogram_by_atomics():
    x = whole(50, 1000)
    bins = torch.zeros(50, dtype=torch.int32)
    histogram_atomic_kernel[(8,)](x, bins, 1000, BLOCK=128)
    return [(bins, np.bincount(x.numpy(), minlength=50))]


@triton.jit
def histogram_kernel(x, bins, BLOCK: tl.constexpr, BINS: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    tl.store(bins + tl.arange(0, BINS), tl.histogram(v, BINS))


@kernel
def histogram_of_a_tile():
    x = whole(64, 1024)
    bins = torch.empty(64, dtype=torch.int32)
    histogram_kernel[(1,)](x, bins, BLOCK=1024, BINS=64)
    return [(bins, np.bincount(x.numpy(), minlength=64))]


@triton.jit
def cumsum_kernel(x, y, z, cols, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + c, mask=c < cols, other=0)
    tl.store(y + row * cols + c, tl.cumsum(v, 0), mask=c < cols)
    tl.store(z + row * cols + c, tl.cumsum(v, 0, reverse=True), mask=c < cols)


@kernel
def cumulative_sums():
    x = whole(100, 5, 300)
    y, z = torch.empty_like(x), torch.empty_like(x)
    cumsum_kernel[(5,)](x, y, z, 300, BLOCK=512)
    v = x.numpy()
    return [(y, v.cumsum(1)), (z, v[:, ::-1].cumsum(1)[:, ::-1])]


@triton.jit
def recurrence(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def recurrence_kernel(a, b, h, T: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, T)[:, None] * C + tl.arange(0, C)[None, :]
    _, out = tl.associative_scan((tl.load(a + at), tl.load(b + at)), 0, recurrence)
    tl.store(h + at, out)


@kernel
def linear_recurrence():
    a = normal(64, 16).sigmoid()
    b = normal(64, 16, seed=1)
    h = torch.empty(64, 16)
    recurrence_kernel[(1,)](a, b, h, T=64, C=16)
    state = np.zeros(16)
    states = []
    for t in range(64):
        state = f8(a)[t] * state + f8(b)[t]
        states.append(state)
    return [(h, np.array(states))]


@triton.jit
def sort_kernel(x, y, z, ROWS: tl.constexpr, COLS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    v = tl.load(x + at)
    tl.store(y + at, tl.sort(v, 1))
    tl.store(z + at, tl.flip(tl.sort(v, 1, descending=True), 1))


@kernel
def sorts():
    x = normal(8, 64)
    y, z = torch.empty_like(x), torch.empty_like(x)
    sort_kernel[(1,)](x, y, z, ROWS=8, COLS=64)
    return [(y, np.sort(f8(x), 1)), (z, np.sort(f8(x), 1))]


@triton.jit
def argmax_kernel(x, values, places, cols, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + c, mask=c < cols, other=-float("inf"))
    best, at = tl.max(v, 0, return_indices=True)
    tl.store(values + row, best)
    tl.store(places + row, at)
    tl.store(places + tl.num_programs(0) + row, tl.argmin(tl.where(c < cols, v, float("inf")), 0))


@kernel
def argmax_and_argmin():
    x = whole(7, 6, 100).float()  # of few values, so that ties occur
    values, places = torch.empty(6), torch.empty(2, 6, dtype=torch.int32)
    argmax_kernel[(6,)](x, values, places, 100, BLOCK=128)
    v = f8(x)
    return [(values, v.max(1)), (places, np.stack([v.argmax(1), v.argmin(1)]))]


@triton.jit
def join(mean1, m2_1, n1, mean2, m2_2, n2):
    n = n1 + n2
    share = tl.where(n == 0, 0.0, n2 / n)
    d = mean2 - mean1
    return mean1 + d * share, m2_1 + m2_2 + d * d * n1 * share, n


@triton.jit
def welford_kernel(x, mean, var, cols, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    inside = c < cols
    v = tl.load(x + row * cols + c, mask=inside, other=0.0)
    m, m2, n = tl.reduce((v, tl.zeros_like(v), inside.to(tl.float32)), 0, join)
    tl.store(mean + row, m)
    tl.store(var + row, m2 / n)


@kernel
def welford():
    x = normal(5, 333) + 3
    mean = torch.empty(5)
    var = torch.empty(5)
    welford_kernel[(5,)](x, mean, var, 333, BLOCK=512)
    return [(mean, f8(x).mean(1)), (var, f8(x).var(1))]


@triton.jit
def logsumexp_kernel(x, y, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top = tl.full((), -float("inf"), tl.float32)
    total = tl.full((), 0.0, tl.float32)
    for start in tl.range(0, cols, BLOCK, num_stages=2):
        c = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * cols + c, mask=c < cols, other=-float("inf"))
        higher = tl.maximum(top, tl.max(v, 0))
        total = total * tl.exp(top - higher) + tl.sum(tl.exp(v - higher), 0)
        top = higher
    tl.store(y + row, top + tl.log(total))


@kernel
def long_logsumexp():
    x = normal(4, 1000) * 5
    y = torch.empty(4)
    logsumexp_kernel[(4,)](x, y, 1000, BLOCK=128)
    v = f8(x)
    return [(y, np.log(np.exp(v - v.max(1, keepdims=True)).sum(1)) + v.max(1))]


@triton.jit
def ragged_kernel(x, starts, y, D: tl.constexpr, BLOCK: tl.constexpr):
    s, d = tl.program_id(0), tl.arange(0, D)
    begin, end = tl.load(starts + s), tl.load(starts + s + 1)
    total = tl.zeros((D,), tl.float32)
    for t in range(begin, end, BLOCK):
        i = t + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(x + i[:, None] * D + d[None, :], mask=i[:, None] < end, other=0.0), 0)
    tl.store(y + s * D + d, total / tl.maximum(end - begin, 1))


@kernel
def ragged_means():
    starts = torch.tensor([0, 5, 5, 40, 41, 100], dtype=torch.int32)
    x = normal(100, 32)
    y = torch.empty(5, 32)
    ragged_kernel[(5,)](x, starts, y, D=32, BLOCK=16)
    v = f8(x)
    return [(y, np.stack([v[a:b].sum(0) / max(b - a, 1) for a, b in zip(starts.tolist(), starts.tolist()[1:])]))]


# --- elementwise, gathers, layouts


@triton.jit
def fp8_kernel(x, q, scale, y, cols, BLOCK: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * cols + c, mask=c < cols, other=0.0)
    s = tl.max(tl.abs(v), 0) / 57344.0
    packed = (v / s).to(q.dtype.element_ty)
    tl.store(q + row * cols + c, packed, mask=c < cols)
    tl.store(scale + row, s)
    tl.store(y + row * cols + c, packed.to(tl.float32) * s, mask=c < cols)


@kernel
def fp8_by_rows():
    x = normal(6, 100)
    q, scale, y = torch.empty(6, 100, dtype=torch.float8_e5m2), torch.empty(6), torch.empty(6, 100)
    fp8_kernel[(6,)](x, q, scale, y, 100, BLOCK=128)
    s = (np.abs(x.numpy()).max(1) / np.float32(57344)).astype("f4")
    return [(scale, s), (q.float(), (x / torch.from_numpy(s)[:, None]).to(torch.float8_e5m2).float().numpy())]


@triton.jit
def descriptor_kernel(source, target, BM: tl.constexpr, BN: tl.constexpr):
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    target.store([j, i], tl.trans(source.load([i, j])))


@kernel
def descriptors_of_the_host():
    x = normal(50, 72)
    y = torch.empty(72, 50)
    y = torch.empty(72, 52)[:, :50]  # rows of a multiple of 16 bytes
    source = TensorDescriptor(x, [50, 72], [72, 1], [16, 32])
    target = TensorDescriptor(y, [72, 50], [52, 1], [32, 16])
    descriptor_kernel[(4, 3)](source, target, BM=16, BN=32)
    return [(y, f8(x).T)]


@triton.jit
def device_descriptor_kernel(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    target = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    target.store(at, source.load(at) * 2)


@kernel
def descriptors_of_the_device():
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8))
    x = normal(50, 40, dtype=torch.float16)
    y = torch.empty_like(x)
    device_descriptor_kernel[(4, 2)](x, y, 50, 40, BM=16, BN=32)
    return [(y, 2 * f8(x))]


@triton.jit
def newton_kernel(x, y, steps, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=1.0)
    r = v
    count = 0
    error = tl.max(tl.abs(r * r - v), 0)
    while (error > 1e-4) & (count < 50):
        r = 0.5 * (r + v / r)
        error = tl.max(tl.abs(r * r - v), 0)
        count += 1
    tl.store(y + i, r, mask=i < n)
    tl.store(steps + tl.program_id(0), count)


@kernel
def while_loop():
    x = normal(200).abs() + 0.1
    y = torch.empty(200)
    steps = torch.empty(4, dtype=torch.int32)
    newton_kernel[(4,)](x, y, steps, 200, BLOCK=64)
    return [(y, np.sqrt(f8(x))), ((steps > 2) & (steps < 20), np.ones(4))]


@triton.jit
def embedding_kernel(ids, table, y, D, BLOCK: tl.constexpr):
    token, d = tl.program_id(0), tl.arange(0, BLOCK)
    row = tl.load(ids + token)
    tl.store(y + token * D + d, tl.load(table + row * D + d, mask=d < D), mask=d < D)


@kernel
def gathered_rows():
    ids = whole(30, 20, dtype=torch.int64)
    table = normal(30, 50)
    y = torch.empty(20, 50)
    embedding_kernel[(20,)](ids, table, y, 50, BLOCK=64)
    return [(y, f8(table)[ids.numpy()])]


@triton.jit
def gather_kernel(x, index, y, ROWS: tl.constexpr, COLS: tl.constexpr, OUT: tl.constexpr):
    r = tl.arange(0, ROWS)[:, None]
    v = tl.load(x + r * COLS + tl.arange(0, COLS)[None, :])
    i = tl.load(index + r * OUT + tl.arange(0, OUT)[None, :])
    tl.store(y + r * OUT + tl.arange(0, OUT)[None, :], tl.gather(v, i, 1))


@kernel
def gather_in_a_tile():
    x = normal(16, 64)
    index = whole(64, 16, 32)
    y = torch.empty(16, 32)
    gather_kernel[(1,)](x, index, y, ROWS=16, COLS=64, OUT=32)
    return [(y, np.take_along_axis(f8(x), index.numpy().astype("i8"), 1))]


@triton.jit
def dropout_kernel(x, y, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    v = tl.load(x + i, mask=i < n)
    tl.store(y + i, tl.where(keep, v / (1 - p), 0.0), mask=i < n)


@kernel
def dropout():
    x = normal(4000)
    y = torch.empty(4000)
    again = torch.empty(4000)
    dropout_kernel[(8,)](x, y, 4000, 0.25, 123, BLOCK=512)
    dropout_kernel[(16,)](x, again, 4000, 0.25, 123, BLOCK=256)
    share = (y == 0).float().mean().reshape(1)
    return [(y, np.where(y.numpy() == 0, 0, f8(x) / 0.75)), (again, f8(y)), ((share > 0.22) & (share < 0.28), np.ones(1))]


@triton.jit
def adam_kernel(p, g, m, v, n, lr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    grad = tl.load(g + i, mask=inside)
    first = 0.9 * tl.load(m + i, mask=inside) + 0.1 * grad
    second = 0.99 * tl.load(v + i, mask=inside) + 0.01 * grad * grad
    tl.store(m + i, first, mask=inside)
    tl.store(v + i, second, mask=inside)
    tl.store(p + i, tl.load(p + i, mask=inside) - lr * first / (tl.sqrt(second) + 1e-6), mask=inside)


@kernel
def optimizer_in_place():
    p = normal(70)
    g = normal(70, seed=1)
    m = normal(70, seed=2)
    v = normal(70, seed=3).abs()
    second = 0.99 * f8(v) + 0.01 * f8(g) ** 2
    first = 0.9 * f8(m) + 0.1 * f8(g)
    expected = f8(p) - 0.01 * first / (np.sqrt(second) + 1e-6)
    adam_kernel[(3,)](p, g, m, v, 70, 0.01, BLOCK=32)
    return [(p, expected), (m, first), (v, second)]


@triton.jit
def complex_kernel(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    both = tl.arange(0, 2)[None, :]
    at, inside = i[:, None] * 2 + both, (i[:, None] < n) & (both < 2)
    ar, ai = tl.split(tl.load(a + at, mask=inside, other=0.0))
    br, bi = tl.split(tl.load(b + at, mask=inside, other=0.0))
    tl.store(c + at, tl.join(ar * br - ai * bi, ar * bi + ai * br), mask=inside)


@kernel
def complex_numbers():
    a = normal(100, 2)
    b = normal(100, 2, seed=1)
    c = torch.empty(100, 2)
    complex_kernel[(2,)](a, b, c, 100, BLOCK=64)
    z = f8(a).view("c16") * f8(b).view("c16")
    return [(c, z.view("f8"))]


@triton.jit
def special_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(y + i, libdevice.tanh(v), mask=i < n)
    tl.store(y + n + i, libdevice.atan2(v, 1.0 + v * v), mask=i < n)
    tl.store(y + 2 * n + i, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)), mask=i < n)
    tl.store(y + 3 * n + i, libdevice.pow(tl.abs(v) + 0.5, 1.7), mask=i < n)


@kernel
def functions_of_libdevice():
    x = normal(150)
    y = torch.empty(4, 150)
    special_kernel[(2,)](x, y, 150, BLOCK=128)
    v = f8(x)
    erf = torch.erf(torch.from_numpy(v) / 2**0.5).numpy()
    return [(y, np.stack([np.tanh(v), np.arctan2(v, 1 + v * v), 0.5 * v * (1 + erf), (np.abs(v) + 0.5) ** 1.7]))]


@triton.jit
def assembly_kernel(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    z = tl.inline_asm_elementwise("brev.b32 $0, $1;", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(y + i, z)


@kernel
def inline_assembly():
    x = whole(1 << 30, 128)
    y = torch.empty(128, dtype=torch.int32)
    assembly_kernel[(1,)](x, y, BLOCK=128)
    reverse = [int(f"{v:032b}"[::-1], 2) for v in x.tolist()]
    return [(y, np.array(reverse, "u4").view("i4"))]


@triton.jit
def double_kernel(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=1.0)
    tl.store(y + i, tl.sqrt(v) / (1.0 + v), mask=i < n)


@kernel
def doubles():
    x = normal(100).double().abs()
    y = torch.empty(100, dtype=torch.float64)
    double_kernel[(2,)](x, y, 100, BLOCK=64)
    return [(y, np.sqrt(x.numpy()) / (1 + x.numpy()))]


# --- programs that meet in memory


@triton.jit
def extremes_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_max(out, tl.max(v, 0))
    tl.atomic_min(out + 1, tl.min(tl.where(i < n, v, 1 << 30), 0))
    tl.atomic_xor(out + 2, tl.xor_sum(v, 0))
    tl.atomic_add(out + 3, tl.sum(v, 0))


@kernel
def atomics_of_all_kinds():
    x = whole(10000, 500)
    out = torch.tensor([0, 1 << 30, 0, 0], dtype=torch.int32)
    extremes_kernel[(4,)](x, out, 500, BLOCK=128)
    v = x.numpy()
    return [(out, np.array([v.max(), v.min(), np.bitwise_xor.reduce(v), v.sum()]))]


@triton.jit
def lock_kernel(x, total, lock, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    part = tl.load(x + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(total + i, tl.load(total + i) + part)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@kernel
def sums_under_a_lock():
    x = whole(100, 4, 128)
    total = torch.zeros(128, dtype=torch.int32)
    lock = torch.zeros(1, dtype=torch.int32)
    lock_kernel[(4,)](x, total, lock, BLOCK=128)
    return [(total, x.numpy().sum(0))]


@triton.jit
def ticket_kernel(x, parts, ticket, out, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(parts + pid, tl.sum(tl.load(x + pid * BLOCK + tl.arange(0, BLOCK)), 0))
    if tl.atomic_add(ticket, 1) == PROGRAMS - 1:
        tl.store(out, tl.sum(tl.load(parts + tl.arange(0, PROGRAMS)), 0))


@kernel
def last_program_joins():
    x = whole(100, 8, 128)
    parts = torch.empty(8, dtype=torch.int32)
    ticket, out = torch.zeros(1, dtype=torch.int32), torch.empty(1, dtype=torch.int32)
    ticket_kernel[(8,)](x, parts, ticket, out, PROGRAMS=8, BLOCK=128)
    return [(out, x.numpy().sum().reshape(1))]


@triton.jit
def jacobi_kernel(a, b, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inner = (i > 0) & (i < n - 1)
    left, right = tl.load(a + i - 1, mask=inner, other=0.0), tl.load(a + i + 1, mask=inner, other=0.0)
    tl.store(b + i, tl.where(inner, 0.5 * (left + right), tl.load(a + i, mask=i < n)), mask=i < n)


@kernel
def launches_in_turn():
    a = normal(150)
    b = torch.empty(150)
    v = f8(a)
    for _ in range(4):
        jacobi_kernel[(3,)](a, b, 150, BLOCK=64)
        v = np.concatenate([v[:1], 0.5 * (v[:-2] + v[2:]), v[-1:]])
        a, b = b, a
    return [(a, v)]


# --- decorators


@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 256}, num_warps=8)], key=["n"], reset_to_zero=["total"]
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned_kernel(x, total, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i) if EVEN else tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(total, tl.sum(v, 0))


@kernel
def autotuned():
    pairs = []
    for n in (512, 500):
        x = whole(100, n)
        total = torch.zeros(1, dtype=torch.int32)
        tuned_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, total, n)
        pairs.append((total, x.numpy().sum().reshape(1)))
    return pairs
