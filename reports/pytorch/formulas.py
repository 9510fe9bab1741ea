# SPDX-License-Identifier: Apache-2.0
"""The formulas of ops/*.hpp on nested lists of numbers, written out: what the PyTorch expressions are held against.  Each takes the
inputs by name and a row, and gives the outputs in the order of the expression's."""
from math import cos, erf, exp, log, pi, sin, sqrt, tanh


def dot(x, y):
    return sum(p * q for p, q in zip(x, y))


def plus(x, y):
    return [p + q for p, q in zip(x, y)]


def product(x, w, b=None):
    return [[dot(row, column) + (b[o] if b else 0) for o, column in enumerate(w)] for row in x]


def normed(row, gamma, beta, epsilon):
    """RMSNorm, of a beta LayerNorm."""
    mean = sum(row) / len(row) if beta else 0
    r = 1 / sqrt(sum((x - mean) ** 2 for x in row) / len(row) + epsilon)
    return [(x - mean) * r * g + (beta[i] if beta else 0) for i, (x, g) in enumerate(zip(row, gamma))]


def norm(x, t, a, which=""):
    return [normed(row, t["gamma" + which], t.get("beta" + which), a.epsilon) for row in x]


def gelu_of(z, form):
    return 0.5 * z * (1 + (tanh(sqrt(2 / pi) * (z + 0.044715 * z**3)) if form == "tanh" else erf(z / sqrt(2))))


def silu(z):
    return z / (1 + exp(-z))


def softmaxed(row):
    weights = [exp(x - max(row)) for x in row]
    return [w / sum(weights) for w in weights]


def each(f, *matrices):
    return [[f(*elements) for elements in zip(*rows)] for rows in zip(*matrices)]


def row_reduce(t, a):
    of = {"sum": sum, "max": max, "logsumexp": lambda row: log(sum(map(exp, row))), "sum_of_squares": lambda row: dot(row, row)}
    return ([of[a.what](row) for row in t["x"]],)


def cross_entropy(t, a):
    losses = [-log(softmaxed(row)[target]) for row, target in zip(t["x"], t["target"])]
    return losses, [sum(losses) / len(losses)]


def residual(t, a):
    s = each(lambda x, r: x + r, t["x"], t["residual"])
    return norm(s, t, a), s


def ffn_gelu(t, a):
    h = [[gelu_of(z, a.form) for z in row] for row in product(t["x"], t["w1"], t.get("b1"))]
    return (product(h, t["w2"], t.get("b2")),)


def places(t, a):
    """(page, slot) of position p of sequence b."""
    owned = min(a.max_pages, a.pages // a.batch)
    return lambda b, p: (t["pages"][b * owned + p // a.page_size], p % a.page_size)


def kv_append(t, a):
    at = places(t, a)
    for pool, new in (("k_pool", "k"), ("v_pool", "v")):
        for b in range(a.batch):
            for i in range(a.seq_q):
                page, slot = at(b, t["lengths"][b] - a.seq_q + i)
                t[pool][page][slot] = t[new][b][i]
    return t["k_pool"], t["v_pool"]


def sees(a, i, j):
    place = i + (0 if a.mask == "causal_top_left" else a.seq_k - a.seq_q)
    if a.mask != "none" and j > place:
        return False
    return not getattr(a, "window", 0) or j > place - a.window


def weights(q, k, a):
    """P [batch][heads][seq_q][seq_k]."""
    scale = getattr(a, "scale", 0) or 1 / sqrt(a.head_dim)
    cap = getattr(a, "softcap", 0)
    group = a.heads // a.kv_heads
    out = []
    for b in range(a.batch):
        out.append([])
        for h in range(a.heads):
            out[b].append([])
            for i in range(a.seq_q):
                s = [scale * dot(q[b][i][h], k[b][j][h // group]) for j in range(a.seq_k)]
                s = [cap * tanh(x / cap) if cap else x for x in s]
                seen = [j for j in range(a.seq_k) if sees(a, i, j)]
                row = [0.0] * a.seq_k
                for j, p in zip(seen, softmaxed([s[j] for j in seen])):
                    row[j] = p
                out[b][h].append(row)
    return out


def attended(q, k, v, a):
    p = weights(q, k, a)
    group = a.heads // a.kv_heads
    return [
        [
            [
                [sum(p[b][h][i][j] * v[b][j][h // group][d] for j in range(a.seq_k)) for d in range(a.head_dim)]
                for h in range(a.heads)
            ]
            for i in range(a.seq_q)
        ]
        for b in range(a.batch)
    ]


def attention_backward(t, a):
    q = t["q"]
    k = t["k"]
    v = t["v"]
    do = t["do"]
    p = weights(q, k, a)
    group = a.heads // a.kv_heads
    scale = a.scale or 1 / sqrt(a.head_dim)
    dq, dk, dv = ([[[[0.0] * a.head_dim for _ in head] for head in rows] for rows in x] for x in (q, k, v))
    for b in range(a.batch):
        for h in range(a.heads):
            for i in range(a.seq_q):
                dp = [dot(do[b][i][h], v[b][j][h // group]) for j in range(a.seq_k)]
                mean = dot(p[b][h][i], dp)
                for j in range(a.seq_k):
                    w = p[b][h][i][j]
                    ds = scale * w * (dp[j] - mean)
                    for d in range(a.head_dim):
                        dq[b][i][h][d] += ds * k[b][j][h // group][d]
                        dk[b][j][h // group][d] += ds * q[b][i][h][d]
                        dv[b][j][h // group][d] += w * do[b][i][h][d]
    return dq, dk, dv


def paged_attention(t, a):
    at = places(t, a)
    keys, values = (
        [[t[pool][page][slot] for page, slot in (at(b, p) for p in range(a.seq_k))] for b in range(a.batch)]
        for pool in ("k_pool", "v_pool")
    )
    return (attended(t["q"], keys, values, a),)


def turn(row, position, rotary, base, pairs):
    out = list(row)
    for i in range(rotary // 2):
        first, second = (i, i + rotary // 2) if pairs == "half" else (2 * i, 2 * i + 1)
        angle = position * base ** (-2 * i / rotary)
        out[first] = row[first] * cos(angle) - row[second] * sin(angle)
        out[second] = row[first] * sin(angle) + row[second] * cos(angle)
    return out


def turn_all(x, position, rotary, base, pairs):
    return [
        [[turn(head, position(b, s), rotary, base, pairs) for head in heads] for s, heads in enumerate(rows)]
        for b, rows in enumerate(x)
    ]


def rope(t, a):
    rotary = int(a.rotary_dim) or a.head_dim // 2 * 2
    position = lambda b, s: a.offset + (t["positions"][b][s] if "positions" in t else s)
    return tuple(turn_all(t[name], position, rotary, a.base or 10000, a.layout_of_pairs) for name in ("q", "k"))


def transformer_layer(t, a):
    neox = a.dialect == "gptneox"
    d = a.head_dim
    flat = [token for sequence in t["x"] for token in sequence]
    split = lambda y: [
        [[y[b * a.seq_q + s][i : i + d] for i in range(0, len(y[0]), d)] for s in range(a.seq_q)] for b in range(a.batch)
    ]
    n = norm(flat, t, a, "1")
    q, k, v = (split(product(n, t["w" + name], t.get("b" + name))) for name in "qkv")
    if a.dialect != "gpt2":
        rotary = int(a.rotary_dim) or (d // 8 * 2 if neox else d // 2 * 2)
        q, k = (turn_all(x, lambda b, s: s, rotary, a.base, "half") for x in (q, k))
    o = [[x for head in heads for x in head] for rows in attended(q, k, v, a) for heads in rows]
    h = [plus(x, y) for x, y in zip(flat, product(o, t["wo"], t.get("bo")))]
    n = norm(flat if neox else h, t, a, "2")
    up = product(n, t["w_up"], t.get("b_up"))
    if a.dialect == "llama":
        act = each(lambda g, u: silu(g) * u, product(n, t["w_gate"]), up)
    else:
        act = [[gelu_of(z, "erf" if neox else "tanh") for z in row] for row in up]
    y = [plus(x, z) for x, z in zip(h, product(act, t["w_down"], t.get("b_down")))]
    return ([y[b * a.seq_q : (b + 1) * a.seq_q] for b in range(a.batch)],)


FORMULAS = {
    "add": lambda t, a: (each(lambda x, y: x + y, t["a"], t["b"]),),
    "attention_backward": attention_backward,
    "attention_forward": lambda t, a: (attended(t["q"], t["k"], t["v"], a),),
    "attention_scores": lambda t, a: (weights(t["q"], t["k"], a),),
    "cross_entropy": cross_entropy,
    "embedding": lambda t, a: (
        [t["table"][a.vocab - 1 - at % a.vocab if a.fill == "ids_backwards" else i] for at, i in enumerate(t["ids"])],
    ),
    "ffn_gelu": ffn_gelu,
    "gelu": lambda t, a: (each(lambda x: gelu_of(x, a.form), t["x"]),),
    "gelu_linear": lambda t, a: (each(lambda z: gelu_of(z, a.form), product(t["x"], t["weight"], t.get("bias"))),),
    "gemm_swiglu": lambda t, a: (each(lambda g, u: silu(g) * u, product(t["x"], t["w_gate"]), product(t["x"], t["w_up"])),),
    "kv_append": kv_append,
    "layernorm": lambda t, a: (norm(t["x"], t, a),),
    "layernorm_linear": lambda t, a: (product(norm(t["x"], t, a), t["weight"], t.get("bias")),),
    "layernorm_residual": lambda t, a: (each(lambda n, r: n + r, norm(t["x"], t, a), t["residual"]),),
    "linear": lambda t, a: (product(t["x"], t["weight"], t.get("bias")),),
    "paged_attention": paged_attention,
    "residual_layernorm": residual,
    "residual_rmsnorm": residual,
    "rmsnorm": lambda t, a: (norm(t["x"], t, a),),
    "rmsnorm_gemm": lambda t, a: (product(norm(t["x"], t, a), t["weight"]),),
    "rope": rope,
    "row_reduce": row_reduce,
    "silu_mul": lambda t, a: (each(lambda g, u: silu(g) * u, t["gate"], t["up"]),),
    "softmax": lambda t, a: ([softmaxed(row) for row in t["x"]],),
    "transformer_layer": transformer_layer,
}
