#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the witnesses: small cases of each op with its outputs, computed to 50 digits by mpmath from the op's definition.

    make.py [OP...]      writes OP.json beside this file, of all ops by default
    make.py --check      exits with 1 if a file is not what this script makes

They share nothing with the tree: neither its formulas (reference/) nor what these give, exactly or with roundings.  A formula
must meet them, and formulas that are wrong on purpose must not (reference/tests/witnesses_test.cpp).  Finite inputs have at most
10 bits, and f16 holds them exactly, but for a few whose sum overflows f32.  What an op rounds to the storage dtype is rounded to
f32.  An output is the f64 nearest to the value.
"""

import json
import random
import sys
from pathlib import Path

from mpmath import cos, erf, exp, fsum, isinf, isnan, log, mp, mpf, pi, power, sin, sqrt, tanh, workprec

mp.dps = 50
HERE = Path(__file__).resolve().parent
EPSILONS = (1e-5, 1e-6, 0.0625)


def draw(rng, *shape, scale=4.0):
    """Nested lists of numbers within +-scale."""
    if not shape:
        return rng.randint(int(-32 * scale), int(32 * scale)) / 32
    return [draw(rng, *shape[1:], scale=scale) for _ in range(shape[0])]


def gelu_of(z, form):
    if form == "erf":
        return z / 2 * (1 + erf(z / sqrt(2)))
    return z / 2 * (1 + tanh(sqrt(2 / pi) * (z + mpf("0.044715") * z**3)))


def in_f32(v):
    """A number that is not subnormal, rounded to f32."""
    with workprec(24):
        rounded = +v
    return rounded if abs(rounded) < mpf(2) ** 128 else rounded * mpf("inf")


def normalised(row, epsilon):
    """A row less its mean, over its standard deviation."""
    mean = fsum(row) / len(row)
    root = sqrt(fsum((v - mean) ** 2 for v in row) / len(row) + mpf(epsilon))
    return [(v - mean) / root for v in row]


def sums(a, b):
    return [[mpf(p) + mpf(q) for p, q in zip(r, s)] for r, s in zip(a, b)]


def add(a, b):
    return {"y": sums(a, b)}


def softmax(x):
    exps = [[exp(mpf(v)) for v in row] for row in x]
    return {"y": [[e / fsum(row) for e in row] for row in exps]}


def rmsnorm(x, gamma, epsilon):
    out = []
    for row in x:
        root = sqrt(fsum(mpf(v) ** 2 for v in row) / len(row) + mpf(epsilon))
        out.append([mpf(v) / root * mpf(g) for v, g in zip(row, gamma)])
    return {"y": out}


def rmsnorm_backward(dy, x, gamma, epsilon):
    """By the quotient rule: y = x gamma / n with n = sqrt(mean x^2 + epsilon), so dn/dx[c] = x[c] / (cols n)."""
    dx = []
    dgamma = [mpf(0)] * len(gamma)
    for grads, row in zip(dy, x):
        n = sqrt(fsum(mpf(v) ** 2 for v in row) / len(row) + mpf(epsilon))
        of_n = -fsum(mpf(g) * mpf(v) * mpf(w) for g, v, w in zip(grads, row, gamma)) / n**2
        dx.append([mpf(g) * mpf(w) / n + of_n * mpf(v) / (len(row) * n) for g, v, w in zip(grads, row, gamma)])
        dgamma = [sum_ + mpf(g) * mpf(v) / n for sum_, g, v in zip(dgamma, grads, row)]
    return {"dx": dx, "dgamma": dgamma}


def l2norm(x, epsilon):
    return {"y": [[mpf(v) / sqrt(fsum(mpf(w) ** 2 for w in row) + mpf(epsilon)) for v in row] for row in x]}


def layernorm(x, gamma, beta, epsilon):
    rows = [normalised([mpf(v) for v in row], epsilon) for row in x]
    return {"y": [[v * mpf(g) + mpf(b) for v, g, b in zip(row, gamma, beta)] for row in rows]}


def residual_rmsnorm(x, residual, gamma, epsilon, sum="rounded"):
    stored = [[in_f32(v) for v in row] for row in sums(x, residual)]
    out = []
    for row, rounded in zip(sums(x, residual), stored):
        row = [r if sum == "rounded" or isinf(r) else v for v, r in zip(row, rounded)]
        root = sqrt(fsum(v**2 for v in row) / len(row) + mpf(epsilon))
        out.append([v / root * mpf(g) for v, g in zip(row, gamma)])
    return {"y": out, "s": stored}


def residual_layernorm(x, residual, gamma, beta, epsilon):
    stored = [[in_f32(v) for v in row] for row in sums(x, residual)]
    rows = [normalised(row, epsilon) for row in stored]
    return {"y": [[v * mpf(g) + mpf(b) for v, g, b in zip(row, gamma, beta)] for row in rows], "s": stored}


def layernorm_residual(x, residual, gamma, beta, epsilon):
    return {"y": sums(layernorm(x, gamma, beta, epsilon)["y"], residual)}


def gelu(x, form="tanh"):
    return {"y": [[gelu_of(mpf(v), form) for v in row] for row in x]}


def silu_mul(gate, up):
    return {"y": [[mpf(p) / (1 + exp(-mpf(p))) * mpf(q) for p, q in zip(r, s)] for r, s in zip(gate, up)]}


def cross_entropy(x, target):
    losses = []
    for row, place in zip(x, target):
        seen = [mpf(v) for v in row]
        losses.append(mpf("nan") if max(seen) == mpf("inf") else log(fsum(exp(v) for v in seen)) - seen[place])
    return {"loss": losses, "mean": fsum(losses) / len(losses)}


def embedding(table, ids):
    return {"y": [table[i] for i in ids]}


def products(x, weight, bias):
    rows = [[fsum(mpf(p) * mpf(q) for p, q in zip(row, w)) for w in weight] for row in x]
    return [[v + mpf(b) for v, b in zip(row, bias)] for row in rows] if bias else rows


def linear(x, weight, bias=None):
    return {"y": products(x, weight, bias)}


def gemm_swiglu(x, w_gate, w_up):
    return silu_mul(products(x, w_gate, None), products(x, w_up, None))


def layernorm_linear(x, gamma, beta, weight, epsilon, bias=None):
    return {"y": products(layernorm(x, gamma, beta, epsilon)["y"], weight, bias)}


def rmsnorm_gemm(x, gamma, weight, epsilon):
    return {"y": products(rmsnorm(x, gamma, epsilon)["y"], weight, None)}


def ffn_gelu(x, w1, w2, b1=None, b2=None, form="tanh"):
    return {"y": products(gelu_linear(x, w1, b1, form)["y"], w2, b2)}


def gelu_linear(x, weight, bias=None, form="tanh"):
    return {"y": [[gelu_of(z, form) for z in row] for row in products(x, weight, bias)]}


def row_reduce(x, what):
    reduce = {
        "sum": lambda row: fsum(mpf(v) for v in row),
        "max": lambda row: mpf(max(row)),
        "logsumexp": lambda row: log(fsum(exp(mpf(v)) for v in row)),
        "sum_of_squares": lambda row: fsum(mpf(v) ** 2 for v in row),
    }[what]
    return {"y": [reduce(row) for row in x]}


def turned(row, position, rope, rotary_dim, base, frequencies=None):
    """One row of a head, rotated by its position (Su et al. 2021, RoFormer, section 3.4.2)."""
    turning = rotary_dim or len(row) // 2 * 2
    out = [mpf(v) for v in row]
    for i in range(turning // 2):
        one, other = (i, i + turning // 2) if rope == "half" else (2 * i, 2 * i + 1)
        angle = position * (mpf(frequencies[i]) if frequencies else power(mpf(base), -mpf(2 * i) / turning))
        out[one] = mpf(row[one]) * cos(angle) - mpf(row[other]) * sin(angle)
        out[other] = mpf(row[one]) * sin(angle) + mpf(row[other]) * cos(angle)
    return out


def rope(q, k, positions=None, frequencies=None, layout_of_pairs="half", rotary_dim=0, base=10000, offset=0):
    def rotated(batch, tokens):
        places = positions[batch] if positions else range(len(tokens))
        return [
            [turned(row, place + offset, layout_of_pairs, rotary_dim, base, frequencies) for row in token]
            for place, token in zip(places, tokens)
        ]

    return {"q_out": [rotated(*pair) for pair in enumerate(q)], "k_out": [rotated(*pair) for pair in enumerate(k)]}


def attention_forward(
    q,
    k,
    v,
    cu_seqlens_q=None,
    cu_seqlens_k=None,
    mask="none",
    scale=0,
    window=0,
    softcap=0,
    rope="none",
    rotary_dim=0,
    rope_base=10000,
    rope_offset=0,
):
    batch, seq_q = len(q), len(q[0])
    heads, dim = len(q[0][0]), len(q[0][0][0])
    seq_k, group = len(k[0]), len(q[0][0]) // len(k[0][0])
    queries, keys, values = ([token for row in tensor for token in row] for tensor in (q, k, v))
    starts_q = cu_seqlens_q or [b * seq_q for b in range(batch + 1)]
    starts_k = cu_seqlens_k or [b * seq_k for b in range(batch + 1)]
    factor = mpf(scale) if scale else 1 / sqrt(mpf(dim))
    out = [[None] * heads for _ in queries]
    logs = [[None] * heads for _ in queries]
    for first_q, end_q, first_k, end_k in zip(starts_q, starts_q[1:], starts_k, starts_k[1:]):
        for token in range(first_q, end_q):
            place = token - first_q if mask == "causal_top_left" else token - first_q + (end_k - first_k) - (end_q - first_q)
            seen = [j for j in range(end_k - first_k) if (mask == "none" or j <= place) and (not window or j > place - window)]
            for head in range(heads):
                query = queries[token][head]
                rows = [keys[first_k + j][head // group] for j in seen]
                if rope != "none":
                    query = turned(query, place + rope_offset, rope, rotary_dim, rope_base)
                    rows = [turned(row, j + rope_offset, rope, rotary_dim, rope_base) for row, j in zip(rows, seen)]
                scores = [fsum(mpf(a) * mpf(b) for a, b in zip(query, row)) * factor for row in rows]
                if softcap:
                    scores = [softcap * tanh(s / softcap) for s in scores]
                weights = [exp(s) for s in scores]
                total = fsum(weights)
                if any(isnan(s) or (isinf(s) and s > 0) for s in scores):
                    out[token][head], logs[token][head] = [mpf("nan")] * dim, mpf("nan")
                elif total == 0:
                    out[token][head], logs[token][head] = [mpf(0)] * dim, mpf("-inf")
                else:
                    rows = [values[first_k + j][head // group] for j in seen]
                    out[token][head] = [fsum(w * mpf(row[c]) for w, row in zip(weights, rows)) / total for c in range(dim)]
                    logs[token][head] = log(total)
    return {
        "o": [out[b * seq_q : (b + 1) * seq_q] for b in range(batch)],
        "lse": [[[logs[b * seq_q + i][head] for i in range(seq_q)] for head in range(heads)] for b in range(batch)],
    }


def paged_attention(q, k_pool, v_pool, page_table, lengths, scale=0):
    """Each sequence's keys and values in a row, and attention with a causal mask at their end."""
    out, logs = [], []
    for tokens, pages, length in zip(q, page_table, lengths):
        size = len(k_pool[0])
        cached = [[pool[pages[p // size]][p % size] for p in range(length)] for pool in (k_pool, v_pool)]
        if length:
            one = attention_forward([tokens], [cached[0]], [cached[1]], mask="causal", scale=scale)
        else:
            one = {
                "o": [[[[mpf(0)] * len(h) for h in t] for t in tokens]],
                "lse": [[[mpf("-inf")] * len(tokens)] * len(tokens[0])],
            }
        out.append(one["o"][0])
        logs.append(one["lse"][0])
    return {"o": out, "lse": logs}


def attention_backward(q, k, v, o, lse, do, mask="none", scale=0):
    """Pair by pair.  A pair that is hidden, or whose query has the logarithm -inf, adds nothing."""
    seq_q, seq_k = len(q[0]), len(k[0])
    heads, dim = len(q[0][0]), len(q[0][0][0])
    group = heads // len(k[0][0])
    factor = mpf(scale) if scale else 1 / sqrt(mpf(dim))
    gradients = {name: [[[[mpf(0)] * dim for _ in t] for t in b] for b in x] for name, x in (("dq", q), ("dk", k), ("dv", k))}

    def dot(a, b):
        return fsum(mpf(x) * mpf(y) for x, y in zip(a, b))

    for b in range(len(q)):
        for i in range(seq_q):
            last = {"none": seq_k, "causal": i + seq_k - seq_q, "causal_top_left": i}[mask]
            for head in range(heads):
                if lse[b][head][i] == float("-inf"):
                    continue
                of_row = dot(do[b][i][head], o[b][i][head])
                for j in range(min(seq_k, max(0, last + 1))):
                    query, gradient = q[b][i][head], do[b][i][head]
                    key, value = k[b][j][head // group], v[b][j][head // group]
                    p = exp(factor * dot(query, key) - mpf(lse[b][head][i]))
                    ds = p * (dot(gradient, value) - of_row) * factor
                    of_query, of_key = gradients["dq"][b][i][head], gradients["dk"][b][j][head // group]
                    of_value = gradients["dv"][b][j][head // group]
                    for c in range(dim):
                        of_query[c] += ds * mpf(key[c])
                        of_key[c] += ds * mpf(query[c])
                        of_value[c] += p * mpf(gradient[c])
    return gradients


def kv_append(k, v, page_table, lengths, k_pool, v_pool):
    """The pools, with each new row in the slot of its position.  Rows before the first position are left out."""
    out = {}
    for name, pool, rows in (("k_pool", k_pool, k), ("v_pool", v_pool, v)):
        after = [list(page) for page in pool]
        for tokens, pages, length in zip(rows, page_table, lengths):
            for position, token in enumerate(tokens, length - len(tokens)):
                if position >= 0:
                    after[pages[position // len(pool[0])]][position % len(pool[0])] = token
        out[name] = after
    return out


def attention_scores(q, k, mask="none", scale=0):
    seq_q, seq_k = len(q[0]), len(k[0])
    group = len(q[0][0]) // len(k[0][0])
    factor = mpf(scale) if scale else 1 / sqrt(mpf(len(q[0][0][0])))

    def weights(tokens, keys, head, i):
        last = {"none": seq_k, "causal": i + seq_k - seq_q, "causal_top_left": i}[mask]
        scores = [
            fsum(mpf(a) * mpf(b) for a, b in zip(tokens[i][head], key[head // group])) * factor
            for key in keys[: max(0, last + 1)]
        ]
        spoiled = any(isnan(s) or (isinf(s) and s > 0) for s in scores)
        total = fsum(exp(s) for s in scores)
        seen = [mpf("nan") if spoiled else exp(s) / total if total else mpf(0) for s in scores]
        return seen + [mpf(0)] * (seq_k - len(seen))

    return {
        "p": [
            [[weights(tokens, keys, head, i) for i in range(seq_q)] for head in range(len(tokens[0]))]
            for tokens, keys in zip(q, k)
        ]
    }


ATTENTIONS = (
    {},
    {"mask": "causal"},
    {"mask": "causal_top_left", "scale": 0.3125},
    {"mask": "causal", "window": 2},
    {"window": 2, "scale": 0.3125},
    {"mask": "causal", "softcap": 2.5},
    {"mask": "causal", "rope": "half", "rotary_dim": 4, "rope_offset": 3, "rope_base": 100},
    {"mask": "causal", "rope": "interleaved", "rotary_dim": 4, "rope_offset": 2},
    {"packed": "yes"},
    {"packed": "yes", "mask": "causal"},
    {"packed": "yes", "mask": "causal_top_left", "window": 2},
    {"packed": "yes", "mask": "causal", "softcap": 1.5, "rope": "half", "rotary_dim": 4, "rope_offset": 5},
)


def starts(rng, batch, seq, whole):
    """First tokens of packed sequences: of equal lengths, or of any."""
    inner = [b * seq for b in range(1, batch)] if whole else sorted(rng.randint(0, batch * seq) for _ in range(batch - 1))
    return [0, *inner, batch * seq]


def attention_cases(rng):
    """Six of each form.  The first has two key heads, and no keys in its first sequence if packed; in the last two a query has
    infinite scores."""
    for attributes in ATTENTIONS:
        for number in range(6):
            packed = "packed" in attributes
            batch = rng.choice((2, 3)) if packed else 1 + number % 2
            seq_q, seq_k = rng.randint(2, 4), rng.randint(3, 5)
            if number == 1:  # the first queries see nothing under a causal mask
                seq_q, seq_k = 4, 3
            kv_heads = 2 if number == 0 else 1
            dim = 5 if "rope" in attributes else rng.randint(2, 3)
            inputs = {
                "q": draw(rng, batch, seq_q, 2 * kv_heads, dim, scale=1.5),
                "k": draw(rng, batch, seq_k, kv_heads, dim, scale=1.5),
                "v": draw(rng, batch, seq_k, kv_heads, dim),
            }
            if number >= 4:  # in the last channel, which is not rotated
                for token in inputs["k"][0]:
                    token[0][-1] = -1.0
                inputs["q"][0][-1][0][-1] = float("inf")
                seen = 0
                if "window" in attributes:
                    seen = (min(seq_q, seq_k) if attributes.get("mask") == "causal_top_left" else seq_k) - 1
                inputs["k"][0][seen][0][-1] = 1.0 if number == 4 else -1.0
            if packed:
                whole = number in (2, 4, 5)
                inputs["cu_seqlens_q"] = starts(rng, batch, seq_q, whole or number == 0)
                inputs["cu_seqlens_k"] = starts(rng, batch, seq_k, whole)
                if number == 0:
                    inputs["cu_seqlens_k"][1] = 0
            extents = {
                "batch": batch,
                "seq_q": seq_q,
                "seq_k": seq_k,
                "heads": 2 * kv_heads,
                "kv_heads": kv_heads,
                "head_dim": dim,
            }
            yield extents, attributes, inputs


def attention_scores_cases(rng):
    """In every fourth the first queries see nothing under a causal mask; in two of five the first query has infinite
    scores."""
    for number in range(24):
        batch, kv_heads, dim = rng.randint(1, 2), rng.randint(1, 2), rng.randint(2, 3)
        seq_q, seq_k = (4, 3) if number % 4 == 1 else (rng.randint(2, 4), rng.randint(3, 5))
        if number % 5 >= 3:
            seq_q, seq_k = 2, 4
        attributes = ({}, {"mask": "causal"}, {"mask": "causal_top_left", "scale": 0.3125})[number % 3]
        inputs = {
            "q": draw(rng, batch, seq_q, 2 * kv_heads, dim, scale=1.5),
            "k": draw(rng, batch, seq_k, kv_heads, dim, scale=1.5),
        }
        if number % 5 >= 3:
            for token in inputs["k"][0]:
                token[0][-1] = -1.0
            inputs["q"][0][0][0][-1] = float("inf")
            inputs["k"][0][0][0][-1] = -1.0 if number % 5 == 3 else 1.0
        extents = {"batch": batch, "seq_q": seq_q, "seq_k": seq_k, "heads": 2 * kv_heads, "kv_heads": kv_heads, "head_dim": dim}
        yield extents, attributes, inputs


def attention_backward_cases(rng):
    """In every second case a query sees nothing; under a mask the last key is NaN in every fourth, where no query sees it."""
    for number in range(24):
        batch, kv_heads, dim = rng.randint(1, 2), rng.randint(1, 2), rng.randint(2, 3)
        seq_q, seq_k = rng.randint(2, 4), rng.randint(2, 4)
        attributes = ({}, {"mask": "causal"}, {"mask": "causal_top_left", "scale": 0.3125})[number % 3]
        if number % 4 == 2 and number % 3 == 2:
            seq_q, seq_k = 2, 4
        queries, keys = (batch, seq_q, 2 * kv_heads, dim), (batch, seq_k, kv_heads, dim)
        inputs = {name: draw(rng, *queries, scale=1.5) for name in ("q", "o", "do")}
        inputs |= {name: draw(rng, *keys, scale=1.5) for name in ("k", "v")}
        inputs["lse"] = draw(rng, batch, 2 * kv_heads, seq_q, scale=1.0)
        if number % 2 == 0:
            inputs["lse"][0][1][1] = float("-inf")
        if number % 4 == 2 and number % 3 == 2:
            for name in ("k", "v"):
                inputs[name][0][3][0][0] = float("nan")
        extents = {"batch": batch, "seq_q": seq_q, "seq_k": seq_k, "heads": 2 * kv_heads, "kv_heads": kv_heads, "head_dim": dim}
        yield extents, attributes, inputs


def draw_pages(rng, number, batch, seq_q, page_size, max_pages):
    """(pages, page_table, lengths): pages that are not owned in order, and table entries that nothing uses.  In every third case the
    first sequence is shorter than its queries, in every sixth it is empty."""
    pages = batch * max_pages + 1
    owned = rng.sample(range(pages), batch * max_pages)
    lengths = [rng.randint(seq_q, page_size * max_pages) if seq_q < page_size * max_pages else seq_q for _ in range(batch)]
    lengths = [min(n, page_size * max_pages) for n in lengths]
    if number % 3 == 2:
        lengths[0] = 0 if number % 6 == 5 else min(lengths[0], max(1, seq_q - 1))
    table = [owned[b * max_pages : (b + 1) * max_pages] for b in range(batch)]
    for row, length in zip(table, lengths):
        for entry in range((length + page_size - 1) // page_size, max_pages):
            row[entry] = pages + 7
    return pages, table, lengths


def paged_attention_cases(rng):
    """In every fifth a query has infinite scores."""
    for number in range(24):
        batch, seq_q = rng.randint(1, 2), rng.randint(1, 3)
        kv_heads, dim = rng.randint(1, 2), rng.randint(2, 3)
        page_size, max_pages = rng.randint(1, 3), rng.randint(2, 3)
        pages, table, lengths = draw_pages(rng, number, batch, seq_q, page_size, max_pages)
        inputs = {
            "q": draw(rng, batch, seq_q, 2 * kv_heads, dim, scale=1.5),
            "k_pool": draw(rng, pages, page_size, kv_heads, dim, scale=1.5),
            "v_pool": draw(rng, pages, page_size, kv_heads, dim),
            "page_table": table,
            "lengths": lengths,
        }
        if number % 5 == 4 and lengths[-1]:
            inputs["q"][-1][-1][0][-1] = float("inf")
            inputs["k_pool"][table[-1][0]][0][0][-1] = 1.0 if number % 2 else -1.0
        extents = {"batch": batch, "seq_q": seq_q, "pages": pages, "page_size": page_size, "max_pages": max_pages}
        extents |= {"heads": 2 * kv_heads, "kv_heads": kv_heads, "head_dim": dim}
        yield extents, {"scale": 0.3125} if number % 2 else {}, inputs


def kv_append_cases(rng):
    for number in range(24):
        batch, seq_q = rng.randint(1, 2), rng.randint(1, 4)
        kv_heads, dim = rng.randint(1, 2), rng.randint(1, 3)
        page_size, max_pages = rng.randint(1, 3), rng.randint(2, 3)
        pages, table, lengths = draw_pages(rng, number, batch, seq_q, page_size, max_pages)
        inputs = {
            "k": draw(rng, batch, seq_q, kv_heads, dim),
            "v": draw(rng, batch, seq_q, kv_heads, dim),
            "page_table": table,
            "lengths": lengths,
            "k_pool": draw(rng, pages, page_size, kv_heads, dim),
            "v_pool": draw(rng, pages, page_size, kv_heads, dim),
        }
        extents = {"batch": batch, "seq_q": seq_q, "pages": pages, "page_size": page_size, "max_pages": max_pages}
        yield extents | {"kv_heads": kv_heads, "head_dim": dim}, {}, inputs


ROPES = (
    {"rotary_dim": 4, "offset": 3, "base": 100},
    {"layout_of_pairs": "interleaved", "rotary_dim": 4, "offset": 2},
    {"positions": "explicit", "rotary_dim": 4, "offset": 5},
    {"frequencies": "given", "layout_of_pairs": "interleaved", "rotary_dim": 4, "offset": 1},
)


def rope_cases(rng):
    """Six of each form.  The last channel is not rotated."""
    for attributes in ROPES:
        for number in range(6):
            batch = 1 + number % 2
            seq = rng.randint(2, 4)
            kv_heads = rng.randint(1, 2)
            dim = 5
            inputs = {"q": draw(rng, batch, seq, 2 * kv_heads, dim), "k": draw(rng, batch, seq, kv_heads, dim)}
            if "positions" in attributes:
                inputs["positions"] = [[rng.randint(0, 40) for _ in range(seq)] for _ in range(batch)]
            if "frequencies" in attributes:
                inputs["frequencies"] = [rng.randint(0, 32) / 32 for _ in range(dim)]
            yield {"batch": batch, "seq_q": seq, "heads": 2 * kv_heads, "kv_heads": kv_heads, "head_dim": dim}, attributes, inputs


def cross_entropy_cases(rng):
    """The fifth has a target of weight 0, the sixth an infinite element."""
    for number in range(24):
        tokens = rng.randint(1, 3)
        vocab = rng.choice((2, 3, 5, 8))
        x = draw(rng, tokens, vocab, scale=rng.choice((0.5, 4.0, 16.0)))
        target = [rng.randrange(vocab) for _ in range(tokens)]
        if number in (4, 5):
            x[0][target[0]] = float("-inf" if number == 4 else "inf")
        yield {"tokens": tokens, "vocab": vocab}, {}, {"x": x, "target": target}


def residual_cases(op, rng):
    """In every third a sum has more bits than f32, in two of residual_rmsnorm the first overflows."""
    for number in range(24):
        rows, cols, scale = rng.randint(1, 3), rng.choice((2, 3, 5, 8)), rng.choice((1 / 8, 0.5, 4.0))
        x, residual = draw(rng, rows, cols, scale=scale), draw(rng, rows, cols, scale=scale)
        if number % 3 == 0:
            x = [[512 * v for v in row] for row in draw(rng, rows, cols, scale=16.0)]
            residual = [[v / 128 for v in row] for row in draw(rng, rows, cols)]
        attributes = {"epsilon": EPSILONS[number // 2 % len(EPSILONS)]}
        inputs = {"x": x, "residual": residual, "gamma": draw(rng, cols)}
        if op == "residual_rmsnorm":
            if number % 2:
                attributes["sum"] = "f32"
            if number in (1, 5):
                x[0][0] = residual[0][0] = (2.0 if number == 1 else -2.0) ** 127
        else:
            inputs["beta"] = draw(rng, cols)
        yield {"rows": rows, "cols": cols}, attributes, inputs


def gemm_swiglu_cases(rng):
    for _ in range(24):
        tokens, hidden, ffn = rng.randint(1, 3), rng.choice((1, 2, 3, 5)), rng.randint(1, 4)
        weights = {"w_gate": draw(rng, ffn, hidden, scale=1.0), "w_up": draw(rng, ffn, hidden, scale=1.0)}
        yield {"tokens": tokens, "hidden": hidden, "ffn": ffn}, {}, {"x": draw(rng, tokens, hidden), **weights}


def layernorm_linear_cases(rng):
    for number in range(24):
        tokens, hidden, out = rng.randint(1, 3), rng.choice((2, 3, 5, 8)), rng.randint(1, 4)
        inputs = {
            "x": draw(rng, tokens, hidden, scale=rng.choice((1 / 8, 0.5, 4.0))),
            "gamma": draw(rng, hidden),
            "beta": draw(rng, hidden),
            "weight": draw(rng, out, hidden, scale=1.0),
        }
        attributes = {"epsilon": EPSILONS[number // 2 % len(EPSILONS)]}
        if number % 2:
            attributes["bias"] = "yes"
            inputs["bias"] = draw(rng, out)
        yield {"tokens": tokens, "hidden": hidden, "out": out}, attributes, inputs


def rmsnorm_gemm_cases(rng):
    for number in range(24):
        tokens, hidden, out = rng.randint(1, 3), rng.choice((1, 2, 3, 5, 8)), rng.randint(1, 4)
        inputs = {
            "x": draw(rng, tokens, hidden, scale=rng.choice((1 / 8, 0.5, 4.0))),
            "gamma": draw(rng, hidden),
            "weight": draw(rng, out, hidden, scale=1.0),
        }
        yield {"tokens": tokens, "hidden": hidden, "out": out}, {"epsilon": EPSILONS[number % len(EPSILONS)]}, inputs


def ffn_gelu_cases(rng):
    for number in range(24):
        tokens, hidden, ffn = rng.randint(1, 3), rng.choice((1, 2, 3, 5)), rng.randint(1, 4)
        inputs = {
            "x": draw(rng, tokens, hidden, scale=1.0),
            "w1": draw(rng, ffn, hidden, scale=1.0),
            "w2": draw(rng, hidden, ffn, scale=1.0),
        }
        attributes = {"form": "erf"} if number % 4 >= 2 else {}
        if number % 2:
            attributes["bias"] = "yes"
            inputs["b1"] = draw(rng, ffn, scale=0.5)
            inputs["b2"] = draw(rng, hidden, scale=0.5)
        yield {"tokens": tokens, "hidden": hidden, "ffn": ffn}, attributes, inputs


CASES = {
    "attention_forward": attention_cases,
    "attention_backward": attention_backward_cases,
    "attention_scores": attention_scores_cases,
    "cross_entropy": cross_entropy_cases,
    "ffn_gelu": ffn_gelu_cases,
    "gemm_swiglu": gemm_swiglu_cases,
    "kv_append": kv_append_cases,
    "paged_attention": paged_attention_cases,
    "layernorm_linear": layernorm_linear_cases,
    "residual_layernorm": lambda rng: residual_cases("residual_layernorm", rng),
    "residual_rmsnorm": lambda rng: residual_cases("residual_rmsnorm", rng),
    "rmsnorm_gemm": rmsnorm_gemm_cases,
    "rope": rope_cases,
}


def cases_of(op, rng):
    """(extents, attributes, inputs) of the cases of an op."""
    if op in CASES:
        yield from CASES[op](rng)
        return
    for number in range(24):
        rows = rng.randint(1, 3)
        cols = rng.choice((1, 2, 3, 5, 8))
        scale = rng.choice((0.5, 4.0, 16.0))
        matrix = {"rows": rows, "cols": cols}
        epsilon = EPSILONS[number % len(EPSILONS)]
        if op == "add":
            yield matrix, {}, {"a": draw(rng, rows, cols, scale=scale), "b": draw(rng, rows, cols, scale=scale)}
        elif op == "gelu":
            yield matrix, {"form": "erf"} if number % 2 else {}, {"x": draw(rng, rows, cols, scale=scale / 4)}
        elif op == "silu_mul":
            yield matrix, {}, {"gate": draw(rng, rows, cols, scale=scale), "up": draw(rng, rows, cols)}
        elif op == "embedding":
            hidden = rng.randint(1, 3)
            ids = [rng.randrange(cols) for _ in range(rows)]
            yield {"tokens": rows, "hidden": hidden, "vocab": cols}, {}, {"table": draw(rng, cols, hidden), "ids": ids}
        elif op == "softmax":
            yield matrix, {}, {"x": draw(rng, rows, cols, scale=scale)}
        elif op == "rmsnorm":
            yield matrix, {"epsilon": epsilon}, {
                "x": draw(rng, rows, cols, scale=max(scale / 64, 1 / 8) if number % 2 else scale),
                "gamma": draw(rng, cols),
            }
        elif op == "l2norm":
            yield matrix, {"epsilon": epsilon}, {"x": draw(rng, rows, cols, scale=1 / 8 if number % 2 else scale)}
        elif op == "rmsnorm_backward":
            yield matrix, {"epsilon": epsilon}, {
                "dy": draw(rng, rows, cols, scale=scale),
                "x": draw(rng, rows, cols, scale=1 / 8 if number % 2 else scale),
                "gamma": draw(rng, cols),
            }
        elif op in ("layernorm", "layernorm_residual"):
            inputs = {
                "x": draw(rng, rows, cols, scale=scale / 4 if number % 2 else scale),
                "gamma": draw(rng, cols),
                "beta": draw(rng, cols),
            }
            if op == "layernorm_residual":
                inputs["residual"] = draw(rng, rows, cols)
            yield matrix, {"epsilon": epsilon}, inputs
        elif op in ("linear", "gelu_linear"):
            tokens = rng.randint(1, 3)
            hidden = rng.choice((1, 2, 3, 5))
            out = rng.randint(1, 4)
            attributes = {"bias": "yes"} if number % 2 else {}
            if op == "gelu_linear" and number % 4 >= 2:
                attributes["form"] = "erf"
            size = 0.5 if op == "gelu_linear" else scale
            inputs = {"x": draw(rng, tokens, hidden, scale=size), "weight": draw(rng, out, hidden, scale=1.0)}
            if number % 2:
                inputs["bias"] = draw(rng, out, scale=size)
            yield {"tokens": tokens, "hidden": hidden, "out": out}, attributes, inputs
        elif op == "row_reduce":
            yield matrix, {"what": ("sum", "max", "logsumexp", "sum_of_squares")[number % 4]}, {
                "x": draw(rng, rows, cols, scale=scale)
            }


OPS = {
    f.__name__: f
    for f in (
        add,
        attention_backward,
        attention_forward,
        attention_scores,
        cross_entropy,
        embedding,
        ffn_gelu,
        gelu,
        gelu_linear,
        gemm_swiglu,
        kv_append,
        l2norm,
        layernorm,
        layernorm_linear,
        layernorm_residual,
        linear,
        paged_attention,
        residual_layernorm,
        residual_rmsnorm,
        rmsnorm,
        rmsnorm_backward,
        rmsnorm_gemm,
        rope,
        row_reduce,
        silu_mul,
        softmax,
    )
}
# Attributes that say which inputs there are.
OF_INPUTS = ("bias", "packed", "positions", "frequencies")


def plain(values):
    """Numbers of Python; what JSON has no number for is a word."""
    if isinstance(values, list):
        return [plain(v) for v in values]
    if isinstance(values, int):
        return values
    return str(float(values)) if isnan(values) or isinf(values) else float(values)


def text_of(op):
    lines = []
    for extents, attributes, inputs in cases_of(op, random.Random(f"witnesses of {op}")):
        words = {name: value for name, value in attributes.items() if name not in OF_INPUTS}
        outputs = {name: plain(values) for name, values in OPS[op](**inputs, **words).items()}
        lines.append(
            json.dumps(
                {
                    "dims": extents,
                    "attributes": attributes,
                    "inputs": {n: plain(v) for n, v in inputs.items()},
                    "outputs": outputs,
                }
            )
        )
    return "[\n" + ",\n".join(lines) + "\n]\n"


def main(arguments):
    wrong = []
    for op in [a for a in arguments if not a.startswith("-")] or OPS:
        file = HERE / f"{op}.json"
        text = text_of(op)
        if "--check" not in arguments:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            wrong.append(file.name)
    if wrong:
        print("not what make.py makes: " + ", ".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
