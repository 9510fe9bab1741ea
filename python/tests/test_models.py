# SPDX-License-Identifier: Apache-2.0
"""assay.torch.replace without a GPU: formulas in place of kernels, in tiny models of each family."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", minversion="4.53", reason="transformers is not installed")

import assay  # noqa: E402
import assay.torch as ops  # noqa: E402

F = torch.nn.functional

MODELS = {
    "llama": lambda: transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=48
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
    "llama": {"attention_forward": 2, "rmsnorm": 5, "layernorm": 0, "gemm_swiglu": 2, "gelu_linear": 0, "linear": 14},
    "gpt2": {"attention_forward": 2, "rmsnorm": 0, "layernorm": 5, "gemm_swiglu": 0, "gelu_linear": 2, "linear": 8},
    "gpt_neox": {"attention_forward": 2, "rmsnorm": 0, "layernorm": 5, "gemm_swiglu": 0, "gelu_linear": 2, "linear": 8},
}


def attention(q, k, v, mask, scale):
    assert mask == "causal"
    group = q.shape[2] // k.shape[2]
    k, v = (t.repeat_interleave(group, 2) for t in (k, v))
    s = torch.einsum("bqhd,bkhd->bhqk", q, k) * scale
    hidden = torch.ones(s.shape[-2:], dtype=torch.bool).triu(1 + s.shape[-1] - s.shape[-2])
    s = s.masked_fill(hidden, -torch.inf)
    return torch.einsum("bhqk,bkhd->bqhd", s.softmax(-1), v), s.logsumexp(-1)


FORMULAS = {
    "attention_forward": attention,
    "rmsnorm": lambda x, gamma, epsilon: x * (x.square().mean(-1, keepdim=True) + epsilon).rsqrt() * gamma,
    "layernorm": lambda x, gamma, beta, epsilon: F.layer_norm(x, x.shape[-1:], gamma, beta, epsilon),
    "gemm_swiglu": lambda x, gate, up: F.silu(x @ gate.T) * (x @ up.T),
    "gelu_linear": lambda x, w, b, form: F.gelu(F.linear(x, w, b), approximate="tanh" if form == "tanh" else "none"),
    "linear": lambda x, w, b: F.linear(x, w, b),
}


@pytest.fixture(params=MODELS)
def family(request):
    return request.param


@pytest.fixture
def calls(monkeypatch):
    """How often each op was called; its formula is computed."""
    count = dict.fromkeys(FORMULAS, 0)

    def counted(name, formula):
        def call(*args, **kwargs):
            count[name] += 1
            fake = ops.operators[name].outputs(ops.operators[name].bound(args, kwargs))  # refuses what the op does not take
            assert fake
            return formula(*args, **kwargs)

        return call

    for name, formula in FORMULAS.items():
        monkeypatch.setattr(ops, name, counted(name, formula))
    return count


def made(family):
    torch.manual_seed(7)
    model = MODELS[family]().eval()
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn_like(p) * 0.1)
    return model


def generated(model, ids, **more):
    return model.generate(ids, max_new_tokens=12, min_new_tokens=12, do_sample=False, pad_token_id=0, eos_token_id=None, **more)


def test_tokens_stay(family, calls):
    model, ids = made(family), torch.randint(1, 64, (3, 9), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        logits, tokens = model(ids).logits, generated(model, ids)
    assert ops.replace(model) == COUNTS[family]
    with torch.no_grad():
        torch.testing.assert_close(model(ids).logits, logits, rtol=1e-4, atol=1e-4)
    within = {"llama": 4, "gpt2": 2, "gpt_neox": 2}[family]  # products that another op does
    assert calls == {**COUNTS[family], "linear": COUNTS[family]["linear"] - within}
    assert torch.equal(generated(model, ids), tokens)
    assert calls["attention_forward"] == 2 + 12 * 2
    assert ops.replace(model) == COUNTS[family]  # a second time changes nothing
    with torch.no_grad():
        torch.testing.assert_close(model(ids).logits, logits, rtol=1e-4, atol=1e-4)


def test_padding_and_static_cache_take_pytorchs_attention(family, calls):
    model, ids = made(family), torch.randint(1, 64, (2, 6), generator=torch.Generator().manual_seed(2))
    padded = {"attention_mask": torch.tensor([[0, 0, 1, 1, 1, 1], [1] * 6])}
    static = {"cache_implementation": "static"}
    with torch.no_grad():
        right = [generated(model, ids, **more) for more in (padded, static)]
    ops.replace(model)
    for more, tokens in zip((padded, static), right):
        assert torch.equal(generated(model, ids, **more), tokens)


def test_gradients_are_the_models(family, calls):
    model, ids = made(family), torch.tensor([[1, 2, 3]])
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
