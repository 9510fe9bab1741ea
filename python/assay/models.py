# SPDX-License-Identifier: Apache-2.0
"""Our kernels in models of Hugging Face: `assay.torch.replace` (docs/python.md)."""

from __future__ import annotations

import functools
from typing import Any, Callable, Iterable

import torch

from .errors import InputError

NAME = "assay"  # of the attention that is registered with transformers
OPS = ("attention_forward", "rmsnorm", "layernorm", "gemm_swiglu", "gelu_linear", "linear")
FAMILIES = ("gpt2", "gpt_neox", "llama")
_TANH = ("gelu_new", "gelu_fast", "gelu_pytorch_tanh")

Forward = Callable[[torch.Tensor], torch.Tensor]


def _ours(name: str) -> Callable[..., Any]:
    """The op.  Note: on a GPU it is called directly, since the way through PyTorch's dispatcher takes longer than most kernels; a
    compiler has to see an operator."""
    from . import torch as ops

    op, run = getattr(ops, name), ops.operators[name].run

    def call(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return (run if x.is_cuda and not torch.compiler.is_compiling() else op)(x, *args, **kwargs)

    return call


def _rows(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(-1, x.shape[-1])


def _attention(
    module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Any, **more: Any
) -> tuple[torch.Tensor, None]:
    """What transformers calls, with tensors [batch, heads, tokens, head_dim].  A mask of padding or of a static cache goes to
    PyTorch's attention: ours has no such mask."""
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    q_length = query.shape[2]
    if mask is not None or more.get("dropout") or torch.is_grad_enabled():
        out, _ = sdpa_attention_forward(module, query, key, value, mask, **more)
        return out, None
    if q_length > 1:  # without a mask, the queries are the first of a cache that may be longer
        key, value = key[:, :, :q_length], value[:, :, :q_length]
    q, k, v = (t.transpose(1, 2) for t in (query, key, value))
    o, _ = _ours("attention_forward")(q, k, v, mask="causal", scale=float(more.get("scaling") or 0.0))
    return o, None


def _register_attention() -> None:
    try:
        from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, sdpa_mask
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    except ImportError as e:
        raise InputError(f"assay.torch.replace needs transformers 4.53 or later: {e}") from None
    ALL_ATTENTION_FUNCTIONS.register(NAME, _attention)
    ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, sdpa_mask)


def _weight(module: torch.nn.Module) -> torch.Tensor:
    """[out, in].  Conv1D of GPT-2 has [in, out]: it gets a copy, made once."""
    if isinstance(module, torch.nn.Linear):
        return module.weight
    if not hasattr(module, "weight_out_in"):
        weight: torch.Tensor = module.weight  # type: ignore[assignment]
        module.register_buffer("weight_out_in", weight.detach().t().contiguous(), persistent=False)
    return module.weight_out_in  # type: ignore[return-value]


def _is_product(module: torch.nn.Module) -> bool:
    return isinstance(module, torch.nn.Linear) or type(module).__name__ == "Conv1D"


def _linear(module: torch.nn.Module) -> Forward:
    weight = _weight(module)
    product = _ours("linear")
    return lambda x: product(_rows(x), weight, module.bias).view(*x.shape[:-1], weight.shape[0])


def _rmsnorm(module: Any) -> Forward:
    norm = _ours("rmsnorm")
    return lambda x: norm(_rows(x), module.weight, epsilon=module.variance_epsilon).view(x.shape)


def _layernorm(module: Any) -> Forward:
    norm = _ours("layernorm")
    return lambda x: norm(_rows(x), module.weight, module.bias, epsilon=module.eps).view(x.shape)


def _gated(module: Any) -> Forward:
    product = _ours("gemm_swiglu")

    def forward(x: torch.Tensor) -> torch.Tensor:
        act = product(_rows(x), module.gate_proj.weight, module.up_proj.weight)
        return module.down_proj(act).view(x.shape)

    return forward


def _gelu(module: Any, form: str, up: str, down: str) -> Forward:
    first, second = getattr(module, up), getattr(module, down)
    weight, product = _weight(first), _ours("gelu_linear")

    def forward(x: torch.Tensor) -> torch.Tensor:
        return second(product(_rows(x), weight, first.bias, form=form)).view(x.shape)

    return forward


def _op_of(module: Any, config: Any) -> tuple[str, Forward] | None:
    """The op that computes a module, and how."""
    kind = type(module).__name__
    if kind == "LlamaRMSNorm":
        return "rmsnorm", _rmsnorm(module)
    if isinstance(module, torch.nn.LayerNorm) and module.bias is not None:
        return "layernorm", _layernorm(module)
    if kind == "LlamaMLP" and config.hidden_act == "silu" and module.gate_proj.bias is None:
        return "gemm_swiglu", _gated(module)
    activation = getattr(config, "hidden_act", None) or getattr(config, "activation_function", None)
    form = "tanh" if activation in _TANH else "erf" if activation == "gelu" else None
    if kind == "GPT2MLP" and form:
        return "gelu_linear", _gelu(module, form, "c_fc", "c_proj")
    if kind == "GPTNeoXMLP" and form:
        return "gelu_linear", _gelu(module, form, "dense_h_to_4h", "dense_4h_to_h")
    return ("linear", _linear(module)) if _is_product(module) else None


def _or_original(original: Callable[..., Any], ours: Forward) -> Callable[..., Any]:
    @functools.wraps(original)
    def forward(x: torch.Tensor) -> torch.Tensor:
        return original(x) if torch.is_grad_enabled() else ours(x)

    return forward


def replace(model: torch.nn.Module, ops: Iterable[str] | None = None) -> dict[str, int]:
    """Puts our kernels into a model of Hugging Face of the families GPT-2, GPT-NeoX and Llama, for inference.

    Modules get another `forward`, and attention the registered implementation "assay"; the model's code stays as it is.  Where
    gradients are enabled, the model computes as before.  The head stays PyTorch's.

    Args:
        model: in evaluation mode.
        ops: which of `attention_forward`, `rmsnorm`, `layernorm`, `gemm_swiglu`, `gelu_linear`, `linear` to put in; all of them by
            default.

    Returns:
        How many modules each op computes now.

    Raises:
        InputError: the model is of another family or in training mode, or an op is none of these.
    """
    wanted = tuple(OPS if ops is None else ops)
    for name in wanted:
        if name not in OPS:
            raise InputError(f"'{name}' is no op of a model, and {', '.join(OPS)} are")
    config: Any = getattr(model, "config", None)
    family = getattr(config, "model_type", None)
    if family not in FAMILIES:
        raise InputError(f"the model is of the family '{family}', and one of {', '.join(FAMILIES)} was expected")
    if model.training:
        raise InputError("the model is in training mode, and evaluation mode was expected: call model.eval() first")
    counts = dict.fromkeys(wanted, 0)
    head = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    for module in model.modules():
        found = None if module is head else _op_of(module, config)
        if found is None or found[0] not in wanted:
            continue
        op, ours = found
        original = getattr(module.forward, "__wrapped__", module.forward)
        module.forward = _or_original(original, ours)  # type: ignore[method-assign]
        counts[op] += 1
    if "attention_forward" in wanted:
        _register_attention()
        model.set_attn_implementation(NAME)  # type: ignore[operator]
        counts["attention_forward"] = config.num_hidden_layers
    return counts
