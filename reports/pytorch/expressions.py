# SPDX-License-Identifier: Apache-2.0
"""What is timed of each op: the PyTorch expressions that a person would write, one op a step.  A function an op takes a maker of
tensors and a row (its axes and attributes), makes the inputs and yields variants.  Attention is in attention.py."""
import torch
import torch.nn.functional as F

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}


class Variant:
    """One way to compute the op.  `call` returns its outputs; `prepare`, where it is given, runs once and returns `call`.  `steps`:
    several kernels, so that a graph of them is worth a row of its own; `compiled`: torch.compile is tried on it."""

    def __init__(self, kernel, what, call=None, prepare=None, steps=False, compiled=False, hide_host=False, left_out=None):
        self.kernel = "pytorch_" + kernel
        self.what = what
        self.call = call
        self.prepare = prepare
        self.steps = steps
        self.compiled = compiled
        self.hide_host = hide_host
        self.left_out = left_out


def eager(what, call, steps=True, kernel="eager"):
    return Variant(kernel, what, call, steps=steps, compiled=kernel == "eager")


class Maker:
    """Inputs on the device, drawn from a seed; kept by name as they were made where somebody wants to look at them."""

    def __init__(self, device, dtype, seed=2026, keep=False):
        self.device = device
        self.dtype = dtype
        self.kept = {} if keep else None
        self.random = torch.Generator(device).manual_seed(seed)

    def _made(self, name, tensor):
        if self.kept is not None:
            self.kept[name] = tensor.clone()
        return tensor

    def normal(self, name, *shape, mean=0.0, std=1.0):
        x = torch.randn(shape, generator=self.random, device=self.device, dtype=self.dtype)
        if std != 1:
            x *= std
        if mean:
            x += mean
        return self._made(name, x)

    def weight(self, name, out, inner):
        return self.normal(name, out, inner, std=inner**-0.5)

    def gain(self, name, width):
        return self.normal(name, width, mean=1.0, std=0.1)

    def shift(self, name, width):
        return self.normal(name, width, std=0.1)

    def maybe(self, given, name, width):
        return self.shift(name, width) if given == "yes" else None

    def integers(self, name, low, high, *shape, dtype=torch.int64):
        return self._made(name, torch.randint(low, high, shape, generator=self.random, device=self.device, dtype=dtype))

    def backwards(self, name, extent, n):
        """The fill ids_backwards."""
        return self._made(name, (extent - 1 - torch.arange(n, device=self.device) % extent).to(torch.int32))

    def permutation(self, name, n):
        return self._made(name, torch.randperm(n, generator=self.random, device=self.device))


def llama_norm(x, gamma, epsilon):
    """RMSNorm as the Llama models in Hugging Face's form compute it: in f32, back to the dtype, then times gamma."""
    f = x.to(torch.float32)
    return gamma * (f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + epsilon)).to(x.dtype)


LLAMA_NORM = "gamma * (f * rsqrt(f.pow(2).mean(-1) + epsilon)).to(dtype), f = x.float(), as Llama has it"


def add(m, a):
    x, y = m.normal("a", a.rows, a.cols), m.normal("b", a.rows, a.cols)
    yield eager("a + b", lambda: x + y, steps=False)


def gelu(m, a):
    x = m.normal("x", a.rows, a.cols)
    form = "tanh" if a.form == "tanh" else "none"
    yield eager(f"F.gelu(x, approximate={form})", lambda: F.gelu(x, approximate=form), steps=False)


def silu_mul(m, a):
    gate, up = m.normal("gate", a.rows, a.cols), m.normal("up", a.rows, a.cols)
    yield eager("F.silu(gate) * up", lambda: F.silu(gate) * up)


def softmax(m, a):
    x = m.normal("x", a.rows, a.cols)
    yield eager("torch.softmax(x, -1)", lambda: torch.softmax(x, -1), steps=False)


def embedding(m, a):
    table = m.normal("table", a.vocab, a.hidden)
    ids = (
        m.backwards("ids", a.vocab, a.tokens)
        if a.fill == "ids_backwards"
        else m.integers("ids", 0, a.vocab, a.tokens, dtype=torch.int32)
    )
    yield eager("F.embedding(ids, table)", lambda: F.embedding(ids, table), steps=False)


def row_reduce(m, a):
    x = m.normal("x", a.rows, a.cols)
    wide = torch.promote_types(m.dtype, torch.float32)
    what, call = {
        "sum": ("x.sum(-1, dtype=f32)", lambda: x.sum(-1, dtype=wide)),
        "max": ("x.amax(-1).float()", lambda: x.amax(-1).to(wide)),
        "logsumexp": ("torch.logsumexp(x.float(), -1), for in f16 it would overflow", lambda: torch.logsumexp(x.to(wide), -1)),
        "sum_of_squares": (
            "torch.linalg.vector_norm(x, dim=-1, dtype=f32).square()",
            lambda: torch.linalg.vector_norm(x, dim=-1, dtype=wide).square(),
        ),
    }[a.what]
    yield eager(what, call, steps=a.what != "sum")


def cross_entropy(m, a):
    x, target = m.normal("x", a.tokens, a.vocab), m.integers("target", 0, a.vocab, a.tokens)

    def call():
        loss = F.cross_entropy(x.float(), target, reduction="none")
        return loss, loss.mean()

    yield eager("F.cross_entropy(x.float(), target, reduction=none) and its mean", call)


def layernorm(m, a):
    x, g, b = m.normal("x", a.rows, a.cols), m.gain("gamma", a.cols), m.shift("beta", a.cols)
    yield eager("F.layer_norm(x)", lambda: F.layer_norm(x, (a.cols,), g, b, a.epsilon), steps=False)


def layernorm_residual(m, a):
    x, r = m.normal("x", a.rows, a.cols), m.normal("residual", a.rows, a.cols)
    g, b = m.gain("gamma", a.cols), m.shift("beta", a.cols)
    yield eager("F.layer_norm(x) + r", lambda: F.layer_norm(x, (a.cols,), g, b, a.epsilon) + r)


def residual_layernorm(m, a):
    x, r = m.normal("x", a.rows, a.cols), m.normal("residual", a.rows, a.cols)
    g, b = m.gain("gamma", a.cols), m.shift("beta", a.cols)

    def call():
        s = x + r
        return F.layer_norm(s, (a.cols,), g, b, a.epsilon), s

    yield eager("s = x + r; F.layer_norm(s)", call)


def rmsnorm(m, a):
    x, g = m.normal("x", a.rows, a.cols), m.gain("gamma", a.cols)
    yield eager("F.rms_norm(x)", lambda: F.rms_norm(x, (a.cols,), g, a.epsilon), steps=False)
    yield eager(LLAMA_NORM, lambda: llama_norm(x, g, a.epsilon), kernel="eager_llama")


def residual_rmsnorm(m, a):
    x, r, g = m.normal("x", a.rows, a.cols), m.normal("residual", a.rows, a.cols), m.gain("gamma", a.cols)

    def with_norm(norm):
        s = x + r
        return norm(s), s

    yield eager("s = x + r; F.rms_norm(s)", lambda: with_norm(lambda s: F.rms_norm(s, (a.cols,), g, a.epsilon)))
    yield eager(
        "s = x + r; " + LLAMA_NORM.replace("x.", "s."),
        lambda: with_norm(lambda s: llama_norm(s, g, a.epsilon)),
        kernel="eager_llama",
    )


def linear(m, a):
    x, w, b = m.normal("x", a.tokens, a.hidden), m.weight("weight", a.out, a.hidden), m.maybe(a.bias, "bias", a.out)
    what = "F.linear(x, w, b)" if b is not None else "F.linear(x, w)"
    yield eager(what, lambda: F.linear(x, w, b), steps=False)
    if m.device == "cpu":
        return
    usual = torch.backends.cuda.preferred_blas_library()

    def by_cublaslt():
        torch.backends.cuda.preferred_blas_library("cublaslt")
        try:
            return F.linear(x, w, b)
        finally:
            torch.backends.cuda.preferred_blas_library(usual)

    yield Variant("cublaslt", f"{what}, cuBLASLt preferred", by_cublaslt)


def gelu_linear(m, a):
    x, w, b = m.normal("x", a.tokens, a.hidden), m.weight("weight", a.out, a.hidden), m.maybe(a.bias, "bias", a.out)
    form = "tanh" if a.form == "tanh" else "none"
    yield eager(
        f"F.gelu(F.linear(x, w{', b' if b is not None else ''}), approximate={form})",
        lambda: F.gelu(F.linear(x, w, b), approximate=form),
    )


def gemm_swiglu(m, a):
    x = m.normal("x", a.tokens, a.hidden)
    gate, up = m.weight("w_gate", a.ffn, a.hidden), m.weight("w_up", a.ffn, a.hidden)
    yield eager("F.silu(F.linear(x, w_gate)) * F.linear(x, w_up)", lambda: F.silu(F.linear(x, gate)) * F.linear(x, up))


def ffn_gelu(m, a):
    x = m.normal("x", a.tokens, a.hidden)
    w1, b1 = m.weight("w1", a.ffn, a.hidden), m.maybe(a.bias, "b1", a.ffn)
    w2, b2 = m.weight("w2", a.hidden, a.ffn), m.maybe(a.bias, "b2", a.hidden)
    form = "tanh" if a.form == "tanh" else "none"
    yield eager(
        f"F.linear(F.gelu(F.linear(x, w1), approximate={form}), w2){', with biases' if b1 is not None else ''}",
        lambda: F.linear(F.gelu(F.linear(x, w1, b1), approximate=form), w2, b2),
    )


def rmsnorm_gemm(m, a):
    x, g, w = m.normal("x", a.tokens, a.hidden), m.gain("gamma", a.hidden), m.weight("weight", a.out, a.hidden)
    yield eager("F.linear(F.rms_norm(x), w)", lambda: F.linear(F.rms_norm(x, (a.hidden,), g, a.epsilon), w))
    yield eager("F.linear(n, w), n = " + LLAMA_NORM, lambda: F.linear(llama_norm(x, g, a.epsilon), w), kernel="eager_llama")


def layernorm_linear(m, a):
    x, g, s = m.normal("x", a.tokens, a.hidden), m.gain("gamma", a.hidden), m.shift("beta", a.hidden)
    w, b = m.weight("weight", a.out, a.hidden), m.maybe(a.bias, "bias", a.out)
    yield eager(
        f"F.linear(F.layer_norm(x), w{', b' if b is not None else ''})",
        lambda: F.linear(F.layer_norm(x, (a.hidden,), g, s, a.epsilon), w, b),
    )


def kv_append(m, a):
    k, v = (m.normal(n, a.batch, a.seq_q, a.kv_heads, a.head_dim) for n in ("k", "v"))
    pools = [m.normal(n, a.pages, a.page_size, a.kv_heads, a.head_dim) for n in ("k_pool", "v_pool")]
    owned = min(a.max_pages, a.pages // a.batch)
    capacity = owned * a.page_size
    full = a.fill == "lengths_full"
    if a.fill not in ("normal", "lengths_full") or a.seq_q > capacity:
        yield Variant(
            "eager", "pool.index_copy_", left_out=f"fill {a.fill} with {a.seq_q} new rows of {capacity} is not made here"
        )
        return
    table = m.permutation("pages", a.pages)[: a.batch * owned].view(a.batch, owned)
    lengths = m.integers("lengths", capacity if full else a.seq_q, capacity + 1, a.batch)
    positions = lengths[:, None] - a.seq_q + torch.arange(a.seq_q, device=m.device)
    slots = (table.gather(1, positions // a.page_size) * a.page_size + positions % a.page_size).flatten()

    def call():
        for pool, new in zip(pools, (k, v)):
            pool.view(-1, a.kv_heads, a.head_dim).index_copy_(0, slots, new.view(-1, a.kv_heads, a.head_dim))
        return tuple(pools)

    yield eager("pool.index_copy_(0, slots, new) of K and of V, the slots known" + ("" if full else ", lengths of its own"), call)


ALL = (
    add,
    cross_entropy,
    embedding,
    ffn_gelu,
    gelu,
    gelu_linear,
    gemm_swiglu,
    kv_append,
    layernorm,
    layernorm_linear,
    layernorm_residual,
    linear,
    residual_layernorm,
    residual_rmsnorm,
    rmsnorm,
    rmsnorm_gemm,
    row_reduce,
    silu_mul,
    softmax,
)
