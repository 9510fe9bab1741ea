# SPDX-License-Identifier: Apache-2.0
"""assay.torch on a GPU: every op is judged on the cases of a suite, and PyTorch's graphs, streams and gradients go through it."""

import json
import os
import time

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

import assay  # noqa: E402
import assay.torch as ops  # noqa: E402
from assay import library, models  # noqa: E402
from assay.tensors import read_bits  # noqa: E402


def inputs(line, folder):
    """The tensors of a case on the GPU, and the words of its attributes."""
    path = str(folder / "in.safetensors")
    library.call(["inputs", line, "-o", path])
    arrays, words = read_bits(path)
    tensors = {}
    for name, (dtype, bits) in arrays.items():
        x = torch.from_numpy(bits.view("<i2") if dtype == "bf16" else bits).cuda()
        tensors[name] = x.view(torch.bfloat16) if dtype == "bf16" else x
    return tensors, words


@pytest.mark.parametrize("op", [name for name in ops.__all__ if name != "transformer_layer"])
def test_outputs_are_right(op, tmp_path):
    suite = os.environ.get("ASSAY_SUITE", "sanitize")
    cases = json.loads(library.call(["list", "cases", "--op", op, "--suite", suite, "--json"]).out)["cases"]
    operator = ops.operators[op]
    judged = 0
    used = set()
    told = [a for a in operator.op.attributes if operator.op.tensor(a.name) is None and a.name != "in_place"]
    for case in cases:
        given, words = inputs(case["repro"], tmp_path)
        attributes = {a.name: a.value(words[a.name]) for a in told}
        operator._calls.clear()
        before = {name: given[name].clone() for name in operator.updated}
        try:
            out = getattr(ops, op)(**given, **{a.name: attributes[a.name] for a in operator.attributes})
        except assay.InputError as e:
            assert "no kernel" in str(e)
            continue
        ((call, *_),) = operator._calls.values()
        used.add(call.name)
        out = [given[name] for name in operator.updated] if out is None else out
        out = tuple(out) if isinstance(out, (tuple, list)) else (out,)
        assay.check(op, out, numerics=call.numerics, **{**given, **before}, **attributes)
        judged += 1
    print(f"{op}: {judged} of {len(cases)} cases, by {', '.join(sorted(used))}")
    assert judged


def test_a_layer(tmp_path):
    """Its stages have numerics that no words declare, so that only its size of error is looked at."""
    line = "transformer_layer f32 batch=1 seq_q=9 hidden=64 heads=4 kv_heads=2 head_dim=16 ffn=96"
    given, _ = inputs(line, tmp_path)
    y = ops.transformer_layer(**given)[0]
    right = assay.golden("transformer_layer", f64=True, **given)[0]
    assert (y.double().cpu() - torch.from_numpy(right)).abs().max() < 1e-3 * abs(right).max()


@pytest.mark.parametrize("dynamic", [False, True])
def test_compiled(dynamic):
    def block(x, residual, gamma, beta, weight):
        return torch.nn.functional.relu(ops.linear(ops.layernorm_residual(x * 2, residual, gamma, beta), weight)) + 1

    torch._dynamo.reset()
    compiled = torch.compile(block, fullgraph=True, dynamic=dynamic)
    for rows in (64, 128):
        x, residual = torch.randn(2, rows, 256, device="cuda", dtype=torch.float16)
        gamma, beta = torch.randn(2, 256, device="cuda", dtype=torch.float16)
        weight = torch.randn(512, 256, device="cuda", dtype=torch.float16)
        assert torch.equal(compiled(x, residual, gamma, beta, weight), block(x, residual, gamma, beta, weight))


def test_streams_and_graphs():
    x = torch.randn(512, 1024, device="cuda")
    right = ops.softmax(x)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        y = ops.softmax(x)
    stream.synchronize()
    assert torch.equal(y, right)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = ops.softmax(x)
    x.copy_(torch.randn_like(x))
    graph.replay()
    assert torch.equal(y, ops.softmax(x))


def test_direct_calls():
    """What assay.torch.replace puts in has the bits of the operator: in any shape, on any stream, in a graph, and compiled."""
    direct = models._by_rows("residual_rmsnorm", "x", "residual", "gamma", epsilon=1e-6)
    gamma = torch.randn(256, device="cuda", dtype=torch.bfloat16)

    def same(outputs, x, residual):
        right = ops.residual_rmsnorm(x.view(-1, 256), residual.view(-1, 256), gamma, epsilon=1e-6)
        return all(y.shape == x.shape and torch.equal(y.view(-1, 256), z) for y, z in zip(outputs, right))

    for shape in ((1, 1, 256), (1, 1, 256), (2, 3, 256), (2, 3, 256)):
        x, residual = torch.randn(2, *shape, device="cuda", dtype=torch.bfloat16)
        assert same(direct(x, residual, gamma), x, residual)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        outputs = direct(x, residual, gamma)
    stream.synchronize()
    assert same(outputs, x, residual)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = direct(x, residual, gamma)
    x.copy_(torch.randn_like(x))
    graph.replay()
    assert same(outputs, x, residual)
    torch._dynamo.reset()
    assert same(torch.compile(lambda *given: direct(*given), fullgraph=True)(x, residual, gamma), x, residual)
    with pytest.raises(assay.InputError, match="'gamma' is on the device cpu"):
        direct(x, residual, gamma.cpu())


@pytest.mark.parametrize("family", ["llama", "gpt2", "gpt_neox"])
@pytest.mark.parametrize("chosen", [models.OPS, models.OPS + models.ON_DEMAND], ids=["default", "all"])
def test_replaced_models(family, chosen):
    pytest.importorskip("transformers", minversion="4.57", reason="transformers is not installed")
    from test_models import generated, made

    model = made(family).cuda()
    ids = torch.randint(1, 64, (3, 9), device="cuda")
    with torch.no_grad():
        logits = model(ids).logits
        tokens = generated(model, ids)
        assert sum(ops.replace(model, chosen).values()) > 3
        for _ in range(2):
            torch.testing.assert_close(model(ids).logits, logits, rtol=1e-3, atol=1e-3)
    assert torch.equal(generated(model, ids), tokens)


@pytest.mark.parametrize("mask", ["none", "causal"])
def test_gradients(mask):
    q, k, v = (torch.randn(2, 128, 4, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    o, _ = ops.attention_forward(q, k, v, mask=mask)
    do = torch.randn_like(o)
    gradients = torch.autograd.grad(o, (q, k, v), do)
    by_head = [t.detach().float().transpose(1, 2).requires_grad_() for t in (q, k, v)]
    right = torch.nn.functional.scaled_dot_product_attention(*by_head, is_causal=mask == "causal")
    for got, wanted in zip(gradients, torch.autograd.grad(right, by_head, do.float().transpose(1, 2))):
        assert (got.float() - wanted.transpose(1, 2)).abs().max() < 0.05 * wanted.abs().max()


def test_other_layouts_and_devices():
    wide = torch.randn(64, 300, device="cuda")
    part = wide[:, 3:260]
    assay.check("softmax", ops.softmax(part), x=part, numerics="accumulate=f32 chain=1 flushes_subnormals function_error=8")
    assert ops.softmax(wide[:0]).shape == (0, 300)
    with pytest.raises(assay.InputError, match="'gamma' is on the device cpu, and 'x' on cuda:0"):
        ops.rmsnorm(wide, torch.ones(300))
    with pytest.raises(assay.InputError, match="'x' has the strides"):
        ops.softmax(wide.T)


def test_bench():
    of = assay.bench("softmax", lambda x: torch.softmax(x, -1), "rows=512 cols=1024", seconds=0.1)
    print(of)
    assert {"warp_row", "block_row"} < set(of.samples) and all(1 < m < 1000 for m in of.medians.values())

    def sleeps(x):
        time.sleep(0.002)
        return torch.softmax(x, -1)

    slow, graphs = (assay.bench("softmax", sleeps, "rows=512 cols=1024", seconds=0.1, graph=graph) for graph in (False, True))
    assert set(graphs.samples) == set(slow.samples) and graphs.medians["sleeps"] < 1000 < slow.medians["sleeps"]
    with pytest.raises(assay.InputError, match="cannot be captured"):
        assay.bench("softmax", lambda x: torch.softmax(x, -1) * bool(x.isfinite().all()), "rows=5 cols=9", graph=True)
    with pytest.raises(assay.Mismatch):
        assay.bench("softmax", lambda x: torch.softmax(x, 0), "rows=512 cols=1024")
