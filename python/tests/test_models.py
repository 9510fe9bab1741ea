# SPDX-License-Identifier: Apache-2.0
"""assay.torch.replace without a GPU: formulas in place of kernels, in tiny models of each family."""

import inspect
import re

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", minversion="4.57", reason="transformers is not installed")

from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

import assay  # noqa: E402
import assay.torch as ops  # noqa: E402
from assay import models  # noqa: E402
from assay.torch_checks import checked  # noqa: E402

F = torch.nn.functional

MODELS = {
    "llama": lambda **fields: transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=64,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            intermediate_size=48,
            **fields,
        )
    ),
    "gpt2": lambda: transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4)),
    "gpt_neox": lambda: transformers.GPTNeoXForCausalLM(
        transformers.GPTNeoXConfig(
            vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48
        )
    ),
}
COUNTS = {
    "llama": {"attention_forward": 2, "rope": 2, "rmsnorm": 5, "residual_rmsnorm": 2, "gemm_swiglu": 2, "linear": 14},
    "gpt2": {"attention_forward": 2, "layernorm": 5, "gelu_linear": 2, "linear": 8},
    "gpt_neox": {"attention_forward": 2, "rope": 2, "layernorm": 5, "gelu_linear": 2, "linear": 8},
}
WITHIN = {  # modules whose work another op does
    "llama": {"rmsnorm": 2, "linear": 4},
    "gpt2": {"linear": 2},
    "gpt_neox": {"linear": 2},
}


def attention(q, k, v, mask, scale):
    assert mask == "causal"
    group = q.shape[2] // k.shape[2]
    k, v = (t.repeat_interleave(group, 2) for t in (k, v))
    s = torch.einsum("bqhd,bkhd->bhqk", q, k) * (scale or q.shape[3] ** -0.5)
    hidden = torch.ones(s.shape[-2:], dtype=torch.bool).triu(1 + s.shape[-1] - s.shape[-2])
    s = s.masked_fill(hidden, -torch.inf)
    return torch.einsum("bhqk,bkhd->bqhd", s.softmax(-1), v), s.logsumexp(-1)


def rmsnorm(x, gamma, epsilon):
    return x * (x.square().mean(-1, keepdim=True) + epsilon).rsqrt() * gamma


def rope(q, k, positions, frequencies, rotary_dim):
    half = int(rotary_dim) // 2
    angles = (positions.double()[..., None] * frequencies.double()[:half])[:, :, None]
    cosine, sine = angles.cos().to(q.dtype), angles.sin().to(q.dtype)

    def turned(x):
        a, b, rest = x.split([half, half, x.shape[-1] - 2 * half], -1)
        return torch.cat((a * cosine - b * sine, a * sine + b * cosine, rest), -1)

    return turned(q), turned(k)


FORMULAS = {  # whose arguments have the names of the op's
    "attention_forward": attention,
    "rope": rope,
    "rmsnorm": rmsnorm,
    "residual_rmsnorm": lambda x, residual, gamma, epsilon: (rmsnorm(x + residual, gamma, epsilon), x + residual),
    "layernorm": lambda x, gamma, beta, epsilon: F.layer_norm(x, x.shape[-1:], gamma, beta, epsilon),
    "gemm_swiglu": lambda x, w_gate, w_up: F.silu(x @ w_gate.T) * (x @ w_up.T),
    "gelu_linear": lambda x, weight, bias, form: F.gelu(F.linear(x, weight, bias), approximate={"erf": "none"}.get(form, form)),
    "linear": lambda x, weight, bias: F.linear(x, weight, bias),
}


def computed(op, arguments):
    """What an op returns for all of its arguments by name."""
    formula = FORMULAS[op]
    return formula(*[arguments[name] for name in inspect.signature(formula).parameters])


@pytest.fixture(params=MODELS)
def family(request):
    return request.param


@pytest.fixture
def calls(monkeypatch):
    """How often each op was called; its formula is computed."""
    count = dict.fromkeys(FORMULAS, 0)

    def counted(name):
        def call(*args, **kwargs):
            count[name] += 1
            arguments = ops.operators[name].bound(args, kwargs)
            checked(ops.operators[name], arguments)  # refuses what the op does not take
            return computed(name, arguments)

        return call

    for name in FORMULAS:
        monkeypatch.setattr(ops, name, counted(name))
    return count


def made(family, **fields):
    torch.manual_seed(7)
    model = MODELS[family](**fields).eval()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn_like(p) * 0.1)
    return model


def generated(model, ids, **more):
    return model.generate(ids, max_new_tokens=12, min_new_tokens=12, do_sample=False, pad_token_id=0, eos_token_id=None, **more)


@pytest.mark.parametrize("chosen", [models.OPS, models.OPS + models.ON_DEMAND], ids=["default", "all"])
def test_tokens_stay(family, chosen, calls):
    model = made(family)
    ids = torch.randint(1, 64, (3, 9), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        logits = model(ids).logits
        tokens = generated(model, ids)
    counts = {op: COUNTS[family].get(op, 0) for op in chosen}
    ops_given = None if chosen == models.OPS else chosen
    for _ in range(2):  # a second time changes nothing
        assert ops.replace(model, ops_given) == counts
        calls.update(dict.fromkeys(calls, 0))
        with torch.no_grad():
            torch.testing.assert_close(model(ids).logits, logits, rtol=1e-4, atol=1e-4)
        assert calls == {op: counts.get(op, 0) - WITHIN[family].get(op, 0) * (op in chosen) for op in calls}
    assert torch.equal(generated(model, ids), tokens)
    assert calls["attention_forward"] == 2 + 12 * 2


def test_padding_and_static_cache_take_pytorchs_attention(family, calls):
    model = made(family)
    ids = torch.randint(1, 64, (2, 6), generator=torch.Generator().manual_seed(2))
    padded = {"attention_mask": torch.tensor([[0, 0, 1, 1, 1, 1], [1] * 6])}
    static = {"cache_implementation": "static"}
    with torch.no_grad():
        right = [generated(model, ids, **more) for more in (padded, static)]
    ops.replace(model)
    for more, tokens in zip((padded, static), right):
        assert torch.equal(generated(model, ids, **more), tokens)


@pytest.mark.parametrize("kind, fields, turned", [
    ("linear", {"factor": 2.0}, 2),
    ("llama3", {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16}, 2),
    ("yarn", {"factor": 4.0, "original_max_position_embeddings": 16}, 0),  # scales cosines and sines, which ours does not
])  # fmt: skip
def test_scaled_frequencies(kind, fields, turned, calls):
    model = made("llama", rope_scaling={"rope_type": kind, "rope_theta": 10000.0, **fields}, max_position_embeddings=64)
    ids = torch.randint(1, 64, (1, 9), generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        tokens = generated(model, ids)
    assert ops.replace(model)["rope"] == turned
    assert torch.equal(generated(model, ids), tokens)
    assert calls["rope"] == 12 * turned


@pytest.fixture
def on_cpu():
    """The ops have kernels on the host: their formulas."""
    with torch.library._scoped_library("assay", "FRAGMENT") as lib:
        for name in FORMULAS:
            operator = ops.operators[name]
            lib.impl(name, lambda *a, n=name, o=operator: computed(n, o.bound(a, {})), "CPU", allow_override=True)
        yield


class Operations(TorchDispatchMode):
    """Counts what launches a kernel on a GPU: operations of PyTorch but those which only make a view, and ours."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += not (func.is_view or "view" in func.name())
        return func(*args, **(kwargs or {}))


def operations_of_a_token(model):
    cache = transformers.DynamicCache(config=model.config)
    ids = torch.tensor([[1, 2, 3]])
    name = next(n for n in ("cache", "past_key_values") if n in inspect.signature(type(model).forward).parameters)
    with torch.no_grad():
        model(ids, **{name: cache})
        with Operations() as operations:
            model(ids[:, :1], **{name: cache})
    return operations.count


def test_a_token_takes_fewer_operations(family, on_cpu):
    model = made(family).bfloat16()
    theirs = operations_of_a_token(model)
    ops.replace(model)
    assert operations_of_a_token(model) < {"llama": 0.45, "gpt2": 0.7, "gpt_neox": 0.6}[family] * theirs


def test_a_compiler_sees_operators(family, on_cpu):
    model = made(family)
    ids = torch.randint(1, 64, (2, 6), generator=torch.Generator().manual_seed(4))
    graphs = []

    def backend(graph, _):
        graphs.append(graph.code)
        return graph.forward

    compiled = transformers.CompileConfig(fullgraph=True, mode="default", backend=backend)
    compiled._compile_all_devices = True
    how = {"cache_implementation": "static", "compile_config": compiled}
    torch._dynamo.reset()
    tokens = generated(model, ids, **how)
    replaced = ops.replace(model)
    graphs.clear()
    torch._dynamo.reset()
    assert torch.equal(generated(model, ids, **how), tokens)
    assert graphs
    expected = {op: n - WITHIN[family].get(op, 0) for op, n in replaced.items()} | {"attention_forward": 0}  # there is a mask
    for code in graphs:
        assert {op: len(re.findall(rf"torch\.ops\.assay\.{op}\b", code)) for op in replaced} == expected


def test_what_transformers_captures(family, calls):
    """Hidden states of all layers, by hooks of transformers."""
    model = made(family)
    ids = torch.tensor([[1, 2, 3]])
    with torch.no_grad():
        right = model(ids, output_hidden_states=True).hidden_states
        ops.replace(model)
        states = model(ids, output_hidden_states=True).hidden_states
    assert len(states) == len(right) == 3
    for ours, theirs in zip(states, right):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_gradients_are_the_models(family, calls):
    model = made(family)
    ids = torch.tensor([[1, 2, 3]])
    ops.replace(model)
    model(ids).logits.sum().backward()
    assert not any(calls.values())
    assert all(p.grad is not None for p in model.parameters())


def test_some_ops(calls):
    model = made("llama")
    assert ops.replace(model, ops=["rmsnorm"]) == {"rmsnorm": 5}
    with torch.no_grad():
        model(torch.tensor([[1, 2, 3]]))
    assert {n for n, c in calls.items() if c} == {"rmsnorm"}


def test_what_is_refused():
    with pytest.raises(assay.InputError, match="'softmax' is no op of a model"):
        ops.replace(made("llama"), ops=["softmax"])
    with pytest.raises(assay.InputError, match="training mode"):
        ops.replace(made("llama").train())
    with pytest.raises(assay.InputError, match="family 'None'"):
        ops.replace(torch.nn.Linear(2, 2))
