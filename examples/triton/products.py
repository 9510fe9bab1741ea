# SPDX-License-Identifier: Apache-2.0
"""GELU + Linear, the SwiGLU product and attention in Triton, on tensor cores where the dtype has 16 bits."""

import math

import torch
import triton
import triton.language as tl

from assay import Unsupported

M, N, K = 64, 64, 32  # a program's tile of a product, and the terms of one step


@triton.jit
def load_tile(base, rows, cols, row, col, row_stride, col_stride):
    inside = (row[:, None] < rows) & (col[None, :] < cols)
    return tl.load(base + row[:, None].to(tl.int64) * row_stride + col[None, :].to(tl.int64) * col_stride, mask=inside, other=0)


@triton.jit
def gelu_linear_kernel(
    x,
    w,
    bias,
    y,
    tokens,
    hidden,
    out,
    x_row,
    x_col,
    w_row,
    w_col,
    b_col,
    BIAS: tl.constexpr,
    ERF: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
):
    t, o, h = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N), tl.arange(0, K)
    z = tl.zeros((M, N), tl.float32)
    for begin in range(0, hidden, K):
        a = load_tile(x, tokens, hidden, t, begin + h, x_row, x_col)
        b = load_tile(w, out, hidden, o, begin + h, w_row, w_col)
        z = tl.dot(a, tl.trans(b), z, input_precision="ieee")
    if BIAS:
        z += tl.load(bias + o * b_col, mask=o < out, other=0).to(tl.float32)[None, :]
    if ERF:
        g = 0.5 * z * (1 + tl.erf(z * 0.7071067811865476))
    else:
        g = z / (1 + tl.exp(-1.5957691216057308 * (z + 0.044715 * z * z * z)))
    at = t[:, None].to(tl.int64) * out + o[None, :]
    tl.store(y + at, g.to(y.dtype.element_ty), mask=(t[:, None] < tokens) & (o[None, :] < out))


def gelu_linear(x, weight, bias, form):
    """The activation in the epilogue of the product."""
    (tokens, hidden), out = x.shape, weight.shape[0]
    y = torch.empty((tokens, out), dtype=x.dtype, device=x.device)
    if y.numel():
        gelu_linear_kernel[(triton.cdiv(tokens, M), triton.cdiv(out, N))](
            x,
            weight,
            weight if bias is None else bias,
            y,
            tokens,
            hidden,
            out,
            *x.stride(),
            *weight.stride(),
            0 if bias is None else bias.stride(0),
            BIAS=bias is not None,
            ERF=form == "erf",
            M=M,
            N=N,
            K=K,
        )
    return y


@triton.jit
def gemm_swiglu_kernel(
    x,
    w_gate,
    w_up,
    y,
    tokens,
    hidden,
    ffn,
    x_row,
    x_col,
    g_row,
    g_col,
    u_row,
    u_col,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
):
    t, f, h = tl.program_id(0) * M + tl.arange(0, M), tl.program_id(1) * N + tl.arange(0, N), tl.arange(0, K)
    gate, up = tl.zeros((M, N), tl.float32), tl.zeros((M, N), tl.float32)
    for begin in range(0, hidden, K):
        a = load_tile(x, tokens, hidden, t, begin + h, x_row, x_col)
        g = load_tile(w_gate, ffn, hidden, f, begin + h, g_row, g_col)
        u = load_tile(w_up, ffn, hidden, f, begin + h, u_row, u_col)
        gate = tl.dot(a, tl.trans(g), gate, input_precision="ieee")
        up = tl.dot(a, tl.trans(u), up, input_precision="ieee")
    at = t[:, None].to(tl.int64) * ffn + f[None, :]
    out = gate / (1 + tl.exp(-gate)) * up
    tl.store(y + at, out.to(y.dtype.element_ty), mask=(t[:, None] < tokens) & (f[None, :] < ffn))


def gemm_swiglu(x, w_gate, w_up):
    """Both products share the tiles of x."""
    (tokens, hidden), ffn = x.shape, w_up.shape[0]
    y = torch.empty((tokens, ffn), dtype=x.dtype, device=x.device)
    if y.numel():
        gemm_swiglu_kernel[(triton.cdiv(tokens, M), triton.cdiv(ffn, N))](
            x, w_gate, w_up, y, tokens, hidden, ffn, *x.stride(), *w_gate.stride(), *w_up.stride(), M=M, N=N, K=K
        )
    return y


QUERIES, KEYS = 64, 32  # a program's queries, and the keys of one step


@triton.jit
def attention_kernel(
    q,
    k,
    v,
    o,
    lse,
    seq_q,
    seq_k,
    heads,
    group,
    dim,
    scale,
    first_hidden,
    q_b,
    q_s,
    q_h,
    q_d,
    k_b,
    k_s,
    k_h,
    k_d,
    v_b,
    v_s,
    v_h,
    v_d,
    CAUSAL: tl.constexpr,
    QUERIES: tl.constexpr,
    KEYS: tl.constexpr,
    DIM: tl.constexpr,
):
    i, j, d = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES), tl.arange(0, KEYS), tl.arange(0, DIM)
    batch = (tl.program_id(1) // heads).to(tl.int64)
    head = tl.program_id(1) % heads
    queries = load_tile(q + batch * q_b + head * q_h, seq_q, dim, i, d, q_s, q_d)
    k += batch * k_b + head // group * k_h
    v += batch * v_b + head // group * v_h
    top = tl.full((QUERIES,), -float("inf"), tl.float32)
    total = tl.zeros((QUERIES,), tl.float32)
    sums = tl.zeros((QUERIES, DIM), tl.float32)
    for begin in range(0, seq_k, KEYS):
        key = begin + j
        s = tl.dot(queries, tl.trans(load_tile(k, seq_k, dim, key, d, k_s, k_d)), input_precision="ieee") * scale
        visible = key[None, :] < seq_k
        if CAUSAL:
            visible = visible & (key[None, :] < i[:, None] + first_hidden)
        s = tl.where(visible, s, -float("inf"))
        higher = tl.maximum(top, tl.max(s, 1))
        base = tl.where(higher == -float("inf"), 0, higher)  # of a query that has seen no key
        p = tl.exp(s - base[:, None])
        shrink = tl.exp(top - base)
        total = total * shrink + tl.sum(p, 1)
        values = load_tile(v, seq_k, dim, key, d, v_s, v_d)
        sums = tl.dot(p.to(values.dtype), values, sums * shrink[:, None], input_precision="ieee")
        top = higher
    out = tl.where(total[:, None] == 0, 0, sums / total[:, None])  # 0: every visible score is -inf, or none is visible
    at = (((batch * seq_q + i[:, None]) * heads) + head) * dim + d[None, :]
    tl.store(o + at, out.to(o.dtype.element_ty), mask=(i[:, None] < seq_q) & (d[None, :] < dim))
    tl.store(lse + (batch * heads + head) * seq_q + i, tl.where(total == 0, -float("inf"), top + tl.log(total)), mask=i < seq_q)


def attention_forward(q, k, v, mask, scale):
    """attention(), if the values of hidden keys are finite."""
    if mask != "none" and not torch.isfinite(v).all():
        raise Unsupported("multiplies the values of hidden keys by 0, so that they must be finite")
    return attention(q, k, v, mask, scale)


def attention(q, k, v, mask, scale):
    """An online softmax over tiles of keys (FlashAttention 2)."""
    (batch, seq_q, heads, dim), (_, seq_k, kv_heads, _) = q.shape, k.shape
    if dim > 256:
        raise Unsupported("takes at most 256 channels of a head")
    o = torch.empty(q.shape, dtype=q.dtype, device=q.device)
    lse = torch.empty((batch, heads, seq_q), dtype=torch.float32, device=q.device)
    if o.numel():
        attention_kernel[(triton.cdiv(seq_q, QUERIES), batch * heads)](
            q,
            k,
            v,
            o,
            lse,
            seq_q,
            seq_k,
            heads,
            heads // kv_heads,
            dim,
            float(scale or 1 / math.sqrt(dim)),
            1 + (seq_k - seq_q if mask == "causal" else 0),
            *q.stride(),
            *k.stride(),
            *v.stride(),
            CAUSAL=mask != "none",
            QUERIES=QUERIES,
            KEYS=KEYS,
            DIM=max(16, triton.next_power_of_2(dim)),
            num_stages=2 if dim > 128 and q.dtype == torch.float32 else 3,  # for the shared memory of sm_80
        )
    return o, lse
