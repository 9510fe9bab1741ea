# SPDX-License-Identifier: Apache-2.0
"""Softmax, LayerNorm + residual and RoPE in Triton.  Inputs may have any strides; outputs are dense."""

import torch
import triton
import triton.language as tl

from assay import Unsupported

MOST_COLS = 1 << 16  # that one program holds


@triton.jit
def softmax_kernel(x, y, cols, x_row, x_col, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * x_row + c * x_col, mask=c < cols, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, 0))
    e = tl.where(c < cols, e, 0)
    tl.store(y + row * cols + c, (e / tl.sum(e, 0)).to(y.dtype.element_ty), mask=c < cols)


def softmax(x):
    """One program a row, the row in registers."""
    rows, cols = x.shape
    if cols > MOST_COLS:
        raise Unsupported(f"takes at most {MOST_COLS} columns")
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows:
        softmax_kernel[(rows,)](x, y, cols, *x.stride(), BLOCK=triton.next_power_of_2(cols))
    return y


@triton.jit(do_not_specialize=["cols"])
def layernorm_residual_kernel(
    x, residual, gamma, beta, y, cols, x_row, x_col, r_row, r_col, g_col, b_col, epsilon, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    inside = c < cols
    v = tl.load(x + row * x_row + c * x_col, mask=inside, other=0).to(tl.float32)
    d = tl.where(inside, v - tl.div_rn(tl.sum(v, 0), cols.to(tl.float32)), 0)
    root = tl.sqrt_rn(tl.div_rn(tl.sum(d * d, 0), cols.to(tl.float32)) + epsilon)
    g = tl.load(gamma + c * g_col, mask=inside, other=0).to(tl.float32)
    b = tl.load(beta + c * b_col, mask=inside, other=0).to(tl.float32)
    r = tl.load(residual + row * r_row + c * r_col, mask=inside, other=0).to(tl.float32)
    out = d * tl.div_rn(1.0, root) * g + b + r
    tl.store(y + row * cols + c, out.to(y.dtype.element_ty), mask=inside)


def layernorm_residual(x, residual, gamma, beta, epsilon):
    """One program a row; mean and variance in two passes over registers."""
    rows, cols = x.shape
    if cols > MOST_COLS:
        raise Unsupported(f"takes at most {MOST_COLS} columns")
    y = torch.empty((rows, cols), dtype=x.dtype, device=x.device)
    if rows:
        layernorm_residual_kernel[(rows,)](
            x,
            residual,
            gamma,
            beta,
            y,
            cols,
            *x.stride(),
            *residual.stride(),
            *gamma.stride(),
            *beta.stride(),
            float(epsilon),
            BLOCK=triton.next_power_of_2(cols),
        )
    return y


@triton.jit
def rope_kernel(
    x, cos, sin, y, seq, heads, dim, pairs, x_batch, x_seq, x_head, x_dim, INTERLEAVED: tl.constexpr, BLOCK: tl.constexpr
):
    token, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    c = tl.arange(0, BLOCK)
    if INTERLEAVED:
        pair = c // 2
        first = c % 2 == 0
        partner = c ^ 1
    else:
        first = c < pairs
        pair = tl.where(first, c, c - pairs)
        partner = tl.where(first, c + pairs, c - pairs)
    turned = c < 2 * pairs
    row = x + token // seq * x_batch + token % seq * x_seq + head * x_head
    own = tl.load(row + c * x_dim, mask=c < dim, other=0)
    a = own.to(tl.float32)
    b = tl.load(row + partner * x_dim, mask=turned, other=0).to(tl.float32)
    co = tl.load(cos + token * pairs + pair, mask=turned, other=0)
    si = tl.load(sin + token * pairs + pair, mask=turned, other=0)
    out = a * co + tl.where(first, -b, b) * si
    tl.store(y + (token * heads + head) * dim + c, tl.where(turned, out.to(own.dtype), own), mask=c < dim)


def rope(q, k, positions, frequencies, layout_of_pairs, rotary_dim, base, offset):
    """A table of cosines and sines from angles in f64, then one program a head of a token."""
    batch, seq, _, dim = q.shape
    channels = rotary_dim or dim // 2 * 2
    pairs = channels // 2
    if positions is None:
        positions = torch.arange(seq, device=q.device).expand(batch, seq)
    if frequencies is None:
        frequencies = float(base or 10000) ** (
            -2.0 * torch.arange(pairs, device=q.device, dtype=torch.float64) / max(channels, 1)
        )
    angle = (positions.long() + offset)[..., None] * frequencies[:pairs].double()
    cos, sin = angle.cos().float().contiguous(), angle.sin().float().contiguous()
    outputs = []
    for x in (q, k):
        y = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        if y.numel():
            rope_kernel[(batch * seq, x.shape[2])](
                x,
                cos,
                sin,
                y,
                seq,
                x.shape[2],
                dim,
                pairs,
                *x.stride(),
                INTERLEAVED=layout_of_pairs == "interleaved",
                BLOCK=triton.next_power_of_2(dim),
            )
        outputs.append(y)
    return tuple(outputs)
