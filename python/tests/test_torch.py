# SPDX-License-Identifier: Apache-2.0
"""assay.torch without a GPU: schemas, checks, fake implementations, gradients; kernels of the host in place of those of a GPU."""

import inspect
import os
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import assay  # noqa: E402
import assay.torch as ops  # noqa: E402
from assay import kernels, torch_direct, torch_operator  # noqa: E402
from assay.torch_checks import checked  # noqa: E402

PLUGIN = Path(os.environ["ASSAY_VALIDATE"]).parent.parent / "plugins/exported.so"


def arguments(op, device="meta", dtype=torch.float32, optional=True):
    """Tensors of an op, each axis of another extent."""
    contract = assay.describe(op)
    extents = {axis: 2 + i for i, axis in enumerate(contract.axes)} | {"heads": 4, "kv_heads": 2, "1": 1}
    tensors = {}
    for t in contract.inputs:
        if t.only_with and (not optional or ("=" in t.only_with and "llama" not in t.only_with)):
            continue
        shape = [a.of(extents) for a in t.axes]
        kind = {None: dtype, "i32": torch.int32, "f32": torch.float32}[t.dtype]
        tensors[t.name] = torch.zeros(shape, dtype=kind, device=device)
    return contract, extents, tensors


@pytest.mark.parametrize("op", ops.__all__)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_outputs_of_fake_tensors(op, dtype):
    contract, extents, tensors = arguments(op, dtype=dtype)
    out = getattr(ops, op)(**tensors)
    out = [] if out is None else [out] if isinstance(out, torch.Tensor) else list(out)
    expected = [t for t in contract.outputs if t.role == "output"]
    assert [list(y.shape) for y in out] == [[a.of(extents) for a in t.axes] for t in expected]
    assert [y.dtype for y in out] == [torch.float32 if t.dtype == "f32" else dtype for t in expected]
    assert all(y.is_contiguous() and y.device.type == "meta" for y in out)


@pytest.mark.parametrize("op", ops.__all__)
def test_each_argument_is_checked(op):
    contract, _, tensors = arguments(op)
    call = getattr(ops, op)
    for name, x in tensors.items():
        wrong_dtype = x.to(torch.int64)
        for wrong in (wrong_dtype, x[None], torch.zeros(x.shape, dtype=x.dtype)):
            with pytest.raises(assay.InputError, match=f"'{name}'"):
                call(**{**tensors, name: wrong})
        if x.dim() > 1 and min(x.shape) > 1:
            repeated = x[:1].expand(x.shape)
            for wrong in (x.transpose(-1, -2).contiguous().transpose(-1, -2), repeated):
                with pytest.raises(assay.InputError, match=f"'{name}' has the strides"):
                    call(**{**tensors, name: wrong})
        if list(contract.tensor(name).axes) in [list(t.axes) for t in contract.inputs if t.name != name]:
            with pytest.raises(assay.InputError, match="has the shape"):
                call(**{**tensors, name: torch.zeros([n + 3 for n in x.shape], dtype=x.dtype, device="meta")})


@pytest.mark.parametrize("op", ops.__all__)
def test_the_host_is_refused(op):
    _, _, tensors = arguments(op, "cpu")
    with pytest.raises(assay.InputError, match=r"^'\w+' is on the device cpu, and cuda was expected$"):
        getattr(ops, op)(**tensors)


def test_words_and_presence():
    _, _, tensors = arguments("ffn_gelu", optional=False)
    with pytest.raises(assay.InputError, match="'form' is 'relu', and one of tanh, erf was expected"):
        ops.ffn_gelu(**tensors, form="relu")
    with pytest.raises(assay.InputError, match="'b2' is missing, which a case has with 'bias'"):
        ops.ffn_gelu(**tensors, b1=torch.zeros(tensors["w1"].shape[0], device="meta"))
    _, _, tensors = arguments("transformer_layer")
    with pytest.raises(assay.InputError, match="'beta1' was given, which a case has only with 'dialect=gpt2[|]gptneox'"):
        ops.transformer_layer(**tensors, beta1=tensors["gamma1"])


def test_signatures_and_docstrings():
    assert str(inspect.signature(ops.rope)).startswith(
        "(q, k, positions=None, frequencies=None, layout_of_pairs='half', rotary_dim=0.0"
    )
    assert "gamma: dtype of the case [cols]" in ops.layernorm.__doc__
    assert len(ops.__all__) == 27


@pytest.mark.parametrize("op", ops.__all__)
def test_no_graph_break(op):
    _, _, tensors = arguments(op)
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    def between(arguments):
        out = getattr(ops, op)(**{name: x + 0 if x.is_floating_point() else x for name, x in arguments.items()})
        return None if out is None else [y * 2 for y in (out if isinstance(out, (list, tuple)) else [out])]

    torch._dynamo.reset()
    compiled = torch.compile(between, backend=backend, fullgraph=True, dynamic=True)
    compiled(tensors)
    assert len(graphs) == 1 and f"assay.{op}" in graphs[0].code
    larger = {name: torch.zeros([2 * n for n in x.shape], dtype=x.dtype, device="meta") for name, x in tensors.items()}
    if "lengths" not in larger and op not in ("attention_forward",):  # whose tables have other extents
        compiled(larger)


@pytest.fixture
def on_host(monkeypatch):
    """Kernels of the host: op -> a function of its arguments by name."""
    monkeypatch.setenv(kernels.VARIABLE, str(PLUGIN))

    def call(op, **given):
        operator = ops.operators[op]
        return operator.launched(operator.bound((), given), (kernels.HOST, 0), 0)

    return call


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("hidden", [8, 9])
def test_launches(on_host, dtype, hidden):
    torch.manual_seed(0)
    for tokens in (5, 6, 5, 0):
        given = {"x": torch.randn(tokens, hidden).to(dtype), "weight": torch.randn(4, hidden).to(dtype)}
        if tokens != 6:
            given["bias"] = torch.randn(4).to(dtype)
        y = on_host("linear", **given)
        assert y.shape == (tokens, 4) and y.dtype == dtype
        if tokens:
            assay.check("linear", y, **given)
    q, k = torch.randn(2, 3, 4, 6), torch.randn(2, 3, 2, 6)
    positions = torch.tensor([[3, 1, 4], [1, 5, 9]], dtype=torch.int32)
    out = on_host("rope", q=q, k=k, positions=positions, layout_of_pairs="interleaved")
    numerics = "accumulate=f32 chain=1 function_error=1 angle_error=4.76837e-07"
    assay.check("rope", out, q=q, k=k, positions=positions, layout_of_pairs="interleaved", numerics=numerics)
    with pytest.raises(assay.InputError, match="heads must be a multiple of kv_heads"):
        on_host("rope", q=q, k=torch.randn(2, 3, 3, 6))


def test_kernels_by_alignment(on_host, monkeypatch):
    used = []
    launch = kernels.Call.launch
    monkeypatch.setattr(kernels.Call, "launch", lambda self, *given: used.append(self.name) or launch(self, *given))
    ops.operators["linear"]._calls.clear()
    buffer, weight = torch.randn(5 * 8 + 4), torch.randn(4, 8)
    for begin in (0, 1, 0, 4):
        x = buffer[begin : begin + 40].view(5, 8)
        assay.check("linear", on_host("linear", x=x, weight=weight), x=x, weight=weight)
    assert used == ["narrow", "serial", "narrow", "narrow"]


def linear_of_rows(monkeypatch, *names):
    """`linear` as a function of tensors with any number of axes, and the calls that are looked up or made for it."""
    looked_up = []
    operator = ops.operators["linear"]
    made = operator.made
    monkeypatch.setattr(operator, "made", lambda *given: looked_up.append(given) or made(*given))
    for module in (torch_operator, torch_direct):
        monkeypatch.setattr(module, "ALIGNMENT", 64)  # which PyTorch gives on the host

    def view(x, *more):
        return x.flatten(0, -2), *more

    direct = ops.Direct(operator, names, view, lambda made, x, *_: [y.view(*x.shape[:-1], 4) for y in made], {})
    return direct, looked_up


def check_linear(y, x, *more):
    assert y.shape == (*x.shape[:-1], 4) and y.dtype == x.dtype and y.is_contiguous()
    assay.check("linear", y.flatten(0, -2), x=x.flatten(0, -2), **dict(zip(("weight", "bias"), more)))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_direct_calls(on_host, monkeypatch, dtype):
    torch.manual_seed(0)
    linear, looked_up = linear_of_rows(monkeypatch, "x", "weight", "bias")
    for shape in ((1, 1, 8), (1, 1, 8), (1, 1, 8), (2, 3, 8), (2, 3, 8), (6, 8)):
        given = torch.randn(shape).to(dtype), torch.randn(4, 8).to(dtype), torch.randn(4).to(dtype)
        check_linear(linear(*given), *given)
    assert len(looked_up) == 3  # for each shape that another came before
    q, k = torch.randn(2, 1, 4, 6).to(dtype), torch.randn(2, 1, 2, 6).to(dtype)
    rope = ops.Direct(ops.operators["rope"], ("q", "k", "positions"), lambda *x: x, lambda made, *_: made, {"rotary_dim": 4.0})
    for position in (0, 5, 1000):
        given = {"q": q, "k": k, "positions": torch.tensor([[position], [7]], dtype=torch.int32)}
        numerics = "accumulate=f32 chain=1 function_error=1 angle_error=4.76837e-07"
        assay.check("rope", tuple(rope(*given.values())), **given, rotary_dim=4.0, numerics=numerics)


def test_direct_calls_look_again_at_other_tensors(on_host, monkeypatch):
    torch.manual_seed(0)
    linear, looked_up = linear_of_rows(monkeypatch, "x", "weight")
    buffer, weight = torch.randn(100), torch.randn(4, 8)
    x = buffer[:40].view(5, 1, 8)
    unlike = {
        "another shape": (buffer[:48].view(6, 1, 8), weight),
        "another stride": (torch.randn(5, 1, 16)[:, :, :8], weight),
        "another alignment": (buffer[1:41].view(5, 1, 8), weight),
        "another dtype": (x.half(), weight.half()),
        "another layout of weights": (x, torch.randn(4, 16)[:, :8]),
    }
    for what, given in unlike.items():
        check_linear(linear(x, weight), x, weight)
        before = len(looked_up)
        check_linear(linear(*given), *given)
        assert len(looked_up) == before + 1, what
    for wrong in (torch.randn(4, 9), weight.double(), weight.T.contiguous().T):
        linear(x, weight)
        with pytest.raises(assay.InputError, match="'weight'"):
            linear(x, wrong)
    turned = torch.randn(8, 3, 2).permute(2, 1, 0).contiguous().transpose(0, 1)  # has no view of rows
    for _ in range(2):
        check_linear(linear(turned, weight), turned, weight)
        turned += 1
    x = torch.randn(13, 1, 8)
    for _ in range(2):
        with pytest.raises(assay.Error, match="failed: 13 tokens"):
            linear(x, weight)


def reference_attention(q, k, v, mask, scale):
    """o, lse, and the probabilities."""
    scores = torch.einsum("bihd,bjhd->bhij", q, k) * (scale or q.shape[3] ** -0.5)
    if mask == "causal":
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), float("-inf"))
    p = scores.softmax(-1)
    return torch.einsum("bhij,bjhd->bihd", p, v), scores.logsumexp(-1), p


def test_gradients_of_attention():
    """Both ops computed by PyTorch in the place of kernels: what autograd hands from one to the other."""

    def forward(*args, **kwargs):
        a = ops.operators["attention_forward"].bound(args, kwargs)
        return reference_attention(a["q"], a["k"], a["v"], a["mask"], a["scale"])[:2]

    def backward(*args, **kwargs):
        a = ops.operators["attention_backward"].bound(args, kwargs)
        checked(ops.operators["attention_backward"], a)
        o, lse, p = reference_attention(a["q"], a["k"], a["v"], a["mask"], a["scale"])
        assert torch.equal(o, a["o"]) and torch.equal(lse, a["lse"])
        dp = torch.einsum("bihd,bjhd->bhij", a["do"], a["v"])
        ds = p * (dp - (dp * p).sum(-1, keepdim=True)) * a["scale"]
        gradients = [torch.einsum("bhij,bjhd->bihd", ds, a["k"]), torch.einsum("bhij,bihd->bjhd", ds, a["q"])]
        return *gradients, torch.einsum("bhij,bihd->bjhd", p, a["do"])

    with torch.library._scoped_library("assay", "FRAGMENT") as lib:
        lib.impl("attention_forward", forward, "CPU", allow_override=True)
        lib.impl("attention_backward", backward, "CPU", allow_override=True)
        torch.manual_seed(0)
        q, k, v = (torch.randn(2, 5, 4, 8, requires_grad=True) for _ in range(3))
        o, lse = ops.attention_forward(q, k, v, mask="causal", scale=0.25)
        assert o.requires_grad and not lse.requires_grad
        weights = torch.randn(2, 4, 5, 8).transpose(1, 2)  # which autograd hands on with these strides
        (o * weights).sum().backward()
        expected = torch.autograd.grad((reference_attention(q, k, v, "causal", 0.25)[0] * weights).sum(), (q, k, v))
        for x, gradient in zip((q, k, v), expected):
            assert torch.allclose(x.grad, gradient, atol=1e-5)
        ops.attention_forward(q, k, v, mask="causal", scale=0.25)[0].sum().backward()  # whose gradient repeats one element
        o, _ = ops.attention_forward(q, k, v, window=3.0)
        with pytest.raises(assay.InputError, match="attention_backward has no 'window'"):
            o.sum().backward()


def test_no_gradient_where_there_is_none():
    _, _, tensors = arguments("softmax")
    y = ops.softmax(tensors["x"].requires_grad_())
    with pytest.raises(RuntimeError, match="no autograd formula"):
        y.sum().backward()
