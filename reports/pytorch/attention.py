# SPDX-License-Identifier: Apache-2.0
"""The expressions with attention in them.  Tensors are stored [batch, seq, heads, head_dim], as our ops store them, and passed on as
views [batch, heads, seq, head_dim]."""
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from .expressions import Variant, eager, llama_norm

BACKENDS = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
    "math": SDPBackend.MATH,
}


def _scale(a):
    return a.scale or a.head_dim**-0.5


def visible(a, device):
    """[seq_q, seq_k], whether a query sees a key; None: all see all."""
    window = getattr(a, "window", 0)
    if a.mask == "none" and not window:
        return None
    place = torch.arange(a.seq_q, device=device)[:, None] + (0 if a.mask == "causal_top_left" else a.seq_k - a.seq_q)
    keys = torch.arange(a.seq_k, device=device)[None, :]
    seen = keys <= place if a.mask != "none" else torch.ones(a.seq_q, a.seq_k, dtype=torch.bool, device=device)
    return seen & (keys > place - window) if window else seen


def added_mask(a, device, dtype):
    seen = visible(a, device)
    return None if seen is None else torch.zeros(seen.shape, dtype=dtype, device=device).masked_fill_(~seen, float("-inf"))


def probabilities(q, k, a, mask):
    if a.heads != a.kv_heads:
        k = k.repeat_interleave(a.heads // a.kv_heads, dim=1)
    s = torch.matmul(q, k.transpose(2, 3)) * _scale(a)
    if getattr(a, "softcap", 0):
        s = a.softcap * torch.tanh(s / a.softcap)
    if mask is not None:
        s = s + mask
    return torch.softmax(s, -1)


def materialised(q, k, v, a, mask):
    """[batch, seq, heads, head_dim] in and out."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    p = probabilities(q, k, a, mask)
    if a.heads != a.kv_heads:
        v = v.repeat_interleave(a.heads // a.kv_heads, dim=1)
    return torch.matmul(p, v).transpose(1, 2).contiguous()


def sdpa(q, k, v, a, mask=None):
    causal = a.mask != "none" and mask is None
    return F.scaled_dot_product_attention(
        q.transpose(1, 2),
        k.transpose(1, 2),
        v.transpose(1, 2),
        attn_mask=mask,
        is_causal=causal,
        scale=_scale(a),
        enable_gqa=a.heads != a.kv_heads,
    ).transpose(1, 2)


def by_backend(name):
    def forward(q, k, v, a, _):
        with sdpa_kernel(BACKENDS[name]):
            return sdpa(q, k, v, a)

    return forward


def steps_of(a):
    masked = a.mask != "none" or getattr(a, "window", 0)
    return "matmul, scale" + (", cap" if getattr(a, "softcap", 0) else "") + (", mask" if masked else "") + ", softmax"


def sdpa_cannot(a):
    """Why the row is none that F.scaled_dot_product_attention computes; empty: it does."""
    if getattr(a, "window", 0):
        return "it has no sliding window"
    if getattr(a, "softcap", 0):
        return "it has no cap of scores"
    if a.mask != "none" and a.seq_q != a.seq_k:
        return "its backends do not agree on a causal mask of seq_q != seq_k"
    return ""


def beyond(a):
    """Why no expression is written for the row; empty: one is."""
    if getattr(a, "packed", "no") == "yes":
        return "packed sequences are not written here"
    if getattr(a, "rope", "none") != "none":
        return "attention that turns q and k is not written here"
    return ""


def heads_of(m, a):
    return (
        m.normal("q", a.batch, a.seq_q, a.heads, a.head_dim),
        m.normal("k", a.batch, a.seq_k, a.kv_heads, a.head_dim),
        m.normal("v", a.batch, a.seq_k, a.kv_heads, a.head_dim),
    )


def attention_scores(m, a):
    q, k = (m.normal(n, a.batch, s, h, a.head_dim) for n, s, h in (("q", a.seq_q, a.heads), ("k", a.seq_k, a.kv_heads)))
    mask = added_mask(a, m.device, m.dtype)
    yield eager(steps_of(a), lambda: probabilities(q.transpose(1, 2), k.transpose(1, 2), a, mask))


def attention_forward(m, a):
    if beyond(a):
        yield Variant("eager", "materialised attention", left_out=beyond(a))
        return
    q, k, v = heads_of(m, a)
    mask = added_mask(a, m.device, m.dtype)
    yield eager(steps_of(a) + ", matmul, each stored; no L", lambda: materialised(q, k, v, a, mask))
    for name in BACKENDS:
        forward = by_backend(name)
        yield Variant(
            "sdpa_" + name,
            f"F.scaled_dot_product_attention, {name} backend; no L",
            lambda forward=forward: forward(q, k, v, a, None),
            hide_host=True,
            left_out=sdpa_cannot(a) or None,
        )
    # Note: inputs that want gradients are what makes PyTorch ask for L; cuDNN is up to 3 % faster with it than without.
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    forward = by_backend("cudnn")

    def with_l():
        with torch.enable_grad():
            return forward(*leaves, a, None).detach()

    yield Variant(
        "sdpa_cudnn_l",
        "F.scaled_dot_product_attention, cudnn backend, as in training: O and L",
        with_l,
        hide_host=True,
        left_out=sdpa_cannot(a) or None,
    )


def attention_backward(m, a):
    inputs = heads_of(m, a)
    d_o = m.normal("do", a.batch, a.seq_q, a.heads, a.head_dim)
    mask = added_mask(a, m.device, m.dtype)

    def prepare(forward):
        leaves = [x.detach().requires_grad_() for x in inputs]
        with torch.enable_grad():
            o = forward(*leaves, a, mask)
        return lambda: torch.autograd.grad(o, leaves, d_o, retain_graph=True)

    host = "; queued while the device is busy"
    yield Variant(
        "eager",
        f"autograd of {steps_of(a)}, matmul: its backward pass" + host,
        prepare=lambda: prepare(materialised),
        hide_host=True,
    )
    for name in BACKENDS:
        yield Variant(
            "sdpa_" + name,
            f"autograd of F.scaled_dot_product_attention, {name} backend: its backward pass" + host,
            prepare=lambda name=name: prepare(by_backend(name)),
            hide_host=True,
            left_out=sdpa_cannot(a) or None,
        )


def paged_attention(m, a):
    what = "gather of the pages, F.scaled_dot_product_attention; no L"
    owned = min(a.max_pages, a.pages // a.batch)
    if a.fill != "lengths_full" or a.seq_q > owned * a.page_size:
        yield Variant(
            "eager",
            what,
            left_out="only rows whose sequences are all full are written: a padded gather of ragged ones "
            "would move what nobody reads",
        )
        return
    q = m.normal("q", a.batch, a.seq_q, a.heads, a.head_dim)
    pools = [m.normal(n, a.pages, a.page_size, a.kv_heads, a.head_dim) for n in ("k_pool", "v_pool")]
    table = m.permutation("pages", a.pages)[: a.batch * owned].view(a.batch, owned)
    a.seq_k = owned * a.page_size
    a.mask = "causal" if a.seq_q > 1 else "none"
    mask = visible(a, m.device)
    yield eager(what, lambda: sdpa(q, *(pool[table].flatten(1, 2) for pool in pools), a, mask))


def tables(m, a, rotary, pairs, positions):
    """cos and sin, [batch or 1, seq, 1, rotary], made before anything is timed, as a model makes them once for all its layers."""
    i = torch.arange(rotary // 2, device=m.device, dtype=torch.float64)
    angle = positions.to(torch.float64)[..., None] * (a.base or 10000.0) ** (-2 * i / rotary)
    angle = torch.cat((angle, angle), -1) if pairs == "half" else angle.repeat_interleave(2, -1)
    return (angle.cos().to(m.dtype)[:, :, None], angle.sin().to(m.dtype)[:, :, None])


def rotated(x, pairs):
    if pairs == "half":
        return torch.cat((-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]), -1)
    return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)


def turned(x, cos, sin, pairs="half"):
    rotary = cos.shape[-1]
    turning = x[..., :rotary]
    y = turning * cos + rotated(turning, pairs) * sin
    return y if rotary == x.shape[-1] else torch.cat((y, x[..., rotary:]), -1)


def rope(m, a):
    q, k = (m.normal(n, a.batch, a.seq_q, h, a.head_dim) for n, h in (("q", a.heads), ("k", a.kv_heads)))
    if a.positions == "explicit":
        positions = m.integers("positions", 0, 4096, a.batch, a.seq_q)
    else:
        positions = torch.arange(a.seq_q, device=m.device)[None]
    cos, sin = tables(m, a, int(a.rotary_dim) or a.head_dim // 2 * 2, a.layout_of_pairs, positions + a.offset)
    of = "rotate_half" if a.layout_of_pairs == "half" else "rotate_every_two"
    yield eager(
        f"x * cos + {of}(x) * sin of q and k, the tables known",
        lambda: (turned(q, cos, sin, a.layout_of_pairs), turned(k, cos, sin, a.layout_of_pairs)),
    )


def transformer_layer(m, a):
    llama, neox = a.dialect == "llama", a.dialect == "gptneox"
    c = a.hidden
    wide = a.heads * a.head_dim
    narrow = a.kv_heads * a.head_dim
    biased = "no" if llama else "yes"
    x = m.normal("x", a.batch, a.seq_q, c)
    projections = {}
    for name, out, inner in (
        ("q", wide, c),
        ("k", narrow, c),
        ("v", narrow, c),
        ("o", c, wide),
        ("_up", a.ffn, c),
        ("_down", c, a.ffn),
    ):
        projections[name] = m.weight("w" + name, out, inner), m.maybe(biased, "b" + name, out)
    w_gate = m.weight("w_gate", a.ffn, c) if llama else None
    norms = [(m.gain(f"gamma{i}", c), m.maybe(biased, f"beta{i}", c)) for i in (1, 2)]
    rotary = int(a.rotary_dim) or (a.head_dim // 8 * 2 if neox else a.head_dim // 2 * 2)
    cos, sin = tables(m, a, rotary, "half", torch.arange(a.seq_q, device=m.device)[None])
    a.seq_k = a.seq_q
    a.mask = "causal"
    a.scale = 0.0
    mask = added_mask(a, m.device, m.dtype)

    def norm(which, y):
        gamma, beta = norms[which]
        return F.rms_norm(y, (c,), gamma, a.epsilon) if llama else F.layer_norm(y, (c,), gamma, beta, a.epsilon)

    def project(name, y):
        return F.linear(y, *projections[name])

    def layer(attend, norm=norm):
        n = norm(0, x)
        q, k, v = (project(name, n).view(a.batch, a.seq_q, -1, a.head_dim) for name in "qkv")
        if a.dialect != "gpt2":
            q, k = turned(q, cos, sin), turned(k, cos, sin)
        h = x + project("o", attend(q, k, v).reshape(a.batch, a.seq_q, wide))
        n = norm(1, x if neox else h)
        up = project("_up", n)
        act = F.silu(F.linear(n, w_gate)) * up if llama else F.gelu(up, approximate="none" if neox else "tanh")
        return h + project("_down", act)

    of = {
        "llama": "F.rms_norm, F.linear, rotate_half, SwiGLU",
        "gpt2": "F.layer_norm, F.linear, F.gelu",
        "gptneox": "F.layer_norm, F.linear, rotate_half of a quarter, F.gelu, parallel residual",
    }[a.dialect]
    by_sdpa = lambda: layer(lambda q, k, v: sdpa(q, k, v, a))
    yield eager(f"{of}; F.scaled_dot_product_attention as PyTorch chooses its backend", by_sdpa)
    yield eager(
        f"{of}; attention materialised",
        lambda: layer(lambda q, k, v: materialised(q, k, v, a, mask)),
        kernel="eager_materialised",
    )
    if llama:
        yield eager(
            f"{of}, the norm as Llama has it; F.scaled_dot_product_attention",
            lambda: layer(lambda q, k, v: sdpa(q, k, v, a), lambda which, y: llama_norm(y, norms[which][0], a.epsilon)),
            kernel="eager_llama",
        )


ALL = (attention_backward, attention_forward, attention_scores, paged_attention, rope, transformer_layer)
