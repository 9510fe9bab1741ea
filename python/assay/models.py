# SPDX-License-Identifier: Apache-2.0
"""Our kernels in models of Hugging Face: `assay.torch.replace` (docs/python.md).

One token is computed sooner than its kernels are launched, so the host's time decides.  So, by default, ours stand where
transformers launches several kernels or calls its attention; what is one kernel of PyTorch stays PyTorch's.
"""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any, Callable, Iterable, NamedTuple

import torch

from .errors import InputError

NAME = "assay"  # of the attention that is registered with transformers
OPS = ("attention_forward", "rope", "rmsnorm", "residual_rmsnorm", "gemm_swiglu", "gelu_linear")
ON_DEMAND = ("layernorm", "linear")
FAMILIES = ("gpt2", "gpt_neox", "llama")
_TANH = ("gelu_new", "gelu_fast", "gelu_pytorch_tanh")
_PLAIN_ROPES = ("default", "linear", "llama3")  # whose frequencies stay, and whose cosines and sines are not scaled

Forward = Callable[..., Any]


def _op(name: str, names: tuple[str, ...], view: Forward, results: Forward, **attributes: Any) -> Forward:
    """The op as a function of tensors, with the arguments of assay.torch.Direct.  Note: on a GPU it is called directly, since the
    way through PyTorch's dispatcher takes longer than most kernels; a compiler has to see an operator."""
    from . import torch as ops

    direct = ops.Direct(ops.operators[name], names, view, results, attributes)

    def call(*given: torch.Tensor) -> Any:
        if given[0].is_cuda and not torch.compiler.is_compiling():
            return direct(*given)
        out = getattr(ops, name)(**dict(zip(names, view(*given))), **attributes)
        returned = results(out if isinstance(out, (tuple, list)) else (out,), *given)
        return returned[0] if len(returned) == 1 else returned

    return call


def _by_rows(name: str, *names: str, **attributes: Any) -> Forward:
    """An op of rows as a function of tensors with any number of axes."""

    def view(*given: torch.Tensor) -> list[torch.Tensor]:
        return [x.flatten(0, -2) if x.dim() > 2 else x for x in given]

    def results(outputs: Any, x: torch.Tensor, *_: torch.Tensor) -> list[torch.Tensor]:
        return [y.view(*x.shape[:-1], y.shape[-1]) for y in outputs]

    return _op(name, names, view, results, **attributes)


def _by_heads(scale: float) -> Forward:
    """Causal attention of q, k and v with tensors [batch, heads, tokens, head_dim]; o has [batch, tokens, heads, head_dim]."""

    def view(*given: torch.Tensor) -> list[torch.Tensor]:
        return [x.transpose(1, 2) for x in given]

    return _op("attention_forward", ("q", "k", "v"), view, lambda made, *_: made, mask="causal", scale=scale)


_attentions: dict[float, Forward] = {}  # by scale


def _attention(
    module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: Any, **more: Any
) -> tuple[torch.Tensor, None]:
    """What transformers calls, with tensors [batch, heads, tokens, head_dim].  A mask of padding or of a static cache goes to
    PyTorch's attention: ours has no such mask."""
    if mask is not None or more.get("dropout") or torch.is_grad_enabled():
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        out, _ = sdpa_attention_forward(module, query, key, value, mask, **more)
        return out, None
    q_length = query.shape[2]
    if q_length > 1:  # without a mask, the queries are the first of a cache that may be longer
        key, value = key[:, :, :q_length], value[:, :, :q_length]
    scale = float(more.get("scaling") or 0.0)
    if scale not in _attentions:
        _attentions[scale] = _by_heads(scale)
    return _attentions[scale](query, key, value)[0], None


def _register_attention() -> None:
    from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, sdpa_mask
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    ALL_ATTENTION_FUNCTIONS.register(NAME, _attention)
    ALL_MASK_ATTENTION_FUNCTIONS.register(NAME, sdpa_mask)


class _Turns(NamedTuple):
    """What stands where transformers has cosines and sines, for attention that turns q and k by `rope`."""

    positions: torch.Tensor  # [batch, tokens], i32
    frequencies: torch.Tensor  # [head_dim], f32, of which the first rotary_dim / 2 are read


def _turns(module: Any, config: Any) -> Forward:
    """A pass's positions and frequencies, in place of LlamaRotaryEmbedding and GPTNeoXRotaryEmbedding."""
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads

    def forward(x: torch.Tensor, position_ids: torch.Tensor) -> _Turns:
        frequencies: torch.Tensor = module.inv_freq.to(x.device, torch.float32)
        table = torch.nn.functional.pad(frequencies, (0, head_dim - frequencies.shape[0]))
        return _Turns(position_ids.expand(x.shape[:2]).to(torch.int32).contiguous(), table)

    return forward


def _turned_attention(module: Any, rotary_dim: int) -> Forward:
    """LlamaAttention or GPTNeoXAttention, with `rope` for what they do to q and k."""
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    eager = getattr(sys.modules[type(module).__module__], "eager_attention_forward", None)
    parameters = inspect.signature(type(module).forward).parameters
    cache_name = next(name for name in ("cache", "past_key_values", "layer_past") if name in parameters)
    is_joint = hasattr(module, "query_key_value")
    dim = module.head_size if is_joint else module.head_dim
    names = ("q", "k", "positions", "frequencies")
    rope = _op("rope", names, lambda *given: given, lambda made, *_: made, rotary_dim=float(rotary_dim))

    def forward(
        hidden_states: torch.Tensor, position_embeddings: Any, attention_mask: Any = None, **more: Any
    ) -> tuple[torch.Tensor, Any]:
        x, rows = hidden_states, hidden_states.shape[:-1]
        if is_joint:
            q, k, v = module.query_key_value(x).view(*rows, -1, 3 * dim).chunk(3, -1)
        else:
            q, k, v = (product(x).view(*rows, -1, dim) for product in (module.q_proj, module.k_proj, module.v_proj))
        q, k = rope(q, k, *position_embeddings)
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        cache = more.pop(cache_name, None)
        if cache is not None:
            k, v = cache.update(k, v, module.layer_idx, more)
        attend = ALL_ATTENTION_FUNCTIONS.get(module.config._attn_implementation, eager)
        dropout = module.attention_dropout if module.training else 0.0
        o, weights = attend(module, q, k, v, attention_mask, dropout=dropout, scaling=module.scaling, **more)
        return (module.dense if is_joint else module.o_proj)(o.reshape(*rows, -1)), weights

    return forward


def _llama_layer(module: Any) -> Forward:
    """LlamaDecoderLayer, with `residual_rmsnorm` behind attention."""
    norm = module.post_attention_layernorm
    add_and_norm = _by_rows("residual_rmsnorm", "x", "residual", "gamma", epsilon=norm.variance_epsilon)

    def forward(hidden_states: torch.Tensor, **more: Any) -> torch.Tensor:
        attention, _ = module.self_attn(hidden_states=module.input_layernorm(hidden_states), **more)
        normed, added = add_and_norm(attention, hidden_states, norm.weight)
        return added + module.mlp(normed)

    return forward


def _weight(module: torch.nn.Module) -> str:
    """The name of the weight [out, in].  Conv1D of GPT-2 has [in, out]: it gets a copy, made once."""
    if isinstance(module, torch.nn.Linear):
        return "weight"
    if not hasattr(module, "weight_out_in"):
        weight: torch.Tensor = module.weight  # type: ignore[assignment]
        module.register_buffer("weight_out_in", weight.detach().t().contiguous(), persistent=False)
    return "weight_out_in"


def _linear(module: Any) -> Forward:
    name = _weight(module)
    biased = module.bias is not None
    product = _by_rows("linear", "x", "weight", *["bias"] * biased)
    if biased:
        return lambda x: product(x, getattr(module, name), module.bias)
    return lambda x: product(x, getattr(module, name))


def _rmsnorm(module: Any) -> Forward:
    norm = _by_rows("rmsnorm", "x", "gamma", epsilon=module.variance_epsilon)
    return lambda x: norm(x, module.weight)


def _layernorm(module: Any) -> Forward:
    norm = _by_rows("layernorm", "x", "gamma", "beta", epsilon=module.eps)
    return lambda x: norm(x, module.weight, module.bias)


def _gated(module: Any) -> Forward:
    product = _by_rows("gemm_swiglu", "x", "w_gate", "w_up")
    return lambda x: module.down_proj(product(x, module.gate_proj.weight, module.up_proj.weight))


def _gelu(module: Any, form: str, up: str, down: str) -> Forward:
    first, second = getattr(module, up), getattr(module, down)
    name = _weight(first)
    product = _by_rows("gelu_linear", "x", "weight", "bias", form=form)
    return lambda x: second(product(x, getattr(first, name), first.bias))


def _op_of(module: Any, config: Any, rotary: Any) -> tuple[str, Forward] | None:
    """The op that computes a module, and how.  `rotary`: the model's module of cosines and sines, if `rope` can do without it."""
    kind = type(module).__name__
    if kind == "LlamaRMSNorm":
        return "rmsnorm", _rmsnorm(module)
    if kind == "LlamaDecoderLayer":
        return "residual_rmsnorm", _llama_layer(module)
    if rotary is not None and kind in ("LlamaAttention", "GPTNeoXAttention"):
        return "rope", _turned_attention(module, 2 * rotary.inv_freq.shape[0])
    if rotary is module:
        return "rope", _turns(module, config)
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
    return ("linear", _linear(module)) if isinstance(module, torch.nn.Linear) or kind == "Conv1D" else None


def _or_original(original: Callable[..., Any], ours: Forward) -> Callable[..., Any]:
    @functools.wraps(original)
    def forward(*args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs) if torch.is_grad_enabled() else ours(*args, **kwargs)

    forward.of_transformers = original  # type: ignore[attr-defined]
    return forward


def replace(model: torch.nn.Module, ops: Iterable[str] | None = None) -> dict[str, int]:
    """Puts our kernels into a model of Hugging Face of the families GPT-2, GPT-NeoX and Llama, for inference.

    Modules get another `forward`, and attention the registered implementation "assay"; the model's code stays as it is.  Where
    gradients are enabled, the model computes as before.  The head stays PyTorch's.

    Args:
        model: in evaluation mode.
        ops: which to put in of `attention_forward`, `rope`, `rmsnorm`, `residual_rmsnorm`, `gemm_swiglu`, `gelu_linear`, all of
            which are by default, and of `layernorm` and `linear`, which take PyTorch one kernel as well.

    Returns:
        How many modules each op computes now.

    Raises:
        InputError: the model is of another family or in training mode, or an op is none of these.
    """
    wanted = tuple(OPS if ops is None else ops)
    for name in wanted:
        if name not in OPS + ON_DEMAND:
            raise InputError(f"'{name}' is no op of a model, and {', '.join(OPS + ON_DEMAND)} are")
    config: Any = getattr(model, "config", None)
    family = getattr(config, "model_type", None)
    if family not in FAMILIES:
        raise InputError(f"the model is of the family '{family}', and one of {', '.join(FAMILIES)} was expected")
    import transformers

    if tuple(map(int, transformers.__version__.split(".")[:2])) < (4, 57):
        raise InputError(f"transformers is {transformers.__version__}, and 4.57 or later was expected")
    if model.training:
        raise InputError("the model is in training mode, and evaluation mode was expected: call model.eval() first")
    counts = dict.fromkeys(wanted, 0)
    head = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    rotary = next((m for m in model.modules() if getattr(m, "rope_type", None) in _PLAIN_ROPES), None)
    for module in model.modules():
        found = None if module is head else _op_of(module, config, rotary)
        if found is None or found[0] not in wanted:
            continue
        op, ours = found
        original = getattr(module.forward, "of_transformers", module.forward)
        module.forward = _or_original(original, ours)  # type: ignore[method-assign]
        counts[op] += module is not rotary
    if "attention_forward" in wanted:
        _register_attention()
        model.set_attn_implementation(NAME)  # type: ignore[operator]
        counts["attention_forward"] = config.num_hidden_layers
    return counts
